package words_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/changes"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// situation is a session of which everything is said.
type situation struct {
	name   string
	stage  workflow.StageID
	state  workflow.State
	change func(s *standing.Standing)
}

// describeGaps returns n gaps of a document.
func describeGaps(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint("gap ", i+1))
	}
	return out
}

// scored gives the round that waits a score, an audit and gaps.
func scored(s *standing.Standing) {
	rec := s.Session.Current()
	rec.Iteration, rec.ClaimedScore, rec.Score, rec.ScoreNote = 2, ptr(88), ptr(88), "the last of two"
	rec.Gaps, rec.FoundGaps = describeGaps(10), []string{"gap 2"}
	rec.Audit = &workflow.Audit{Score: 55, Summary: "no goals", Findings: []workflow.AuditFinding{{Severity: "minor", Problem: "short", Points: 5, Line: 3}, {Severity: "major", Problem: "no goals", Points: 40, Fix: "add them"}}}
	rec.FinalResultRef = &workflow.ContentRef{FilePath: "round.md"}
	s.Draft.Size = 999
}

// judged gives the stage a report of a verdict.
func judged(v workflow.Verdict, objections ...string) func(*standing.Standing) {
	return func(s *standing.Standing) {
		rec := s.Session.Current()
		rec.Iteration, rec.Verdict, rec.Objections, rec.Needs = 1, v, objections, "a key"
		rec.Findings = []workflow.Finding{{ID: "F1", Severity: "minor", Problem: "a typo", File: "a.go:1"}, {ID: "F2", Severity: "critical", Problem: "it leaks"}, {ID: "F3", Severity: "major", Problem: "slow", Status: "fixed"}}
		rec.Criteria = []workflow.Criterion{{ID: "AC-1", Criterion: "rings", Result: workflow.ResultPass, Evidence: "303"}, {ID: "AC-2", Result: workflow.ResultFail, Evidence: "silent"}, {ID: "AC-3", Result: workflow.ResultNotTested, Why: "no clock"}}
		rec.Progress = &workflow.Progress{Fixed: 1, Open: 1, New: 1}
		rec.Evidence = &workflow.Evidence{Command: "make", ExitCode: 2, Tail: "a\nboom\n"}
		rec.FinalResultRef = &workflow.ContentRef{FilePath: "round.md"}
		s.Draft.Size = 1000
	}
}

// again returns a change that makes an event the newest of the history.
func again(event workflow.Event, more ...func(*standing.Standing)) func(*standing.Standing) {
	return func(s *standing.Standing) {
		for _, change := range more {
			change(s)
		}
		s.Session.Append(workflow.Transition{Event: event, From: string(s.Session.CurrentStage) + "/x", To: s.Session.Place()})
	}
}

// approvedBefore returns a change by which the document of the stage went on before.
func approvedBefore(c standing.Since) func(*standing.Standing) {
	return func(s *standing.Standing) {
		scored(s)
		c.Stage = s.Session.CurrentStage
		s.Since = []standing.Since{c}
	}
}

func planned(status ...workflow.SprintStatus) func(*standing.Standing) {
	return func(s *standing.Standing) {
		for i, one := range status {
			s.Session.Sprints = append(s.Session.Sprints, workflow.Sprint{Number: i + 1, Title: fmt.Sprint("part ", i+1), Status: one})
		}
	}
}

