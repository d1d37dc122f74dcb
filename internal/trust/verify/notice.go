package verify

import (
	"context"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Notice reports on something slow.
type Notice struct {
	// Message is one line for the person.
	Message string
	// Elapsed is the time so far, Limit the most time allowed; 0 is unknown.
	Elapsed, Limit time.Duration
}

// noticeEvery is the time after which a notice is repeated without other news. Hosts give up calls after a silence
// of a minute (Claude Desktop, MCP Inspector).
const noticeEvery = 5 * time.Second

// Tell reports on work under way, at once and then again and again until the returned function is called. to may
// be nil.
func Tell(ctx context.Context, l lang.Language, to func(Notice), what string, now func() time.Time, limit time.Duration) (done func()) {
	if to == nil {
		return func() {}
	}
	began := now()
	tell := func() {
		n := Notice{Message: what, Elapsed: now().Sub(began), Limit: limit}
		if n.Elapsed >= time.Second {
			n.Message = l.Say("%s, for %s", what, n.Elapsed.Truncate(time.Second))
		}
		to(n)
	}
	tell()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(noticeEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				tell()
			}
		}
	}()
	// Waiting here keeps notices from coming after the answer.
	return func() {
		cancel()
		<-ended
	}
}
