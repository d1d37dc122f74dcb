package memory

import (
	"bytes"
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

// edit gives a part its new bytes; none remove it.
type edit struct {
	part string
	data []byte
}

// change runs a function on the notes as they are now, under the lock, and writes the edits that
// it returns, one part after the other.
func (b *Book) change(ctx context.Context, plan func() ([]edit, error)) (err error) {
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

// changeKnown is change for notes that have to exist: where they do not, it leaves no trace.
func (b *Book) changeKnown(ctx context.Context, plan func() ([]edit, error)) error {
	if err := b.allowed(); err != nil {
		return err
	}
	if edits, err := b.plan(ctx, plan); err != nil || len(edits) == 0 {
		return err
	}
	return b.change(ctx, plan)
}

// plan runs a function on the notes as they are now.
func (b *Book) plan(ctx context.Context, plan func() ([]edit, error)) ([]edit, error) {
	b.notes.mu.Lock()
	defer b.notes.mu.Unlock()
	if err := b.refresh(ctx); err != nil {
		return nil, b.trouble(err)
	}
	edits, err := plan()
	return edits, b.trouble(err)
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
	if hasLine(have, unionLine) {
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

func hasLine(text []byte, want string) bool {
	for l := range bytes.Lines(text) {
		if string(bytes.TrimSpace(l)) == want {
			return true
		}
	}
	return false
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

// put returns the edit that writes a line of a type: in the place of an older one if there is
// room, else at the end of the last part. An older line that stays is no longer the latest.
func (s *notes) put(kind Type, value any, older *line) (edit, error) {
	var raw []byte
	if older != nil {
		raw = older.raw
	}
	encoded, err := encode(value, raw)
	if err != nil {
		return edit{}, err
	}
	if older != nil && len(older.part.data)-len(raw)+len(encoded) <= max(partLimit, len(older.part.data)) {
		return edit{older.part.name, older.part.with(map[*line][]byte{older: encoded})}, nil
	}
	last := &part{kind: kind, name: partName(kind, 0)}
	for _, p := range s.parts {
		if p.kind == kind && (p.number >= last.number) {
			last = p
		}
	}
	if last.err != nil {
		return edit{}, last.err
	}
	if len(last.data) > 0 && len(last.data)+1+len(encoded) > partLimit {
		last = &part{kind: kind, name: partName(kind, last.number+1)}
	}
	return edit{last.name, appendLine(last.data, encoded)}, nil
}

// apply takes an edit into the notes before it is written: more edits can follow it. The next
// refresh reads the part again, so that an edit that was not written is forgotten.
func (s *notes) apply(e edit) {
	kind, number, _ := parsePart(e.part)
	s.set(&part{name: e.part, kind: kind, number: number}, e.data)
}

// with returns the bytes of the part with other lines in the place of some; an empty one removes
// its line. All other bytes stay.
func (p *part) with(changes map[*line][]byte) []byte {
	var out []byte
	end := 0
	for _, l := range p.lines {
		replacement, changed := changes[l]
		if !changed {
			continue
		}
		out = append(out, p.data[end:l.start]...)
		out = append(out, replacement...)
		end = min(l.start+len(l.raw)+1, len(p.data))
	}
	return append(out, p.data[end:]...)
}

// trouble gives an error of the disk its code, cause and remedy.
func trouble(dir *durable.Dir, err error) error {
	var unconfirmed *durable.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		return fault.New(fault.Storage, "the disk did not confirm a change that is already visible: %w", unconfirmed).
			WithHint("a power loss could undo it: check the disk, then look whether the note is there (bmad-mcp memory list) before anything is repeated")
	}
	return store.Trouble(dir, err)
}
