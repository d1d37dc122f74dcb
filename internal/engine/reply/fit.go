package reply

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Encode returns the compact JSON of a reply, as it goes to the host.
func (r *Reply) Encode() ([]byte, error) {
	if r.form.once {
		return workflow.Marshal(r.terseForm())
	}
	return workflow.Marshal(r)
}

// Fit brings a reply under Max. Ordinary replies are far below; models and
// people sometimes write a page into a question. The reply names the session file, which
// has the shortened texts in full. Notes of earlier runs go first: a stage can do without them.
func (r *Reply) Fit() {
	if data, err := r.Encode(); err == nil && len(data) > Max && r.Context != nil {
		r.Context.Memory = nil
	}
	for _, limit := range []struct{ items, text int }{{20, 400}, {10, 200}, {5, 120}, {3, 60}} {
		data, err := r.Encode()
		if err != nil || len(data) <= Max {
			return
		}
		r.shorten(limit.items, limit.text)
	}
}

// shorten keeps at most items of each list and text bytes of each of their texts.
func (r *Reply) shorten(items, text int) {
	cut := func(s string) string { return visible.Fit(s, text) }
	r.Questions = firstItems(r.Questions, items, func(q *workflow.Question) { q.Question, q.Context = cut(q.Question), cut(q.Context); q.Extra = nil })
	r.Findings = firstItems(r.Findings, items, func(f *workflow.Finding) {
		f.Problem, f.Fix, f.File, f.Extra = cut(f.Problem), cut(f.Fix), cut(f.File), nil
	})
	// None is left out: the next submission is refused without it.
	r.ChangeRequests = firstItems(r.ChangeRequests, len(r.ChangeRequests), func(c *CommentView) { c.shorten(text) })
	r.Gaps = firstItems(r.Gaps, items, func(s *string) { *s = cut(*s) })
	r.Returned = firstItems(r.Returned, items, func(s *string) { *s = cut(*s) })
	r.Objections = firstItems(r.Objections, items, func(s *string) { *s = cut(*s) })
	r.Unreadable = firstItems(r.Unreadable, items, func(s *string) { *s = cut(*s) })
	r.Sprints = firstItems(r.Sprints, 2*items, func(s *workflow.Sprint) { s.Title, s.Extra = cut(s.Title), nil })
	r.Sessions = firstItems(r.Sessions, 2*items, func(s *SessionView) { s.Objective = cut(s.Objective) })
	if c := r.Context; c != nil {
		c.Comments = firstItems(c.Comments, 2*items, func(c *CommentView) { c.shorten(text) })
		c.Answers = firstItems(c.Answers, items, func(a *Answer) { a.Question, a.Answer = cut(a.Question), cut(a.Answer) })
		c.Documents = firstItems(c.Documents, items, func(d *standing.Document) { d.Summary = cut(d.Summary) })
		c.Objective, c.Feedback = visible.Fit(c.Objective, 4*text), visible.Fit(c.Feedback, 4*text)
	}
	r.form.shortened = true
	if r.file != "" {
		r.SessionFile = r.file
	}
	if r.Draft != nil {
		r.Draft.Summary = cut(r.Draft.Summary)
	}
	if answers, ok := r.NextCall["answers"].(map[string]string); ok && len(answers) > items {
		r.NextCall["answers"] = r.language.Say("an object of question id and text")
	}
	r.UserMessage = visible.Fit(r.UserMessage, 12*text)
	if len(r.UserMessage) >= 12*text-3 && r.SessionFile != "" {
		r.UserMessage += "\n\n" + r.language.Say("(shortened; all of it is in `%s`)", r.SessionFile)
	}
}

// shorten shortens the texts of a comment: the quote more than the person's words about it.
func (c *CommentView) shorten(text int) {
	c.Quote, c.Text, c.Replace = visible.Fit(c.Quote, max(text/4, 24)), visible.Fit(c.Text, text), visible.Fit(c.Replace, text)
}

// firstItems returns a changed copy of at most n items: the originals belong to the session.
func firstItems[T any](list []T, n int, change func(*T)) []T {
	out := append([]T(nil), list[:min(n, len(list))]...)
	for i := range out {
		change(&out[i])
	}
	return out
}

