package vfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Overlay reads another file system, and keeps changes in memory. Methods may be called at the same time.
type Overlay struct{ *layer }

// NewOverlay returns an overlay without changes. clock is nil if changes have no times.
func NewOverlay(base FS, clock func() time.Time) *Overlay { return &Overlay{newLayer(base, clock)} }

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Change is a file made or changed in an overlay.
type Change struct {
	Path string
	// New is true for a file without one in the base.
	New           bool
	Before, After []byte
	// conflict is true if the base has another file than at the change.
	conflict bool
}

// Changes returns the differences from the base, sorted by path.
func (o *Overlay) Changes() ([]Change, error) {
	var out []Change
	for _, n := range o.sortedNodes() {
		if n.info.Dir {
			continue
		}
		before, err := o.base.Read(n.info.Path)
		isNew, now := errors.Is(err, fs.ErrNotExist), ""
		switch {
		case err == nil:
			now = hash(before)
		case !isNew:
			return nil, err
		}
		if isNew || !bytes.Equal(before, n.data) {
			out = append(out, Change{Path: n.info.Path, New: isNew, Before: before, After: bytes.Clone(n.data),
				conflict: now != n.below})
		}
	}
	return out, nil
}

// ConflictError is a file changed by somebody below an overlay.
type ConflictError struct{ Path string }

// Error names the file.
func (e *ConflictError) Error() string {
	return e.Path + " was changed by somebody else since the agent began to change it; nothing was written"
}

// Apply writes the changes to the base, and makes new folders, after somebody has seen them. If a file below
// was changed in the meantime, the error is a *[ConflictError] and nothing is written. If a write fails,
// earlier ones stay; Apply can be called again.
func (o *Overlay) Apply(ctx context.Context) error {
	changes, err := o.Changes()
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.conflict {
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
		o.mu.Lock()
		if n := o.nodes[c.Path]; n != nil { // it may have been restored meanwhile
			applied := *n
			applied.below = hash(c.After)
			o.insertNode(&applied)
		}
		o.mu.Unlock()
	}
	for _, n := range o.sortedNodes() {
		if n.info.Dir { // which may be empty
			if err := o.base.Mkdir(n.info.Path); err != nil {
				return err
			}
		}
	}
	return nil
}
