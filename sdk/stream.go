package sdk

import (
	"context"
	"iter"
)

// Stream is [Session.Run] as a sequence of the events, those before it included. It ends with the work;
// the last pair has the error, if there is one, and [Session.Result] the outcome. A question can be
// answered in the loop. Leaving the loop pauses the session.
func (s *Session) Stream(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		s.t.mu.Lock()
		events, end := s.t.follow(0)
		s.t.mu.Unlock()
		defer end()
		stream(events, 0, yield, cancel, func() error {
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
		c.t.mu.Lock()
		events, end := c.t.follow(c.t.events.seq)
		c.t.mu.Unlock()
		defer end()
		n, err := c.send(ctx, text, c.t.output)
		if err != nil {
			yield(Event{}, err)
			return
		}
		stop := func() { c.cancel(func(over int) bool { return over == n }) } // not a turn that somebody has begun since
		stream(events, n+1, yield, stop, func() error {
			_, err := c.finish(ctx, n, false)
			return err
		})
	}
}

// stream yields the events, if turn is not 0 those of that one, while something is done, and waits for its
// end. stop ends it early.
func stream(events <-chan Event, turn int, yield func(Event, error) bool, stop func(), do func() error) {
	pass := func(e Event) bool { return turn > 0 && e.Turn > 0 && e.Turn != turn || yield(e, nil) }
	var failed error
	over := make(chan struct{})
	go func() {
		defer close(over)
		failed = do()
	}()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil // all were read
			} else if !pass(e) {
				stop()
				<-over
				return
			}
		case <-over:
			for len(events) > 0 {
				if e, ok := <-events; ok && !pass(e) {
					return
				}
			}
			if failed != nil {
				yield(Event{}, failed)
			}
			return
		}
	}
}
