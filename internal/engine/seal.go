package engine

import (
	"context"
	"log/slog"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// signer returns the signer that seals histories, or nil. A missing key must not keep people
// from their work: the check of the log reports that there is no seal.
func (e *Engine) signer(ctx context.Context) workflow.Signer {
	return e.signerFrom(func() (workflow.Signer, error) { return e.trust.Signer(ctx) }, slog.LevelWarn, "the history is not sealed")
}

// readSigner returns the signer that histories were sealed with, without creating a key; nil
// where there is none.
func (e *Engine) readSigner() workflow.Signer {
	return e.signerFrom(func() (workflow.Signer, error) { return e.trust.ReadSigner() }, slog.LevelDebug, "histories are checked without the key")
}

// signerFrom gets the signer once.
func (e *Engine) signerFrom(get func() (workflow.Signer, error), level slog.Level, failed string) workflow.Signer {
	e.signing.Lock()
	defer e.signing.Unlock()
	if e.trust == nil || e.signs != nil {
		return e.signs
	}
	signer, err := get()
	if err != nil {
		e.log.Log(context.Background(), level, failed, "error", err)
		return nil
	}
	e.signs = signer
	return signer
}

// recordOf returns this machine's record of a session, or nil. Read it before the session,
// unless that is locked: a change is recorded after it is stored, so a record that was read
// first is never ahead of the session.
func (e *Engine) recordOf(signer workflow.Signer, p *project.Project, id string) *workflow.Checkpoint {
	if e.trust == nil || signer == nil {
		return nil
	}
	if c, ok := e.trust.Checkpoints(signer, p.Dir.Path(), id)[id]; ok {
		return &c
	}
	return nil
}

// record records the session's present form outside the project. A failure must not fail
// the stored change: the session is then ahead of its record.
func (r *run) record(ctx context.Context, s *workflow.Session) {
	signer := r.readSigner()
	if r.trust == nil || signer == nil {
		return
	}
	c, ok := s.Checkpoint(signer, r.found.Cause().In(r.language(r.project, s.Objective)))
	if !ok {
		return
	}
	if data, err := store.Encode(s); err == nil {
		c.File = workflow.Hash(data)
	}
	c.Strict = s.Strict(r.definition(s).Stages)
	if err := r.trust.Record(context.WithoutCancel(ctx), signer, r.project.Dir.Path(), s.SessionID, c); err != nil {
		r.unrecorded.Do(func() { r.log.Warn("what sessions are is not recorded", "error", err) })
	}
}