// Lean returns the reply as a model gets it: without the parts already in the conversation, because each byte is
// paid for in every later turn. A status or resume, at the beginning of a conversation, keeps nearly everything;
// programs and people get the whole reply.
func (r *Reply) Lean() *Reply {
	out := r.dropKnown()
	if r.form.sparing {
		return out.sayOnce()
	}
	return out
}

// dropKnown returns a copy without the parts already in the conversation.
func (r *Reply) dropKnown() *Reply {
	out, describes := *r, r.action == workflow.ActionStatus || r.action == workflow.ActionResume
	if r.Draft != nil {
		draft := *r.Draft
		draft.Stage, draft.Size = "", 0
		if r.Gate == nil && !describes {
			draft.SHA256 = "" // it is for a host's tool of decisions
		}
		if draft.Path != r.file {
			draft.Summary = "" // the model has written it
		}
		out.Draft = &draft
	}
	if r.form.unmoved {
		out.Stages, out.Artifacts, out.Candidates, out.Audit, out.Evidence, out.Findings, out.Objections, out.Rows = nil, nil, nil, nil, nil, nil, nil, nil
		out.Questions, out.Gaps, out.Sprints, out.StageDescription, out.SessionFile, out.ScoreNote, out.ShowFirst = nil, nil, nil, "", "", "", ""
	}
	if describes {
		return &out
	}
	out.Iteration = 0
	if !r.form.shortened {
		out.SessionFile = ""
	}
	if r.action != workflow.ActionStart {
		out.TaskName, out.Cwd, out.StageDescription = "", "", ""
		if !r.RequiresUserConfirmation && r.Gate == nil && r.State.Active() { // nobody is asked
			out.UserMessage = strings.TrimPrefix(r.UserMessage, r.taskLine)
		}
	}
	if r.action != workflow.ActionSubmit && !r.Context.byForm() {
		out.Gaps = nil // known from the reply to the submission, unless a form took its place
	}
	out.Questions = firstItems(r.Questions, len(r.Questions), func(q *workflow.Question) { q.Context, q.Options = "", nil }) // user_message has them
	if !r.State.Active() || r.State == workflow.AwaitingApproval {
		out.Sprints = nil // so it has these
	}
	if c := r.Context; c != nil {
		lean := *c
		lean.Documents = firstItems(c.Documents, len(c.Documents), func(d *standing.Document) { d.Size = 0 })
		lean.Answers = firstItems(c.Answers, len(c.Answers), func(a *Answer) {
			if !a.unseen {
				a.Question, a.Answer = visible.Fit(a.Question, 40), visible.Fit(a.Answer, 100)
			}
		})
		out.Context = &lean
		if slices.ContainsFunc(c.Documents, func(d standing.Document) bool { return d.Path == r.Artifact }) {
			out.Artifact = ""
		}
	}
	return &out
}

// material holds the parts of a reply named in role prompts, under the same keys.
type material struct {
	Stage    workflow.StageID   `json:"stage"`
	Draft    *standing.Document `json:"draft,omitempty"`
	Context  *Context           `json:"context,omitempty"`
	Gaps     []string           `json:"gaps,omitempty"`
	Findings []workflow.Finding `json:"findings,omitempty"`
	Owed     []string           `json:"owed,omitempty"`
	OwedMore *OwedMore          `json:"owed_more,omitempty"`
	Returned []string           `json:"returned,omitempty"`
	Requests []CommentView      `json:"change_requests,omitempty"`
	Evidence *EvidenceView      `json:"evidence,omitempty"`
	Sprints  []workflow.Sprint  `json:"sprints,omitempty"`
	// Build are the sprints to build, as the person has said.
	Build any    `json:"build,omitempty"`
	File  string `json:"session_file,omitempty"`
}

// Material returns the compact JSON of the parts named in the role prompt, for a reader of nothing else in the
// reply. builds is true if the person has started the work on a build.
func (r *Reply) Material(builds bool) ([]byte, error) {
	m := material{
		Stage: r.Stage, Draft: r.Draft, Context: r.Context, Gaps: r.Gaps, Findings: r.Findings, Owed: r.Owed, OwedMore: r.OwedMore, Returned: r.Returned,
		Requests: r.ChangeRequests, Evidence: r.Evidence, Sprints: r.Sprints, File: r.SessionFile,
	}
	if builds {
		m.Build = r.NextCall["sprints"]
	}
	return workflow.Marshal(m)
}
