package memory

import (
	"bytes"
	"time"
)

// Impatient bounds the wait for the lock.
func (b *Book) Impatient(wait time.Duration) { b.p.Dir.LockTimeout = wait }

// Pad makes a file of notes longer by a line of spaces, which says nothing.
func (b *Book) Pad(name string, size int) error {
	data, err := b.p.Dir.ReadFile(b.notes.File(name), 16<<20)
	if err != nil {
		return err
	}
	return b.p.Dir.Replace(b.notes.File(name), append(append(data, bytes.Repeat([]byte(" "), size-len(data)-1)...), '\n'))
}

// Exists reports whether the project has a folder of notes.
func (b *Book) Exists() bool { return b.notes.Exists() }
