package engine

import (
	"context"
	"reflect"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Anybody can edit a session's file. Before each change it is checked against its own chain
// and against this machine's record of it, which is kept outside the project. A session that
// was changed by other hands continues only where the policy permits it, and every reply
// says so until the person accepts it; see adoption.go.

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
	v := s.VerifyAgainst(signer, c).In(r.language(r.project, s.Objective))
	r.found.Verification, r.found.key, r.found.recorded = v, keyOf(signer), c
	r.found.stops = v.Changed() && (s.Strict(r.definition(s).Stages) || c != nil && c.Strict)
}
