package grimoire

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// Kind is the format of a file.
type Kind string

// The kinds of files.
const (
	Settings       Kind = "project-context"
	Shared         Kind = "shared-context"
	Manifest       Kind = "agent-manifest"
	Persona        Kind = "agent"
	Learnings      Kind = "agent-learnings"
	Museum         Kind = "failure-museum"
	DecisionLog    Kind = "decisions-log"
	Contradictions Kind = "contradiction-log"
	Handoffs       Kind = "handoff-log"
	Trace          Kind = "trace"
	Memories       Kind = "memories"
	Lines          Kind = "jsonl"
	Export         Kind = "export-md"
	BranchFile     Kind = "branch"
	RunFile        Kind = "run"
)

// Source is a file of a project.
type Source struct {
	Path string
	Kind Kind
	// Info describes the file as it was found.
	Info fs.FileInfo
}

// place names files of a kind; $ is _bmad, then _grimoire.
type place struct {
	names string
	kind  Kind
}

// places has the files in the order of reading.
var places = []place{
	{"project-context.yaml", Settings}, {"project-context.yml", Settings},
	{"$/_memory/project-context.y*ml", Settings}, {"$/_memory/shared-context.md", Shared},
	{"$/_config/agent-manifest.csv", Manifest}, {"$/_config/custom/agents/*.md", Persona}, {"$/*/agents/*.md", Persona},
	{"$/_memory/agent-learnings/*.md", Learnings}, {"$/_memory/failure-museum.jsonl", Lines}, {"$/_memory/failure-museum.md", Museum},
	{"$/_memory/decisions-log.md", DecisionLog}, {"$/_memory/contradiction-log.md", Contradictions}, {"$/_memory/handoff-log.md", Handoffs},
	{"$/_memory/memories.json", Memories}, {"$/_memory/*export*.md", Export}, {"$/_memory/exports/*.md", Export}, {"$-output/*_TRACE.md", Trace},
}

// runPlaces has the files of runs.
var runPlaces = []place{
	{"$-output/.runs/*/branch.json", BranchFile}, {"$-output/.runs/*/*/branch.json", BranchFile},
	{"$-output/.runs/*/state.json", RunFile}, {"$-output/.runs/*/*/state.json", RunFile}, {"$-output/.runs/*/*/*/state.json", RunFile},
}

// Sources lists the files of a project with its memory. It leaves it to fsys to refuse links out of the
// project.
func Sources(fsys fs.FS) ([]Source, []Problem) { return listSources(fsys, places) }

// RunSources lists the files of the runs. There can be many, and notes do not need them.
func RunSources(fsys fs.FS) ([]Source, []Problem) { return listSources(fsys, runPlaces) }

func listSources(fsys fs.FS, places []place) (found []Source, problems []Problem) {
	at := listing{fsys, map[string]listed{}}
	problem := func(name, format string, args ...any) {
		problems = append(problems, Problem{Path: name, Why: lang.T(format, args...)})
	}
	look := func(names string, kind Kind) {
		matches, _ := fs.Glob(at, names) // it only returns an error for a bad pattern
		for _, name := range matches {
			switch info, err := at.Stat(name); {
			case err != nil:
				problem(name, "the file is not read: %v", err)
			case !info.Mode().IsRegular():
				problem(name, "this is not a regular file, so it is not read")
			case len(found) < maxSources:
				found = append(found, Source{name, kind, info})
			case len(problems) == 0 || problems[len(problems)-1].Path != "":
				problem("", "the project has more than %d files of memory; the others are not read", maxSources)
			}
		}
	}
	for n, prefix := range []string{"_bmad", "_grimoire"} {
		for _, p := range places {
			if n == 0 || strings.HasPrefix(p.names, "$") {
				look(strings.Replace(p.names, "$", prefix, 1), p.kind)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(at.seen)) {
		if err := at.seen[name].err; err != nil && at.seen[path.Dir(name)].err == nil && !errors.Is(err, fs.ErrNotExist) {
			problem(name, "the folder cannot be listed: %v", err)
		}
	}
	return found, problems
}

// listing lists each folder of a tree once.
type listing struct {
	fs.FS
	seen map[string]listed
}

type listed struct {
	entries []fs.DirEntry
	err     error
}

// ReadDir implements fs.ReadDirFS.
func (l listing) ReadDir(name string) ([]fs.DirEntry, error) {
	in, ok := l.seen[name]
	if !ok {
		var folder fs.DirEntry
		if folder, in.err = l.findEntry(name); in.err == nil && folder.IsDir() {
			in.entries, in.err = fs.ReadDir(l.FS, name)
		}
		l.seen[name] = in
	}
	return in.entries, in.err
}

// Stat implements fs.StatFS.
func (l listing) Stat(name string) (fs.FileInfo, error) {
	e, err := l.findEntry(name)
	if err != nil {
		return nil, err
	}
	return e.Info()
}

// findEntry finds a name in the list of the folder, and follows it if it is a link.
func (l listing) findEntry(name string) (fs.DirEntry, error) {
	if path.Dir(name) != "." {
		entries, err := l.ReadDir(path.Dir(name))
		i, ok := slices.BinarySearchFunc(entries, path.Base(name), func(e fs.DirEntry, base string) int { return strings.Compare(e.Name(), base) })
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fs.ErrNotExist
		case entries[i].Type()&fs.ModeSymlink == 0:
			return entries[i], nil
		}
	}
	info, err := fs.Stat(l.FS, name)
	if err != nil {
		return nil, err
	}
	return fs.FileInfoToDirEntry(info), nil
}

// Parse reads one file. The problems concern parts of it; the rest is in the content.
func Parse(s Source, data []byte) (Content, []Problem) {
	r := &reader{path: s.Path}
	if text := r.decodeText(data); strings.TrimSpace(text) != "" && readers[s.Kind] != nil {
		readers[s.Kind](r, text)
	}
	return r.Content, r.problems
}

var readers = map[Kind]func(*reader, string){
	Settings: (*reader).readSettings, Manifest: (*reader).readManifest, Persona: (*reader).readPersona, BranchFile: (*reader).readBranch, RunFile: (*reader).readRun,
	Museum: (*reader).readFailures, Trace: (*reader).readTrace, Memories: (*reader).readNotes, Lines: (*reader).readJSONLines,
	Shared: (*reader).sharedContext, DecisionLog: (*reader).readDecisions, Learnings: (*reader).readLearnings, Export: (*reader).readExport,
	Contradictions: tableReader(lesson.Decisions, "contradiction"), Handoffs: tableReader(lesson.Stories, "handoff"),
}

// Join puts the contents of files together, in the order of [Sources]. If several have a value, the
// first counts. A failure with an id is taken once, because a kit keeps it in two files.
func Join(contents []Content) (all Content, problems []Problem) {
	seen := map[string]bool{}
	for _, c := range contents {
		for _, e := range c.Entries {
			switch key := e.failureKey(); {
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
		all.User = User{cmp.Or(all.User.Name, c.User.Name), cmp.Or(all.User.Language, c.User.Language)}
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
			all.Agents = mergeAgent(all.Agents, a)
		}
		all.Branches = append(all.Branches, c.Branches...)
		all.Runs = append(all.Runs, c.Runs...)
	}
	return all, problems
}

// failureKey identifies a failure, if it has an id.
func (e Entry) failureKey() string {
	if e.Failure == nil || e.Failure.ID == "" {
		return ""
	}
	return e.Failure.ID + "\x00" + e.Failure.Title
}
