package engine

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// A session's file can be edited by anybody. Before each change it is compared with its
// own chain and with what this machine has recorded of it, which stands outside the
// project. What was changed by other hands goes on only where the policy lets it, and
// every reply says so until the person accepts it; see adoption.go.

// integrityChanged is the value of the key "integrity" in replies and lists.
const integrityChanged = string(workflow.ChainChanged)

// finding is what a call has found of its session's history.
type finding struct {
	workflow.Verification
	// stops is true where nothing goes on before the person has accepted the session.
	stops bool
	// key and recorded are what it was found with.
	key      string
	recorded *workflow.Checkpoint
}

// readSigner returns what seals were made with, without making it; nil where there is none.
func (e *Engine) readSigner() workflow.Signer {
	e.signing.Lock()
	defer e.signing.Unlock()
	if e.trust == nil || e.signs != nil {
		return e.signs
	}
	signer, err := e.trust.ReadSigner()
	if err != nil {
		e.log.Debug("histories are checked without the key", "error", err)
		return nil
	}
	e.signs = signer
	return signer
}

// recordOf returns what this machine has recorded of a session of a project; nil where that
// is nothing. It is to be read before the session is, unless that is locked: whoever
// changes a session records it afterwards, so what was read first is never ahead.
func (e *Engine) recordOf(signer workflow.Signer, p *Project, id string) *workflow.Checkpoint {
	if e.trust == nil || signer == nil {
		return nil
	}
	if c, ok := e.trust.Checkpoints(signer, p.dir.Path(), id)[id]; ok {
		return &c
	}
	return nil
}

// get reads the call's session and notes what is found of its history.
func (r run) get(ctx context.Context) (*workflow.Session, error) {
	signer := r.readSigner()
	c := r.recordOf(signer, r.project, r.id)
	s, err := r.project.backend.Get(ctx, r.id)
	if err == nil {
		r.look(s, signer, c)
	}
	return s, err
}

