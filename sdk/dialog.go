package sdk

import (
	"context"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// Document is a file made by an agent.
type Document struct {
	Path     string    `json:"path"`
	Content  string    `json:"content"`
	Modified time.Time `json:"modified_at,omitzero"`
}

// MarshalJSON writes a content that is not UTF-8 as base64, below a key of this name.
func (d Document) MarshalJSON() ([]byte, error) {
	type plain Document
	out := struct {
		plain
		Base64 []byte `json:"base64,omitempty"`
	}{plain: plain(d)}
	if !utf8.ValidString(d.Content) {
		out.Base64, out.Content = []byte(d.Content), ""
	}
	return json.Marshal(out)
}

// dialog has what a [Session] and a [Conversation] share.
type dialog struct{ t *thread }

// ID identifies the session.
func (d dialog) ID() string { return d.t.state.ID }

// Pause has the work stop at the next safe point, after the model's answer and the use of all tools in it, and
// saves it.
func (d dialog) Pause(ctx context.Context) error {
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	if d.t.state.Status == Ended || d.t.state.Status == Failed {
		return ErrEnded
	}
	d.t.pausing = true
	d.t.wakeWaiters()
	return d.t.waitUntil(ctx, func() bool { return !d.t.working })
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

// Events returns a channel of the last and all later events. The channel is closed when the session is over, or
// another process has continued it. A slow reader misses events, and learns how many; the session never waits.
func (d dialog) Events() <-chan Event {
	events, _, _ := d.t.follow(0)
	return events
}

// Documents returns the files written by the agent so far.
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
