package engine

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Synced are the documents of a project's folder, by their paths.
type Synced struct {
	// Written are the missing documents, now written, Edited the documents changed by people, which stay, and
	// Failed the ones with a write error.
	Written []string `json:"written"`
	Edited  []string `json:"edited"`
	Failed  []string `json:"failed"`
}

// Sync writes the missing documents of all sessions into a project's folder; none of a session changed by other
// hands.
func (e *Engine) Sync(ctx context.Context, at project.Address) (Synced, error) {
	out := Synced{Written: []string{}, Edited: []string{}, Failed: []string{}}
	p, err := e.Projects().At(at)
	if err != nil {
		return out, err
	}
	defer p.Close()
	all, err := p.Sessions(ctx)
	if err != nil {
		return out, err
	}
	for _, s := range all.Sessions {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		r := e.newRun(p, s.SessionID, request.Request{Action: workflow.ActionStatus}, 0)
		session, err := r.check.readSession(ctx)
		if err != nil || !r.check.mayWrite() {
			continue // the list of sessions names it
		}
		now := r.gatherFacts(session)
		r.disk.Repair(ctx, now, true)
		r.disk.LayOut(ctx, now)
		r.writeFiles(session)
		out.Written, out.Failed = append(out.Written, r.disk.Written...), append(out.Failed, r.disk.Unwritten...)
		r.disk.GatherSaved(ctx, now)
		for path, file := range now.Saved {
			if file.Modified {
				out.Edited = append(out.Edited, path)
			}
		}
	}
	slices.Sort(out.Edited)
	return out, nil
}
