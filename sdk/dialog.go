package sdk

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// Document is a file that an agent has made.
type Document struct {
	Path     string    `json:"path"`
	Content  string    `json:"content"`
	Modified time.Time `json:"modified_at,omitzero"`
}

// dialog has what a [Session] and a [Conversation] share.
type dialog struct{ t *thread }

// ID identifies the session.
func (d dialog) ID() string { return d.t.state.ID }

// Pause has the work stop at the next safe point, after the model's answer and the tools that it uses, and
// saves it.
func (d dialog) Pause(ctx context.Context) error {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	if d.t.state.Status == Ended || d.t.state.Status == Failed {
		return ErrEnded
	}
	d.t.pausing = true
	d.t.wake()
	return d.t.until(ctx, func() bool { return !d.t.working })
}

// Questions returns the open questions, the oldest first.
func (d dialog) Questions() []Question {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	return append([]Question(nil), d.t.state.Questions...)
}

// Status returns the state of the session.
func (d dialog) Status() Status {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	if d.t.working && d.t.state.Status == Idle { // the turn is being saved
		return Processing
	}
	return d.t.state.Status
}

// Events returns a channel of the last events and those to come. It is closed when the session is
// over, or another process has continued it. A reader that is slow misses events, and is told how
// many; the session never waits.
func (d dialog) Events() <-chan Event {
	events, _, _ := d.t.follow(0)
	return events
}

// Documents returns the files that the agent has written so far.
func (d dialog) Documents() []Document {
	out := []Document{}
	for _, info := range d.t.madeFiles() {
		if data, err := d.t.files.Read(info.Path); err == nil {
			out = append(out, Document{Path: info.Path, Content: string(data), Modified: info.Modified})
		}
	}
	return out
}

// Files returns the agent's files.
func (d dialog) Files() vfs.FS { return d.t.files }

// Costs returns the costs so far.
func (d dialog) Costs() price.Report { return d.t.budget.Report() }
