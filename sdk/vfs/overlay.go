package vfs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"
	"time"
)

// Overlay reads another file system, and keeps changes in memory. Its methods may be called at the
// same time.
type Overlay struct {
	base FS
	mem  *Mem

	mu sync.Mutex
	// bases has, for each changed file, the hash of the one below it when it was first changed; "" where
	// there was none.
	bases map[string]string
}

// NewOverlay returns an overlay without changes. clock is nil for changes without times.
func NewOverlay(base FS, clock func() time.Time) *Overlay {
	return &Overlay{base: base, mem: NewMem(clock), bases: map[string]string{}}
}

// Read implements FS.
func (o *Overlay) Read(name string) ([]byte, error) {
	data, err := o.mem.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.base.Read(path.Clean(name))
	}
	return data, err
}

// Write implements FS.
func (o *Overlay) Write(name string, data []byte) error {
	name, err := o.free(name, false)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	before, known := o.bases[name]
	if !known {
		if before, err = hashOf(o.base, name); err != nil {
			return err
		}
	}
	if err := o.mem.Write(name, data); err != nil {
		return err
	}
	o.bases[name] = before
	return nil
}

// Mkdir implements FS.
func (o *Overlay) Mkdir(name string) error {
	name, err := o.free(name, true)
	if err != nil {
		return err
	}
	if info, err := o.base.Stat(name); err == nil && info.Dir {
		return nil
	}
	return o.mem.Mkdir(name)
}

// free refuses a path that goes through a file, a file where there is a folder, and what Apply could
// not write.
func (o *Overlay) free(name string, dir bool) (string, error) {
	name, err := Clean(name)
	if err != nil {
		return "", err
	}
	if base, ok := o.base.(interface{ mayWrite(name string) error }); ok {
		if err := base.mayWrite(name); err != nil {
			return "", err
		}
	}
	for at := name; at != "/"; at = path.Dir(at) {
		info, err := o.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", err
		case info.Dir && at == name && !dir:
			return "", fmt.Errorf("%s is a folder", name)
		case !info.Dir && (at != name || dir):
			return "", fmt.Errorf("%s is a file, not a folder", at)
		}
	}
	return name, nil
}

// hashOf returns the hash of a file, "" where there is none.
func hashOf(fsys FS, name string) (string, error) {
	data, err := fsys.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// Stat implements FS.
func (o *Overlay) Stat(name string) (Info, error) {
	name, err := Clean(name)
	if err != nil {
		return Info{}, err
	}
	info, err := o.mem.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Dir {
		if below, e := o.base.Stat(name); e == nil || err != nil {
			below.Given = true
			return below, e
		}
	}
	return info, err
}

// List implements FS.
func (o *Overlay) List(name string) ([]Info, error) {
	name, err := Clean(name)
	if err != nil {
		return nil, err
	}
	below, err := o.base.List(name)
	above, err2 := o.mem.List(name)
	if err2 != nil && !errors.Is(err2, fs.ErrNotExist) {
		return nil, err2
	}
	if err != nil && err2 != nil {
		return nil, err
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all := map[string]Info{}
	for _, info := range above {
		all[info.Path] = info
	}
	for _, info := range below {
		if over, ok := all[info.Path]; !ok || over.Dir {
			info.Given = true
			all[info.Path] = info
		}
	}
	out := slices.Collect(maps.Values(all))
	sortInfos(out)
	return out, nil
}

// Change is a file that an overlay has made or changed.
type Change struct {
	Path string
	// New is true for a file that the base does not have.
	New           bool
	Before, After []byte
	base          string
}

// Changes returns what differs from the base, sorted by path.
func (o *Overlay) Changes() ([]Change, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []Change
	for _, name := range slices.Sorted(maps.Keys(o.bases)) {
		after, err := o.mem.Read(name)
		if err != nil {
			return nil, err
		}
		before, err := o.base.Read(name)
		isNew := errors.Is(err, fs.ErrNotExist)
		if err != nil && !isNew {
			return nil, err
		}
		if isNew || string(before) != string(after) {
			out = append(out, Change{Path: name, New: isNew, Before: before, After: after, base: o.bases[name]})
		}
	}
	return out, nil
}

// ConflictError is a file that somebody has changed below an overlay.
type ConflictError struct{ Path string }

// Error names the file.
func (e *ConflictError) Error() string {
	return e.Path + " was changed by somebody else since the agent began to change it; nothing was written"
}

// Apply writes the changes to the base, and makes new folders, after somebody has seen them. Where a file below was
// changed in the meantime, the error is a *[ConflictError] and nothing is written. Where a write
// fails, those before it stay; Apply can be called again.
func (o *Overlay) Apply(ctx context.Context) error {
	changes, err := o.Changes()
	if err != nil {
		return err
	}
	for _, c := range changes {
		now, err := hashOf(o.base, c.Path)
		if err != nil {
			return err
		}
		if now != c.base {
			return &ConflictError{c.Path}
		}
	}
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := o.base.Write(c.Path, c.After); err != nil {
			return fmt.Errorf("%s cannot be written: %w", c.Path, err)
		}
		now, err := hashOf(o.base, c.Path)
		if err != nil {
			return err
		}
		o.mu.Lock()
		o.bases[c.Path] = now
		o.mu.Unlock()
	}
	walked := walk(o.mem, "/", func(info Info) bool {
		if info.Dir { // which may be empty
			err = o.base.Mkdir(info.Path)
		}
		return err == nil
	})
	return errors.Join(err, walked)
}

// Snapshot returns the changes.
func (o *Overlay) Snapshot() Snapshot {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.mem.Snapshot()
	for n, e := range s.Entries {
		s.Entries[n].Base = o.bases[e.Path]
	}
	return s
}

// Restore replaces the changes.
func (o *Overlay) Restore(s Snapshot) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.mem.Restore(s); err != nil {
		return err
	}
	o.bases = map[string]string{}
	for _, e := range o.mem.Snapshot().Entries {
		if !e.Dir {
			o.bases[e.Path] = ""
		}
	}
	for _, e := range s.Entries {
		if name, err := Clean(e.Path); err == nil && !e.Dir {
			o.bases[name] = e.Base
		}
	}
	return nil
}
