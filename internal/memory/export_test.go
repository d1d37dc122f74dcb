package memory

import "time"

// Impatient bounds the wait for the lock.
func (b *Book) Impatient(wait time.Duration) { b.p.Dir.LockTimeout = wait }
