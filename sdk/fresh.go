package sdk

import "context"

// Fresh reports whether the conversation can go on from the state in memory: the error is
// [ErrChanged] where another process has continued it, and [ErrLocked] where one is at work on it.
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
