// Package grimoire reads the memory files of other people's kits in a project: learnings of agents, failures,
// decisions, the shared context, runs. The kits lay their files out alike, below _bmad or _grimoire. [Sources]
// names the files of a folder, [Parse] reads the bytes of one, so that a caller can keep the result for as long
// as the file does not change, and [Join] puts the results together.
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
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

const (
	// MaxFile bounds the bytes read of a file.
	MaxFile = 2 << 20
	// MaxEntries bounds the entries of a project.
	MaxEntries = 20_000
	// maxText bounds the bytes of one entry's text.
	maxText = 4000
)

// Entry is a note of a file.
type Entry struct {
	// Type is one of [lesson.Types]. Agent is an id, tag or name; empty for all agents.
	Type, Agent, Text string
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

// User is the person, as the kit knows them.
type User struct {
	Name     string `json:"name,omitempty"`
	Language string `json:"language,omitempty"`
}

// Agent is an agent known to the files. The notes are kept under any name of it: id, tag, or the name of the
// learnings file without the ending.
type Agent struct{ ID, Tag, Learnings, Name, Icon, Domain string }

// Content is the content of one file, or, from [Join], of all files.
type Content struct {
	Entries      []Entry
	Project      Project
	User         User
	Agents       []Agent
	Architecture Entry // the architecture section of the shared context
	Branches     []Branch
	Runs         []Run
}

// Problem is an unusable part of a file. Line is 0 if it is the whole file. The rest of the file is used.
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

// In returns the problem in a language, with the place.
func (p Problem) In(l lang.Language) string { return p.Place() + ": " + p.Why.In(l) }

// Place names the line of the problem, or the file.
func (p Problem) Place() string { return Place(p.Path, p.Line) }

// Place names a line of a file, or the file if line is 0.
func Place(path string, line int) string {
	if line == 0 {
		return path
	}
	return path + ":" + strconv.Itoa(line)
}

// SeverityIn returns the mark of a severity, as headings, fields and records name it.
func SeverityIn(text string) string {
	for n, names := range []string{"🔴 crit high haute élevée block", "🟡 medium moyenne important major", "🟢 low basse faible minor micro"} {
		for _, name := range strings.Fields(names) {
			if strings.Contains(strings.ToLower(text), name) {
				return Severities[n]
			}
		}
	}
	return ""
}

// maxSources bounds the files of a project, and the agents in one file.
const maxSources = 5000
