package gitsource

import (
	"context"
	"errors"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// outcome is the result of an update.
type outcome int

const (
	skipped outcome = iota // the remote was not asked, or its answer is unknown
	same                   // the same copy is served
	changed
)

// update asks the remote under its lock, if that is still wanted then.
func (c *Cache) update(ctx context.Context, s Spec, wanted func(record) bool) (Copy, outcome, error) {
	p, err := c.make(s)
	if err != nil {
		return Copy{}, skipped, c.trouble(err)
	}
	defer func() { _ = p.Close() }()
	lock, err := c.lock(ctx, p)
	if err != nil {
		return currentCopy(p, s), skipped, c.trouble(err)
	}
	defer func() { _ = lock.Unlock() }() // the system does it when the process ends
	before := p.current(s)
	if !wanted(before) {
		return currentCopy(p, s), skipped, nil
	}
	after, err := c.try(ctx, p, s, before)
	if err != nil {
		return currentCopy(p, s), same, c.trouble(err)
	}
	out, err := p.serve(s, after)
	if after.Commit != before.Commit || !after.FetchedAt.Equal(before.FetchedAt) {
		return out, changed, err
	}
	return out, same, err
}

// currentCopy returns the present copy, if any.
func currentCopy(p *cacheEntry, s Spec) Copy {
	out, _ := p.serve(s, p.current(s)) // the caller reports another error
	return out
}

// try makes one try and records first its start, then its result.
func (c *Cache) try(ctx context.Context, p *cacheEntry, s Spec, before record) (record, error) {
	if _, err := p.MkdirAll(p.key); err != nil {
		return before, err
	}
	if err := p.clear(); err != nil {
		return before, err
	}
	now := c.Now().UTC()
	tried := before
	tried.TriedAt = now
	if err := p.save(tried); err != nil {
		return before, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.timeout(), errTimeout)
	defer cancel()
	u := update{cacheEntry: p, spec: s, remote: c.newRemote(limited, s, p.Join(p.key))}
	commit, made, err := u.fetch(limited, before)
	if ctx.Err() != nil && err != nil {
		// Cancelled: that says nothing about the remote. If this fails, it counts as a try.
		return before, errors.Join(ctx.Err(), p.save(before))
	}
	if err != nil {
		problem := fault.From(c.trouble(err))
		tried.Problem = s.login().line(problem.Message)
		failed := fault.New(problem.Code, "%s cannot be updated: %w", s, cleaned{s.login(), problem}).WithHint("%s", problem.Advice())
		if before.Commit != "" {
			failed.AddHint("; until then its copy of commit %s is used", before.Commit[:12])
		}
		if err := p.save(tried); err != nil {
			return before, err
		}
		return before, failed
	}
	after := tried
	after.CheckedAt, after.Problem = now, ""
	if commit != before.Commit {
		after.Commit, after.Previous = commit, before.Commit
	}
	if commit != before.Commit || made {
		after.FetchedAt = now
	}
	if after.Held, err = p.measureCopies(after, before); err != nil {
		return before, err
	}
	if err := p.save(after); err != nil {
		return before, err
	}
	p.tidy(after)
	return after, nil
}
