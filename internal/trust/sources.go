package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"bmad-mcp/internal/fault"
)

const sourcesFile = "sources.json"

// Source is a git repository that the person has added. Its address may have credentials, so
// it is kept with what nobody else may read.
type Source struct {
	URL     string    `json:"url"`
	AddedAt time.Time `json:"added_at"`
}

// sources is the file's form.
type sources struct {
	Sources []Source `json:"sources"`
}

// Sources returns the repositories that the person has added, in the order in which they were.
func (f Folder) Sources() ([]Source, error) {
	d, err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.trouble(err)
	}
	defer func() { _ = d.Close() }()
	list, err := d.sources()
	return list, f.trouble(err)
}

func (d dir) sources() ([]Source, error) {
	data, there, err := d.read(sourcesFile)
	if !there {
		return nil, nil
	}
	var list sources
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil, fault.New(fault.Storage, "%s cannot be read, so no repository is used: %w", d.Join(sourcesFile), err).
			WithHint("correct it, or move it away and add the repositories again")
	}
	return list.Sources, nil
}

// AddSource adds a repository, and reports whether it was not there yet.
func (f Folder) AddSource(ctx context.Context, s Source) (added bool, err error) {
	d, err := f.make()
	if err != nil {
		return false, f.trouble(err)
	}
	defer func() { _ = d.Close() }()
	err = d.changeSources(ctx, func(list []Source) []Source {
		if slices.ContainsFunc(list, func(have Source) bool { return have.URL == s.URL }) {
			return list
		}
		added = true
		return append(list, s)
	})
	return added, f.trouble(err)
}

// RemoveSource removes the repositories that match, and returns how many there were.
func (f Folder) RemoveSource(ctx context.Context, matches func(url string) bool) (removed int, err error) {
	d, err := f.open()
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, f.trouble(err)
	}
	defer func() { _ = d.Close() }()
	err = d.changeSources(ctx, func(list []Source) []Source {
		rest := slices.DeleteFunc(slices.Clone(list), func(s Source) bool { return matches(s.URL) })
		removed = len(list) - len(rest)
		return rest
	})
	return removed, f.trouble(err)
}

// changeSources replaces the list under the lock, unless it stays the same.
func (d dir) changeSources(ctx context.Context, to func([]Source) []Source) error {
	lock, err := d.Lock(ctx, lockName)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	before, err := d.sources()
	if err != nil {
		return err
	}
	after := to(slices.Clone(before))
	if slices.Equal(before, after) {
		return d.SyncDir(".")
	}
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(sources{after}); err != nil {
		return err
	}
	return d.Replace(sourcesFile, data.Bytes())
}
