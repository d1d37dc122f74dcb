package gitsource

// Wait waits for the updates that Refresh has started, without giving them up.
func (c *Cache) Wait() { c.wait.Wait() }
