package sdk

import "context"

// Fresh reports whether the conversation can go on from the state in memory: the error is
// [ErrChanged] if another process has continued it, and [ErrLocked] if one is at work on it.
func (c *Conversation) Fresh(ctx context.Context) error {
	c.t.mu.Lock()
	working := c.t.working
	c.t.mu.Unlock()
	if working {
		return nil
	}
	unlock, err := c.t.claim(ctx)
	if err != nil {
		return err
	}
	return unlock()
}

// Sync returns once all that has happened so far is saved: a message that was sent before is not lost
// if the process dies. The error is that of [Conversation.Save].
func (c *Conversation) Sync(ctx context.Context) error {
	t := c.t
	t.events.mu.Lock()
	last := t.events.seq
	t.events.mu.Unlock()
	t.mu.Lock()
	err := t.until(ctx, func() bool { return t.Seq >= last || !t.working })
	saved := t.Seq >= last
	t.mu.Unlock()
	if err != nil || saved {
		return err
	}
	return c.Save(ctx)
}
