package engine

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Anybody can edit a session's file. Before each change it is checked against its own chain
// and against this machine's record of it, which is kept outside the project. A session that
// was changed by other hands continues only where the policy permits it, and every reply
// says so until the person accepts it; see adoption.go.

// integrityChanged is the value of the key "integrity" in replies and lists.
const integrityChanged = string(workflow.ChainChanged)

// finding is the result of checking a call's session.
type finding struct {
	workflow.Verification
	// stops is true where the person has to accept the session before anything else.
	stops bool
	// key and recorded are what the session was checked with.
	key      string
	recorded *workflow.Checkpoint
}

// get reads the call's session and checks it.
func (r *run) get(ctx context.Context) (*workflow.Session, error) {
	signer := r.readSigner()
	c := r.recordOf(signer, r.project, r.id)
	s, err := r.project.Backend.Get(ctx, r.id)
	if err == nil {
		r.check(s, signer, c)
	}
	return s, err
}

// lookAgain checks a session that is now locked, unless neither it nor its record has
// changed since it was checked before.
func (r *run) lookAgain(s, before *workflow.Session, signer workflow.Signer) *workflow.Checkpoint {
	c := r.recordOf(signer, r.project, r.id)
	if keyOf(signer) != r.found.key || !reflect.DeepEqual(c, r.found.recorded) || !reflect.DeepEqual(s, before) {
		r.check(s, signer, c)
	}
	return c
}

// keyOf names the key of a signer, "" where there is none.
func keyOf(signer workflow.Signer) string {
	if signer == nil {
		return ""
	}
	return signer.Key()
}

// check checks a session against its chain and its record.
func (r *run) check(s *workflow.Session, signer workflow.Signer, c *workflow.Checkpoint) {
	v := s.VerifyAgainst(signer, c)
	r.found.Verification, r.found.key, r.found.recorded = v, keyOf(signer), c
	r.found.stops = v.Changed() && (s.Strict(r.definition(s).Stages) || c != nil && c.Strict)
}

// Inspect returns one session in full, the result of checking it, and its project folder.
func (e *Engine) Inspect(ctx context.Context, req Request) (s *workflow.Session, v workflow.Verification, cwd string, err error) {
	p, id, err := e.projects.Find(ctx, req.Address())
	if err != nil {
		return nil, v, "", err
	}
	defer p.Close()
	r := e.run(p, id, req, 0)
	s, err = r.get(ctx)
	return s, r.found.Verification, p.Dir.Path(), err
}

// maxUnrecorded bounds the sessions without a record that a list verifies.
const maxUnrecorded = 200

// Changed returns those of a project's sessions that were changed by other hands, by their
// ids. Of sessions without a record at most maxUnrecorded are verified, unless all are asked
// for.
func (e *Engine) Changed(ctx context.Context, req Request, ids []string, all bool) (map[string]workflow.Verification, error) {
	p, err := e.projects.At(req.Address())
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return e.changed(ctx, p, ids, all), ctx.Err()
}

func (e *Engine) changed(ctx context.Context, p *project.Project, ids []string, all bool) map[string]workflow.Verification {
	signer := e.readSigner()
	if e.trust == nil || signer == nil && !all {
		return nil
	}
	var unrecorded atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	out := map[string]workflow.Verification{}
	slots := make(chan struct{}, runtime.GOMAXPROCS(0)) // reading is most of the work
	for part := range slices.Chunk(ids, inspected) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			recorded := e.trust.Checkpoints(signer, p.Dir.Path(), part...)
			for _, id := range part {
				c, ok := recorded[id]
				if ctx.Err() != nil || !ok && unrecorded.Add(1) > maxUnrecorded && !all {
					continue
				}
				var record *workflow.Checkpoint
				if ok {
					record = &c
				}
				if v := e.compared(ctx, p, id, signer, record); v.Changed() {
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

// inspected is how many sessions are checked in one go.
const inspected = 64

// compared checks a session against its record, if there is one. A file that is as it was
// recorded needs no other check.
func (e *Engine) compared(ctx context.Context, p *project.Project, id string, signer workflow.Signer, c *workflow.Checkpoint) (none workflow.Verification) {
	if c != nil && c.Broken == 0 && c.File != "" {
		if data, err := p.Backend.Stored(ctx, id); err == nil && workflow.Hash(data) == c.File {
			return none
		}
	}
	s, err := p.Backend.Get(ctx, id)
	if err != nil {
		return none // deleted since, or the list names its problem
	}
	return s.VerifyAgainst(signer, c)
}
