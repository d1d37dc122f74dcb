package notes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

const (
	attributesFile = ".gitattributes"
	// unionLine makes git keep the lines of both sides of a merge.
	unionLine = "*.jsonl merge=union"
)

// Folder is a folder of notes: the files, and the set read from them. Several may have one set.
type Folder struct {
	*Set
	// Dir is the project, Path the folder in it.
	Dir  *durable.Dir
	Path string
	// Now is the clock of this machine.
	Now func() time.Time
}

// Exists reports whether there is such a folder.
func (f *Folder) Exists() bool {
	_, err := f.Dir.Stat(f.Path)
	return !errors.Is(err, fs.ErrNotExist)
}

// File returns the path of a file of the folder, relative to the project.
func (f *Folder) File(name string) string { return f.Path + "/" + name }

// Hold brings the set up to the files, and keeps it as it is until it is released.
func (f *Folder) Hold(ctx context.Context) (release func(), err error) {
	f.mu.Lock()
	if err := f.readChanged(ctx); err != nil {
		f.mu.Unlock()
		return nil, diskError(f.Dir, err)
	}
	return f.mu.Unlock, nil
}

// readChanged reads the changed files.
func (f *Folder) readChanged(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	listed, err := f.Dir.ReadDir(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now, there := f.Now(), map[string]bool{}
	f.temps = nil
	for _, e := range listed {
		kind, n, ok := parsePart(e.Name())
		if !ok {
			if of, temp := durable.IsTemp(e.Name()); temp && strings.HasSuffix(of, ".jsonl") {
				f.temps = append(f.temps, e.Name())
			}
			continue
		}
		there[e.Name()] = true
		info, err := e.Info()
		known := f.parts[e.Name()]
		if err == nil && known != nil && known.settled && known.version == durable.VersionOf(info) {
			continue
		}
		f.readPart(&part{name: e.Name(), kind: kind, number: n}, now)
	}
	for name, p := range f.parts {
		if !there[name] {
			f.setPart(&part{name: name, kind: p.kind}, nil)
			delete(f.parts, name)
		}
	}
	return nil
}

// readPart reads a file of notes anew.
func (f *Folder) readPart(p *part, now time.Time) {
	data, version, err := f.Dir.ReadVersion(f.File(p.name), maxPart)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) { // it went away after it was listed
			err = nil
		}
		data, p.err = nil, err
	}
	p.version, p.settled = version, err == nil && version.Settled(now)
	f.setPart(p, data)
}

// Problems lists unusable lines of the files, and notes hidden by others.
func (f *Folder) Problems() (out []Problem) {
	for _, p := range f.sortedParts() {
		if p.err != nil {
			out = append(out, Problem{Path: f.File(p.name), Why: lang.Of(p.err)})
		}
		for _, l := range p.bad {
			out = append(out, Problem{Path: f.File(p.name), Line: l.number, Why: l.why})
		}
	}
	byKey := func(a, b Key) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) }
	for _, key := range slices.SortedFunc(maps.Keys(f.hiding), byKey) {
		for _, l := range f.hiding[key].hidden {
			own := ownID(l.note.Project, l.note.Agent, l.note.Text)
			out = append(out, Problem{
				Path: f.File(l.part.name), Line: l.number,
				Why: lang.T("the note has the id of another one, which hides it: change its id to %s", own),
			})
		}
	}
	return out
}

// Change runs a plan on the notes as they are now, under the lock, and writes the edited parts, one after the
// other.
func (f *Folder) Change(ctx context.Context, plan func() error) error {
	unlock, err := Lock(ctx, f.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	edits, err := f.collectEdits(ctx, plan)
	if err != nil || len(edits) == 0 {
		return err
	}
	var unconfirmed *durable.UnconfirmedError
	undo, err := f.makeFolder()
	if errors.As(err, &unconfirmed) {
		err = unconfirmed.Err // of the changes that are undone
	}
	if err == nil {
		err = f.writeEdits(edits)
	}
	if err != nil && !errors.As(err, &unconfirmed) {
		undo()
	}
	return diskError(f.Dir, err)
}

// ChangeKnown is Change for existing notes: without them it leaves no trace.
func (f *Folder) ChangeKnown(ctx context.Context, plan func() error) error {
	if edits, err := f.collectEdits(ctx, plan); err != nil || len(edits) == 0 {
		return err
	}
	return f.Change(ctx, plan)
}

// collectEdits runs a function on the notes as they are now, and returns the edits made by it, in the order of
// writing.
func (f *Folder) collectEdits(ctx context.Context, plan func() error) (edits []edit, err error) {
	release, err := f.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	f.edits = nil
	if err := plan(); err != nil {
		return nil, diskError(f.Dir, err)
	}
	return f.edits, nil
}

// makeFolder makes the folder, and removes the files left in it by a killed process.
func (f *Folder) makeFolder() (undo func(), err error) {
	dir := f.Dir
	made, err := dir.MkdirAll(f.Path)
	undo = func() { dir.RemoveEmpty(made) }
	if err != nil {
		return undo, err
	}
	f.mu.Lock()
	temps, known := f.temps, f.attributes
	f.mu.Unlock()
	for _, temp := range temps {
		_ = dir.Remove(f.File(temp)) // the next write tries again
	}
	name := f.File(attributesFile)
	info, err := dir.Stat(name)
	if err == nil && known == durable.VersionOf(info) {
		return undo, nil
	}
	have, err := dir.ReadFile(name, maxLine)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return undo, err
	}
	if bytes.Contains([]byte("\n"+string(have)), []byte("\n"+unionLine)) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.attributes = durable.VersionOf(info)
		return undo, nil
	}
	if len(have) == 0 {
		undo = func() {
			_ = dir.Remove(name)
			dir.RemoveEmpty(made)
		}
	}
	return undo, dir.Replace(name, appendLine(have, []byte(unionLine+"\n")))
}

func (f *Folder) writeEdits(edits []edit) error {
	for _, e := range edits {
		name := f.File(e.part)
		if len(e.data) > 0 {
			if err := f.Dir.Replace(name, e.data); err != nil {
				return err
			}
			continue
		}
		if err := f.Dir.Remove(name); err != nil {
			return err
		}
		if err := f.Dir.Confirm(name); err != nil {
			return err
		}
	}
	return nil
}