// lookAgain is look for a session that was found to be as it was before; what it had been
// compared with is read anew.
func (r run) lookAgain(s, before *workflow.Session, signer workflow.Signer) *workflow.Checkpoint {
	c := r.recordOf(signer, r.project, r.id)
	if keyOf(signer) != r.found.key || !reflect.DeepEqual(c, r.found.recorded) || !reflect.DeepEqual(s, before) {
		r.look(s, signer, c)
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

// look notes what is found of a session's history.
func (r run) look(s *workflow.Session, signer workflow.Signer, c *workflow.Checkpoint) {
	v := s.VerifyAgainst(signer, c)
	r.found.Verification, r.found.key, r.found.recorded = v, keyOf(signer), c
	r.found.stops = v.Changed() && (r.project.strict(s) || c != nil && c.Strict)
}

// strict reports whether the gate of any stage asks for the person's own act: as it is
// configured, or as the session says. The present stage alone would not do: it is what
// an edit of the session changes first.
func (p *Project) strict(s *workflow.Session) bool {
	for _, st := range p.cfg.Workflow.Stages {
		gates := []workflow.GateMode{st.Mode, s.Policy[st.ID].Gate}
		if rec := s.Stages[st.ID]; rec != nil && rec.Policy != nil {
			gates = append(gates, rec.Policy.Gate)
		}
		if slices.Contains(gates, workflow.GateStrict) {
			return true
		}
	}
	return false
}

// goesOn refuses to change a session that was changed by other hands, where the policy is strict.
func (r run) goesOn(s *workflow.Session) error {
	if !r.found.stops {
		return nil
	}
	e := fault.New(fault.Conflict, "the session was changed by other hands, and the policy is strict: %s", r.found.Problem).
		WithHint("the human looks at it and accepts it by typing, at a terminal: bmad-mcp adopt %s; until then nothing goes on", s.TaskName)
	e.Allowed = r.allowedActions(s)
	return e
}

// changedNote says in one line that a session was changed by other hands.
func changedNote(s *workflow.Session, v workflow.Verification) string {
	return fmt.Sprintf("**Changed by other hands:** %s. `bmad-mcp log %s` shows what stands there now; `bmad-mcp adopt %s`, typed at a terminal, accepts it.",
		v.Problem, s.TaskName, s.TaskName)
}

// stopped reports whether nothing goes on before the person has accepted the session.
func (r run) stopped() bool { return r.found != nil && r.found.stops }

// markChanged says in a reply that its session was changed by other hands.
func (r run) markChanged(s *workflow.Session, out *Reply) {
	if r.found == nil || !r.found.Changed() {
		return
	}
	out.Integrity = integrityChanged
	note := changedNote(s, r.found.Verification)
	if !r.found.stops {
		out.UserMessage = note + "\n\n" + out.UserMessage
		return
	}
	out.UserMessage = r.headline(s) + "\n\n" + note + "\n\nThe policy is strict, so nothing goes on before that.\n\n" +
		fmt.Sprintf("**You can now** type `bmad-mcp adopt %s` at a terminal, or put the session file back as it was.", s.TaskName)
	out.NextCall, out.Gate = nil, nil
	askHuman(out, string(workflow.ActionAdopt))
}

// record keeps what the session is now outside the project. Trouble with that must not
// fail what is stored already: the session is then ahead of what is recorded.
func (r run) record(ctx context.Context, s *workflow.Session) {
	signer := r.readSigner()
	if r.trust == nil || signer == nil {
		return
	}
	c, ok := s.Checkpoint(signer, r.found.Cause())
	if !ok {
		return
	}
	if data, err := store.Encode(s); err == nil {
		c.File = workflow.Hash(data)
	}
	c.Strict = r.project.strict(s)
	if err := r.trust.Record(context.WithoutCancel(ctx), signer, r.project.dir.Path(), s.SessionID, c); err != nil {
		r.unrecorded.Do(func() { r.log.Warn("what sessions are is not recorded", "error", err) })
	}
}

// Inspect returns one session in full, its project folder, and what is found of its history.
func (e *Engine) Inspect(ctx context.Context, req Request) (s *workflow.Session, v workflow.Verification, cwd string, err error) {
	req.Action = workflow.ActionResume // for its need of one session; nothing is done but find it
	p, id, err := e.locate(ctx, req)
	if err != nil {
		return nil, v, "", err
	}
	defer p.close()
	r := run{Engine: e, project: p, id: id, req: req, found: new(finding)}
	s, err = r.get(ctx)
	return s, r.found.Verification, p.dir.Path(), err
}

// maxUnrecorded is how many sessions of which this machine has recorded nothing a list
// verifies.
const maxUnrecorded = 200

// Changed returns those of a project's sessions that were changed by other hands, by their
// ids. Of sessions that this machine has recorded, one whose file has the recorded hash
// needs no other check; of the others at most maxUnrecorded are verified, unless all are
// asked for.
func (e *Engine) Changed(ctx context.Context, req Request, ids []string, all bool) (map[string]workflow.Verification, error) {
	p, err := e.home(req)
	if err != nil {
		return nil, err
	}
	defer p.close()
	return e.changed(ctx, p, ids, all), ctx.Err()
}

func (e *Engine) changed(ctx context.Context, p *Project, ids []string, all bool) map[string]workflow.Verification {
	signer := e.readSigner()
	if e.trust == nil || signer == nil && !all {
		return nil
	}
	var unrecorded atomic.Int64
	found := make([]workflow.Verification, len(ids))
	// Each session stands alone, and reading is most of the work.
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(ids)) {
		wg.Go(func() {
			for {
				from := int(next.Add(inspected)) - inspected
				if from >= len(ids) || ctx.Err() != nil {
					return
				}
				part := ids[from:min(from+inspected, len(ids))]
				recorded := e.trust.Checkpoints(signer, p.dir.Path(), part...)
				for i, id := range part {
					if c, ok := recorded[id]; ok {
						found[from+i] = e.compared(ctx, p, id, signer, &c)
					} else if unrecorded.Add(1) <= maxUnrecorded || all {
						found[from+i] = e.compared(ctx, p, id, signer, nil)
					}
				}
			}
		})
	}
	wg.Wait()
	out := map[string]workflow.Verification{}
	for i, id := range ids {
		if found[i].Changed() {
			out[id] = found[i]
		}
	}
	return out
}

// inspected is how many sessions a list looks at in one go.
const inspected = 64

// compared returns what is found of a session that is compared with what was recorded of
// it, nil if nothing was; nothing where its file is as it was recorded.
func (e *Engine) compared(ctx context.Context, p *Project, id string, signer workflow.Signer, c *workflow.Checkpoint) (none workflow.Verification) {
	if c != nil && c.Broken == 0 && c.File != "" {
		if data, err := p.backend.Stored(ctx, id); err == nil && workflow.Hash(data) == c.File {
			return none
		}
	}
	s, err := p.backend.Get(ctx, id)
	if err != nil {
		return none // gone since, or the list names what is wrong with it
	}
	return s.VerifyAgainst(signer, c)
}
