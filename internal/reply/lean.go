package reply

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Lean returns the reply as a model gets it: without the parts that its conversation has, because
// each byte of it is paid for in every later turn. A status or resume, with which a conversation
// begins, keeps nearly everything; programs and people get the whole reply.
func (r *Reply) Lean() *Reply {
	out := *r
	if r.Draft != nil {
		draft := *r.Draft
		draft.Stage, draft.Size = "", 0
		if r.Gate == nil && !r.describes {
			draft.SHA256 = "" // it is for a host's tool of decisions
		}
		if draft.Path != r.file {
			draft.Summary = "" // the model has written it
		}
		out.Draft = &draft
	}
	if r.unmoved {
		out.Stages, out.Artifacts, out.Candidates, out.Audit, out.Evidence, out.Findings, out.Objections, out.Rows = nil, nil, nil, nil, nil, nil, nil, nil
		out.Questions, out.Gaps, out.Sprints, out.StageDescription, out.SessionFile, out.ScoreNote = nil, nil, nil, "", "", ""
	}
	if r.describes {
		return &out
	}
	out.Iteration = 0
	if !r.shortened {
		out.SessionFile = ""
	}
	if r.action != workflow.ActionStart {
		out.TaskName, out.Cwd, out.StageDescription = "", "", ""
		if !r.RequiresUserConfirmation && r.Gate == nil && r.State.Active() { // nobody is asked
			out.UserMessage = strings.TrimPrefix(r.UserMessage, r.taskLine)
		}
	}
	if r.action != workflow.ActionSubmit {
		out.Gaps = nil // the reply to the submission had them
	}
	out.Questions = first(r.Questions, len(r.Questions), func(q *workflow.Question) { q.Context, q.Options = "", nil }) // user_message has them
	if !r.State.Active() || r.State == workflow.AwaitingApproval {
		out.Sprints = nil // so it has these
	}
	if c := r.Context; c != nil {
		lean := *c
		lean.Documents = first(c.Documents, len(c.Documents), func(d *standing.Document) { d.Size = 0 })
		lean.Answers = first(c.Answers, len(c.Answers), func(a *Answer) {
			if !a.unseen {
				a.Question, a.Answer = words.Clip(a.Question, 40), words.Clip(a.Answer, 100)
			}
		})
		out.Context = &lean
		if slices.ContainsFunc(c.Documents, func(d standing.Document) bool { return d.Path == r.Artifact }) {
			out.Artifact = ""
		}
	}
	return &out
}
