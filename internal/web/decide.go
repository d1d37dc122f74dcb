package web

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// sent is a decision as a page sends it.
type sent struct {
	// Decision is the value of a choice, "answer", or on the page of a run "reopen" or "cancel".
	Decision string             `json:"decision"`
	Feedback string             `json:"feedback"`
	Comments []workflow.Comment `json:"comments"`
	Answers  map[string]string  `json:"answers"`
	SkipRest bool               `json:"skip_rest"`
	// Pictures are the names of the pictures that the comments mention.
	Pictures []string `json:"pictures"`
	// Stage is the stage to reopen.
	Stage string `json:"stage"`
	// Revision, SHA256 and Nonce identify the state shown on the page.
	Revision int    `json:"revision"`
	SHA256   string `json:"sha256"`
	Nonce    string `json:"nonce"`
	// Passkey is the browser's answer to the options of beginSigning.
	Passkey json.RawMessage `json:"passkey"`
}

// decision is a decision in progress, with the session and stage it is about.
type decision struct {
	sent
	a       *asked
	req     request.Request
	session *workflow.Session
	stage   workflow.StageID
	project folder
	took    time.Duration
	release func()
}

// outcome is the answer to a recorded decision.
type outcome struct {
	Message  string `json:"message"`
	Place    string `json:"place"`
	Revision int    `json:"revision"`
	// Next names the next run that waits; empty if none does.
	Next string `json:"next,omitempty"`
}

// decide takes the person's decision on a document.
func (d *Dashboard) decide(a *asked) (any, error) {
	it, err := d.readDecision(a)
	if err == nil {
		err = d.prepareRequest(it)
	}
	if err != nil {
		return nil, err
	}
	return d.carryOut(it)
}

// reopenOrCancel takes the person's decision to reopen a stage or to cancel a run.
func (d *Dashboard) reopenOrCancel(a *asked) (any, error) {
	it, err := d.readDecision(a)
	if err != nil {
		return nil, err
	}
	if it.Decision != string(workflow.DecisionReopen) && it.Decision != string(workflow.DecisionCancel) {
		return nil, fault.New(fault.InvalidArgument, "a run is left by reopen or cancel, not by %q", it.Decision).WithHint("decisions on a document are sent to its own page")
	}
	it.req.Action, it.req.Stage, it.req.Feedback = workflow.Action(it.Decision), it.Stage, strings.TrimSpace(it.Feedback)
	return d.carryOut(it)
}

// beginSigning returns the options for the browser to have a decision signed by a passkey.
func (d *Dashboard) beginSigning(a *asked) (any, error) {
	it, err := d.readDecision(a)
	if err != nil {
		return nil, err
	}
	keys, err := d.signingKeys()
	if err != nil {
		return nil, err
	}
	return keys.BeginDecision(it.statement())
}

// readDecision reads a decision. It refuses browsers without a key, and pages older than the run.
func (d *Dashboard) readDecision(a *asked) (it *decision, err error) {
	it = &decision{a: a, stage: workflow.StageID(a.r.PathValue("stage"))}
	if err := d.door.readPaired(a.r, &it.sent); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(it.Comments, func(c workflow.Comment) bool { return c.Extra != nil }) {
		return nil, fault.New(fault.InvalidArgument, "a comment has a key that is not known").WithHint("load the page again, which may be older than the program")
	}
	if it.req, it.project, err = d.projects.requestOf(a); err != nil {
		return nil, err
	}
	if it.session, _, err = d.o.Engine.Session(a, it.req.Address); err != nil {
		return nil, noTask(err)
	}
	it.req.Session, it.req.Revision = it.session.SessionID, &it.Revision
	if _, known := it.session.Definition().Stage(it.stage); !known && it.stage != "" {
		return nil, noStage(it.stage)
	}
	if it.session.Revision != it.Revision {
		return nil, errStale(it)
	}
	if it.stage != "" && it.stage != it.session.CurrentStage {
		return nil, fault.New(fault.Conflict, "the stage %s is not the one that the run is at", labelOf(it.session.Definition().Stages, it.stage)).
			WithHint("the page of the run shows where it is")
	}
	return it, nil
}

// errStale is the error of a decision on a run that has moved since the page was shown.
func errStale(it *decision) error {
	s := it.session
	last := s.Last()
	return fault.New(fault.Conflict, "somebody was faster: %s on %s took the run to %s, revision %d", last.Actor(), last.At.UTC().Format(time.RFC3339),
		story.Place(it.a.lang, labelOf(s.Definition().Stages, s.CurrentStage), s.CurrentState), s.Revision).
		WithHint("your words are kept on this page: load the page of the run to see where it is")
}

