package sdk

import (
	"context"
	"slices"
	"time"
)

// EventType is the kind of an event.
type EventType string

// The kinds of events. A text_delta is not saved, and dropped is for one reader only.
const (
	EventStarted       EventType = "started"
	EventTurnStarted   EventType = "turn_started"
	EventTextDelta     EventType = "text_delta"
	EventToolStarted   EventType = "tool_started"
	EventToolFinished  EventType = "tool_finished"
	EventQuestion      EventType = "question"
	EventAnswered      EventType = "answered"
	EventTurnCompleted EventType = "turn_completed"
	EventIdle          EventType = "idle"
	EventCost          EventType = "cost"
	EventCostWarning   EventType = "cost_warning"
	EventWarning       EventType = "warning"
	EventRetry         EventType = "retry"
	EventPaused        EventType = "paused"
	EventResumed       EventType = "resumed"
	EventCompleted     EventType = "completed"
	EventFailed        EventType = "failed"
	EventDropped       EventType = "dropped"
)

// Event is a fact of a session's life. Fields without a meaning for the type are empty.
type Event struct {
	// Seq counts the events of a session from 1, across processes.
	Seq  int64     `json:"seq,omitempty"`
	At   time.Time `json:"at"`
	Type EventType `json:"type"`
	// Turn is the number of the turn, from 1; Agent names a sub-agent.
	Turn  int    `json:"turn,omitempty"`
	Agent string `json:"agent,omitempty"`
	// MessageID is the caller's id of the message or answer, as of [WithMessageID].
	MessageID string `json:"message_id,omitempty"`
	// Text is a piece of the answer, the person's message, the agent's whole answer, a warning or
	// the reason of a failure.
	Text     string    `json:"text,omitempty"`
	Tool     *ToolCall `json:"tool,omitempty"`
	Question *Question `json:"question,omitempty"`
	Cost     *Cost     `json:"cost,omitempty"`
	// Attempt and AfterMS say which call is coming, and after which wait; Attempt of a warning, which one of the
	// [MaxRepairs] for an unfit answer.
	Attempt int   `json:"attempt,omitempty"`
	AfterMS int64 `json:"after_ms,omitempty"`
	// Dropped is how many events a slow reader has missed. They are in the transcript.
	Dropped int `json:"dropped,omitempty"`
}

// Cancelled is the text of an EventFailed for a cancelled turn.
const Cancelled = "cancelled by the user"

type messageKey struct{}

// WithMessageID returns a context in which [Conversation.Send] and [Conversation.Answer] record the caller's id of the
// message, in the event of its turn or answer: a caller can then find out what became of it, in any process.
func WithMessageID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, messageKey{}, id)
}

// messageIn returns the id of a message, "" if it has none.
func messageIn(ctx context.Context) string {
	id, _ := ctx.Value(messageKey{}).(string)
	return id
}

// Cost is the amount spent at an event, in nano-dollars.
type Cost struct {
	// Call is the price of the last call; nil if it is not known.
	Call  *int64 `json:"call_nano_usd,omitempty"`
	Spent int64  `json:"spent_nano_usd"`
	Limit int64  `json:"limit_nano_usd,omitempty"`
	// Percent is the part of the limit in a warning.
	Percent int `json:"percent,omitempty"`
	// Prompt and Output count tokens of the prompt and of the answer.
	Prompt int64 `json:"prompt_tokens,omitempty"`
	Output int64 `json:"output_tokens,omitempty"`
}

const (
	// kept is how many saved events a session keeps for readers to come.
	kept = 128
	// behind is how many events a reader may be behind.
	behind = 256
)

// hub hands the events of a session to readers, and never waits for one. The session's lock guards it.
type hub struct {
	seq int64
	// recent are the last events, of which the last unsaved ones are not in the store.
	recent  []Event
	unsaved int
	readers map[*reader]bool
	closed  bool
}

type reader struct {
	to     chan Event
	missed int
}

// publish numbers an event and hands it out.
func (h *hub) publish(e Event) {
	if e.Type != EventTextDelta {
		h.seq++
		e.Seq = h.seq
		h.unsaved++
		if h.recent = append(h.recent, e); len(h.recent) > 2*max(kept, h.unsaved) {
			h.recent = slices.Clone(h.recent[len(h.recent)-max(kept, h.unsaved):])
		}
	}
	for r := range h.readers {
		r.send(e)
	}
}

// send leaves room for the event that reports missed ones. The pieces of an answer leave more: no loop can
// answer a question lost to them.
func (r *reader) send(e Event) {
	room := cap(r.to) - len(r.to)
	if e.Type == EventTextDelta {
		room -= behind / 2
	}
	if r.missed > 0 && room > 1 {
		r.to <- Event{At: e.At, Type: EventDropped, Dropped: r.missed}
		r.missed = 0
	}
	if r.missed > 0 || room < 1 {
		r.missed++
		return
	}
	r.to <- e
}

// addReader returns a reader of the recent events after seq after, and of all later ones.
func (h *hub) addReader(after int64) *reader {
	r := &reader{to: make(chan Event, len(h.recent)+behind)}
	for _, e := range h.recent {
		if e.Seq > after {
			r.to <- e
		}
	}
	if h.readers == nil {
		h.readers = map[*reader]bool{}
	}
	h.readers[r] = true
	if h.closed {
		h.removeReader(r)
	}
	return r
}

// firstSeq returns the number of the first event for a new reader.
func (h *hub) firstSeq() int64 {
	if len(h.recent) > 0 {
		return h.recent[0].Seq
	}
	return h.seq + 1
}

// removeReader ends the channel of a reader.
func (h *hub) removeReader(r *reader) {
	if h.readers[r] {
		delete(h.readers, r)
		close(r.to)
	}
}

// toSave returns the unsaved events.
func (h *hub) toSave() []Event { return slices.Clone(h.recent[len(h.recent)-h.unsaved:]) }

// close ends the channels of all readers.
func (h *hub) close() {
	h.closed = true
	for r := range h.readers {
		h.removeReader(r)
	}
}
