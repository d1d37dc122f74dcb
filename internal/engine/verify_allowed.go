package engine

import (
	"context"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
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

// verifier runs the verify commands of one project that the person has allowed.
type verifier struct {
	*Engine
	project *project.Project
	have    permits
}

func (e *Engine) verifier(p *project.Project) *verifier {
	return &verifier{Engine: e, project: p, have: e.permits(p)}
}

// permitsVerify returns the allowance by which a session's command may run here.
func (v *verifier) permitsVerify(kept workflow.VerifyCommand) *trust.Allowance {
	return v.have().Command(kept.Command, kept.SetBy)
}

// notAllowed says why a command may not run here, and how to allow it.
func (v *verifier) notAllowed(kept workflow.VerifyCommand) lang.Text {
	if v.trust == nil {
		return words.NotAllowed(v.names)
	}
	list, err := v.trust.Allowances()
	if err != nil {
		return words.AllowancesUnreadable(v.names)
	}
	known := trust.Permits(list).Command(kept.Command, kept.SetBy)
	switch {
	case known == nil:
		return words.NotAllowed(v.names)
	case known.Project == trust.PathOf(v.project.Dir.Path()):
		return words.AllowedBefore(v.names)
	}
	return words.AllowedElsewhere(v.names)
}

// bindVerify binds an allowance of an older version to this project, with the present
// files that the command names.
func (v *verifier) bindVerify(ctx context.Context, kept workflow.VerifyCommand, a trust.Allowance) {
	if a.ProjectID != "" {
		return
	}
	err := v.trust.Bind(ctx, a.Project)
	for _, f := range trust.Scripts(v.project.Dir, kept.Command) {
		if err == nil && !f.Missing() {
			f.At = v.Now()
			err = v.trust.Allow(ctx, f)
		}
	}
	if err != nil {
		v.log.Warn("what was allowed is not bound to the project", "error", err)
	}
}

// scriptNotes names the files of a command that have changed since it was allowed.
func (v *verifier) scriptNotes(l lang.Language, kept workflow.VerifyCommand, a trust.Allowance) (notes []string) {
	changes := v.have().Changed(trust.Scripts(v.project.Dir, kept.Command), kept.Command, a)
	texts := make([]lang.Text, len(changes))
	for i, c := range changes {
		texts[i] = scriptText(c)
	}
	for _, note := range words.Scripts(texts, v.names) {
		notes = append(notes, note.In(l))
	}
	return notes
}

// scriptText says how a file that a command names differs from the one that was allowed.
func scriptText(c trust.ScriptChange) lang.Text {
	state := map[trust.ScriptState]words.ScriptState{
		trust.ScriptNew: words.ScriptNew, trust.ScriptChanged: words.ScriptChanged, trust.ScriptGone: words.ScriptGone, trust.ScriptBack: words.ScriptBack,
	}[c.State]
	return words.Script(c.Text, state, c.Since)
}
