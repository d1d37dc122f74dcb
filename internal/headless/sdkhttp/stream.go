package sdkhttp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// stream writes server-sent events to a client as they happen. A nil one drops them.
type stream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	// done makes room for another stream.
	done func()
}

// openStream begins a stream.
func (h *Handler) openStream(c *call, id string) (*stream, error) {
	done, ok := h.limiter.Stream(httpguard.VisitorOf(c.r).Address, id)
	if !ok {
		return nil, errStreams
	}
	w := h.limiter.Pace(c.w, true)
	s := &stream{w: w, flush: http.NewResponseController(w), done: done}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies pass events on at once
	w.WriteHeader(http.StatusOK)
	_ = s.flush.Flush() // a lost client is noticed at the first event
	return s, nil
}

// writeEvent writes an event of a conversation.
func (s *stream) writeEvent(e sdk.Event) error {
	if s == nil {
		return nil
	}
	if e.Type == sdk.EventFailed || e.Type == sdk.EventRetry {
		e.Text = redact(e.Text)
	}
	data, err := json.Marshal(toCamel(e))
	if err != nil {
		return err
	}
	id := ""
	if e.Seq > 0 {
		id = fmt.Sprintf("id: %d\n", e.Seq)
	}
	return s.writeText("%sevent: %s\ndata: %s\n\n", id, e.Type, data)
}

// sendPing shows the client a live server.
func (s *stream) sendPing() error {
	if s == nil {
		return nil
	}
	return s.writeText(": ping\n\n")
}

func (s *stream) writeText(format string, args ...any) error {
	if _, err := fmt.Fprintf(s.w, format, args...); err != nil {
		return err
	}
	return s.flush.Flush()
}

// lastSeen returns the number of the last event on the client's side.
func lastSeen(r *http.Request) (int64, error) {
	given, field := r.Header.Get("Last-Event-ID"), "Last-Event-ID"
	if given == "" {
		given, field = r.URL.Query().Get("after"), "after"
	}
	if given == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(given, 10, 64)
	if err != nil || n < 0 {
		return 0, newInvalid(field, "has to be the number of an event")
	}
	return n, nil
}

// isOver reports whether a conversation with a status has no more events.
func isOver(s sdk.Status) bool { return s == sdk.Ended || s == sdk.Failed }

// followEvents hands on the events of a conversation after one, until one is the last, there is an error,
// the context ends, or another process has continued the conversation. If a reader is too slow, it
// misses pieces of text only: numbered events are read again.
func (h *Handler) followEvents(ctx context.Context, e *entry, from int64, s *stream, last func(sdk.Event) bool) error {
	for {
		past, live, stop, err := e.Follow(ctx, from)
		if err != nil {
			return err
		}
		over, missed := false, false
		take := func(event sdk.Event) (bool, error) {
			from, missed = max(from, event.Seq), event.Type == sdk.EventDropped
			return last(event) || missed, s.writeEvent(event)
		}
		for n := 0; n < len(past) && !over && err == nil; n++ {
			over, err = take(past[n])
		}
		if !over && err == nil {
			err = h.passEvents(ctx, live, func() error {
				e.idle.Reset(h.idle) // somebody uses it
				return s.sendPing()
			}, take)
		}
		stop()
		if !missed || err != nil {
			return err
		}
	}
}

// passEvents hands on events, with pings between, until take reports the last one, or live is closed.
func (h *Handler) passEvents(ctx context.Context, live <-chan sdk.Event, ping func() error, take func(sdk.Event) (last bool, err error)) error {
	tick := time.NewTicker(h.ping)
	defer tick.Stop()
	for {
		select {
		case event, open := <-live:
			if !open {
				return nil
			}
			if last, err := take(event); last || err != nil {
				return err
			}
		case <-tick.C:
			if err := ping(); err != nil {
				return err
			}
		case <-h.base.Done():
			return errClosing
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
