package memory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

const (
	attributesFile = ".gitattributes"
	// unionLine makes git keep the lines of both sides of a merge.
	unionLine = "*.jsonl merge=union"
)

// change runs a plan on the notes as they are now, under the lock, and writes the parts that it has
// edited, one after the other.
func (b *Book) change(ctx context.Context, plan func() error) (err error) {
	if err := b.allowed(); err != nil {
		return err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	edits, err := b.plan(ctx, plan)
	if err != nil || len(edits) == 0 {
		return err
	}
	var unconfirmed *durable.UnconfirmedError
	undo, err := b.prepare()
	if errors.As(err, &unconfirmed) {
		err = unconfirmed.Err // of what is taken back
	}
	if err == nil {
		err = b.write(edits)
	}
	if err != nil && !errors.As(err, &unconfirmed) {
		undo()
	}
	return b.trouble(err)
}

// changeKnown is change for notes that have to exist: where they do not, it leaves no trace. Without
// apply it is a trial, which writes nothing.
func (b *Book) changeKnown(ctx context.Context, apply bool, plan func() error) error {
	if edits, err := b.plan(ctx, plan); err != nil || len(edits) == 0 || !apply {
		return err
	}
	return b.change(ctx, plan)
}

// edit gives a part its new bytes; none remove it.
type edit struct {
	part string
	data []byte
}

// plan runs a function on the notes as they are now, and returns the edits that it has made, in the
// order of writing.
func (b *Book) plan(ctx context.Context, plan func() error) (edits []edit, err error) {
	if err := b.allowed(); err != nil {
		return nil, err
	}
	s := b.notes
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edited = nil
	if err := b.refresh(ctx); err != nil {
		return nil, b.trouble(err)
	}
	if err := plan(); err != nil {
		return nil, b.trouble(err)
	}
	for _, name := range s.edited {
		edits = append(edits, edit{name, s.parts[name].data})
	}
	return edits, nil
}

// lock takes the lock under which notes and the queue change.
func (b *Book) lock(ctx context.Context) (unlock func(), err error) {
	dir := b.p.Dir
	if _, err := dir.MkdirAll(locksFolder); err != nil {
		return nil, b.trouble(err)
	}
	lock, err := dir.Lock(ctx, LockFile)
	if err != nil {
		return nil, b.trouble(err)
	}
	unlock = func() { _ = lock.Unlock() }
	if !dir.Exists(ignoreFile) {
		if err := dir.Replace(ignoreFile, []byte("*\n")); err != nil {
			unlock()
			return nil, b.trouble(err)
		}
	}
	return unlock, nil
}

// prepare makes the folder of the notes, and removes what a killed process has left in it.
func (b *Book) prepare() (undo func(), err error) {
	dir, own := b.p.Dir, b.own()
	made, err := dir.MkdirAll(own)
	undo = func() { dir.RemoveEmpty(made) }
	if err != nil {
		return undo, err
	}
	b.notes.mu.Lock()
	temps, known := b.notes.temps, b.notes.attributes
	b.notes.mu.Unlock()
	for _, temp := range temps {
		_ = dir.Remove(own + "/" + temp) // the next write tries again
	}
	name := own + "/" + attributesFile
	info, err := dir.Stat(name)
	if err == nil && known == durable.VersionOf(info) {
		return undo, nil
	}
	have, err := dir.ReadFile(name, maxLine)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return undo, err
	}
	if bytes.Contains([]byte("\n"+string(have)), []byte("\n"+unionLine)) {
		b.notes.mu.Lock()
		defer b.notes.mu.Unlock()
		b.notes.attributes = durable.VersionOf(info)
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

// appendLine returns data with a line after it, which a missing line break does not join.
func appendLine(data, line []byte) []byte {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(slices.Clip(data), '\n')
	}
	return slices.Concat(data, line)
}

func (b *Book) write(edits []edit) error {
	for _, e := range edits {
		name := b.own() + "/" + e.part
		if len(e.data) > 0 {
			if err := b.p.Dir.Replace(name, e.data); err != nil {
				return err
			}
			continue
		}
		if err := b.p.Dir.Remove(name); err != nil {
			return err
		}
		if err := b.p.Dir.Confirm(name); err != nil {
			return err
		}
	}
	return nil
}

// edit gives a part its new bytes, which the change writes at its end. The next refresh reads the
// part again, so that an edit that was not written is forgotten.
func (s *notes) edit(p *part, data []byte) {
	s.set(&part{name: p.name, kind: p.kind, number: p.number}, data)
	if !slices.Contains(s.edited, p.name) {
		s.edited = append(s.edited, p.name)
	}
}

// put writes a line of a type: in the place of an older one if there is room, else at the end of the
// last part. An older line that is kept becomes part of the history. It returns the name of the part.
func (s *notes) put(kind Type, value any, older *line) (name string, err error) {
	var raw []byte
	if older != nil {
		raw = older.raw
	}
	encoded, err := encode(value, raw)
	if err != nil {
		return "", err
	}
	if older != nil && len(older.part.data)-len(raw)+len(encoded) <= max(partLimit, len(older.part.data)) {
		s.replace(map[*line][]byte{older: encoded}, nil)
		return older.part.name, nil
	}
	last := &part{kind: kind, name: partName(kind, 0)}
	for _, p := range s.parts {
		if p.kind == kind && p.number >= last.number {
			last = p
		}
	}
	if last.err != nil {
		return "", last.err
	}
	if len(last.data) > 0 && len(last.data)+1+len(encoded) > partLimit {
		last = &part{kind: kind, number: last.number + 1, name: partName(kind, last.number+1)}
	}
	s.edit(last, appendLine(last.data, encoded))
	return last.name, nil
}

// replace puts other lines in the place of some; an empty one removes its line. All other bytes
// stay. first is the part that is written before the others; nil for any.
func (s *notes) replace(changes map[*line][]byte, first *part) {
	touched := map[*part]bool{}
	for l := range changes {
		touched[l.part] = true
	}
	parts := s.ordered()
	slices.SortStableFunc(parts, func(a, b *part) int { return cmp.Compare(side(b == first), side(a == first)) })
	for _, p := range parts {
		if !touched[p] {
			continue
		}
		var out []byte
		end := 0
		for _, l := range p.lines {
			if replacement, changed := changes[l]; changed {
				out = append(append(out, p.data[end:l.start]...), replacement...)
				end = min(l.start+len(l.raw)+1, len(p.data))
			}
		}
		s.edit(p, append(out, p.data[end:]...))
	}
}

// trouble gives an error of the disk its code, cause and remedy.
func (b *Book) trouble(err error) error {
	var unconfirmed *durable.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		return fault.New(fault.Storage, "the disk did not confirm a change that is already visible: %w", unconfirmed).
			WithHint("a power loss could undo it: check the disk, then look whether the note is there (bmad-mcp memory list) before anything is repeated")
	}
	return store.Trouble(b.p.Dir, err)
}
