package durable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"sync"
	"time"
)

// LockTimeout bounds the wait for a lock if neither the caller's context nor the folder does.
const LockTimeout = 10 * time.Second

// lockPoll is the time between two attempts to take a lock from another process.
const lockPoll = 5 * time.Millisecond

// maxHolder limits the bytes of a lock file, a line about the holder.
const maxHolder = 4 << 10

// BusyError reports a lock held by a living process for the whole wait.
type BusyError struct {
	Name   string
	Holder string
}

// Error names the lock and the holder.
func (e *BusyError) Error() string {
	return fmt.Sprintf("lock %s is held by %s", e.Name, cmp.Or(e.Holder, "another caller"))
}

// Lock is a held lock.
type Lock struct {
	unlock func() error
	key    string
}

// Lock takes the lock file of a name, making it if it is missing. The file is never removed or renamed: two
// processes must always meet on the same one. The system releases the lock of a dead process. The wait ends
// with ctx or after the timeout, with a *BusyError.
func (d *Dir) Lock(ctx context.Context, name string) (*Lock, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(d.LockTimeout, LockTimeout))
	defer cancel()
	key := d.Join(name)
	// Within the process a channel queues fairly; the file lock alone would not
	// keep out another goroutine on every system.
	waited, err := local.acquire(ctx, key)
	if err != nil {
		return nil, d.busyError(name, err)
	}
	holder := fmt.Sprintf("process %d since %s\n", os.Getpid(), time.Now().UTC().Format(time.RFC3339))
	retry := time.NewTicker(lockPoll)
	defer retry.Stop()
	for ; ; waited = true {
		if err := ctx.Err(); err != nil {
			local.release(key)
			return nil, d.busyError(name, err)
		}
		unlock, ok, err := d.TryLock(name, holder)
		switch {
		case err != nil:
			local.release(key)
			return nil, err
		case ok:
			if waited {
				d.ForgetFolders()
			}
			return &Lock{unlock: unlock, key: key}, nil
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
		}
	}
}

// Holder returns who holds a lock now, or "" if nobody does.
func (d *Dir) Holder(name string) (string, error) {
	unlock, ok, err := d.TryLock(name, "")
	switch {
	case err != nil:
		return "", err
	case ok:
		return "", unlock()
	}
	holder, err := d.ReadFile(name, maxHolder)
	if who := strings.TrimSpace(string(holder)); err == nil && who != "" {
		return who, nil
	}
	return "another process", nil // a lock can keep others from reading, too
}

func (d *Dir) busyError(name string, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	holder, _ := d.ReadFile(name, maxHolder)
	return &BusyError{Name: path.Base(name), Holder: strings.TrimSpace(string(holder))}
}

// Unlock releases the lock.
func (l *Lock) Unlock() error {
	err := l.unlock()
	local.release(l.key)
	return err
}

// local holds the locks of this process, each a channel of one place, for as
// long as somebody holds or awaits it.
var local = &localLocks{slots: map[string]*slot{}}

type localLocks struct {
	mu    sync.Mutex
	slots map[string]*slot
}

type slot struct {
	place chan struct{}
	users int
}

// acquire takes the lock, and reports whether it may have waited for it.
func (l *localLocks) acquire(ctx context.Context, key string) (waited bool, err error) {
	l.mu.Lock()
	s := l.slots[key]
	if s == nil {
		s = &slot{place: make(chan struct{}, 1)}
		l.slots[key] = s
	}
	waited = s.users > 0
	s.users++
	l.mu.Unlock()
	select {
	case s.place <- struct{}{}:
		return waited, nil
	case <-ctx.Done():
		l.leaveSlot(key, s)
		return waited, ctx.Err()
	}
}

func (l *localLocks) release(key string) {
	l.mu.Lock()
	s := l.slots[key]
	l.mu.Unlock()
	<-s.place
	l.leaveSlot(key, s)
}

func (l *localLocks) leaveSlot(key string, s *slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(l.slots, key)
	}
}
