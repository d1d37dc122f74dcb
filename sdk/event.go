package sdk

import (
	"sync"
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

// Event is something that happened in a session. Fields that its type does not need are empty.
type Event struct {
	// Seq counts the events of a session from 1, across processes.
	Seq  int64     `json:"seq,omitempty"`
	At   time.Time `json:"at"`
	Type EventType `json:"type"`
	// Turn is the number of the turn, from 1; Agent names a sub-agent.
	Turn  int    `json:"turn,omitempty"`
	Agent string `json:"agent,omitempty"`
	// Text is a piece of the answer, the person's message, the agent's whole answer, a warning or
	// the reason of a failure.
	Text     string    `json:"text,omitempty"`
	Tool     *ToolCall `json:"tool,omitempty"`
	Question *Question `json:"question,omitempty"`
	Cost     *Cost     `json:"cost,omitempty"`
	// Attempt and AfterMS say which call is coming, and after which wait.
	Attempt int   `json:"attempt,omitempty"`
	AfterMS int64 `json:"after_ms,omitempty"`
	// Dropped is how many events a slow reader has missed. They are in the transcript.
	Dropped int `json:"dropped,omitempty"`
}

// Cost is the amount that was spent at an event, in nano-dollars.
type Cost struct {
	// Call is the price of the last call; nil if it is not known.
	Call  *int64 `json:"call_nano_usd,omitempty"`
	Spent int64  `json:"spent_nano_usd"`
	Limit int64  `json:"limit_nano_usd,omitempty"`
	// Percent is the part of the limit that a warning is about.
	Percent int `json:"percent,omitempty"`
	// Tokens are those of the prompt and of the answer.
	Prompt int64 `json:"prompt_tokens,omitempty"`
	Output int64 `json:"output_tokens,omitempty"`
}

const (
	// kept is how many saved events a session keeps for readers to come.
	kept = 128
	// behind is how many events a reader may be behind.
	behind = 256
)

// hub hands the events of a session to its readers. It never waits for them.
type hub struct {
	mu  sync.Mutex
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
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Type != EventTextDelta {
		h.seq++
		e.Seq = h.seq
		h.unsaved++
		if h.recent = append(h.recent, e); len(h.recent) > 2*max(kept, h.unsaved) {
			h.recent = append([]Event(nil), h.recent[len(h.recent)-max(kept, h.unsaved):]...)
		}
	}
	for r := range h.readers {
		r.send(e)
	}
}

// send leaves room for the event that reports missed ones.
func (r *reader) send(e Event) {
	if r.missed > 0 && len(r.to) < cap(r.to)-1 {
		r.to <- Event{At: e.At, Type: EventDropped, Dropped: r.missed}
		r.missed = 0
	}
	if r.missed > 0 || len(r.to) == cap(r.to) {
		r.missed++
		return
	}
	r.to <- e
}

// follow returns a channel of the recent events after one, and of those to come. first is the
// number of the first event that the channel can have.
func (h *hub) follow(after int64) (events <-chan Event, first int64, stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &reader{to: make(chan Event, len(h.recent)+behind)}
	first = h.seq + 1
	if len(h.recent) > 0 {
		first = h.recent[0].Seq
	}
	for _, e := range h.recent {
		if e.Seq > after {
			r.to <- e
		}
	}
	if h.closed {
		close(r.to)
		return r.to, first, func() {}
	}
	if h.readers == nil {
		h.readers = map[*reader]bool{}
	}
	h.readers[r] = true
	return r.to, first, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.readers[r] {
			delete(h.readers, r)
			close(r.to)
		}
	}
}

// toSave returns the events that are not saved, and a function to call once they are.
func (h *hub) toSave() (events []Event, saved func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	events = append(events, h.recent[len(h.recent)-h.unsaved:]...)
	return events, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.unsaved -= len(events)
	}
}

// close ends the channels of all readers.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for r := range h.readers {
		close(r.to)
	}
	h.readers = nil
}
