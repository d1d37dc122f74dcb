package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
)

// readJSON reads a file of the folder; one that is not there leaves the value as it is.
func (d dir) readJSON(name string, into any) error {
	data, there, err := d.read(name)
	if !there || err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// change replaces a list of the folder under the lock, unless it stays the same. A broken one
// is left to the person: writing over it would lose what they have said. form is what the
// file holds.
func change[T comparable](ctx context.Context, d dir, file string, read func() ([]T, error), to func([]T) []T, form func([]T) any) error {
	lock, err := d.Lock(ctx, lockName)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	before, err := read()
	if err != nil {
		return err
	}
	after := to(slices.Clone(before))
	if slices.Equal(before, after) {
		return d.SyncDir(".") // whoever changed it may not have come as far
	}
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false) // a person should know their && again
	enc.SetIndent("", "  ")
	if err := enc.Encode(form(after)); err != nil {
		return err
	}
	return d.Replace(file, data.Bytes())
}
