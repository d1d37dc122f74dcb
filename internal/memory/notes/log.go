package notes

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

const (
	// LockFile is held while notes or the queue change.
	LockFile = locksFolder + "/memory.lock"

	locksFolder = store.Folder + "/locks"
)

// Log is lines of any kind that are only appended, in files named after the first.
type Log struct {
	dir   *durable.Dir
	first string
	last  []byte // the newest part
	parts int
}

// ReadLog reads a log, and calls a function with each line, except empty ones.
func ReadLog(dir *durable.Dir, first string, read func(part string, number int, line []byte)) (*Log, error) {
	out := &Log{dir: dir, first: first}
	for ; ; out.parts++ {
		name := PartName(first, out.parts)
		data, err := dir.ReadFile(name, maxPart)
		if errors.Is(err, fs.ErrNotExist) {
			return out, nil
		}
		if err != nil {
			return nil, diskError(dir, err)
		}
		out.last = data
		number := 0
		for raw := range bytes.Lines(data) {
			number++
			if raw = bytes.TrimSpace(bytes.TrimPrefix(raw, byteOrderMark)); len(raw) > 0 {
				read(name, number, raw)
			}
		}
	}
}

// Append writes a line behind the others. The caller holds the lock since it has read the log.
func (l *Log) Append(value any) error {
	encoded, err := encodeLine(value, nil)
	if err != nil {
		return err
	}
	n, last := max(l.parts-1, 0), l.last
	if !hasRoom(last, encoded) {
		n, last = n+1, nil
	}
	return diskError(l.dir, l.dir.Replace(PartName(l.first, n), appendLine(last, encoded)))
}

// Lock takes the lock under which notes and the queue change.
func Lock(ctx context.Context, dir *durable.Dir) (unlock func(), err error) {
	if _, err := dir.MkdirAll(locksFolder); err != nil {
		return nil, diskError(dir, err)
	}
	lock, err := dir.Lock(ctx, LockFile)
	if err != nil {
		return nil, diskError(dir, err)
	}
	unlock = func() { _ = lock.Unlock() }
	if err := dir.Ignore(store.Folder); err != nil {
		unlock()
		return nil, diskError(dir, err)
	}
	return unlock, nil
}

// diskError gives an error of the disk a code, cause and remedy.
func diskError(dir *durable.Dir, err error) error {
	var unconfirmed *durable.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		return fault.New(fault.Storage, "the disk did not confirm a change that is already visible: %w", unconfirmed).
			WithHint("a power loss could undo it: check the disk, then look whether the note is there (bmad-mcp memory list) before anything is repeated")
	}
	return store.Trouble(dir, err)
}
