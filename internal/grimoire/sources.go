package grimoire

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
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
}

// maxSources bounds the files of a project, and the agents that one file names.
const maxSources = 5000

// places has the files in the order of reading; $ is _bmad, then _grimoire.
var places = []struct {
	names string
	kind  Kind
}{
	{"$/_memory/project-context.y*ml", Settings}, {"$/_memory/shared-context.md", Shared},
	{"$/_config/agent-manifest.csv", Manifest}, {"$/_config/custom/agents/*.md", Persona}, {"$/*/agents/*.md", Persona},
	{"$/_memory/agent-learnings/*.md", Learnings}, {"$/_memory/failure-museum.jsonl", Lines}, {"$/_memory/failure-museum.md", Museum},
	{"$/_memory/decisions-log.md", DecisionLog}, {"$/_memory/contradiction-log.md", Contradictions}, {"$/_memory/handoff-log.md", Handoffs},
	{"$/_memory/memories.json", Memories}, {"$/_memory/*export*.md", Export}, {"$/_memory/exports/*.md", Export}, {"$-output/*_TRACE.md", Trace},
	{"$-output/.runs/*/branch.json", BranchFile}, {"$-output/.runs/*/*/branch.json", BranchFile},
	{"$-output/.runs/*/state.json", RunFile}, {"$-output/.runs/*/*/state.json", RunFile}, {"$-output/.runs/*/*/*/state.json", RunFile},
}

// Sources lists the files of a project that [Parse] reads. Links that lead out of the project are
// for fsys to refuse.
func Sources(fsys fs.FS) (found []Source, problems []Problem) {
	problem := func(name, format string, args ...any) {
		problems = append(problems, Problem{Path: name, Text: lang.T(format, args...)})
	}
	look := func(names string, kind Kind) {
		matches, err := fs.Glob(fsys, names)
		if err != nil {
			problem(names, "the folder cannot be listed: %v", err)
		}
		for _, name := range matches {
			switch info, err := fs.Stat(fsys, name); {
			case err != nil:
				problem(name, "the file is not read: %v", err)
			case !info.Mode().IsRegular():
				problem(name, "this is not a regular file, so it is not read")
			case len(found) < maxSources:
				found = append(found, Source{name, kind})
			case len(found) == maxSources:
				problem(name, "the project has more than %d files of memory; this one and those after it are not read", maxSources)
				return
			}
		}
	}
	look("project-context.y*ml", Settings)
	for _, prefix := range []string{"_bmad", "_grimoire"} {
		for _, folder := range []string{prefix, prefix + "/_memory", prefix + "/_memory/agent-learnings", prefix + "-output", prefix + "-output/.runs"} {
			if _, err := fs.Stat(fsys, folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
				problem(folder, "the folder cannot be listed: %v", err)
			}
		}
		for _, p := range places {
			look(strings.Replace(p.names, "$", prefix, 1), p.kind)
		}
	}
	return found, problems
}

// Detect returns the kind of a file that a person wants to import.
func Detect(data []byte) Kind {
	switch text := strings.TrimLeft(string(data[:min(len(data), 1000)]), "\ufeff \t\r\n"); {
	case strings.HasPrefix(text, "["):
		return Memories
	case strings.HasPrefix(text, "{"):
		return Lines
	}
	return Export
}
