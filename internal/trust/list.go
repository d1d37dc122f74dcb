package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// list is a file of the folder with one list under a key.
type list[T comparable] struct {
	file, key string
	// effect is the consequence of an unreadable file, remedy how to start over.
	effect, remedy lang.Text
}

// readList returns the list; it is empty if there is no file.
func (l list[T]) readList(u UserState) (out []T, err error) {
	err = u.withExisting(func(d dir) error {
		out, err = l.readFrom(d)
		return err
	})
	return out, err
}

func (l list[T]) readFrom(d dir) (out []T, err error) {
	data, exists, err := d.readIfExists(l.file)
	if !exists {
		return nil, nil
	}
	var keys map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(data, &keys)
	}
	if value := keys[l.key]; err == nil && value != nil {
		err = json.Unmarshal(value, &out)
	}
	if err != nil {
		return nil, fault.New(fault.Storage, "%s cannot be read, so %s: %w", d.Join(l.file), l.effect, err).
			WithHint("correct it, or move it away and %s", l.remedy)
	}
	return out, nil
}

// change replaces the list under the lock, unless it stays the same. A broken file is left
// to the person: overwriting it would lose their decisions.
func (l list[T]) change(ctx context.Context, d dir, to func([]T) ([]T, error)) error {
	lock, err := d.Lock(ctx, lockName)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	before, err := l.readFrom(d)
	if err != nil {
		return err
	}
	after, err := to(slices.Clone(before))
	if err != nil {
		return err
	}
	if slices.Equal(before, after) {
		return d.SyncDir(".") // the last writer may have crashed before this step
	}
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false) // people should recognize their &&
	enc.SetIndent("", "  ")
	if err := enc.Encode(map[string][]T{l.key: after}); err != nil {
		return err
	}
	return d.Replace(l.file, data.Bytes())
}

// addOrAmend adds an entry, or amends the matching one, and reports whether there was none.
func (l list[T]) addOrAmend(ctx context.Context, u UserState, entry T, match func(T) bool, amend func(*T)) (added bool, err error) {
	err = u.withFolder(func(d dir) error {
		return l.change(ctx, d, func(list []T) ([]T, error) {
			at := slices.IndexFunc(list, match)
			if added = at < 0; added {
				return append(list, entry), nil
			}
			amend(&list[at])
			return list, nil
		})
	})
	return added, err
}

// remove takes entries off the list, if there is one, and returns how many.
func (l list[T]) remove(ctx context.Context, u UserState, match func(T) bool) (n int, err error) {
	err = u.withExisting(func(d dir) error {
		n, err = l.removeFrom(ctx, d, match)
		return err
	})
	return n, err
}

func (l list[T]) removeFrom(ctx context.Context, d dir, match func(T) bool) (n int, err error) {
	err = l.change(ctx, d, func(list []T) ([]T, error) {
		rest := slices.DeleteFunc(slices.Clone(list), match)
		n = len(list) - len(rest)
		return rest, nil
	})
	return n, err
}
