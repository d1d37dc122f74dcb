package sdk

import (
	"context"
	"iter"
	"math"
)

// Stream is [Session.Run] as a sequence of the events, earlier ones included. It ends with the work; the last
// pair has the error, if there is one, and [Session.Result] the outcome. A question can be answered in the
// loop; a slow loop misses pieces of text. Leaving the loop pauses the session.
func (s *Session) Stream(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		events, _, end := s.t.follow(0)
		yieldEvents(events, end, 0, yield, cancel, func() error {
			_, err := s.Run(ctx)
			return err
		})
	}
}

// Stream is [Conversation.Ask] as a sequence of the turn's events. It ends with the turn; the last pair has
// the error, if there is one, and [Conversation.History] the turn. A question can be answered in the
// loop. Leaving the loop cancels the turn.
func (c *Conversation) Stream(ctx context.Context, text string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		events, _, end := c.t.follow(math.MaxInt64) // none before it
		defer end()
		n, err := c.send(ctx, text, c.t.output)
		if err != nil {
			yield(Event{}, err)
			return
		}
		yieldEvents(events, end, n+1, yield, func() { c.cancelTurn(n) }, func() error {
			_, err := c.waitForTurn(ctx, n, false)
			return err
		})
	}
}

// yieldEvents yields the events, if turn is not 0 only of this turn, while do runs. stop ends do early, end
// ends the events.
func yieldEvents(events <-chan Event, end func(), turn int, yield func(Event, error) bool, stop func(), do func() error) {
	over := make(chan error, 1)
	go func() {
		defer end()
		over <- do()
	}()
	for e := range events {
		if (turn == 0 || e.Turn == 0 || e.Turn == turn) && !yield(e, nil) {
			stop()
			<-over //nolint:errcheck // nobody is there to read it
			return
		}
	}
	if err := <-over; err != nil {
		yield(Event{}, err)
	}
}
