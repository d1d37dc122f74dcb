package grimoire

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
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
	// Info describes the file as it was found.
	Info fs.FileInfo
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
	at := listing{fsys, map[string]listed{}}
	problem := func(name, format string, args ...any) {
		problems = append(problems, Problem{Path: name, Text: lang.T(format, args...)})
	}
	look := func(names string, kind Kind) {
		matches, _ := fs.Glob(at, names) // its only error is one of the pattern
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
	look("project-context.yaml", Settings)
	look("project-context.yml", Settings)
	for _, p := range places {
		look(strings.Replace(p.names, "$", "_bmad", 1), p.kind)
	}
	for _, p := range places {
		look(strings.Replace(p.names, "$", "_grimoire", 1), p.kind)
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
		var info fs.FileInfo
		if info, in.err = l.Stat(name); in.err == nil && info.IsDir() {
			in.entries, in.err = fs.ReadDir(l.FS, name)
		}
		l.seen[name] = in
	}
	return in.entries, in.err
}

// Stat implements fs.StatFS: what no list has is not there.
func (l listing) Stat(name string) (fs.FileInfo, error) {
	if path.Dir(name) == "." {
		return fs.Stat(l.FS, name)
	}
	entries, err := l.ReadDir(path.Dir(name))
	i, ok := slices.BinarySearchFunc(entries, path.Base(name), func(e fs.DirEntry, base string) int { return strings.Compare(e.Name(), base) })
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fs.ErrNotExist
	case entries[i].Type().IsRegular():
		return entries[i].Info()
	}
	return fs.Stat(l.FS, name)
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
