// Package grimoire reads the memory files of other people's kits in a project: learnings of agents,
// failures, decisions, the shared context, runs. The kits lay their files out alike,
// below _bmad or _grimoire. [Sources] names the files of a folder, [Parse] reads the bytes of one,
// so that a caller can keep the result for as long as the file does not change, and [Join] puts
// the results together.
//
// People and models write these files by hand. If a part cannot be read, it is a [Problem], and
// hides nothing else.
//
// # Invariants
//
//   - Memory files of other kits are read and never written (TestLinksThatLeadOut,
//     TestHostileFiles).
package grimoire

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

const (
	// MaxFile bounds the bytes of a file that is read.
	MaxFile = 2 << 20
	// MaxEntries bounds the entries of a project.
	MaxEntries = 20_000
	// maxText bounds the bytes of one entry's text.
	maxText = 4000
)

// The types of entries, which are those of notes.
const (
	SharedContext  = "shared-context"
	Decisions      = "decisions"
	AgentLearnings = "agent-learnings"
	Failures       = "failures"
	Stories        = "stories"
)

var types = []string{SharedContext, Decisions, AgentLearnings, Failures, Stories}

// Entry is a note of a file.
type Entry struct {
	Type, Agent, Text string // Agent is an id, tag or name; empty for all agents
	Tags              []string
	Date              time.Time // zero if the file has none
	Failure           *Failure  // the parts of an entry of a failure museum
	Path              string
	Line              int
}

// Failure has the parts of an entry of a failure museum.
type Failure struct{ ID, Title, Category, Severity, Lesson, Rule, Status string }

// Severities are the marks of failures, the worst first.
var Severities = []string{"🔴", "🟡", "🟢"}

// Project describes the project as a whole.
type Project struct {
	Name        string   `json:"name,omitempty"`
	Type        string   `json:"type,omitempty"`
	Description string   `json:"description,omitempty"`
	Stack       []string `json:"stack"`
	Repos       []Repo   `json:"repos,omitempty"`
}

// Repo is a repository of the project.
type Repo struct {
	Name   string `json:"name,omitempty"`
	Path   string `json:"path,omitempty"`
	Branch string `json:"default_branch,omitempty"`
}

// Agent is an agent that the files know. Its notes are kept under any of its names: id, tag, or
// the name of its learnings file without the ending.
type Agent struct{ ID, Tag, Learnings, Name, Icon, Domain string }

// Content is the content of one file, or, from [Join], of all files.
type Content struct {
	Entries        []Entry
	Project        Project
	User, Language string // the person's name and language
	Agents         []Agent
	Architecture   Entry // the section of that name in the shared context
	Branches       []Branch
	Runs           []Run
}

// Problem is a part of a file that cannot be used. Line is 0 if it is the whole file. The rest of the
// file is used.
type Problem struct {
	Path string
	Line int
	Why  lang.Text
}

// MarshalJSON implements json.Marshaler.
func (p Problem) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Path    string `json:"path"`
		Line    int    `json:"line,omitempty"`
		Problem string `json:"problem"`
	}{p.Path, p.Line, p.Why.String()})
}

// In returns the problem in a language, with its place.
func (p Problem) In(l lang.Language) string { return Place(p.Path, p.Line) + ": " + p.Why.In(l) }

// Place names a line of a file, or the file if line is 0.
func Place(path string, line int) string {
	if line == 0 {
		return path
	}
	return path + ":" + strconv.Itoa(line)
}

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

// reader reads one file.
type reader struct {
	Content
	path     string
	problems []Problem
}

func (r *reader) problem(line int, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.path, line, lang.T(format, args...)})
}

// add keeps an entry, unless it is empty or a remark of a template.
func (r *reader) add(e Entry) {
	e.Text = strings.TrimSpace(e.Text)
	if e.Text == "" || len(r.Entries) > MaxEntries {
		return
	}
	if len(e.Text) > maxText {
		r.problem(e.Line, "the entry has more than %d bytes; the rest of it is not read", maxText)
		e.Text = strings.ToValidUTF8(e.Text[:maxText], "")
	}
	e.Agent, e.Path = agentName(e.Agent), r.path
	r.Entries = append(r.Entries, e)
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
