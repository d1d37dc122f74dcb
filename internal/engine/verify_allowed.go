package engine

import (
	"context"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
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
func (r *run) permitsVerify(kept workflow.VerifyCommand) *trust.Allowance {
	return r.permits(r.project)().Command(kept.Command, kept.SetBy)
}

// notAllowed says why a command may not run here, and how to allow it.
func (r *run) notAllowed(kept workflow.VerifyCommand) string {
	if r.trust == nil {
		return words.NotAllowed(r.names)
	}
	list, err := r.trust.Allowances()
	if err != nil {
		return words.AllowancesUnreadable(r.names)
	}
	known := trust.Permits(list).Command(kept.Command, kept.SetBy)
	switch {
	case known == nil:
		return words.NotAllowed(r.names)
	case known.Project == trust.PathOf(r.project.Dir.Path()):
		return words.AllowedBefore(r.names)
	}
	return words.AllowedElsewhere(r.names)
}

// bindVerify binds an allowance of an older version to this project, with the present
// files that the command names.
func (r *run) bindVerify(ctx context.Context, kept workflow.VerifyCommand, a trust.Allowance) {
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

// scriptNotes names the files of a command that have changed since it was allowed.
func (r *run) scriptNotes(kept workflow.VerifyCommand, a trust.Allowance) []string {
	changes := r.permits(r.project)().Changed(trust.Scripts(r.project.Dir, kept.Command), kept.Command, a)
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = scriptText(c)
	}
	return words.Scripts(texts, r.names)
}

// scriptText says how a file that a command names differs from the one that was allowed.
func scriptText(c trust.ScriptChange) string {
	state := map[trust.ScriptState]words.ScriptState{
		trust.ScriptNew: words.ScriptNew, trust.ScriptChanged: words.ScriptChanged, trust.ScriptGone: words.ScriptGone, trust.ScriptBack: words.ScriptBack,
	}[c.State]
	return words.Script(c.Text, state, c.Since)
}
