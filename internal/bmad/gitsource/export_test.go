package gitsource

// Wait waits for what Refresh has started, without giving it up.
func (c *Cache) Wait() { c.wait.Wait() }
