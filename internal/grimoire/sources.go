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

// Sources lists the files of a project that have its memory. It leaves it to fsys to refuse links that
// lead out of the project.
func Sources(fsys fs.FS) ([]Source, []Problem) { return sources(fsys, places) }

// RunSources lists the files of the runs. There can be many, and notes do not need them.
func RunSources(fsys fs.FS) ([]Source, []Problem) { return sources(fsys, runPlaces) }

func sources(fsys fs.FS, places []place) (found []Source, problems []Problem) {
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
		if folder, in.err = l.entry(name); in.err == nil && folder.IsDir() {
			in.entries, in.err = fs.ReadDir(l.FS, name)
		}
		l.seen[name] = in
	}
	return in.entries, in.err
}

// Stat implements fs.StatFS.
func (l listing) Stat(name string) (fs.FileInfo, error) {
	e, err := l.entry(name)
	if err != nil {
		return nil, err
	}
	return e.Info()
}

// entry finds a name in the list of its folder, and follows it if it is a link.
func (l listing) entry(name string) (fs.DirEntry, error) {
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
