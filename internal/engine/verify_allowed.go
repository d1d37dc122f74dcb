package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// permits are the person's allowances for one project, read on the first call.
type permits func() trust.Permits

func (e *Engine) permits(p *project.Project) permits {
	return sync.OnceValue(func() trust.Permits {
		if e.trust == nil {
			return nil
		}
		return e.trust.InForce(p.Dir.Path())
	})
}

// permitsVerify returns the allowance by which a session's command may run here.
func (r run) permitsVerify(kept workflow.VerifyCommand) *trust.Allowance {
	return r.permits(r.project)().Command(kept.Command, kept.SetBy)
}

// notAllowed says why a command may not run here, and how to allow it.
func (r run) notAllowed(kept workflow.VerifyCommand) string {
	const why = "you have not allowed it in this project yet; in a terminal: bmad-mcp allow"
	if r.trust == nil {
		return why
	}
	list, err := r.trust.Allowances()
	if err != nil {
		return "what you have allowed cannot be read, so nothing is; in a terminal: bmad-mcp allow"
	}
	known := trust.Permits(list).Command(kept.Command, kept.SetBy)
	switch {
	case known == nil:
		return why
	case known.Project == trust.PathOf(r.project.Dir.Path()):
		return why + " (what you allowed at this path was for another project, or its run state was cleared since)"
	}
	// Which one is not said: a client that asks may not be served that folder.
	return why + " (you have in another one; each is asked about by itself, a copy or worktree too)"
}

// bindVerify binds an allowance of an older version to this project, with the present
// files that the command names.
func (r run) bindVerify(ctx context.Context, kept workflow.VerifyCommand, a trust.Allowance) {
	if a.ProjectID != "" {
		return
	}
	err := r.trust.Bind(ctx, a.Project)
	for _, f := range trust.Scripts(r.project.Dir, kept.Command) {
		if err == nil && !f.Missing() {
			f.At = r.Now()
			err = r.trust.Allow(ctx, f)
		}
	}
	if err != nil {
		r.log.Warn("what was allowed is not bound to the project", "error", err)
	}
}

// maxNotes bounds how many changed files are named.
const maxNotes = 5

// scriptNotes names the files of a command that have changed since it was allowed.
func (r run) scriptNotes(kept workflow.VerifyCommand, a trust.Allowance) []string {
	var notes []string
	changes := r.permits(r.project)().Changed(trust.Scripts(r.project.Dir, kept.Command), kept.Command, a)
	for i, c := range changes {
		if i == maxNotes {
			notes = append(notes, fmt.Sprintf("and %d more files have", len(changes)-i))
			break
		}
		notes = append(notes, scriptText(c))
	}
	if len(notes) > 0 {
		notes[len(notes)-1] += " (to see and settle it: bmad-mcp allow)"
	}
	return notes
}
