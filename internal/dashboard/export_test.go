package dashboard

import "github.com/bmad-mcp/bmad-mcp/internal/workflow"

// Nonce marks a page as one that was shown.
func (d *Dashboard) Nonce(session string, stage workflow.StageID, revision int, sha256 string) string {
	return d.nonce(session, stage, revision, sha256)
}
