package memory

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// Filter chooses notes; a zero field chooses all.
type Filter struct {
	Type  notes.Type
	Agent string
	// Deleted and Expired add the notes missing in a search, Foreign those in the files of other programs.
	Deleted, Expired, Foreign bool
}

func (f Filter) check() error {
	if f.Type != "" {
		if err := f.Type.Check(); err != nil {
			return err
		}
	}
	if f.Agent != "" {
		return notes.CheckAgent(f.Agent)
	}
	return nil
}

// matchesNote reports whether a note has the type and the agent.
func (f Filter) matchesNote(n *notes.Note) bool {
	return (f.Type == "" || n.Type == f.Type) && (f.Agent == "" || strings.EqualFold(n.Agent, f.Agent))
}

// Listed is a list of notes.
type Listed struct {
	// Notes are sorted: the newest first.
	Notes []notes.Note
	// Problems are unusable lines and files.
	Problems []notes.Problem
}

// List returns the notes of a project, without credentials written into them by other hands.
func (b *Book) List(ctx context.Context, f Filter) (out Listed, err error) {
	read := b.holdNotes
	if f.Foreign {
		read = b.readAll
	}
	r, err := read(ctx)
	if err != nil {
		return out, err
	}
	defer r.close()
	if err := f.check(); err != nil {
		return out, err
	}
	for _, n := range r.files.notes {
		if f.Foreign && f.matchesNote(n.Note) && (f.Expired || !n.Expired(r.now)) {
			out.Notes = append(out.Notes, n.Masked())
		}
	}
	for e := range r.set.Entries() {
		n := e.Note()
		if f.Deleted {
			n = e.Last()
		}
		if n != nil && f.matchesNote(n) && (f.Expired || !n.Expired(r.now)) {
			out.Notes = append(out.Notes, n.Masked())
		}
	}
	slices.SortFunc(out.Notes, newestFirst)
	out.Problems = r.allProblems()
	return out, nil
}

// Sources lists the files of other programs with memory, relative to the project.
func (b *Book) Sources(ctx context.Context) ([]string, error) {
	r, err := b.readAll(ctx)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return slices.Clone(r.files.sources), nil
}

// ReadSource returns the text of one of the Sources, without credentials.
func (b *Book) ReadSource(ctx context.Context, name string) (string, error) {
	names, err := b.Sources(ctx)
	if err != nil {
		return "", err
	}
	if !slices.Contains(names, name) {
		return "", fault.New(fault.NotFound, "the project has no file of memory %q", shownName(name)).
			WithHint("the list of resources has them").Suggest(name, names)
	}
	data, err := b.p.Dir.ReadFile(name, grimoire.MaxFile)
	return untrusted.Mask(strings.ToValidUTF8(string(data), "\uFFFD")), err
}

// Show returns a note by the id or the beginning of it, deleted and expired ones as well.
func (b *Book) Show(ctx context.Context, kind notes.Type, ref string) (n notes.Note, deleted bool, file string, err error) {
	r, err := b.readAll(ctx)
	if err != nil {
		return n, false, "", err
	}
	defer r.close()
	if f := r.foreign[foreignName(ref)]; f.Note != nil {
		return f.Masked(), false, f.from, nil
	}
	e, err := r.set.Find(kind, ref)
	if err != nil {
		return n, false, "", err
	}
	file, _ = e.Place()
	file = r.notes.File(file)
	if e.Last() == nil {
		return notes.Note{V: 1, ID: e.Key().ID, Type: e.Key().Type}, true, file, nil
	}
	return e.Last().Masked(), e.Deleted(), file, nil
}

// Stats counts the notes of a project.
type Stats struct {
	// Notes are all notes, Foreign the ones read from other programs' files.
	Notes, Foreign int
	// Files are the files of our notes.
	Files int
}

// Stats counts the notes of a project.
func (b *Book) Stats(ctx context.Context) (Stats, error) {
	r, err := b.readAll(ctx)
	if err != nil {
		return Stats{}, err
	}
	defer r.close()
	out := Stats{Foreign: len(r.foreign), Files: r.set.Files()}
	for e := range r.set.Entries() {
		if n := e.Note(); n != nil && !n.Expired(r.now) {
			out.Notes++
		}
	}
	return out, nil
}

// Check lists the unusable parts of the notes and of the queue, with their places.
func (b *Book) Check(ctx context.Context) ([]notes.Problem, error) {
	r, err := b.readAll(ctx)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if _, err := r.runs.refreshFiles(ctx, r.p.Dir, r.now, grimoire.RunSources); err != nil {
		return nil, err
	}
	q, err := b.Queue()
	if err != nil {
		return nil, err
	}
	_, ofTasks, err := q.Tasks(ctx)
	if err != nil {
		return nil, err
	}
	out := slices.Concat(r.allProblems(), notes.Spoken(r.p.Language(""), r.runs.problems), ofTasks)
	for _, name := range usualFolders() { // unread ones, because another one is read
		other := path.Join(name, Subfolder)
		if info, err := r.p.Dir.Stat(other); other != r.notes.Path && err == nil && info.IsDir() {
			out = append(out, notes.Problem{
				Path: other,
				Why:  lang.T("the notes in this folder are not read, because those in %s are: move its lines there", r.notes.Path),
			})
		}
	}
	return out, nil
}
