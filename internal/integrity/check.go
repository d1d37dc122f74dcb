package integrity

import (
	"context"
	"reflect"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Check is the check of one session for one call.
type Check struct {
	// Found is the result.
	Found workflow.Verification
	// Stops is true where the person has to accept the session before anything else.
	Stops bool

	keeper  *Keeper
	project *project.Project
	id      string
	// signer and recorded are what the session was checked with.
	signer   workflow.Signer
	recorded *workflow.Checkpoint
}

// Of returns the check of one session.
func (k *Keeper) Of(p *project.Project, id string) *Check {
	return &Check{keeper: k, project: p, id: id}
}

// Get reads the session and checks it.
func (c *Check) Get(ctx context.Context) (*workflow.Session, error) {
	signer := c.keeper.readSigner()
	recorded := c.checkpoint(signer)
	s, err := c.project.Backend.Get(ctx, c.id)
	if err == nil {
		c.check(s, signer, recorded)
	}
	return s, err
}

// Again checks the session that is now locked, unless neither it nor its record has changed
// since it was checked before.
func (c *Check) Again(ctx context.Context, s, before *workflow.Session) {
	signer := c.keeper.Signer(ctx)
	recorded := c.checkpoint(signer)
	if keyOf(signer) != keyOf(c.signer) || !reflect.DeepEqual(recorded, c.recorded) || !reflect.DeepEqual(s, before) {
		c.check(s, signer, recorded)
	}
}

// Seal is called before the locked session is changed; the function it returns seals it
// afterwards.
func (c *Check) Seal(s *workflow.Session) func() {
	seal := s.Seal(c.signer, c.Found)
	return func() {
		if c.Found.Changed() {
			c.raise(s)
		}
		seal()
	}
}

// raise has a session go on from the revision on record: a revision is never given twice, not
// even after an older file was put back.
func (c *Check) raise(s *workflow.Session) {
	if c.recorded != nil {
		s.Revision = max(s.Revision, c.recorded.Revision)
	}
}

// Adopt accepts the session as it was found, if it is still the one of before. note begins the
// entry in the history.
func (c *Check) Adopt(ctx context.Context, before *workflow.Session, note workflow.Transition) (*workflow.Session, error) {
	signer, err := c.keeper.records.Signer(ctx) // without a seal the acceptance would not count
	if err != nil {
		return nil, err
	}
	after, err := c.project.Backend.Update(ctx, c.id, func(_ store.Tx, s *workflow.Session) error {
		c.recorded = c.checkpoint(signer)
		now := verified(c.project, s, signer, c.recorded)
		if s.Revision != before.Revision || now.Problem != c.Found.Problem || now.Broken != c.Found.Broken {
			return fault.New(fault.Conflict, "the session was changed once more while you decided").WithHint("look at it again: repeat the command")
		}
		c.raise(s)
		s.Adopt(signer, now, note)
		s.UpdatedAt = note.At
		return nil
	})
	if err == nil {
		c.Found, c.Stops = workflow.Verification{}, false
		c.Record(ctx, after)
	}
	return after, err
}

// Record records the session's present form outside the project. A failure must not fail
// the stored change: the session is then ahead of its record.
func (c *Check) Record(ctx context.Context, s *workflow.Session) {
	signer := c.keeper.readSigner()
	if c.keeper.records == nil || signer == nil {
		return
	}
	cause := ""
	if c.Found.Changed() {
		cause = c.Found.Cause().In(c.project.Language(s.Objective))
	}
	record, ok := s.Checkpoint(signer, cause)
	if !ok {
		return
	}
	if data, err := store.Encode(s); err == nil {
		record.File = workflow.Hash(data)
	}
	record.Strict = c.strict(s)
	if err := c.keeper.records.Record(context.WithoutCancel(ctx), signer, c.project.Dir.Path(), s.SessionID, record); err != nil {
		c.keeper.unrecorded.Do(func() { c.keeper.log.Warn("sessions are not recorded", "error", err) })
	}
}

// Vouched is the result of the check for the session's history.
func (c *Check) Vouched() workflow.Verification {
	v := c.Found
	if c.keeper.records == nil {
		v.Unvouched = nil // nothing is sealed here
	}
	return v
}

// checkpoint returns this machine's record of the session, or nil. Read it before the session,
// unless that is locked: a change is recorded after it is stored, so a record that was read
// first is never ahead of the session.
func (c *Check) checkpoint(signer workflow.Signer) *workflow.Checkpoint {
	if c.keeper.records == nil || signer == nil {
		return nil
	}
	if record, ok := c.keeper.records.Checkpoints(signer, c.project.Dir.Path(), c.id)[c.id]; ok {
		return &record
	}
	return nil
}

// check checks a session against its chain and its record.
func (c *Check) check(s *workflow.Session, signer workflow.Signer, recorded *workflow.Checkpoint) {
	c.Found, c.signer, c.recorded = verified(c.project, s, signer, recorded), signer, recorded
	c.Stops = c.Found.Changed() && (c.strict(s) || recorded != nil && recorded.Strict)
}

// verified checks a session and says the problem, if there is one, in the language of its person.
func verified(p *project.Project, s *workflow.Session, signer workflow.Signer, recorded *workflow.Checkpoint) workflow.Verification {
	v := s.VerifyAgainst(signer, recorded)
	if v.Problem == "" {
		return v
	}
	return v.In(p.Language(s.Objective))
}

// strict reports whether a gate of the session requires the person's own act.
func (c *Check) strict(s *workflow.Session) bool {
	return s.Strict(c.project.Config.Under(s.Definition()).Stages)
}

// keyOf names the key of a signer, "" where there is none.
func keyOf(signer workflow.Signer) string {
	if signer == nil {
		return ""
	}
	return signer.Key()
}
