package engine

import (
	"context"
	"log/slog"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// vouchers vouch for sessions.
type vouchers interface {
	// Signer signs histories; ReadSigner is the same for checks, and nil if there is none.
	Signer(ctx context.Context) (workflow.Signer, error)
	ReadSigner() (workflow.Signer, error)
	// Checkpoints returns this machine's records of sessions of a project, by their
	// ids, and Record keeps it, in place of those under folders that the session has left.
	Checkpoints(signer workflow.Signer, project string, ids ...string) map[string]workflow.Checkpoint
	Record(ctx context.Context, signer workflow.Signer, project, id string, c workflow.Checkpoint, left ...string) error
	// Elsewhere returns the records of a session, kept in a file, under other folders.
	Elsewhere(signer workflow.Signer, project, id, file string) []workflow.Elsewhere
}

// keeper detects sessions that were changed by other hands, and seals our own changes. It has the key
// that histories are sealed with, and this machine's records of sessions, which are kept outside of
// the projects, because anybody can edit a session's file. A session that was changed continues only
// if the policy permits it, until the person accepts it. It is safe for concurrent use.
type keeper struct {
	records vouchers // nil if nothing is sealed or recorded
	log     *slog.Logger

	signing sync.Mutex
	signs   workflow.Signer // once it was had

	unrecorded sync.Once // whether it was said that nothing can be recorded
}

// signer returns the signer that seals histories, or nil. A missing key must not keep people
// from their work: the check of the log reports that there is no seal.
func (k *keeper) signer(ctx context.Context) workflow.Signer {
	return k.once(func() (workflow.Signer, error) { return k.records.Signer(ctx) }, slog.LevelWarn, "the history is not sealed")
}

// projectID returns the id of a project for a seal, and gives it one if it has none; known is the
// one by which its session is known. "" if nothing is sealed, or the project cannot have one:
// the machine's record then says where the session is.
func (k *keeper) projectID(ctx context.Context, p *project.Project, signer workflow.Signer, known string) string {
	if signer == nil {
		return ""
	}
	id, err := p.EnsureID(context.WithoutCancel(ctx), known)
	if err != nil {
		k.log.Warn("the project has no id, so its seals do not name it", "project", p.Dir.Path(), "error", err)
	}
	return id
}

// readSigner returns the signer that histories were sealed with, without creating a key; nil
// if there is none.
func (k *keeper) readSigner() workflow.Signer {
	return k.once(func() (workflow.Signer, error) { return k.records.ReadSigner() }, slog.LevelDebug, "histories are checked without the key")
}

// once gets the signer once.
func (k *keeper) once(get func() (workflow.Signer, error), level slog.Level, failed string) workflow.Signer {
	k.signing.Lock()
	defer k.signing.Unlock()
	if k.records == nil || k.signs != nil {
		return k.signs
	}
	signer, err := get()
	if err != nil {
		k.log.Log(context.Background(), level, failed, "error", err)
		return nil
	}
	k.signs = signer
	return signer
}
