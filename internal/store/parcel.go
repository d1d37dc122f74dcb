package store

import (
	"context"
	"path"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
)

// Parcel is a session in its stored form, with its texts by their paths.
type Parcel struct {
	ID      string
	Session []byte
	Texts   map[string][]byte
}

// Check refuses texts outside the folder of the session.
func (p Parcel) Check() error {
	for name := range p.Texts {
		if !IsText(p.ID, name) {
			return fault.New(fault.Storage, "run %s has a text at %q, where no store keeps any", p.ID, name).WithHint("remove it; nothing of the run was stored")
		}
	}
	return nil
}

// IsText reports whether a path names a text of a session, on every system. The name may be hidden: file
// managers leave such files beside the texts.
func IsText(id, name string) bool {
	folder, base := path.Split(name)
	return folder == ContentFolder(id)+"/" && artifact.IsName(strings.TrimPrefix(base, ".")) && len(base) <= 255 && !strings.Contains(base, ":")
}

// Carrier is a backend from which, and to which, sessions are moved as they are.
type Carrier interface {
	Backend
	// Take returns a session with its texts.
	Take(ctx context.Context, id string) (Parcel, error)
	// Bring stores a session in place of the one whose stored form has the hash over; "" if there must be
	// none. If another form is stored, or another session has the task name, nothing is stored: a Conflict.
	// A text whose path is in use stays unchanged.
	Bring(ctx context.Context, p Parcel, over string) error
}
