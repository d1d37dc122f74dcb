package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// readTyped returns the person's typed decision for the gate as it is, if the assistant's call carries it. A
// strict policy does not accept it: any program with access to the host's hook can claim a typed decision.
func (r *run) readTyped(ctx context.Context, s *standing.Standing, b gate.Bound) (g workflow.Grant, ok bool, err error) {
	isUndecided := r.req.Action == workflow.ActionApprove && r.req.Yes == nil
	carriesDecision := r.req.Via == workflow.ChannelRelayed && r.req.Action == b.Action && !isUndecided
	if r.engine.options.Typed == nil || s.Policy.Gate == workflow.GateStrict || !carriesDecision {
		return g, false, nil
	}
	if s.Draft.Edited && !r.req.Word().No { // maybe they have not read the edit
		return g, false, nil
	}
	a := gate.Response{Channel: workflow.ChannelTyped, Decision: r.req.Word().Decision()}
	needsWords := !gate.NeedsWords(s, a.Decision, "", nil).Empty()
	words, ok, err := r.engine.options.Typed.TakeTyped(ctx, typedGate(r.project.Place(), b, a.Decision), needsWords, r.engine.Now())
	if err != nil || !ok {
		if err != nil {
			r.engine.options.Log.Warn("the typed decision cannot be taken", "error", err)
		}
		return g, false, nil
	}
	a.Feedback = words // their own, not the assistant's version of them
	g, err = r.newGateGrant(ctx, s, b, a)
	return g, true, err
}

func typedGate(project string, b gate.Bound, d workflow.Decision) trust.TypedGate {
	return trust.TypedGate{Project: project, SessionID: b.SessionID, Stage: b.Stage, Revision: b.Revision, SHA256: b.SHA256, Action: b.Action, Decision: d}
}

// findWaiting returns the one session waiting for such a decision; nil if there is none, or more than one.
func findWaiting(ctx context.Context, p *project.Project, sessions []workflow.Summary, action workflow.Action) (found *workflow.Session) {
	sessions = slices.DeleteFunc(sessions, func(s workflow.Summary) bool {
		decides := s.CurrentState.GateAction()
		if s.CurrentState == workflow.Clarifying { // its document may have reached the gate
			decides = workflow.ActionConfirm
		}
		return decides == "" || action != "" && decides != action
	})
	if len(sessions) > maxWaiting {
		return nil
	}
	for _, known := range sessions {
		s, err := p.Backend.Get(ctx, known.SessionID)
		switch {
		case err != nil:
			return nil
		case !s.CurrentState.Gated() && !s.GateMet():
		case found != nil:
			return nil
		default:
			found = s
		}
	}
	return found
}

// maxWaiting is the most sessions read for a typed command; among more, the command names none.
const maxWaiting = 50

// TypedGate returns the one gate of a project for a typed command, and the rest of the command. words may begin
// with the name of a task; without one, exactly one session must wait for such a decision. action is ActionConfirm
// or ActionApprove, or "" for either. ok is false if there is none, or more than one.
func (e *Engine) TypedGate(ctx context.Context, cwd string, action workflow.Action, d workflow.Decision, words string) (typed trust.TypedGate, rest string, ok bool) {
	p, err := e.Projects().Open(cwd)
	if err != nil {
		return typed, "", false
	}
	defer p.Close()
	all, err := p.Sessions(ctx)
	if err != nil {
		return typed, "", false
	}
	sessions := slices.Clone(all.Sessions)
	name, after, _ := strings.Cut(strings.TrimSpace(words), " ")
	isNamed := func(s workflow.Summary) bool { return name != "" && (s.TaskName == name || s.SessionID == name) }
	looksLikeName := after == "" && strings.Contains(name, "-")
	expectsName := action == workflow.ActionConfirm || looksLikeName
	if slices.ContainsFunc(sessions, isNamed) {
		sessions, words = slices.DeleteFunc(sessions, func(s workflow.Summary) bool { return !isNamed(s) }), after
	} else if name != "" && expectsName {
		return typed, "", false // names a task of another place
	}
	s := findWaiting(ctx, p, sessions, action)
	if s == nil {
		return typed, "", false
	}
	b := gate.Bind(e.newRun(p, s.SessionID, request.Request{}, 0).gatherNeeded(ctx, s).AtGate())
	return typedGate(p.Place(), b, d), strings.TrimSpace(words), b.SHA256 != "" && (action == "" || b.Action == action)
}
