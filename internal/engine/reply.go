package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

// Standing has the facts of a session at one moment.
type Standing = standing.Standing

// Outcome is the result of an action. In JSON it is the reply.
type Outcome struct {
	*reply.Reply
	// Standing has the facts of the session; nil for a list of sessions.
	Standing *Standing `json:"-"`
	// Silence says why a question to the person has brought no decision; nil if there was none, or it
	// has brought one.
	Silence *gate.Silence `json:"-"`
	// Queued is true if the workers of a team have the run.
	Queued bool `json:"-"`
}

// WhyBarred explains why the caller's yes does not count at the session's gate; empty if it does.
func (o Outcome) WhyBarred() lang.Text { return words.Bars(o.Standing) }

func (r *run) buildReply(ctx context.Context, s *standing.Standing, d reply.Depth, message string) (Outcome, error) {
	if !reply.Briefs(s, d) {
		return r.withTexts(ctx, Outcome{Reply: reply.New(s, d, message, ""), Standing: s}), nil
	}
	prompt, err := r.project.Prompt(s.Stage)
	if err != nil {
		return Outcome{}, err
	}
	if r.req.Inline {
		prompt = prompt.Answered()
	}
	role := prompt.Later(s.Stage.GateScore)
	if d == reply.Whole {
		role = prompt.Full(s.Stage.GateScore)
		if s.Session.CurrentState == workflow.Generating && s.Session.Current().Iteration == 0 {
			role = prompt.First(s.Stage.GateScore)
		}
		role = r.engine.personaText(r.project, s.Stage) + role
	}
	out := Outcome{Standing: s}
	out.Reply = reply.New(s, d, message, role+prompts.Languages(s.Stage, s.Documents, s.Language, lang.Choose(lang.Auto, s.Session.Objective, lang.English)))
	r.addNotes(ctx, s, d, out.Reply)
	return r.withTexts(ctx, out), nil
}

// withTexts has the texts that a reply names written there. A look changes nothing: it names what sync writes.
func (r *run) withTexts(ctx context.Context, out Outcome) Outcome {
	if r.req.Action != workflow.ActionStatus && r.req.Action != workflow.ActionResume {
		if err := r.disk.LayOutTexts(ctx, out.Standing, out.TextPaths()...); err != nil {
			r.engine.options.Log.Warn("a text of the store cannot be written where the reply names it", "session", r.id, "error", err)
		}
	}
	return out
}

// personaText returns the introduction to a stage's role prompt: the agent of the installed method for the stage,
// if the settings ask for one. Without an agent the action goes on, since the stage has a role of its own.
func (e *Engine) personaText(p *project.Project, st workflow.Stage) string {
	if p.Config.Personas != config.PersonasBMAD || e.options.Personas == nil {
		return ""
	}
	text, err := e.options.Personas.Persona(p.Dir.Path(), string(st.ID), st.Personas)
	if err != nil {
		return "The settings ask for the BMAD agent of this stage, and there is none to act as (" +
			visible.Fit(err.Error(), 300) + "). Tell the person in a line, and act in the role below.\n\n"
	}
	return visible.Fit(text, MaxPersona) + "\n\nThis persona is how you speak and judge. What you hand in, and in which form, is what follows.\n\n"
}
