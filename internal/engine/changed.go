package engine

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxUnrecorded bounds the sessions without a record that a list verifies.
const maxUnrecorded = 200

// findChanged returns those of a project's sessions that were changed by other hands, by their
// ids. Of sessions without a record at most maxUnrecorded are verified, unless all are asked
// for.
func (k *keeper) findChanged(ctx context.Context, p *project.Project, sessions []workflow.Summary, all bool) map[string]workflow.Verification {
	signer := k.readSigner()
	if k.records == nil || signer == nil && !all {
		return nil
	}
	var unrecorded atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	out := map[string]workflow.Verification{}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0)) // reading is most of the work
	for part := range slices.Chunk(sessions, atOnce) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			ids := idsOf(part)
			recorded := k.records.Checkpoints(signer, p.Dir.Path(), ids...)
			for _, id := range ids {
				c, ok := recorded[id]
				if ctx.Err() != nil || !ok && unrecorded.Add(1) > maxUnrecorded && !all {
					continue
				}
				var record *workflow.Checkpoint
				if ok {
					record = &c
				}
				if v := k.compare(ctx, p, id, signer, record); v.Changed() {
					mu.Lock()
					out[id] = v
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return out
}

// atOnce is the number of sessions that are checked in one go.
const atOnce = 64

// compare checks a session against its record, if there is one. A file that is as it was
// recorded needs no other check.
func (k *keeper) compare(ctx context.Context, p *project.Project, id string, signer workflow.Signer, c *workflow.Checkpoint) (none workflow.Verification) {
	if c != nil && c.Broken == 0 && c.File != "" {
		if sum, err := p.Backend.StoredHash(ctx, id); err == nil && sum == c.File {
			return none
		}
	}
	s, err := p.Backend.Get(ctx, id)
	if err != nil {
		return none // deleted since, or the list names its problem
	}
	check := k.of(p, id)
	check.inspect(s, signer, c)
	return check.found
}

// idsOf returns the ids of sessions.
func idsOf(sessions []workflow.Summary) []string {
	out := make([]string, len(sessions))
	for i, s := range sessions {
		out[i] = s.SessionID
	}
	return out
}
