package sdkhttp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/httpguard"
	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// stream writes events to a client as they happen.
type stream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	// lines is true for one JSON value a line, else the stream is one of server-sent events.
	lines bool
}

// openStream begins a stream. done ends it.
func (h *Handler) openStream(w http.ResponseWriter, r *http.Request, lines bool, id string) (s *stream, done func(), err error) {
	done, ok := h.limiter.Stream(httpguard.VisitorOf(r).Address, id)
	if !ok {
		return nil, nil, errStreams
	}
	w = h.limiter.Pace(w, true)
	kind := "text/event-stream"
	if lines {
		kind = "application/x-ndjson"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Accel-Buffering", "no") // proxies pass events on at once
	w.WriteHeader(http.StatusOK)
	s = &stream{w: w, flush: http.NewResponseController(w), lines: lines}
	return s, done, s.flush.Flush()
}

// send writes an event.
func (s *stream) send(id int64, name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	switch {
	case s.lines:
		_, err = fmt.Fprintf(s.w, "%s\n", text)
	case id > 0:
		_, err = fmt.Fprintf(s.w, "id: %d\nevent: %s\ndata: %s\n\n", id, name, text)
	default:
		_, err = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, text)
	}
	if err != nil {
		return err
	}
	return s.flush.Flush()
}

// ping shows that the server is there.
func (s *stream) ping() error {
	text := ": ping\n\n"
	if s.lines {
		text = "\n"
	}
	if _, err := fmt.Fprint(s.w, text); err != nil {
		return err
	}
	return s.flush.Flush()
}

// after returns the number of the last event that the client has.
func after(r *http.Request) (int64, error) {
	given, field := r.Header.Get("Last-Event-ID"), "Last-Event-ID"
	if given == "" {
		given, field = r.URL.Query().Get("after"), "after"
	}
	if given == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(given, 10, 64)
	if err != nil || n < 0 {
		return 0, invalid(field, "has to be the number of an event")
	}
	return n, nil
}

// events streams the events of a conversation, until it has ended.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) error {
	from, err := after(r)
	if err != nil {
		return err
	}
	e, release, err := h.hold(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	defer release()
	if over(e.Status()) {
		saved, err := h.o.Client.Transcript(r.Context(), e.ID())
		if err != nil {
			return err
		}
		if n := len(saved); n == 0 || saved[n-1].Seq <= from {
			w.WriteHeader(http.StatusNoContent) // a browser then stops to connect again
			return nil
		}
	}
	s, done, err := h.openStream(w, r, accepts(r, ndjson), e.ID())
	if err != nil {
		return err
	}
	defer done()
	// The response has begun: an error can only end it.
	_ = h.follow(r.Context(), e, from, func() error { return s.ping() }, func(event sdk.Event) (bool, error) {
		ends := event.Type == sdk.EventCompleted || event.Type == sdk.EventFailed
		return ends && event.Agent == "" && over(e.Status()), s.send(event.Seq, string(event.Type), eventOf(event))
	})
	return nil
}

// over reports whether a conversation with a status has no more events.
func over(s sdk.Status) bool { return s == sdk.Ended || s == sdk.Failed }

// follow hands on the events of a conversation after one, until each reports the last, there is an
// error, the context ends, or another process has continued the conversation. If a reader is too
// slow, it misses pieces of text only: numbered events are read again.
func (h *Handler) follow(ctx context.Context, e *entry, from int64, ping func() error, each func(sdk.Event) (last bool, err error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.live, func() { cancel(errClosing) })()
	for {
		past, live, stop, err := e.Follow(ctx, from)
		if err != nil {
			return err
		}
		missed := false
		take := func(event sdk.Event) (bool, error) {
			from = max(from, event.Seq)
			missed = event.Type == sdk.EventDropped
			last, err := each(event)
			return last || missed && err == nil, err
		}
		last := false
		for n := 0; n < len(past) && !last && err == nil; n++ {
			last, err = take(past[n])
		}
		if !last && err == nil {
			err = pump(ctx, h.o.Ping, live, ping, take)
		}
		stop()
		if !missed || err != nil {
			return err
		}
	}
}

// pump hands on events, with pings between, until each reports the last one, or from is closed.
func pump[T any](ctx context.Context, pause time.Duration, from <-chan T, ping func() error, each func(T) (last bool, err error)) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case event, open := <-from:
			if !open {
				return nil
			}
			if last, err := each(event); last || err != nil {
				return err
			}
		case <-tick.C:
			if err := ping(); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// The types of streams.
const (
	ndjson = "application/x-ndjson"
	sse    = "text/event-stream"
)

// accepts reports whether a client asks for a type by its name.
func accepts(r *http.Request, kind string) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept"), ",")), kind)
}
