package trust

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TypedFor is the time for which a typed decision is valid: long enough for an assistant to read the status first,
// too short to be forgotten.
const TypedFor = 5 * time.Minute

// typedFolder holds the unused typed decisions, one for a session.
const typedFolder = "typed"

// TypedGate is the one gate of a typed decision.
type TypedGate struct {
	// Project is the place of the project's sessions, as checkpoints have it.
	Project   string           `json:"project"`
	SessionID string           `json:"session_id"`
	Stage     workflow.StageID `json:"stage"`
	Revision  int              `json:"revision"`
	// SHA256 is the hash of the draft.
	SHA256   string            `json:"sha256"`
	Action   workflow.Action   `json:"action"`
	Decision workflow.Decision `json:"decision"`
}

// Typed is a decision typed by a person as a command of their host. It is used once.
type Typed struct {
	TypedGate
	// Words are the text typed after the command and the name of the task.
	Words string `json:"words,omitempty"`
	// Host is the host's conversation in which it was typed.
	Host string    `json:"host_session,omitempty"`
	At   time.Time `json:"at"`
}

// fileName returns the file's name: a session has one decision at a time.
func (g TypedGate) fileName() string {
	return typedFolder + "/" + workflow.Hash([]byte(g.Project + "\n" + g.SessionID))[:32] + ".json"
}

// PutTyped keeps a decision until it is taken. It replaces an earlier one for the session.
func (u UserState) PutTyped(t Typed) error {
	t.Project = placeOf(t.Project)
	return u.withFolder(func(d dir) error {
		d.sweepTyped(t.At)
		return d.writeJSON(t.fileName(), t)
	})
}

// TakeTyped takes the decision for a gate away, if one was typed for exactly this gate and not too long ago: of
// several callers one gets it. If the decision needs words, it leaves one without words alone.
func (u UserState) TakeTyped(ctx context.Context, gate TypedGate, needsWords bool, now time.Time) (words string, ok bool, err error) {
	err = u.withExisting(func(d dir) error {
		if !d.Exists(typedFolder) {
			return nil
		}
		gate.Project = placeOf(gate.Project)
		var t Typed
		if d.readJSON(gate.fileName(), &t) != nil || !t.isFor(gate, needsWords, now) || ctx.Err() != nil {
			return nil // an unreadable file is not a decision
		}
		// Renaming decides which caller gets the decision; it is read again, since another could have come in its
		// place.
		mine := typedFolder + "/" + durable.TempName(path.Base(gate.fileName()))
		if err := d.Rename(gate.fileName(), mine); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		t = Typed{}
		if err := errors.Join(d.readJSON(mine, &t), d.Remove(mine)); err != nil {
			return err
		}
		words, ok = t.Words, t.isFor(gate, needsWords, now)
		return nil
	})
	return words, ok, err
}

// isFor reports whether a decision is for a gate, at a time.
func (t Typed) isFor(gate TypedGate, needsWords bool, now time.Time) bool {
	age := now.Sub(t.At)
	if needsWords && visible.Trim(t.Words) == "" {
		return false
	}
	return t.TypedGate == gate && gate.SHA256 != "" && age >= -time.Second && age < TypedFor
}

// sweepTyped removes expired decisions, as far as the disk permits.
func (d dir) sweepTyped(now time.Time) {
	entries, err := d.ReadDir(typedFolder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > 2*TypedFor {
			_ = d.Remove(typedFolder + "/" + e.Name())
		}
	}
}
