package engine

import (
	"context"
	"log/slog"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

type vouchers interface {
	// Allowed reports whether the person has allowed something in a project.
	Allowed(a trust.Allowance) bool
	// Signer signs histories; ReadSigner is the same for checks, and nil if there is none.
	Signer(ctx context.Context) (workflow.Signer, error)
	ReadSigner() (workflow.Signer, error)
	// CanSign reports whether there is a key, or a place to make one.
	CanSign() bool
	// Checkpoints returns this machine's records of sessions of a project, by their ids, or of all without ids.
	// Record keeps one, and drops the records of the session in the folders of left.
	Checkpoints(signer workflow.Signer, project string, ids ...string) map[string]workflow.Checkpoint
	Record(ctx context.Context, signer workflow.Signer, project, id string, c workflow.Checkpoint, left ...string) error
	// Reserve keeps others from recording until the reservation is released.
	Reserve(ctx context.Context) (*trust.Reservation, error)
	// Elsewhere returns the records of a session, kept in a file, in other places than a project in a folder.
	Elsewhere(signer workflow.Signer, project, folder, id, file string) []workflow.Elsewhere
}

// keeper detects changes of sessions by other hands, and signs our own changes. Anybody can edit a session's file,
// so the signing key and this machine's records of sessions are outside of the projects. A changed session
// continues only if the policy permits it or the person accepts it. It is safe for concurrent use.
type keeper struct {
	records vouchers // nil if nothing is signed or recorded
	log     *slog.Logger
	// mayFollow reports whether runs in a project may follow a workflow.
	mayFollow func(p *project.Project, d *workflow.Definition) bool

	failed  bool // to make or read the key, the last time
	signing sync.Mutex
	signs   workflow.Signer // nil until the first use
	reads   workflow.Signer // the same for checks

	unrecorded sync.Once // warns once that nothing can be recorded
}

// historySigner returns the signer of histories, or nil. A missing key must not keep people from their work: the check of
// the log reports unsigned entries.
func (k *keeper) historySigner(ctx context.Context) workflow.Signer {
	signer, err := k.loadSigner(ctx)
	if err != nil {
		k.log.Warn("the history is not signed", "error", err)
	}
	return signer
}

// maySign refuses a step if the person's key does not sign under the settings in force.
func (k *keeper) maySign(ctx context.Context) error {
	if _, err := k.loadSigner(ctx); fault.Is(err, fault.NotAllowed) {
		return err
	}
	return nil
}

func (k *keeper) loadSigner(ctx context.Context) (signer workflow.Signer, err error) {
	k.signing.Lock()
	defer k.signing.Unlock()
	if k.records != nil && k.signs == nil {
		k.signs, err = k.records.Signer(ctx)
		k.failed = err != nil
	}
	return k.signs, err
}

// projectID returns the id of a project for the histories, and creates one if there is none; known is the project
// id in the session. The id is "" if nothing is signed, or the project cannot have one: the place of the session
// is then in the machine's record.
func (k *keeper) projectID(ctx context.Context, p *project.Project, signer workflow.Signer, known string) string {
	if signer == nil {
		return ""
	}
	id, err := p.EnsureID(context.WithoutCancel(ctx), known)
	if err != nil {
		k.log.Warn("the project has no id, so its histories do not name it", "project", p.Home.Path(), "error", err)
	}
	return id
}

// readSigner returns the signer to check histories with, without creating a key; nil if there is none.
func (k *keeper) readSigner() workflow.Signer {
	k.signing.Lock()
	defer k.signing.Unlock()
	switch {
	case k.signs != nil:
		return k.signs
	case k.records == nil || k.reads != nil:
		return k.reads
	}
	signer, err := k.records.ReadSigner()
	if err != nil {
		k.log.Debug("histories are checked without the key", "error", err)
		return nil
	}
	k.reads = signer
	return signer
}
