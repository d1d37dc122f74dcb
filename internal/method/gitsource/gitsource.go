// Package gitsource keeps copies of content in git repositories, and in packages of npm.
//
// A remote is a repository elsewhere and the part of it to copy: an address, a ref and a
// folder in it ([Spec]). A copy is one commit of a remote, checked out on this disk
// without its history ([Copy]). A package is a repository whose refs are versions and tags
// and whose commits are releases: a version with a hash of the bytes. The cache is the folder of the copies ([Cache]); it is
// for one person, and several processes share it.
//
// The promise: a repository stays available after the first fetch, even if the network is down, the remote
// is gone, hangs or answers rubbish, or this process is killed or the power lost while it updates.
// [Cache.Copy] looks at the disk only and waits for nothing. A new copy is made beside it and replaces the
// old one in one step, and the old one stays for one more generation, for a caller still reading it. Errors
// are one line, for people.
//
// On disk:
//
//	<folder>/<key>.lock           the lock of a remote; it stays when the remote is removed
//	<folder>/<key>/source.json    the record of the remote; its replacement is the commit point
//	<folder>/<key>/<commit>/      a copy: complete, or not of this name
//	<folder>/<key>/.*.tmp-*       work in progress, or left by a killed process
//
// Nothing in a repository is run: no hooks, no filters, no submodules, no large files (LFS). Files come
// byte for byte as they are in the repository, links as links: the reader of a copy has to stay in it.
// Credentials in an address go to git through the environment and nowhere else, which takes git 2.31 or
// newer.
package gitsource

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// When a [Cache] asks a remote, and for how long.
const (
	// DefaultTimeout bounds one update: a first copy of a large repository over a slow line too.
	DefaultTimeout = 30 * time.Second
	// RefreshAfter is the age at which a copy is compared with the remote again.
	RefreshAfter = 24 * time.Hour
	// RetryAfter is how long a remote is left alone after a failed try.
	RetryAfter = 15 * time.Minute
)

// A larger commit is refused before it is checked out: packed it may be small.
// The transfer itself is bounded only by the time of an update.
const (
	// MaxFiles is how many files a copy may have.
	MaxFiles = 20_000
	// MaxBytes is the greatest total size of the files.
	MaxBytes = 200 << 20
)

// Cache is the folder of copies. It is safe for concurrent use, also by several processes.
type Cache struct {
	// Folder is the place of the copies, made for the owner alone with the first copy.
	Folder string
	// Now is the clock; it is required.
	Now func() time.Time
	// Log receives messages of the background work; nil discards them.
	Log *slog.Logger
	// Git is the program; "" is the git in PATH.
	Git string
	// Registry is the address of the registry of npm; "" is the public one.
	Registry string
	// Timeout bounds an update, without the wait for another one of the same remote; 0 is the default.
	Timeout time.Duration

	mu      sync.Mutex
	closed  bool
	running map[string]context.CancelFunc // by key
	wait    sync.WaitGroup
}

// Copy is a commit of a remote on this disk. It exists until the remote has changed twice; for longer use
// the caller asks for the copy again.
type Copy struct {
	// Dir is the absolute path of the Spec's folder, Root the path of the checkout.
	Dir, Root string
	// Commit is the full hash, or the version of a package with a hash.
	Commit string
	// FetchedAt is when the commit was fetched, CheckedAt when it was last the newest of the
	// remote, TriedAt when the remote was last asked; zero is unknown or never.
	FetchedAt, CheckedAt, TriedAt time.Time
	// Problem is the error of the last try, in one line; "" is none.
	Problem string
}

// Copy returns the copy on disk. It waits for nothing: neither for the network nor for a running update.
// The error is fault.NotFound before the first fetch, and for a folder missing in the copy.
func (c *Cache) Copy(s Spec) (Copy, error) {
	e, err := c.openEntry(s, false)
	if errors.Is(err, fs.ErrNotExist) {
		return Copy{}, neverCopiedError(s, record{})
	}
	if err != nil {
		return Copy{}, c.explainError(err)
	}
	defer func() { _ = e.Close() }()
	return e.copyOf(e.currentRecord())
}

// Due reports whether the remote should be asked: there is no copy, or it was last checked
// longer than RefreshAfter ago; and no try has failed within RetryAfter.
func (c *Cache) Due(s Spec) bool {
	e, err := c.openEntry(s, false)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = e.Close() }()
	return c.isStale(e.currentRecord())
}

