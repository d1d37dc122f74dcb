package memory

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// byFile is the author of a note from another program's file.
const byFile = "file"

// placed is a note with its place.
type placed struct {
	*notes.Note
	entry *notes.Entry // nil for a note of another program
	// from is the place of a foreign note: the path relative to the project, and the line.
	from    string
	failure *grimoire.Failure
	// order is 0 for a note of ours, and counts other programs' notes from the last one.
	order int
}

// compare orders notes: the newest first.
func (p placed) compare(other placed) int {
	byTime := other.UpdatedAt.Time.Compare(p.UpdatedAt.Time)
	return cmp.Or(byTime, cmp.Compare(p.order, other.order), newestFirst(*p.Note, *other.Note))
}

// indexKey returns the key of the note in the index.
func (p placed) indexKey() string {
	if p.entry == nil {
		return foreignName(p.ID)
	}
	return nameOf(p.Key())
}

// nameOf returns the key of a note of ours in the index; foreign notes have a key by foreignName.
func nameOf(k notes.Key) string { return string(k.Type) + "/" + k.ID }

func foreignName(id string) string { return "@" + id }

// placedAt returns the note of an entry, or an empty one if there is none.
func placedAt(e *notes.Entry) placed {
	if n := e.Note(); n != nil {
		return placed{Note: n, entry: e}
	}
	return placed{}
}

// cabinet has files of other programs as they were read last.
type cabinet struct {
	files map[string]foreignFile
	// listing is the problems of the list of files.
	listing  string
	content  grimoire.Content
	notes    []placed // in the order of the files
	sources  []string
	problems []notes.Problem
}

type foreignFile struct {
	version  durable.Version
	settled  bool
	content  grimoire.Content
	problems []notes.Problem
}

// placeEntries makes notes of the entries in the files, and returns them by their keys in the index.
func (c *cabinet) placeEntries() map[string]placed {
	out := map[string]placed{}
	for i, e := range c.content.Entries {
		from := grimoire.Place(e.Path, e.Line)
		n := &notes.Note{
			ID: uuid.NewSHA1(uuid.NameSpaceDNS, []byte(from+":"+e.Text)).String(), Type: notes.Type(e.Type), Agent: e.Agent, Text: e.Text, Tags: e.Tags,
			CreatedAt: notes.At(e.Date), UpdatedAt: notes.At(e.Date), By: byFile,
		}
		f := placed{Note: n, from: from, failure: e.Failure, order: len(c.content.Entries) - i} // later lines are newer
		c.notes = append(c.notes, f)
		out[f.indexKey()] = f
	}
	c.content.Entries = nil
	return out
}

// refreshFiles reads the files of a list that have changed since the cabinet was filled, and reports whether
// any has.
func (c *cabinet) refreshFiles(ctx context.Context, dir *durable.Dir, now time.Time, list func(fs.FS) ([]grimoire.Source, []notes.Problem)) (changed bool, err error) {
	sources, problems := list(dir.Tree())
	listing := fmt.Sprint(problems)
	changed = c.files == nil || listing != c.listing || len(sources) != len(c.files)
	files := make(map[string]foreignFile, len(sources))
	for _, s := range sources {
		f, known := c.files[s.Path]
		if !known || !f.settled || f.version != durable.VersionOf(s.Info) {
			if err := ctx.Err(); err != nil {
				return false, store.Trouble(dir, err)
			}
			f, changed = readForeign(dir, s, now), true
		}
		files[s.Path] = f
	}
	if !changed {
		return false, nil
	}
	*c = cabinet{files: files, listing: listing}
	var contents []grimoire.Content
	for _, s := range sources {
		c.sources = append(c.sources, s.Path)
		contents = append(contents, files[s.Path].content)
		problems = append(problems, files[s.Path].problems...)
	}
	all, more := grimoire.Join(contents)
	c.content = all
	c.problems = append(problems, more...)
	return true, nil
}

// readForeign reads one file of another program.
func readForeign(dir *durable.Dir, s grimoire.Source, now time.Time) foreignFile {
	data, version, err := dir.ReadVersion(s.Path, grimoire.MaxFile)
	if err != nil {
		return foreignFile{problems: []notes.Problem{{Path: s.Path, Why: lang.Of(err)}}}
	}
	f := foreignFile{version: version, settled: version.Settled(now)}
	f.content, f.problems = grimoire.Parse(s, data)
	return f
}

// projectName returns the name of a project for the ids of its notes: the name in an existing note, else in a
// kit's description, else the folder's.
func projectName(p *project.Project, known *notes.Set) string {
	if name := known.Project(); name != "" {
		return name
	}
	for _, folder := range append([]string{"."}, methodFolders...) {
		source := grimoire.Source{Path: path.Join(folder, "project-context.yaml"), Kind: grimoire.Settings}
		data, err := p.Dir.ReadFile(source.Path, grimoire.MaxFile)
		if err != nil {
			continue
		}
		if c, _ := grimoire.Parse(source, data); c.Project.Name != "" {
			return c.Project.Name
		}
	}
	return filepath.Base(p.Dir.Path())
}

// newestFirst orders notes: the newest first, and notes of one time by their keys.
func newestFirst(a, b notes.Note) int {
	return cmp.Or(b.UpdatedAt.Time.Compare(a.UpdatedAt.Time), cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
}

// kept has the notes of a project as they were read last, for all who open it. Who holds the notes holds it.
type kept struct {
	set *notes.Set
	// files are the memory files of other kits, foreign their notes by their keys in the index.
	files   cabinet
	foreign map[string]placed
	// runs are the files about runs of other kits.
	runs  cabinet
	index index
}

// placedNote returns the note of a key in the index; it is empty if the note is not found.
func (k *kept) placedNote(name string) placed {
	kind, id, _ := strings.Cut(name, "/")
	if e := k.set.Get(notes.Key{Type: notes.Type(kind), ID: id}); e != nil {
		return placedAt(e)
	}
	return k.foreign[name]
}

// activeNotes yields the notes, except deleted ones, for which keep is true.
func (k *kept) activeNotes(keep func(placed) bool) iter.Seq[placed] {
	return func(yield func(placed) bool) {
		for e := range k.set.Entries() {
			if p := placedAt(e); p.Note != nil && keep(p) && !yield(p) {
				return
			}
		}
		for _, f := range k.files.notes {
			if keep(f) && !yield(f) {
				return
			}
		}
	}
}

// nameFilter returns a filter of keys in the index by a filter of notes.
func (k *kept) nameFilter(keep func(placed) bool) func(name string) bool {
	return func(name string) bool { return keep(k.placedNote(name)) }
}
