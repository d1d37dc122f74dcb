package engine

import (
	"context"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/submission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// decide carries out the human's decision at a gate, as read by granted: confirm on a document with the score of
// its gate, approve on a plan, on failed or blocked work, and on a document without rounds left. A yes saves the
// document and goes on in one step, a no sends the work back with the human's feedback.
func (r *run) decide(ctx context.Context, granted func(context.Context, *standing.Standing) (workflow.Grant, error)) (Outcome, error) {
	var from workflow.Stage
	var grant workflow.Grant
	var edit *submission.Submission
	var before workflow.Transition // the project before the work
	s, err := r.changeSession(ctx, func(s *standing.Standing) (err error) {
		from = s.Stage
		if grant, err = granted(ctx, s.AtGate()); err != nil {
			return err
		}
		if edit, err = r.findEdit(ctx, s.AtGate(), grant); err != nil {
			return err
		}
		if grant.Decision != workflow.DecisionChanges && s.Workflow.KeepsTree(from, false) {
			before.Tree, before.Dirty = r.disk.Tree(ctx, s.Session), r.disk.Dirty(ctx, s.Session)
		}
		return r.signDecision(ctx, s.Session, &grant)
	}, func(tx store.Tx, s *standing.Standing) error {
		if s.Met() { // the person takes it or sends it back, and answers no questions
			rec := s.Session.Current()
			note := workflow.Transition{Iteration: rec.Iteration, Score: rec.Score, Skipped: settleQuestions(rec, gate.Response{SkipRest: true}).skipped}
			if err := r.fireEvent(ctx, s, workflow.EventSkipped, note); err != nil {
				return err
			}
		}
		return r.carryOut(ctx, tx, s, grant, edit, before)
	})
	if err != nil {
		return Outcome{}, err
	}
	note := ""
	if edit != nil {
		note = words.EditsNote(s.Language, edit.Edits)
	}
	if s.Session.Last().Event == workflow.EventGranted {
		return r.buildReply(ctx, s, reply.Short, words.Counted(s, grant)+note+words.Message(s))
	}
	if s.Session.CurrentState == workflow.Refining {
		return r.buildReply(ctx, s, reply.Short, words.GrantNote(s.Language, grant)+note+words.Message(s))
	}
	out, err := r.buildReply(ctx, s, reply.DepthFor(s, from), words.Decided(s, from, grant, r.disk.Kept)+note+words.Message(s))
	if a := s.Session.Record(from.ID).Artifact; out.Reply != nil && a != nil {
		out.Artifact = a.Path
	}
	return out, err
}

// carryOut moves the session by a decision. It runs under the session's lock, on the revision of the decision.
// edit is the draft if it was edited after it was scored, else nil. before has the state of the project's files, if the
// step records them.
func (r *run) carryOut(ctx context.Context, tx store.Tx, s *standing.Standing, grant workflow.Grant, edit *submission.Submission, before workflow.Transition) error {
	rec, yes := s.Session.Current(), grant.Decision != workflow.DecisionChanges
	if yes && !s.Blocked() {
		r.disk.Forget(s)
		r.disk.GatherDraft(ctx, s)
		isUnusable := s.Draft.Edited && s.Draft.Edit == nil
		if isUnusable || gate.Bind(s).SHA256 != grant.SHA256 { // while the person was asked
			return words.EditedDraft(s)
		}
	}
	needsOthers := yes && s.Ruled() && s.Missing() > 1
	if edit != nil {
		if err := r.enterEdit(ctx, tx, s, edit); err != nil {
			return err
		}
	}
	note := workflow.Transition{Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict, Feedback: grant.Feedback, Grant: &grant}
	if rec.FinalResultRef != nil {
		note.Path, note.SHA256 = rec.FinalResultRef.FilePath, rec.FinalResultRef.SHA256
	}
	if yes && !rec.Spent() {
		note.ByWord = verdict.CountRows(rec.Criteria).ByWord
	}
	if needsOthers { // the gate stays until the others have said yes to the same text
		note.Event, note.Action, note.At = workflow.EventGranted, r.req.Action, r.engine.Now()
		note.By, note.Person = r.req.By, grant.Person
		s.Session.Note(note)
		s.Session.UpdatedAt = note.At
		return nil
	}
	on := workflow.ChangeRequest{Stage: s.Session.CurrentStage, Round: rec.Iteration, SHA256: note.SHA256}
	rec.DropRequests(workflow.RequestUnmentioned) // an older program let a submission ignore them
	event := s.Workflow.Decision(s.Session, yes)
	switch event {
	case workflow.EventScopeApproved:
		rec.ApprovedScope = new(*rec.FinalResultRef)
		return r.fireEvent(ctx, s, event, note)
	case workflow.EventChangesRequested, workflow.EventSentBack:
		if err := r.fireEvent(ctx, s, event, note); err != nil {
			return err
		}
		// After the transition: a failed review has moved the session to dev.
		s.Session.Current().Feedback = note.Feedback
		addChangeRequests(s, grant, on)
		return nil
	}
	if err := r.disk.SaveArtifact(ctx, tx, s, grant, r.engine.Now()); err != nil {
		return err
	}
	rec.Approved = true
	if note.VerifyCommands, note.Tree, note.Dirty = permission.AcceptVerify(s), before.Tree, before.Dirty; grant.Offer != nil {
		var err error
		if note.VerifyCommands, err = r.engine.person.In(r.project).LetRun(ctx, s, *r.accepted); err != nil {
			return err
		}
	}
	return r.fireEvent(ctx, s, event, note)
}

// stillPending describes a session whose gate stays as it is, and why.
func (r *run) stillPending(ctx context.Context, why gate.Silence) (Outcome, error) {
	stored, err := r.project.Backend.Get(ctx, r.id)
	if err != nil {
		return Outcome{}, err
	}
	s := r.gatherAll(ctx, stored)
	// If nobody saw the question, the next question goes another way.
	s.Call.Withheld, s.Call.NoForms = !why.Unasked, s.Call.NoForms || why.Unasked
	message := words.Undecided(s, why.Why) + words.Message(s)
	if why.View {
		message = showDocument(s, r.viewed)
	}
	out, err := r.buildReply(ctx, s, reply.Light, message)
	out.Silence = &why
	if out.Reply != nil {
		if out.Gate == nil {
			out.Gate = reply.NewGateView(s)
		}
		out.Gate.Silence = why.Why.In(s.Language)
	}
	return out, err
}

// showDocument shows the document of a question, as much as a reply holds.
func showDocument(s *standing.Standing, text string) string {
	if text == "" {
		return words.TextGone(s.Language, s.Draft.Path)
	}
	var shown reply.Reply
	shown.Show(reply.NewResource("draft", "text/markdown", s.Draft.Path, text))
	return words.Viewed(s, shown.Resource.Text, len(text))
}

// readDecision returns the human's decision on the session as it is, by the best channel that the call has and the
// policy accepts.
func (r *run) readDecision(ctx context.Context, s *standing.Standing) (workflow.Grant, error) {
	word := r.req.Word()
	if s.LacksWords() { // the call has the words for the last decision
		if s.Policy.Gate == workflow.GateStrict && !r.req.Via.Personal() {
			return workflow.Grant{}, words.NotPersonal(s, r.req.Via, lang.Text{})
		}
		no := gate.Response{Channel: r.req.Via, Decision: workflow.DecisionChanges, Feedback: r.req.Feedback, Comments: r.req.Comments}
		return r.newGrant(ctx, s, s.Policy.Gate, gate.Bind(s), no)
	}
	if err := gate.Decidable(s, word); err != nil {
		return workflow.Grant{}, err
	}
	bound := gate.Bind(s) // before anyone is asked: the decision is for the present document
	if g, typed, err := r.readTyped(ctx, s, bound); typed {
		return g, err
	}
	asked, note, err := r.askPerson(ctx, s, word)
	if err != nil {
		return workflow.Grant{}, err
	}
	if asked != nil {
		return r.newGateGrant(ctx, s, bound, *asked)
	}
	if err := gate.OwnWord(s, word, note); err != nil {
		return workflow.Grant{}, err
	}
	g, err := r.newGateGrant(ctx, s, bound, gate.Response{Channel: r.req.Via, Decision: word.Decision(), Feedback: r.req.Feedback, Comments: r.req.Comments})
	g.Note = note.In(s.Language)
	return g, err
}

// askPerson puts the question to the person if the call can and the policy wants it. It
// returns their decision; or nil, and why no person has seen the question, if the call's
// own word is next.
func (r *run) askPerson(ctx context.Context, s *standing.Standing, word gate.Word) (answer *gate.Response, note lang.Text, err error) {
	if !gate.Asks(s, word) {
		return nil, note, nil
	}
	a, err := r.putQuestion(ctx, s, r.gateQuestion(s))
	switch {
	case err != nil:
		return nil, note, err
	case a.Decision != "":
		if why := gate.NeedsWords(s, a.Decision, a.Feedback, a.Comments); !why.Empty() {
			return nil, note, &gate.Silence{Why: words.NoWords(why)}
		}
		return &a, note, nil
	case !a.Silence.Unasked, word.Via == "", !word.Given: // without a word the call left the decision to a form, and nobody saw it
		return nil, note, &a.Silence
	}
	return nil, a.Silence.Why, nil
}

// decideLeaving returns the decision to take a session away from its stage. It undoes a person's decision, so
// under a strict policy the person decides in person. The grant has only the person's own words; the words of an
// assistant's call are shown to them as a reason.
func (r *run) decideLeaving(ctx context.Context, s *standing.Standing, d workflow.Decision, label lang.Text) (*workflow.Grant, error) {
	policy := gate.LeavingPolicy(s)
	a := gate.Response{Channel: r.req.Via, Decision: d, Feedback: r.req.Feedback}
	bound := gate.Bind(s)
	strict := policy == workflow.GateStrict
	isRefused := strict && !r.req.Via.Personal()
	needsPerson := r.req.Via == "" || isRefused
	if r.req.Ask != nil && needsPerson {
		var err error
		if a, err = r.putQuestion(ctx, s, gate.Leave(s, d, label, r.req.Feedback)); err != nil {
			return nil, err
		}
		isFinal := !a.Silence.Unasked || r.req.Via == ""
		if a.Decision == "" && isFinal {
			return nil, &a.Silence
		}
		if a.Feedback == "" && !r.req.Forms { // the call is theirs
			a.Feedback = r.req.Feedback
		}
	}
	if strict && !a.Channel.Personal() {
		return nil, words.NotPersonal(s, r.req.Via, a.Silence.Why)
	}
	g, err := r.newGrant(ctx, s, policy, bound, a)
	if err == nil {
		err = r.signDecision(ctx, s.Session, &g)
	}
	return &g, err
}

// findEdit reads and audits the draft of a decision if it was edited after it was scored, else it returns nil. An
// unusable text keeps nobody from asking for another round.
func (r *run) findEdit(ctx context.Context, s *standing.Standing, g workflow.Grant) (*submission.Submission, error) {
	if s.Draft.Edit == nil {
		return nil, nil
	}
	sub, err := r.readEdit(ctx, s, g)
	if err != nil && g.Decision == workflow.DecisionChanges && ctx.Err() == nil {
		return nil, nil //nolint:nilerr // the draft stays where it is
	}
	return sub, err
}

func (r *run) readEdit(ctx context.Context, s *standing.Standing, g workflow.Grant) (*submission.Submission, error) {
	sub, err := submission.OfEdit(ctx, r.project, r.disk, s)
	if err != nil {
		return nil, err
	}
	if sub.SHA256(s) != g.SHA256 { // edited once more, since the person was asked
		return nil, words.EditedDraft(s)
	}
	if s.Stage.Gate == workflow.GateVerdict {
		return sub, nil
	}
	r.disk.GatherSaved(ctx, s)
	if err := sub.AuditDocuments(ctx, s, r.disk, r.engine.person.In(r.project)); err != nil {
		return nil, err
	}
	p := s.Policy
	opens := s.Overrides() || p.GateScore == nil || p.Met(sub.Assessment.Claimed, &sub.Audit.Score)
	if g.Decision != workflow.DecisionChanges && !opens {
		return nil, fault.New(fault.GatePending, "as it was edited, the audit of the draft is %s, and the gate asks for %s",
			words.Points(sub.Audit.Score), words.Points(*p.GateScore)).
			WithHint("change the draft once more and decide again, or ask for another round; nothing was changed")
	}
	return sub, nil
}

// enterEdit makes a round of an edited draft, at the gate at which it waits.
func (r *run) enterEdit(ctx context.Context, tx store.Tx, s *standing.Standing, sub *submission.Submission) error {
	rec := s.Session.Current()
	if err := sub.Keep(ctx, tx, r.disk, s, r.engine.Now()); err != nil {
		return err
	}
	sub.EnterEdit(s.Language, rec)
	rec.Iteration++
	if s.Stage.Kind == workflow.KindPlan {
		r.disk.SetSprints(ctx, s, sub.Assessment.Document, sub.Assessment.Sprints)
	}
	audited, findings, _ := serverFindings(s.Stage, rec)
	s.Session.Note(workflow.Transition{
		At: r.engine.Now(), Action: workflow.ActionSubmit, Event: workflow.EventEdited, By: r.req.By, Person: r.engine.personOf(r.project),
		Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict, Judged: rec.Judged(), AuditScore: audited,
		FindingsOpen: findings, Rows: words.Rows(s.Language, rec.Criteria),
		Path: rec.FinalResultRef.FilePath, SHA256: rec.FinalResultRef.SHA256, Sources: []string{s.Draft.Work}, Kept: sub.Edits,
		Edit: words.Edit(s.Language, s.Draft.Edit),
	})
	return nil
}

// serverFindings returns the server's own findings about a submission, as the history keeps them.
func serverFindings(st workflow.Stage, rec *workflow.Record) (audited *float64, findings, exit *int) {
	if rec.Audit != nil {
		audited = new(rec.Audit.Score)
	}
	if st.Kind == workflow.KindVerdict {
		findings = new(len(workflow.OpenFindings(rec.Findings)))
	}
	if e := rec.Evidence; e != nil && e.NotRun == "" {
		exit = new(e.ExitCode)
	}
	return audited, findings, exit
}

// settlement counts the open questions of a stage by their outcome.
type settlement struct {
	answered, open int
	skipped        []string // ids
}

// settleQuestions stores the answers and their channel, and marks each open question with the outcome.
func settleQuestions(rec *workflow.Record, a gate.Response) settlement {
	if rec.Answers == nil {
		rec.Answers = map[string]string{}
	}
	if rec.AnswerChannels == nil {
		rec.AnswerChannels = map[string]workflow.Channel{}
	}
	var out settlement
	for i := range rec.Questions {
		q := &rec.Questions[i]
		text := a.Answers[q.ID]
		switch {
		case !q.Open():
		case request.Skips(*q, text), text == "" && a.SkipRest:
			q.Status = workflow.QuestionSkipped
			out.skipped = append(out.skipped, q.ID)
		case text == "":
			q.Status = workflow.QuestionLeftOpen
			out.open++
		default:
			q.Status = workflow.QuestionAnswered
			rec.Answers[q.ID], rec.AnswerChannels[q.ID] = text, a.Channel
			out.answered++
		}
	}
	return out
}