func (c *Cache) isStale(r record) bool {
	now := c.Now()
	// A time in the future only shows that a clock was wrong.
	within := func(at time.Time, d time.Duration) bool {
		age := now.Sub(at)
		return !at.IsZero() && age >= 0 && age < d
	}
	// The process of a try without an end was killed: it failed as well.
	failed := r.Problem != "" || r.TriedAt.After(r.CheckedAt)
	if failed && within(r.TriedAt, RetryAfter) {
		return false
	}
	return r.Commit == "" || !within(r.CheckedAt, RefreshAfter)
}

// Update asks the remote now and returns the new served copy. changed reports whether the remote brought
// another commit, even one without the folder. After an error the remote sent nothing usable; the last good
// copy, if any (its Dir is not ""), is returned and stays. When ctx ends the try is given up and does not
// count as one.
func (c *Cache) Update(ctx context.Context, s Spec) (Copy, bool, error) {
	return c.updateRemote(ctx, s, c.timeout()+durable.LockTimeout, func(record) bool { return true })
}

// Refresh starts an Update in the background if the copy is out of date, and returns at once. Of one
// remote there is never more than one in this process; if another process is at it,
// this one leaves it alone. done, which may be nil, is called when the remote has been
// asked by this call and for no other reason; it must not call Close.
func (c *Cache) Refresh(s Spec, done func(changed bool)) {
	if !c.Due(s) {
		return
	}
	key := s.Key()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.running[key] != nil {
		return
	}
	if c.running == nil {
		c.running = map[string]context.CancelFunc{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.running[key] = cancel
	c.wait.Go(func() {
		asked, changed := c.refreshCopy(ctx, s)
		c.mu.Lock()
		delete(c.running, key)
		c.mu.Unlock()
		cancel()
		if done != nil && asked {
			done(changed)
		}
	})
}

// briefWait bounds the wait for the lock of a remote, since another process may be updating it already.
const briefWait = 100 * time.Millisecond

// refreshCopy updates a copy unless somebody else is at it, and reports whether the remote was asked.
func (c *Cache) refreshCopy(ctx context.Context, s Spec) (asked, changed bool) {
	copied, changed, err := c.updateRemote(ctx, s, briefWait, func(r record) bool {
		asked = c.isStale(r) // the last holder of the lock may have asked already
		return asked
	})
	var busy *durable.BusyError
	switch {
	case err != nil && ctx.Err() != nil, errors.As(err, &busy):
		return false, false
	case err != nil:
		c.logger().Warn("a remote could not be updated", "remote", s.String(), "problem", err.Error(), "served", copied.Commit)
	case changed:
		c.logger().Info("a remote has a new commit", "remote", s.String(), "commit", copied.Commit)
	}
	return asked, changed
}

// Close cancels the updates started by Refresh, and returns when all have ended. Later calls of Refresh do
// nothing.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	for _, cancel := range c.running {
		cancel()
	}
	c.mu.Unlock()
	c.wait.Wait()
}

// Remove removes the copies and the record of a remote, for every folder in it. A missing copy is not an
// error.
func (c *Cache) Remove(ctx context.Context, s Spec) error {
	e, err := c.openEntry(s, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return c.explainError(err)
	}
	defer func() { _ = e.Close() }()
	e.LockTimeout = c.timeout() + durable.LockTimeout // the holder may use the whole time of an update
	lock, err := e.Lock(ctx, e.lockName())
	if err != nil {
		return c.explainError(err)
	}
	err = e.removeLeftovers()
	if e.Exists(e.key) {
		err = errors.Join(err, e.discardFolder(e.key))
	}
	return c.explainError(errors.Join(err, lock.Unlock()))
}

func (c *Cache) timeout() time.Duration { return cmp.Or(c.Timeout, DefaultTimeout) }

func (c *Cache) logger() *slog.Logger {
	if c.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Log
}

// explainError adds a code and a hint to an error of the disk. Errors with a code, and the context's own, are
// returned unchanged.
func (c *Cache) explainError(err error) error {
	var coded *fault.Error
	if err == nil || errors.As(err, &coded) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var busy *durable.BusyError
	if errors.As(err, &busy) {
		return fault.New(fault.Conflict, "the copy is being updated: %w", busy).
			WithHint("wait for the other program to end, then repeat it; if it hangs, end it: its lock goes with it")
	}
	if !fault.OfDisk(err) {
		return fault.Unexpected(err)
	}
	return fault.New(fault.Storage, "the copies of sources in %s cannot be read or written: %w", c.Folder, err).
		WithHint("make it a folder that you can read and write, with free space, then repeat it")
}
