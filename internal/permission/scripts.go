package permission

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// permit returns the allowance by which a session's command may run here.
func (g *Guard) permit(kept workflow.VerifyCommand) *trust.Allowance {
	return g.permits().Command(kept.Command, kept.SetBy)
}

// notAllowed says why a command may not run here, and how to allow it.
func (g *Guard) notAllowed(kept workflow.VerifyCommand) string {
	if g.Consent == nil {
		return words.NotAllowed(g.Names)
	}
	list, err := g.Consent.Allowances()
	if err != nil {
		return words.AllowancesUnreadable(g.Names)
	}
	known := trust.Permits(list).Command(kept.Command, kept.SetBy)
	switch {
	case known == nil:
		return words.NotAllowed(g.Names)
	case known.Project == trust.PathOf(g.project.Dir.Path()):
		return words.AllowedBefore(g.Names)
	}
	return words.AllowedElsewhere(g.Names)
}

// bind binds an allowance of an older version to this project, with the present
// files that the command names.
func (g *Guard) bind(ctx context.Context, kept workflow.VerifyCommand, a trust.Allowance) {
	if a.ProjectID != "" {
		return
	}
	err := g.Consent.Bind(ctx, a.Project)
	for _, f := range trust.Scripts(g.project.Dir, kept.Command) {
		if err == nil && !f.Missing() {
			f.At = g.at()
			err = g.Consent.Allow(ctx, f)
		}
	}
	if err != nil {
		g.Log.Warn("the allowance was not bound to the project", "error", err)
	}
}

// scriptNotes names the files of a command that have changed since it was allowed.
func (g *Guard) scriptNotes(kept workflow.VerifyCommand, a trust.Allowance) []string {
	changes := g.permits().Changed(trust.Scripts(g.project.Dir, kept.Command), kept.Command, a)
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = scriptText(c)
	}
	return words.Scripts(texts, g.Names)
}

// scriptText says how a file that a command names differs from the one that was allowed.
func scriptText(c trust.ScriptChange) string {
	state := map[trust.ScriptState]words.ScriptState{
		trust.ScriptNew: words.ScriptNew, trust.ScriptChanged: words.ScriptChanged, trust.ScriptGone: words.ScriptGone, trust.ScriptBack: words.ScriptBack,
	}[c.State]
	return words.Script(c.Text, state, c.Since)
}