// prepareRequest completes the request of a decision on a document, and checks it against the gate.
func (d *Dashboard) prepareRequest(it *decision) error {
	q, err := d.o.Engine.Gate(it.a, it.req)
	if fault.Is(err, fault.NotAllowed) { // the engine's hint is for assistants
		return fault.From(err).WithHint("the page of the run shows where it is")
	}
	if err != nil {
		return err
	}
	it.req.Action, it.req.Draft = q.Action, it.SHA256
	if len(q.Questions) > 0 {
		it.req.Action = workflow.ActionAnswer
	}
	choice, offered := q.Choose(it.Decision)
	offered = offered || len(q.Questions) > 0 && it.Decision == string(workflow.DecisionAnswer)
	switch {
	case it.SHA256 != q.SHA256:
		return fault.New(fault.Conflict, "the document is not the one that the page shows: it was changed since").
			WithHint("your words are kept: load the page again, read what it shows, and decide then")
	case !offered && q.Barred != nil:
		return q.Barred
	case !offered:
		return fault.New(fault.InvalidArgument, "%q cannot be decided here", it.Decision).WithHint("the page of the document offers what can")
	case choice.Decision == workflow.DecisionChanges && choice.Words != "" && visible.Trim(it.Feedback) == "" && len(it.Comments) == 0:
		return fault.New(fault.InvalidArgument, "the changes are missing").WithHint("say what is to change, or comment on the lines")
	case it.Decision != string(workflow.DecisionAnswer) && (len(it.Answers) > 0 || it.SkipRest):
		return fault.New(fault.InvalidArgument, "answers go with the decision answer, and this is %q", it.Decision).
			WithHint("send the answers, or take the document without them")
	}
	return nil
}

// carryOut has the engine carry out a decision, once for each nonce.
func (d *Dashboard) carryOut(it *decision) (out outcome, err error) {
	it.took, it.release, err = d.nonces.take(it.Nonce, shownFor{it.session.SessionID, it.stage, it.Revision, it.SHA256}, d.door.now())
	if err != nil {
		return out, err
	}
	undo := func() {}
	defer func() {
		if err != nil {
			undo()
			it.release()
		}
	}()
	how := browserChannel{it: it, channel: workflow.ChannelBrowser}
	if len(it.Passkey) > 0 && string(it.Passkey) != "null" {
		keys, err := d.signingKeys()
		if err != nil {
			return out, err
		}
		if how.signature, err = keys.FinishDecision(it.a, it.statement(), it.Passkey); err != nil {
			return out, err
		}
		how.channel = workflow.ChannelPasskey
	}
	it.req.Ask = how
	if undo, err = d.keeper.savePictures(it.project, it.session, it.stage, it.Pictures, it.Comments); err != nil {
		return out, err
	}
	// The step is finished even if the page goes away meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(it.a), maxWait)
	defer cancel()
	done, err := d.o.Engine.Do(ctx, it.req)
	if fault.Is(err, fault.Conflict) {
		return out, fault.From(err).WithHint("your words are kept on this page: load the page of the run to see where it is")
	}
	if err != nil {
		return out, err
	}
	if done.Revision == it.Revision {
		why := ""
		if done.Gate != nil {
			why = done.Gate.Silence
		}
		return out, fault.New(fault.GatePending, "nothing was decided: %s", why).WithHint("say what is missing, and press the button again")
	}
	if err := d.keeper.drafts.write(draftName(it.project, it.session.SessionID, it.stage), nil); err != nil && d.keeper.drafts != "" {
		d.log.Warn("words that were sent stay kept", "error", err)
	}
	s := done.Standing
	l, at := it.a.lang, story.Place(it.a.lang, labelOf(s.Session.Definition().Stages, s.Session.CurrentStage), s.Session.CurrentState)
	out = outcome{Message: l.Say("Recorded. Now: %s.", at), Place: at, Revision: done.Revision}
	if next := waitingAfter(d.projects.waiting(it.a), it.project.ID, s.Session.TaskName); len(next) > 0 {
		out.Next = l.Say("Next: %s (%d waiting)", next[0].Title(), len(next))
	}
	return out, nil
}

// statement returns the decision in the form for a passkey to sign.
func (it *decision) statement() passkey.Statement {
	g := workflow.Grant{
		Stage: it.stage, Revision: it.Revision, SHA256: it.SHA256, Decision: workflow.Decision(it.Decision), Feedback: it.Feedback, Comments: it.Comments,
	}
	if g.Stage == "" {
		g.Stage = it.session.CurrentStage
	}
	if g.Offer = workflow.OfferOf(g.Decision); g.Offer != nil {
		g.Decision = workflow.DecisionApprove
	}
	return passkey.StatementOf(it.session.SessionID, g, passkey.AnswersHash(it.Answers, it.SkipRest), it.Nonce)
}

// browserChannel gives the engine the answer of a person on a page.
type browserChannel struct {
	it        *decision
	channel   workflow.Channel
	signature *workflow.Signature
}

// Ask implements request.Channel. The answer is for the state shown on the page; to any other question it is
// silence.
func (b browserChannel) Ask(_ context.Context, q gate.Question) (gate.Response, error) {
	it := b.it
	out := gate.Response{
		Channel: b.channel, Passkey: b.signature, Feedback: it.Feedback, Comments: it.Comments, Answers: it.Answers, SkipRest: it.SkipRest,
		Took: max(it.took, time.Millisecond),
	}
	out.Silence.Why = nothingGiven
	if q.Revision != it.Revision || q.SessionID != it.session.SessionID {
		return gate.Response{Channel: b.channel, Silence: out.Silence}, nil
	}
	if it.Decision == string(workflow.DecisionAnswer) {
		out.Decision = workflow.DecisionAnswer
	}
	if c, ok := q.Choose(it.Decision); ok {
		out.Decision, out.Offer = c.Decision, c.Offer
	}
	return out, nil
}

// nothingGiven is the reason for silence if a page was sent without an answer.
var nothingGiven = lang.T("the page had no answer to what is asked now")