func situations() []situation {
	const po, sm, dev, review, qa = workflow.PO, workflow.SM, workflow.Dev, workflow.Review, workflow.QA
	edited := &standing.Edit{SHA256: "bb", Lines: []standing.EditedLine{{Before: "it rings", After: "it sings", At: 3}, {After: "and more"}}}
	rework := func(n int) func(*standing.Standing) { return func(s *standing.Standing) { s.Session.ReworkCount = n } }
	ruled := func(s *standing.Standing) {
		yes := true
		s.Policy.Approvers, s.Policy.FourEyes, s.Policy.Quorum = []string{"ann", "bob", "cat"}, &yes, 2
		s.Session.Append(workflow.Transition{Action: workflow.ActionSubmit, Event: workflow.EventPlanned, From: "sm/generating", Person: workflow.Person{Subject: "ann"}})
		s.Session.Append(workflow.Transition{Event: workflow.EventGranted, From: "sm/x", Grant: &workflow.Grant{Person: workflow.Person{Subject: "bob"}, SHA256: "aa"}})
	}
	all := func(changes ...func(*standing.Standing)) func(*standing.Standing) {
		return func(s *standing.Standing) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	many := make([]workflow.SprintStatus, 31)
	for i := range many {
		many[i] = workflow.SprintPending
	}
	return []situation{
		{"a start", po, workflow.Generating, nil},
		{"approved before", po, workflow.AwaitingConfirmation, approvedBefore(standing.Since{Round: 1, Compared: true, Commit: "a41f09cd", Sections: []changes.Section{
			{Kind: changes.Changed, Title: "4. Interface", Added: 61, Removed: 14}, {Kind: changes.Added}, {Kind: changes.Moved, Title: "M"}, {Kind: changes.Removed, Title: "R"},
			{Kind: changes.Changed, Title: strings.Repeat("long ", 20), Was: "short"}, {Kind: changes.Changed, Title: "6"}, {Kind: changes.Changed, Title: "7"},
		}, Moved: []standing.MovedFile{{Path: "a/b.go", Sections: []string{"4. Interface", "5"}}, {Path: "c.go", Gone: true}, {Path: "d.go"}, {Path: "e.go"}}})},
		{"approved by others", po, workflow.AwaitingConfirmation, approvedBefore(standing.Since{Round: 2, Compared: true, Others: true, Person: workflow.Person{Name: "Ann <ann@x.org>", Subject: "ann"},
			Moved: []standing.MovedFile{{Path: "a/b.go"}}})},
		{"went on by the rules", po, workflow.AwaitingConfirmation, approvedBefore(standing.Since{Round: 2, Compared: true, Alone: true, Unknown: true})},
		{"a later stage", sm, workflow.Generating, nil},
		{"a start that waits", po, workflow.Generating, func(s *standing.Standing) { s.Policy.Pause = workflow.PauseStages }},
		{"ten gaps", po, workflow.Refining, again(workflow.EventScoredBelow, scored)},
		{"eleven gaps", po, workflow.Refining, again(workflow.EventScoredBelow, scored, func(s *standing.Standing) { s.Session.Current().Gaps = describeGaps(11) })},
		{"a round that waits", po, workflow.Refining, again(workflow.EventScoredBelow, func(s *standing.Standing) { s.Policy.Pause = workflow.PauseStages })},
		{"no change is named", po, workflow.Refining, again(workflow.EventChangesRequested)},
		{"change requests", po, workflow.Refining, again(workflow.EventScoredReady, func(s *standing.Standing) {
			s.Session.Current().Feedback, s.Session.Current().ChangeRequests = "shorter", []workflow.ChangeRequest{{Status: workflow.RequestOpen}}
		})},
		{"rework, the last", dev, workflow.Refining, again(workflow.EventSentBack, rework(2))},
		{"rework, one more", dev, workflow.Refining, again(workflow.EventSentBack, rework(3))},
		{"a scope is asked for", dev, workflow.Generating, planned(workflow.SprintDone, workflow.SprintPending, workflow.SprintImplemented)},
		{"thirty sprints", dev, workflow.Generating, planned(many[1:]...)},
		{"more sprints", dev, workflow.Generating, planned(many...)},
		{"sprints that are left", dev, workflow.Refining, again(workflow.EventReopened, planned(workflow.SprintDone, workflow.SprintPending))},
		{"a returned report", qa, workflow.Refining, again(workflow.EventReturned, func(s *standing.Standing) { s.Session.Current().Returned = []string{"no rows"} })},
		{"a score that is reached", po, workflow.AwaitingConfirmation, scored},
		{"the rounds are spent", po, workflow.AwaitingApproval, scored},
		{"an edited draft", po, workflow.AwaitingConfirmation, all(scored, func(s *standing.Standing) { s.Draft.Edited, s.Draft.Edit = true, edited })},
		{"a draft that is gone", po, workflow.AwaitingConfirmation, all(scored, func(s *standing.Standing) { s.Draft.Missing = true })},
		{"a changed round", po, workflow.AwaitingConfirmation, all(scored, func(s *standing.Standing) {
			s.Draft.Changes = &standing.Changes{Round: 1, Added: 2, Removed: 1, Sections: []string{"A", "B", "C", "D", "E", "F", "G"}}
		})},
		{"a plan", sm, workflow.AwaitingApproval, all(scored, planned(workflow.SprintPending, workflow.SprintPending))},
		{"a plan without sprints", sm, workflow.AwaitingApproval, nil},
		{"a plan for two others", sm, workflow.AwaitingApproval, all(ruled, func(s *standing.Standing) { s.Draft.SHA256 = "aa" })},
		{"a plan that another approves", sm, workflow.AwaitingApproval, all(ruled, func(s *standing.Standing) { s.Call.Subject = "eve" })},
		{"a plan of one's own", sm, workflow.AwaitingApproval, all(ruled, func(s *standing.Standing) { s.Call.Subject = "ann" })},
		{"a plan for nobody known", sm, workflow.AwaitingApproval, all(ruled, func(s *standing.Standing) { s.Call.Subject = "" })},
		{"a plan that was edited", sm, workflow.AwaitingApproval, all(ruled, func(s *standing.Standing) { s.Draft.Edited, s.Draft.Edit = true, edited })},
		{"a form", po, workflow.AwaitingConfirmation, all(scored, func(s *standing.Standing) { s.Call.Asks, s.Call.Forms, s.Call.Page = true, true, "http://x" })},
		{"a form again", sm, workflow.AwaitingApproval, func(s *standing.Standing) { s.Call.Asks, s.Call.Forms, s.Call.Withheld = true, true, true }},
		{"a host that asks", po, workflow.AwaitingApproval, all(scored, func(s *standing.Standing) { s.Call.HostConfirm = true })},
		{"an own act", po, workflow.AwaitingConfirmation, all(scored, func(s *standing.Standing) {
			s.Policy.Gate, s.Call.Waits, s.Call.Page = workflow.GateStrict, true, "http://x"
		})},
		{"an own act that waits", po, workflow.AwaitingConfirmation, all(scored, func(s *standing.Standing) { s.Policy.Gate, s.Call.Waits = workflow.GateStrict, true })},
		{"a pass with a risk", review, workflow.AwaitingApproval, judged(workflow.PassWithRisk, "nothing shows it")},
		{"a failure", qa, workflow.AwaitingApproval, judged(workflow.Fail, "a total differs")},
		{"a failure too often", qa, workflow.AwaitingApproval, all(judged(workflow.Fail), rework(2))},
		{"a blocked stage", qa, workflow.AwaitingApproval, judged(workflow.Blocked)},
		{"a report without verdict", qa, workflow.AwaitingApproval, func(s *standing.Standing) { s.Session.Current().Returned = []string{"no rows"} }},
		{"questions", po, workflow.Clarifying, func(s *standing.Standing) {
			s.Session.Current().Questions = []workflow.Question{{ID: "q1", Question: "For whom?", Context: "it matters", Options: []string{"all"}}}
		}},
		{"complete", qa, workflow.Completed, all(planned(workflow.SprintDone), func(s *standing.Standing) {
			s.Session.Artifacts, s.Session.ReworkCount = []string{"a.md", "b.md", "c.md"}, 1
			s.Saved = map[string]standing.File{"a.md": {}, "b.md": {Missing: true}, "c.md": {Modified: true}}
		})},
		{"complete but for a sprint", qa, workflow.Completed, planned(workflow.SprintDone, workflow.SprintPending)},
		{"cancelled", po, workflow.Cancelled, func(s *standing.Standing) { s.Session.Artifacts = []string{"a.md"} }},
		{"changed by others", po, workflow.AwaitingConfirmation, func(s *standing.Standing) {
			s.Strict, s.Trusting, s.Altered = true, true, []workflow.Alteration{{Stage: po, Path: "a.md", SHA256: "x"}}
			s.Integrity = workflow.Verification{Status: workflow.ChainChanged, Problem: "an entry is gone", Broken: 2, MovedFrom: "/old"}
		}},
		{"signed by a stranger", po, workflow.AwaitingConfirmation, func(s *standing.Standing) {
			s.Strict, s.Trusting = true, true
			s.Integrity = workflow.Verification{
				Status: workflow.ChainPartly, Problem: "entry 2 names bob, and nobody here has said that the key is theirs", Broken: 2, Strangers: []string{"SHA256:x"},
			}
		}},
		{"not signed", po, workflow.Generating, func(s *standing.Standing) {
			s.Strict, s.Trusting = true, true
			s.Integrity = workflow.Verification{Status: workflow.ChainPartly, Problem: "entry 2 has no signature", Broken: 2}
		}},
	}
}

// describe says everything about a situation.
func describe(s *standing.Standing) string {
	var b strings.Builder
	say := func(what, text string) {
		if text != "" {
			b.WriteString(what + ": " + strings.TrimSpace(text) + "\n")
		}
	}
	say("place", words.Place(s))
	say("message", words.Message(s))
	say("next", words.NextMove(s).In(s.Language))
	if s.Session.CurrentState.WaitsForHuman() {
		yes, no := words.Labels(s)
		say("lead", words.Lead(s))
		say("worst", words.Worst(s))
		say("facts", words.Facts(s))
		say("labels", yes+" | "+no)
		say("ways", words.Ways(s).In(s.Language))
		say("waiting", words.StillWaiting(s))
		say("coverage", words.Coverage(s))
		say("outcome", words.Outcome(s, s.Stage, "work.md", 2, "kept.md"))
		say("decided", words.Decided(s, s.Stage, workflow.Grant{Channel: workflow.ChannelTerminal, Decision: workflow.DecisionOverride, Feedback: "ship it"}, ""))
		var f *fault.Error
		if errors.As(words.Barred(s), &f) {
			say("barred", f.In(s.Language))
		}
	}
	say("altered", words.AlteredNote(s))
	say("moved", words.MovedNote(s))
	if s.Stopped() {
		say("stopped", words.Stopped(s))
		say("changed", words.DoubtNote(s))
		say("adopt", words.AdoptQuestion(s))
	}
	return b.String()
}

// TestSituations checks what people are told in each situation, in both languages.
func TestSituations(t *testing.T) {
	t.Parallel()
	for _, language := range lang.All() {
		var b strings.Builder
		for _, one := range situations() {
			s := at(one.stage, one.state)
			s.Language, s.Call.Subject = language, "cat"
			if one.change != nil {
				one.change(s)
			}
			b.WriteString("== " + one.name + "\n" + describe(s) + "\n")
		}
		golden.Check(t, "testdata/situations."+string(language)+".txt", b.String())
	}
}

// TestSentences checks the sentences about single facts, and their limits.
func TestSentences(t *testing.T) {
	t.Parallel()
	l := lang.English
	g := func(c workflow.Channel) string { return words.GrantNote(l, workflow.Grant{Channel: c}) }
	draft := at(workflow.PO, workflow.AwaitingConfirmation)
	numbers := make([]int, 31)
	audit := &workflow.Audit{Findings: []workflow.AuditFinding{{Problem: "a", Points: 1, Line: 4, Fix: "do a"}, {Problem: "b", Points: 9}, {Problem: "c", Severity: workflow.SeverityQuestion}}}
	both := func(a, b string) string { return a + " | " + b }
	after := func(event workflow.Event, v workflow.Verdict) *standing.Standing {
		s := at(workflow.QA, workflow.Refining)
		s.Session.Current().Verdict, s.Session.Current().Returned = v, []string{"no rows"}
		s.Session.Append(workflow.Transition{Event: event, From: "qa/x", To: s.Session.Place()})
		return s
	}
	for name, tt := range map[string]struct{ got, want string }{
		"999 bytes":       {words.DraftLine(l, "a.md", 999), "Draft: a.md (999 bytes)"},
		"a kilobyte":      {words.DraftLine(l, "a.md", 1000), "Draft: a.md (1 kB)"},
		"a long path":     {words.DraftLine(l, strings.Repeat("a", 59), 1000), "Draft: " + strings.Repeat("a", 59) + " (1 kB)"},
		"too long a path": {words.DraftLine(l, strings.Repeat("a", 60), 1000), "Draft: " + strings.Repeat("a", 60)},
		"thirty numbers":  {words.Numbers(numbers[1:]), strings.TrimSuffix(strings.Repeat("0, ", 30), ", ")},
		"more numbers":    {words.Numbers(numbers), strings.Repeat("0, ", 30) + "…"},
		"relayed":         {g(workflow.ChannelRelayed), "_Passed on by the assistant._ "},
		"a form":          {g(workflow.ChannelElicited), "Decided by you in the form. "},
		"typed":           {g(workflow.ChannelTyped), "Decided by the command that you typed. "},
		"host":            {g(workflow.ChannelHostConfirmed), "Decided by you when the host asked. "},
		"browser":         {g(workflow.ChannelBrowser), "Decided by you in the browser. "},
		"passkey":         {g(workflow.ChannelPasskey), "Decided by you with your passkey. "},
		"terminal":        {g(workflow.ChannelTerminal), ""},
		"strict, relayed": {words.NotPersonal(draft, workflow.ChannelRelayed, lang.Text{}).Error(), "only the human's own act counts here (policy strict), and this call is the assistant's"},
		"strict, script":  {words.NotPersonal(draft, workflow.ChannelScript, lang.T("no form")).Error(), "only the human's own act counts here (policy strict), and this call is a script's; no form"},
		"nothing waits":   {words.NothingWaits(draft.Session).Error(), "nothing waits for a decision: the run clock stands at po/awaiting_confirmation"},
		"evidence":        {words.Evidence(&workflow.Evidence{Command: "make", TimedOut: true, TookMS: 5000}).String(), "`make` was ended after 5s"},
		"not run":         {words.HistoryEvidence(l, &workflow.Evidence{Command: "make", NotRun: "x"}), "make was not run: x"},
		"requests":        {words.TakeUp(0, 0), ""},
		"quotation":       {words.Quoted("a “b” `c`\n**d** <e>", 100), "“a 'b' 'c' d ‹e›”"},
		"cut quotation":   {words.Quoted("字字字", 8), "“字…”"},
		"edits":           {words.EditsNote(l, "k.md"), "The working copy had edits that this submission did not take; they are kept as `k.md`.\n\n"},
		"no edits":        {words.EditsNote(l, ""), ""},
		"answered":        {words.Answered(draft, 1, 2, 3, workflow.ChannelTerminal), "1 answer recorded, 2 skipped, 3 left open.\n\n"},
		"undecided":       {words.Undecided(draft, lang.T("closed")), "**No decision was taken:** closed. Nothing was changed.\n\n"},
		"reopened":        {words.Reopened(draft), "Reopened po.\n\n"},
		"viewed, whole":   {words.Viewed(draft, "ab", 2), "Nothing was decided. The document, `work.md`:\n\n---\n\nab\n\n---\n\nSay **decide** when you are ready: the form asks again. Or say what to change."},
		"viewed, in part": {words.Viewed(draft, "ab", 3), "Nothing was decided. The document, `work.md`:\n\n---\n\nab\n\n… The first 2 of 3 bytes; all of it is in `work.md`.\n\n---\n\nSay **decide** when you are ready: the form asks again. Or say what to change."},
		"unchanged":       {words.Progress(l, &workflow.Progress{Open: 2, Unchanged: true}), "Findings since the last report: 0 fixed, 2 still open, 0 withdrawn, 0 new. **No change since the last report**: the same findings, and no file of the project differs."},
		"a no":            {words.NoWords(lang.T("why")).String(), "why, and none was given"},
		"audit findings":  {strings.Join(words.AuditFindings(l, audit), " | "), "−9: b | −1: a (line 4) | asked: c"},
		"audit gaps":      {strings.Join(words.AuditGaps(l, audit), " | "), "our check −1: a (line 4); do a | our check −9: b; "},
		"leaving":         {both(words.Leaving(l, words.CancelLabel, "because", true)), "Cancel this run? The assistant asks for it | Assistant: “because”"},
		"leaving, theirs": {both(words.Leaving(l, words.CancelLabel, "because", false)), "Cancel this run? | "},
		"asked by host":   {words.AskedByHost(draft, lang.T("no form")).Error(), "this host asks the human about each call of the-tool, so the assistant's word for a yes does not count here; no form"},
		"edited draft":    {words.EditedDraft(draft).Error(), "the draft work.md was changed after it was scored, so it was not saved"},
		"started":         {words.Started(at(workflow.PO, workflow.Generating), "/p", "s.yaml"), "**clock** has started in `/p`: PO ● → Architect → SM → Dev → Review → QA. Its documents will be in `specs/clock/`. It stops for you at questions, at the gates (PO, Architect, SM), before Dev, and where work fails; with `pause: stages` in `s.yaml` it also stops before each stage.\n\nThe Product Owner now turns the objective into a product requirements document. Nothing is needed from you; say so if you want to steer it first."},
		"another round":   {words.Refinement(at(workflow.PO, workflow.Refining), "LATER"), "You are still the Product Owner. This is round 1 of the product requirements; your last version is at draft.path; people may have edited it. Edit it there. Work in context.user_answers, context.feedback, gaps and findings of this reply.\n\nLATER"},
		"after a block":   {words.Refinement(after(workflow.EventBlocked, workflow.Blocked), "LATER"), "You are still the QA Engineer. This is round 1 of the QA report; your last version is at draft.path; people may have edited it. Edit it there. Work in context.user_answers, context.feedback, gaps and findings of this reply.\n\nYou were blocked; what the human did or decided is in context.feedback. Go on with it, and report on the whole again.\n\nLATER"},
		"after a return":  {words.Refinement(after(workflow.EventReturned, ""), "LATER"), "You are still the QA Engineer. Your report was returned: `returned` lists what it lacks. It is at draft.path, and has to end with its block of JSON. Edit it there. Correct the block and hand in the whole report again; test what the new rows need, and change nothing else."},
		"to take up":      {words.TakeUp(1, 0)[:40] + words.TakeUp(0, 1), "\n\nchange_requests are the human's commen\n\ncontext.comments are the human's notes on the document before, which they approved: heed them."},
		"override":        {words.OverrideNote(l, workflow.Stage{Gate: workflow.GateVerdict}, &workflow.Record{Iteration: 2, Verdict: workflow.Fail}, workflow.Grant{At: time.Unix(0, 0), Feedback: "ship it"}), "> **Risk accepted** on 1970-01-01: the  failed this work and the human let it go on. Their words: “ship it”\n\n"},
		"counted":         {words.Counted(draft, workflow.Grant{Person: workflow.Person{Subject: "ann"}}), "The yes of ann counts.\n\n"},
		"others":          {words.Others(l, []string{"a", "b", "c", "d", "e"}), "\n\nThis is the one that you have started. Others are active, too: a, b, c, d, e."},
		"command":         {words.Command(workflow.VerifyCommand{Command: "make", SetBy: workflow.SetByEnvironment}).String(), "`make` (a variable)"},
		"no verdict":      {story.Verdict(l, ""), ""},
		"rows":            {words.Rows(l, []workflow.Criterion{{Result: workflow.ResultPass, Proved: true}, {Result: workflow.ResultPass, From: 1}, {Result: workflow.ResultFail}, {Result: workflow.ResultNotTested}, {Result: workflow.ResultOutOfScope}}), "5 criteria: 1 failed, 2 passed, 1 of them by a command that the server ran, 1 of them carried over, 1 not tested, 1 out of scope"},
		"policy": {fmt.Sprint(words.PolicyChanges(workflow.Default(), map[workflow.StageID]workflow.Policy{"po": {Gate: "auto", GateScore: ptr(90)}},
			map[workflow.StageID]workflow.Policy{"po": {Gate: "strict", GateScore: ptr(95), Quorum: 2}})), "[po: auto,  90 → strict,  95, quorum 2]"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, tt.got, tt.want)
		}
	}
}
