package web

import (
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// MaxStreams is how many pages are followed at once.
const MaxStreams = maxStreams

// Beat sets how often a stream without news is kept open.
func (d *Dashboard) Beat(every time.Duration) { d.live.beat = every }

// Streams is how many pages are followed.
func (d *Dashboard) Streams() int { return int(d.live.streams.Load()) }

// Nonce marks a page as one that was shown.
func (d *Dashboard) Nonce(session string, stage workflow.StageID, revision int, sha256 string) string {
	return d.nonces.add(shownFor{session, stage, revision, sha256}, d.door.now())
}
