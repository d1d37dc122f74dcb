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
	// Written are those that it lacked, Edited those that people have changed, which stay, and Failed those
	// that could not be written.
	Written []string `json:"written"`
	Edited  []string `json:"edited"`
	Failed  []string `json:"failed"`
}

// Sync writes the documents of all sessions that a project's folder lacks. A session that was changed by
// other hands writes none.
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
		r := e.run(p, s.SessionID, request.Request{Action: workflow.ActionStatus}, 0)
		session, err := r.check.get(ctx)
		if err != nil || !r.check.mayWrite() {
			continue // the list of sessions names it
		}
		now := r.gatherFacts(session)
		r.disk.Repair(ctx, now, true)
		r.settle()
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
