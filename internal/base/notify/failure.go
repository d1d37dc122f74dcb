package notify

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// Failure is the last notice, if it did not arrive.
type Failure struct {
	At     time.Time `json:"at"`
	Target string    `json:"target"`
	Why    string    `json:"why"`
}

// failureFile is the file of the failure, in the person's state folder.
const failureFile = "notify.json"

// maxFailure bounds the file, in bytes.
const maxFailure = 16 << 10

// Keep keeps the failure in the person's state folder, which is made if it is missing.
func (f Failure) Keep(state string) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	dir, err := durable.OpenPrivateDir(state)
	if err != nil {
		return err
	}
	return errors.Join(dir.Replace(failureFile, append(text, '\n')), dir.Close())
}

// Forget drops the kept failure: a later notice has arrived.
func Forget(state string) error {
	dir, err := durable.OpenDir(state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if dir.Exists(failureFile) {
		err = dir.Remove(failureFile)
	}
	return errors.Join(err, dir.Close())
}

// LastFailure returns the kept failure; ok is false if the last notice has arrived.
func LastFailure(state string) (f Failure, ok bool) {
	dir, err := durable.OpenDir(state)
	if err != nil {
		return f, false
	}
	defer func() { _ = dir.Close() }() // nothing was written
	text, err := dir.ReadFile(failureFile, maxFailure)
	return f, err == nil && json.Unmarshal(text, &f) == nil
}
