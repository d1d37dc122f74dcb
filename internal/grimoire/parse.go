package grimoire

import (
	"cmp"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// Parse reads one file. Its problems concern parts of it; the rest is in the content.
func Parse(s Source, data []byte) (Content, []Problem) {
	r := &reader{path: s.Path}
	if text := r.decode(data); strings.TrimSpace(text) != "" && readers[s.Kind] != nil {
		readers[s.Kind](r, text)
	}
	return r.Content, r.problems
}

var readers = map[Kind]func(*reader, string){
	Settings: (*reader).settings, Manifest: (*reader).manifest, Persona: (*reader).persona, BranchFile: (*reader).branch, RunFile: (*reader).run,
	Museum: (*reader).museum, Trace: (*reader).trace, Memories: (*reader).memories, Lines: (*reader).lines,
	Shared: (*reader).sharedContext, DecisionLog: (*reader).decisions, Learnings: (*reader).learnings, Export: (*reader).export,
	Contradictions: (*reader).contradictions, Handoffs: (*reader).handoffs,
}

// Join puts the contents of files together, in the order of [Sources]. If several have a value, the
// first counts. A failure with an id is taken once, because a kit keeps it in two files.
func Join(contents []Content) (all Content, problems []Problem) {
	seen := map[string]bool{}
	for _, c := range contents {
		for _, e := range c.Entries {
			switch key := e.key(); {
			case key != "" && seen[key]:
				continue
			case len(all.Entries) < MaxEntries:
				seen[key] = true
				all.Entries = append(all.Entries, e)
			case problems == nil:
				problems = []Problem{{e.Path, e.Line, lang.T("the files of memory have more than %d entries; this one and those after it are not read", MaxEntries)}}
			}
		}
		p := &all.Project
		p.Name, p.Type, p.Description = cmp.Or(p.Name, c.Project.Name), cmp.Or(p.Type, c.Project.Type), cmp.Or(p.Description, c.Project.Description)
		all.User, all.Language = cmp.Or(all.User, c.User), cmp.Or(all.Language, c.Language)
		if p.Stack == nil {
			p.Stack = c.Project.Stack
		}
		if p.Repos == nil {
			p.Repos = c.Project.Repos
		}
		if all.Architecture.Text == "" {
			all.Architecture = c.Architecture
		}
		for _, a := range c.Agents {
			all.Agents = meet(all.Agents, a)
		}
		all.Branches = append(all.Branches, c.Branches...)
		all.Runs = append(all.Runs, c.Runs...)
	}
	return all, problems
}

// key identifies a failure, if it has an id.
func (e Entry) key() string {
	if e.Failure == nil || e.Failure.ID == "" {
		return ""
	}
	return e.Failure.ID + "\x00" + e.Failure.Title
}

// Detect returns the kind of a file that a person wants to import.
func Detect(data []byte) Kind {
	switch text := strings.TrimLeft(string(data[:min(len(data), 1000)]), "\ufeff \t\r\n"); {
	case strings.HasPrefix(text, "["):
		return Memories
	case strings.HasPrefix(text, "{"):
		return Lines
	case strings.HasPrefix(strings.ToLower(text), "# failure museum"):
		return Museum
	}
	return Export
}
