package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// decide carries out the human's decision at a gate: confirm on a document that reached
// its score, approve on a plan, on failed or blocked work, and on a document whose rounds
// are spent. A yes saves the document and goes on in one step, a no sends the work back
// with the human's feedback.
func (r run) decide(ctx context.Context) (*Reply, error) {
	var from workflow.Stage
	var grant workflow.Grant
	kept := ""
	s, err := r.change(ctx, func(s *workflow.Session) (err error) {
		from = r.stage(s)
		grant, err = r.grant(ctx, s)
		return err
	}, func(tx store.Tx, s *workflow.Session) (err error) {
		kept, err = r.carryOut(ctx, tx, s, from, grant)
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.CurrentState == workflow.Refining {
		return r.reply(s, short, grantNote(grant)+r.message(s))
	}
	rec, said := s.Record(from.ID), ""
	if rec.Artifact != nil {
		said = fmt.Sprintf("Saved: `%s` (%d bytes).", rec.Artifact.Path, rec.Artifact.Size)
	}
	if s.Moved().Event == workflow.EventScopeApproved {
		said = "The scope is approved."
	}
	if grant.Decision == workflow.DecisionOverride {
		said = "The risk is accepted and recorded. " + said
	}
	out, err := r.reply(s, depthFor(s, from), grantNote(grant)+said+keptNote(kept)+"\n\n"+r.message(s))
	if out != nil && rec.Artifact != nil {
		out.Artifact = rec.Artifact.Path
	}
	return out, err
}

// carryOut moves the session by a decision. It runs under the session's lock, on the
// revision that the decision is for.
func (r run) carryOut(ctx context.Context, tx store.Tx, s *workflow.Session, from workflow.Stage, grant workflow.Grant) (kept string, err error) {
	rec := s.Current()
	note := workflow.Transition{Iteration: rec.Iteration, Score: rec.Score, Verdict: rec.Verdict, Feedback: grant.Feedback, Grant: &grant}
	if rec.FinalResultRef != nil {
		note.Path, note.SHA256 = rec.FinalResultRef.FilePath, rec.FinalResultRef.SHA256
	}
	if grant.Decision != workflow.DecisionChanges && !r.blocked(s) && r.draftEdited(s) {
		return "", r.changedSince(s) // while the person was asked
	}
	event := r.workflow(s).Decision(s, grant.Decision != workflow.DecisionChanges)
	if event == workflow.EventScopeApproved {
		scope := *rec.FinalResultRef
		rec.ApprovedScope = &scope
		return "", r.fire(ctx, s, event, note)
	}
	if event != workflow.EventChangesRequested && event != workflow.EventSentBack {
		if kept, err = r.saveArtifact(ctx, tx, s, from, grant); err != nil {
			return kept, err
		}
		rec.Approved = true
		note.VerifyCommands = r.acceptVerify(s)
		return kept, r.fire(ctx, s, event, note)
	}
	if err := r.fire(ctx, s, event, note); err != nil {
		return "", err
	}
	// After the transition: a failed review has moved the session to dev.
	s.Current().Feedback = note.Feedback
	return "", nil
}

// silence is the error of a question that brought no decision.
type silence struct{ Silence }

func (s *silence) Error() string { return "no decision was taken: " + s.Why }

// stillPending describes a session whose gate stays as it is, and why.
func (r run) stillPending(ctx context.Context, why Silence) (*Reply, error) {
	s, err := r.project.Backend.Get(ctx, r.id)
	if err != nil {
		return nil, err
	}
	// Where nobody saw the question, what comes next goes another way.
	r.withheld, r.req.NoForms = !why.Unasked, r.req.NoForms || why.Unasked
	what := "No decision was taken"
	if s.CurrentState == workflow.Clarifying {
		what = "No answers were given"
	}
	message := fmt.Sprintf("**%s:** %s. Nothing was changed.\n\n%s", what, why.Why, r.message(s))
	if why.View {
		message = r.viewed(ctx, s)
	}
	out, err := r.reply(s, light, message)
	if out != nil {
		if out.Gate == nil {
			out.Gate = r.gateView(s)
		}
		out.Gate.Silence = why.Why
	}
	return out, err
}

// grant returns the human's decision on the session as it stands, by the best channel
// that the call has and the policy takes.
func (r run) grant(ctx context.Context, s *workflow.Session) (workflow.Grant, error) {
	if err := r.decidable(s); err != nil {
		return workflow.Grant{}, err
	}
	policy := r.policy(s).Gate
	q := r.question(s) // before anyone is asked: the decision is for what is there now
	if g, typed, err := r.typed(ctx, s, policy, q.Bound); typed {
		return g, err
	}
	asked, note, err := r.asked(ctx, s, policy, q)
	if err != nil {
		return workflow.Grant{}, err
	}
	if asked != nil {
		return r.granted(s, policy, q.Bound, *asked)
	}
	if err := r.ownWord(s, policy, note); err != nil {
		return workflow.Grant{}, err
	}
	a := Response{Channel: r.req.Via, Decision: workflow.DecisionApprove, Feedback: r.req.Feedback}
	if r.refuses() {
		a.Decision = workflow.DecisionChanges
	}
	g, err := r.granted(s, policy, q.Bound, a)
	g.Note = note
	return g, err
}

// asked puts the question to the person where the call can and the policy wants it. It
// returns their decision; or nil, and why no person has seen the question, where the call's
// own word is next.
func (r run) asked(ctx context.Context, s *workflow.Session, policy workflow.GateMode, q Question) (answer *Response, note string, err error) {
	// A no that the assistant passes on opens nothing, so the person is asked about a yes;
	// but where a no is the decision to go on, about that too.
	due := !r.refuses() || r.reasonDue(s) || r.blocked(s)
	ask := r.req.Ask
	if ask == nil || r.req.Via != "" && policy != workflow.GateStrict && (policy != workflow.GateAuto || !due) {
		return nil, "", nil
	}
	a, err := ask.Ask(ctx, q)
	switch {
	case err != nil:
		return nil, "", err
	case a.Decision != "":
		if words := r.wordsDue(s, a.Decision, a.Feedback); words != "" {
			return nil, "", &silence{Silence{Why: words + ", and none was given"}}
		}
		return &a, "", nil
	case !a.Silence.Unasked, r.req.Via == "", !r.statesDecision(): // the last left the decision to a form that nobody saw
		return nil, "", &silence{a.Silence}
	}
	return nil, a.Silence.Why, nil
}

// ownWord refuses a decision that the call itself states where its word does not count.
func (r run) ownWord(s *workflow.Session, policy workflow.GateMode, note string) error {
	switch {
	case policy == workflow.GateStrict && !r.req.Via.Personal():
		return r.notPersonal(s, note)
	case policy == workflow.GateAuto && r.req.HostConfirm && r.req.Via == workflow.ChannelRelayed && !r.refuses():
		return r.askedByHost(s, note)
	case r.req.Action == workflow.ActionApprove && r.req.Approved == nil:
		return approveNeeds()
	}
	return nil
}

// leave returns the decision to take a session away from where it stands: it undoes what
// a person has decided, so that under a strict policy the person takes it themselves.
func (r run) leave(ctx context.Context, s *workflow.Session, d workflow.Decision, label string) (*workflow.Grant, error) {
	policy := r.leavingPolicy(s)
	a := Response{Channel: r.req.Via, Decision: d, Feedback: r.req.Feedback}
	q := r.question(s)
	strict := policy == workflow.GateStrict
	if ask := r.req.Ask; ask != nil && (r.req.Via == "" || strict && !r.req.Via.Personal()) {
		q.Action, q.Choices = r.req.Action, []Choice{{Decision: d, Label: label}}
		q.Lead, q.Worst = label+"?", ""
		if r.req.Forms {
			q.Lead, q.Worst = label+"? The assistant asks for it", "It gives no reason."
			if words := r.req.Feedback; strings.TrimSpace(words) != "" {
				q.Worst = cut("Assistant: "+said(words, 300), formColumns, "…”")
				q.Text = "Its words: " + said(words, 1000) + "\n" + q.Text
			}
		}
		if d == workflow.DecisionReopen {
			q.Target = workflow.StageID(r.req.Stage)
		}
		var err error
		if a, err = ask.Ask(ctx, q); err != nil {
			return nil, err
		}
		if a.Decision == "" && (!a.Silence.Unasked || r.req.Via == "") {
			return nil, &silence{a.Silence}
		}
		if a.Feedback == "" { // they were shown these
			a.Feedback = r.req.Feedback
		}
	}
	if strict && !a.Channel.Personal() {
		return nil, r.notPersonal(s, a.Silence.Why)
	}
	g, err := r.recorded(s, policy, q.Bound, a)
	return &g, err
}

// leavingPolicy is the policy for cancelling and reopening: the strictest of the stages that
// the session has come to, since what was decided there is undone.
func (r run) leavingPolicy(s *workflow.Session) workflow.GateMode {
	if r.policy(s).Gate == workflow.GateStrict {
		return workflow.GateStrict
	}
	w := r.workflow(s)
	for _, st := range w.Stages[:w.Index(s.CurrentStage)] {
		if st.Policy().Gate == workflow.GateStrict && w.Gated(st) {
			return workflow.GateStrict
		}
	}
	return r.policy(s).Gate
}

// statesDecision reports whether the call itself states a decision.
func (r run) statesDecision() bool {
	return r.req.Confirmed != nil || r.req.Approved != nil
}

// recorded makes the record of an answer, which may have come from anywhere.
func (r run) recorded(s *workflow.Session, policy workflow.GateMode, b Bound, a Response) (workflow.Grant, error) {
	g := workflow.Grant{
		Channel: a.Channel, Assurance: a.Channel.Assurance(), Decision: a.Decision, Feedback: strings.TrimSpace(a.Feedback),
		Client: r.req.By, At: r.Now(), Stage: s.CurrentStage, Revision: s.Revision, SHA256: b.SHA256, Policy: policy,
	}
	if a.Took > 0 {
		ms := a.Took.Milliseconds()
		g.TookMS = &ms
	}
	return g, checkText("feedback", g.Feedback, MaxFeedback)
}

// granted is the record of a decision at a gate, if the gate takes it.
func (r run) granted(s *workflow.Session, policy workflow.GateMode, b Bound, a Response) (workflow.Grant, error) {
	g, err := r.recorded(s, policy, b, a)
	if err != nil {
		return g, err
	}
	if words := r.wordsDue(s, g.Decision, g.Feedback); words != "" {
		return g, fault.New(fault.InvalidArgument, "%s, and none was given", words).
			WithHint("ask the human, and pass their words as feedback; they are recorded")
	}
	if g.Decision == workflow.DecisionChanges {
		return g, nil
	}
	if err := r.opens(s); err != nil {
		return g, err
	}
	if r.overrides(s) {
		g.Decision = workflow.DecisionOverride
	}
	return g, nil
}

// decidable refuses a decision on a draft that is not what was scored, before anyone is
// asked about it.
func (r run) decidable(s *workflow.Session) error {
	if want := strings.ToLower(r.req.Draft); want != "" && r.draftHash(s) != want {
		return fault.New(fault.Conflict, "the draft that waits is not the one this decision is for (sha256 %s)", clip(want, 80)).
			WithHint("call status, show the human what waits now, and let them decide")
	}
	if r.refuses() {
		return nil
	}
	if r.blocked(s) {
		return nil // nothing is saved
	}
	switch r.draftState(s) {
	case artifact.Modified:
		return r.changedSince(s)
	case artifact.Missing:
		return fault.New(fault.Storage, "the draft %s is missing on disk", r.draftPath(s)).
			WithHint("restore the file, or ask for another round (%s with false)", r.req.Action)
	}
	return r.opens(s)
}

// opens refuses a yes at a score gate that asks for more than when the session came to it.
func (r run) opens(s *workflow.Session) error {
	rec, p := s.Current(), r.policy(s)
	if s.CurrentState != workflow.AwaitingConfirmation || p.GateScore == nil {
		return nil
	}
	if p.Scoring == workflow.ScoringAudited && rec.Audit == nil {
		return fault.New(fault.GatePending, "the gate asks for an audit now, and this document has none").
			WithHint("ask for another round (confirm with confirmed false) and submit it again")
	}
	below := func(what string, score float64) error {
		return fault.New(fault.GatePending, "the %s is %s and the gate now asks for %s", what, points(score), points(*p.GateScore)).
			WithHint("the gate was tightened since: ask for another round (confirm with confirmed false), or change the configuration and reopen the stage")
	}
	if rec.Score != nil && *rec.Score < *p.GateScore {
		return below("claimed score", *rec.Score)
	}
	if p.Scoring == workflow.ScoringAudited && rec.Audit.Score < *p.GateScore {
		return below("audit", rec.Audit.Score)
	}
	return nil
}

// notPersonal is the error of a decision that another program brought where only a
// person's own act counts.
func (r run) notPersonal(s *workflow.Session, note string) error {
	why := "only the human's own act counts here (policy strict), and this call is " + viaText(r.req.Via)
	if note != "" {
		why += "; " + note
	}
	return fault.New(fault.GatePending, "%s", why).WithHint("%s", r.ways(s))
}

// askedByHost is the error of a yes that the assistant passes on where its host asks the
// person: their answer there is worth more than the assistant's word for it.
func (r run) askedByHost(s *workflow.Session, note string) error {
	why := "this host asks the human about each call of " + confirmTool + ", so the assistant's word for a yes does not count here"
	if note != "" {
		why += "; " + note
	}
	e := fault.New(fault.GatePending, "%s", why).WithHint("call %s with the same decision, the stage and the sha256 of the draft; or %s", confirmTool, r.ways(s))
	e.NextCall = r.confirmCall(s)
	return e
}

func viaText(via workflow.Channel) string {
	if via == workflow.ChannelScript {
		return "a script's"
	}
	return "the assistant's"
}

// GateAction returns the action by which the session of a request is decided on where it
// stands, and the revision that it stands at.
func (e *Engine) GateAction(ctx context.Context, req Request) (workflow.Action, *workflow.Session, error) {
	s, _, err := e.Session(ctx, req)
	if err != nil {
		return "", nil, err
	}
	if !s.CurrentState.Gated() {
		return "", nil, fault.New(fault.NotAllowed, "nothing waits for a decision: the session %s stands at %s", s.TaskName, s.Place()).
			WithHint("%s", nextMove(s))
	}
	return gateAction(s.CurrentState), s, nil
}

// ways says how the human can decide by their own act.
func (r run) ways(s *workflow.Session) string {
	command := terminalCommand(s)
	leaves := r.req.Action == workflow.ActionCancel || r.req.Action == workflow.ActionReopen
	if leaves {
		command = string(r.req.Action) + " " + s.TaskName
		if r.req.Stage != "" {
			command += " --stage " + r.req.Stage
		}
	}
	ways := []string{"in a terminal: bmad-mcp " + command}
	if r.req.HostConfirm && s.CurrentState.Gated() && !leaves {
		ways = append([]string{"here, with the tool bmad-confirm, about which the host asks the human"}, ways...)
	}
	return "the human decides " + strings.Join(ways, "; or ")
}

// terminalCommand is what a person types to decide, or to answer.
func terminalCommand(s *workflow.Session) string {
	command := string(gateAction(s.CurrentState))
	return command + " " + s.TaskName
}

// grantNote says by which channel a decision came, where the human did not see it themselves.
func grantNote(g workflow.Grant) string {
	switch g.Channel {
	case workflow.ChannelRelayed:
		note := "_Relayed by the assistant._ "
		if g.Note != "" {
			note = "_Relayed by the assistant: " + g.Note + "._ "
		}
		return note
	case workflow.ChannelElicited:
		return "Decided by you in the form. "
	case workflow.ChannelTyped:
		return "Decided by the command that you typed. "
	case workflow.ChannelHostConfirmed:
		return "Decided by you when the host asked. "
	}
	return ""
}

func approveNeeds() error {
	return fault.New(fault.InvalidArgument, "approve needs approved: true or false").
		WithHint("ask the human; true goes on, false sends it back with their feedback")
}
