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
		stream(s.t, 0, yield, cancel, func() error {
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
		now := c.t.events.seq
		c.t.mu.Unlock()
		stream(c.t, now, yield, c.Cancel, func() error {
			if err := c.Send(ctx, text); err != nil {
				return err
			}
			_, err := c.Wait(ctx)
			return err
		})
	}
}

// stream yields the events after one while something is done, and waits for its end. stop ends it early.
func stream(t *thread, after int64, yield func(Event, error) bool, stop func(), do func() error) {
	t.mu.Lock()
	r := t.events.follow(after)
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.events.drop(r)
	}()
	var failed error
	over := make(chan struct{})
	go func() {
		defer close(over)
		failed = do()
	}()
	events := r.to
	for {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil // all were read
			} else if !yield(e, nil) {
				stop()
				<-over
				return
			}
		case <-over:
			for len(events) > 0 {
				if e, ok := <-events; ok && !yield(e, nil) {
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
