package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func byPath(stage workflow.StageID, path string) request.Request {
	req := submit(stage, "")
	req.Results = []request.Result{{Engine: workflow.Claude, Path: path}}
	return req
}

// personal returns a person who decides, having seen the question.
func personal(channel workflow.Channel, d workflow.Decision, words string) *answers {
	return &answers{Response: gate.Response{Channel: channel, Decision: d, Feedback: words, Took: 3 * time.Second}}
}

// TestEditIsApprovedByThePersonsOwnAct checks that a draft that was edited at its gate is taken as
// it is, with the score that was claimed and a new audit, and by nobody else's word.
func TestEditIsApprovedByThePersonsOwnAct(t *testing.T) {
	const first = "# P\n\nThe data is kept for 30 days.\n\nQuality Score: 92/100\n"
	const fixed = "# P\n\nThe data is kept for 90 days.\n\nQuality Score: 92/100\n"
	for _, channel := range []workflow.Channel{workflow.ChannelElicited, workflow.ChannelTerminal, workflow.ChannelBrowser, workflow.ChannelPasskey} {
		b := newBench(t)
		b.do(start("build a thing"))
		scored := b.at("po/awaiting_confirmation", submit(workflow.PO, "{\"prd_draft\":"+strconv.Quote(first)+",\"quality_score\":92}"))
		draft := b.draft(workflow.PO)
		b.write(draft, fixed)

		for via, req := range map[workflow.Channel]request.Request{"": confirm(true), workflow.ChannelScript: confirm(true), workflow.ChannelHostConfirmed: confirm(true)} {
			req.Via = via
			if hint := b.refused(req, fault.Conflict, "was changed after it was scored"); !strings.Contains(hint, "bmad-mcp decide build-a-thing") {
				t.Errorf("%s: hint %q", via, hint)
			}
		}
		b.refused(byPath(workflow.PO, draft), fault.GatePending, "not possible")
		shown := b.do(request.Request{Action: workflow.ActionStatus})
		if !shown.Draft.Modified || shown.NextCall != nil || !strings.Contains(shown.UserMessage, "1 line was changed since it was scored: “The data is kept for 90 days.”") || !strings.Contains(shown.UserMessage, "Only your own act counts") {
			t.Errorf("status gives %+v\n%s", shown.NextCall, shown.UserMessage)
		}

		who := personal(channel, workflow.DecisionApprove, "")
		r := b.at("architect/generating", request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: who}})
		q := who.asked[0]
		if !q.Edited || q.Choices[0].Label != "Approve with this change" || q.SHA256 != workflow.Hash([]byte(fixed)) || q.Worst != "1 line was changed since it was scored: “The data is kept for 90 days.”" {
			t.Errorf("asked %+v", q)
		}
		if got := b.artifact("build-a-thing", "01-product-requirements.md"); got != fixed {
			t.Errorf("saved %q", got)
		}
		h := b.stored().History
		edit, yes := h[len(h)-2], h[len(h)-1]
		if edit.Event != workflow.EventEdited || edit.Iteration != 2 || *edit.Score != 92 || edit.SHA256 != q.SHA256 || b.read(edit.Path) != fixed || edit.Edit == "" || edit.AuditScore == nil {
			t.Errorf("the round is %+v", edit)
		}
		if yes.Event != workflow.EventConfirmed || yes.Iteration != 2 || yes.Path != edit.Path || yes.Grant.SHA256 != q.SHA256 || yes.Grant.Channel != channel || yes.Grant.Decision != workflow.DecisionApprove {
			t.Errorf("the decision is %+v, %+v", yes, yes.Grant)
		}
		rec := b.stored().Record(workflow.PO)
		if *rec.ClaimedScore != 92 || rec.ScoreNote != "stated for round 1, and the text was edited since" || rec.FinalResultRef.SHA256 != q.SHA256 || rec.Audit == nil || rec.Policy == nil {
			t.Errorf("the record is %+v", rec)
		}
		if r.Draft != nil || scored.Draft.SHA256 == q.SHA256 {
			t.Errorf("%+v, %+v", r.Draft, scored.Draft)
		}
		checkStored(t, b)
	}
}

// TestEditOfWhatNoRoundKeeps is none: another end of lines, or what the assistant states beside
// its text.
func TestEditOfWhatNoRoundKeeps(t *testing.T) {
	for _, text := range []string{"# P\r\n\r\nText.\r\n", "\ufeff# P\n\nText.", "# P\n\nText.\n\n```json\n{\"quality_score\": 99}\n```\n"} {
		b := newBench(t)
		b.do(start("build a thing"))
		b.at("po/awaiting_confirmation", submit(workflow.PO, `{"prd_draft":"# P\n\nText.","quality_score":92}`))
		b.write(b.draft(workflow.PO), text)
		b.at("architect/generating", confirm(true))
		if got := b.artifact("build-a-thing", "01-product-requirements.md"); got != "# P\n\nText.\n" || b.stored().Record(workflow.PO).Iteration != 1 {
			t.Errorf("%q: saved %q", text, got)
		}
	}
}

// TestStatementsBesideAnEditDoNotCount checks that a block in the working copy is not part of the
// text, and opens no gate.
func TestStatementsBesideAnEditDoNotCount(t *testing.T) {
	b := newBench(t)
	b.do(start("build a thing"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, `{"prd_draft":"# P\n\nText.","quality_score":92}`))
	b.write(b.draft(workflow.PO), "# P\n\nTexts.\n\n```json\n{\"quality_score\": 100, \"questions\": [\"Who?\"], \"gaps\": [\"all\"]}\n```\n")
	b.at("architect/generating", request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionApprove, "")}})
	rec := b.stored().Record(workflow.PO)
	if got := b.artifact("build-a-thing", "01-product-requirements.md"); got != "# P\n\nTexts.\n" || *rec.ClaimedScore != 92 || len(rec.Questions)+len(rec.Gaps) != 0 {
		t.Errorf("saved %q, %+v", got, rec)
	}
}

// TestEditedPlanHasItsSprintsReadAgain.
func TestEditedPlanHasItsSprintsReadAgain(t *testing.T) {
	b := newBench(t)
	b.to(workflow.SM, workflow.AwaitingApproval)
	b.write(b.draft(workflow.SM), "# S\n## Sprint 1: only this\n")
	b.refused(approve(true, ""), fault.Conflict, "was changed after it was scored")
	b.at("dev/generating", request.Request{Action: workflow.ActionApprove, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionApprove, "")}})
	if s := b.stored(); len(s.Sprints) != 1 || s.Sprints[0].Title != "only this" {
		t.Errorf("sprints %+v", s.Sprints)
	}
}

// TestEditBelowTheGate checks that a person who takes a document whose rounds are spent takes it as
// they have edited it.
func TestEditBelowTheGate(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.Generating)
	for b.stored().CurrentState != workflow.AwaitingApproval {
		b.do(submit(workflow.PO, fmt.Sprintf("# P\n\nText %d.\nQuality Score: 50/100", len(b.stored().History))))
	}
	b.write(b.draft(workflow.PO), "# P\n\nOur text.\n")
	who := personal(workflow.ChannelTerminal, workflow.DecisionOverride, "it will do")
	b.at("architect/generating", request.Request{Action: workflow.ActionApprove, Caller: request.Caller{Ask: who}})
	if got := b.artifact("build-a-thing", "01-product-requirements.md"); !strings.Contains(got, "Our text.") || !strings.Contains(got, "it will do") {
		t.Errorf("saved %q", got)
	}
	if g := b.lastGrant(); g.Decision != workflow.DecisionOverride || g.SHA256 != workflow.Hash([]byte("# P\n\nOur text.\n")) {
		t.Errorf("%+v", g)
	}
}

// TestEditBesideQuestions checks that a document that has reached its gate is taken as it was
// edited, without answers.
func TestEditBesideQuestions(t *testing.T) {
	b := newBench(t)
	b.do(start("build a thing"))
	b.at("po/clarifying", submit(workflow.PO, `{"prd_draft":"# P","quality_score":95,"questions":["Who?"]}`))
	b.write(b.draft(workflow.PO), "# P, mended\n")
	who := personal(workflow.ChannelElicited, workflow.DecisionApprove, "")
	b.at("architect/generating", request.Request{Action: workflow.ActionAnswer, Caller: request.Caller{Ask: who}})
	if q := who.asked[0]; q.Choices[0].Label != "Approve the draft with this change, without answers" || q.SHA256 != workflow.Hash([]byte("# P, mended\n")) {
		t.Errorf("asked %+v", q)
	}
	if got := b.artifact("build-a-thing", "01-product-requirements.md"); got != "# P, mended\n" {
		t.Errorf("saved %q", got)
	}
}

// TestBrokenEditIsRefused in words, and changes nothing; another round stays possible.
func TestBrokenEditIsRefused(t *testing.T) {
	scored := func(b *bench) {
		b.do(start("webhook relay"))
		if b.do(submit(workflow.PO, "{\"prd_draft\":\"# P\",\"quality_score\":92}")); b.stored().CurrentState != workflow.AwaitingConfirmation {
			b.at("po/awaiting_confirmation", submit(workflow.PO, sample(t, "webhook-relay", "03-po-second.json")))
		}
	}
	audited := func(b *bench) {
		b.scoreBy(workflow.ScoringAudited)
		scored(b)
	}
	plan := func(b *bench) { b.to(workflow.SM, workflow.AwaitingApproval) }
	for name, tt := range map[string]struct {
		text, words string
		to          func(*bench)
	}{
		"empty":           {" \n", "is empty", scored},
		"too large":       {strings.Repeat("far too long\n", project.MaxDocument/10), "at most 5242880 are accepted", scored},
		"binary":          {"# P\x00\x01\n", "contains a NUL character", scored},
		"not text":        {"# P\xff\xfe\n", "is not valid UTF-8", scored},
		"only a block":    {"```json\n{\"quality_score\": 99}\n```\n", "has no document in it any more", scored},
		"without sprints": {"# S\n\nNothing is planned.\n", "has no sprint any more", plan},
		"a poor audit":    {"# P\n", "as it was edited, the audit of the draft is ", audited},
	} {
		b := newBench(t)
		tt.to(b)
		draft := b.draft(b.stored().CurrentStage)
		b.write(draft, tt.text)
		yes := confirm(true)
		if b.stored().CurrentState == workflow.AwaitingApproval {
			yes = approve(true, "")
		}
		yes.Ask = personal(workflow.ChannelTerminal, workflow.DecisionApprove, "")
		before := b.snapshot()
		f, want := fault.From(func() error { _, err := b.try(yes); return err }()), tt.words
		if !strings.Contains(f.Message, want) || f.Hint == "" || b.snapshot() != before {
			t.Errorf("%s: %v (%s), or the disk changed", name, f, f.Hint)
		}
		yes.Ask = personal(workflow.ChannelTerminal, workflow.DecisionChanges, "as it was")
		if r := b.do(yes); r.State != workflow.Refining || b.read(draft) != tt.text {
			t.Errorf("%s: a no leads to %s", name, r.State)
		}
		checkStored(t, b)
	}
}

// TestEditIsForTheTextThatWasShown checks that an edit after the question decides nothing.
func TestEditIsForTheTextThatWasShown(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	draft, round := b.draft(workflow.PO), b.stored().Record(workflow.PO).Iteration
	b.write(draft, "# P, as I want it\n")
	yes := confirm(true)
	yes.Ask = swap{func() { b.write(draft, "# P, as another wants it\n") }}
	b.refused(yes, fault.Conflict, "was changed after it was scored")
	yes.Ask = swap{func() { b.remove(draft) }}
	b.refused(yes, fault.NotFound, "does not exist")
	b.write(draft, "# P, as I want it\n")
	yes = confirm(true)
	yes.Ask, yes.Draft = personal(workflow.ChannelBrowser, workflow.DecisionApprove, ""), b.stored().Record(workflow.PO).FinalResultRef.SHA256
	b.refused(yes, fault.Conflict, "is not the one this decision is for")
	scored := b.read(b.stored().Record(workflow.PO).FinalResultRef.FilePath)
	for _, text := range []string{"# never shown\n", scored} {
		b.write(draft, "# P, as I want it\n")
		_, err := b.tryWith(hooks{locking: func(name string) {
			if strings.Contains(name, b.session) {
				b.write(draft, text)
			}
		}}, request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionApprove, "")}})
		if !fault.Is(err, fault.Conflict) || b.stored().CurrentState != workflow.AwaitingConfirmation || b.stored().Record(workflow.PO).Iteration != round {
			t.Errorf("%q: %v; the run is at %s", text, err, b.stored().Place())
		}
	}
	b.write(draft, "# P, as I want it\n")
	before := b.snapshot()
	if _, err := b.tryWith(hooks{renaming: failCommit(func() {})}, request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionApprove, "")}}); !fault.Is(err, fault.Storage) || b.snapshot() != before {
		t.Errorf("%v, and the disk changed", err)
	}
}

// TestEditThatIsTakenBackIsNamed in the reply, at the gate and in the log: after changes were
// requested, and after a yes.
func TestEditThatIsTakenBackIsNamed(t *testing.T) {
	const old, mended = "# P\n\nKept for 30 days.\n", "# P\n\nKept for 90 days.\n"
	const says = "takes back the person's edit: “Kept for 90 days.” is “Kept for 30 days.” again"
	b := newBench(t)
	b.do(start("build a thing"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, old+"\nQuality Score: 92"))
	b.write(b.draft(workflow.PO), mended+"\nQuality Score: 92\n")
	no := confirm(false)
	no.Feedback = "name the owner"
	if r := b.at("po/refining", no); !strings.Contains(r.UserMessage, "Round 2 is the draft as it was edited. 1 line was changed since it was scored: “Kept for 90 days.”") || r.Iteration != 2 {
		t.Errorf("the edit is not named:\n%s", r.UserMessage)
	}
	named := func(r *reply.Reply, round string) {
		t.Helper()
		if !strings.Contains(r.UserMessage, "Round "+round+" "+says) || b.stored().Last().Edit != says {
			t.Errorf("not named: %q\n%s", b.stored().Last().Edit, r.UserMessage)
		}
	}
	named(b.at("po/refining", submit(workflow.PO, old+"\nThe owner is Ann.\n\nQuality Score: 72")), "3")
	named(b.at("po/awaiting_confirmation", submit(workflow.PO, old+"\nThe owner is Ann.\n\nQuality Score: 92")), "4")
	named(b.do(request.Request{Action: workflow.ActionStatus}), "4")
	b.at("po/refining", confirm(false))
	r := b.at("po/awaiting_confirmation", submit(workflow.PO, mended+"\nThe owner is Ann.\n\nQuality Score: 92"))
	if strings.Contains(r.UserMessage, "takes back") || b.stored().Last().Edit != "" {
		t.Errorf("an edit that stands is named:\n%s", r.UserMessage)
	}
	b.write(b.draft(workflow.PO), mended+"\nThe owner is Bob.\n\nQuality Score: 92\n")
	b.at("architect/generating", request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionApprove, "")}})
	b.do(request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "more"}})
	r = b.at("po/awaiting_confirmation", submit(workflow.PO, mended+"\nThe owner is Ann.\n\nQuality Score: 92"))
	if !strings.Contains(r.UserMessage, "takes back the person's edit: “The owner is Bob.” is “The owner is Ann.” again") {
		t.Errorf("after a yes:\n%s", r.UserMessage)
	}
}

// TestEditedVerdictOpensNothing turns the report of failed work into a pass.
func TestEditedVerdictOpensNothing(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.AwaitingApproval)
	draft := b.draft(workflow.Review)
	b.write(draft, passes("# R"))
	before := b.snapshot()
	if _, err := b.try(approve(true, "")); !fault.Is(err, fault.Conflict) {
		t.Errorf("approve gives %v", err)
	}
	if _, err := b.try(byPath(workflow.Review, draft)); !fault.Is(err, fault.GatePending) {
		t.Errorf("submit gives %v", err)
	}
	if b.snapshot() != before {
		t.Error("the disk changed")
	}
	b.write(draft, b.read(b.stored().Record(workflow.Review).FinalResultRef.FilePath))
	meanwhile := approve(true, "")
	meanwhile.Ask = swap{func() { b.write(draft, "# R\nStatus: pass\n") }}
	b.refused(meanwhile, fault.Conflict, "was changed after it was scored")
	b.at("dev/refining", approve(false, "mend it"))
}

// TestEditedReportIsJudgedAgain checks that a person's edit of a report at its gate counts by its
// block, the tables are rendered from it, and a row that it removes is a risk that they accept in
// words.
func TestEditedReportIsJudgedAgain(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.Generating)
	failed := "# R\n\n```json\n" + `{"checks": [{"id": "C1", "command": "go test", "exit": 0}], "findings": [{"id": "R1", "severity": "critical", "file": "a.go:1", "problem": "data is lost", "status": "open"}]}` + "\n```"
	b.at("review/awaiting_approval", submit(workflow.Review, failed))
	draft := b.draft(workflow.Review)
	laid := b.read(draft)
	yes := func(words string) request.Request {
		return request.Request{Action: workflow.ActionApprove, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionApprove, words)}}
	}
	for name, tt := range map[string]struct{ from, to, want string }{
		"a table":        {"| data is lost |", "| nothing is lost |", "its tables were edited"},
		"a lost finding": {`{"id": "R1", "severity": "critical", "file": "a.go:1", "problem": "data is lost", "status": "open"}`, "", "R1 were open in the last report"},
		"a broken block": {`"findings": [`, `"findings": `, "cannot be taken as it was edited"},
	} {
		b.write(draft, strings.Replace(laid, tt.from, tt.to, 1))
		before := b.snapshot()
		if _, err := b.try(yes("we know")); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), tt.want) || b.snapshot() != before {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.write(draft, strings.Replace(laid, `"status": "open"`, `"status": "withdrawn"`, 1))
	if _, err := b.try(approve(true, "the assistant says so")); !fault.Is(err, fault.Conflict) {
		t.Errorf("a relayed yes gives %v", err)
	}
	if r := b.at("review/awaiting_approval", yes("")); r.Gate == nil || !strings.Contains(r.Gate.Silence, "reason") {
		t.Errorf("without words: %+v", r.Gate)
	}
	b.at("qa/generating", yes("it is a test file"))
	rec := b.stored().Record(workflow.Review)
	if rec.Verdict != workflow.Pass || rec.Findings[0].Status != "withdrawn" || rec.Iteration != 2 {
		t.Errorf("%+v", rec)
	}
	doc := b.artifact(b.stored().TaskName, "04-dev-reviewed.md")
	if !strings.Contains(doc, "| R1 | critical | a.go:1 | data is lost |  | withdrawn |") || !strings.Contains(doc, "Risk accepted") || !strings.Contains(doc, "it is a test file") {
		t.Errorf("%s", doc)
	}
}

func TestEditedArtifactIsShownAndWorkedFrom(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.Generating)
	name := b.stored().Record(workflow.PO).Artifact.Path
	b.write(name, "# P, corrected after the gate\n")
	shown := b.do(request.Request{Action: workflow.ActionStatus})
	if po := shown.Stages[0]; !po.Modified || po.Missing {
		t.Errorf("status shows %+v", po)
	}
	doc := b.do(request.Request{Action: workflow.ActionResume}).Context.Documents[0]
	if doc.Path != name || !doc.Modified || doc.Size != int64(len("# P, corrected after the gate\n")) {
		t.Errorf("the architect works from %+v", doc)
	}
	if err := os.Remove(filepath.Join(b.dir, name)); err != nil {
		t.Fatal(err)
	}
	if po := b.do(request.Request{Action: workflow.ActionStatus}).Stages[0]; po.Modified || !po.Missing || b.read(name) != "" {
		t.Errorf("status shows %+v", po)
	}
}

// TestStaleDocumentSatisfiesNoGate submits after a reopen what stood there before it.
func TestStaleDocumentSatisfiesNoGate(t *testing.T) {
	b := newBench(t)
	b.to(workflow.QA, workflow.Completed)
	b.at("po/refining", request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "scope grew"}})
	b.at("po/awaiting_confirmation", submit(workflow.PO, `{"prd_updated":"# P2","quality_score":96}`))
	begun := b.at("architect/generating", confirm(true))
	if !begun.Draft.Stale || !strings.Contains(begun.UserMessage, "out of date") {
		t.Errorf("architect begins with %+v\n%s", begun.Draft, begun.UserMessage)
	}
	before := b.snapshot()
	rec := b.stored().Record(workflow.Architect)
	for _, path := range []string{rec.Artifact.Path, rec.FinalResultRef.FilePath, filepath.Join(b.dir, rec.Artifact.Path)} {
		if _, err := b.try(byPath(workflow.Architect, path)); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "before an earlier stage was reopened") || b.snapshot() != before {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := b.try(confirm(true)); err == nil {
		t.Error("the gate opened without a submission")
	}
	same := b.at("architect/awaiting_confirmation", submit(workflow.Architect, `{"architecture_draft":"# A","quality_score":95}`))
	if !strings.Contains(same.UserMessage, "word for word") {
		t.Errorf("the human is not told that nothing changed:\n%s", same.UserMessage)
	}
	b.at("architect/refining", confirm(false))
	// Worked over in place by a person, it is a new document.
	b.write(rec.Artifact.Path, "# A with the change worked in\n\nQuality Score: 94/100\n")
	if again := b.at("architect/awaiting_confirmation", byPath(workflow.Architect, rec.Artifact.Path)); strings.Contains(again.UserMessage, "word for word") {
		t.Errorf("the human is told:\n%s", again.UserMessage)
	}
	b.at("sm/generating", confirm(true))
}

// TestDraftAtTheGateIsWhatWasSubmitted also if people had edited the artifact of an
// earlier round, which that round started from.
func TestDraftAtTheGateIsWhatWasSubmitted(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.Generating)
	saved := b.stored().Record(workflow.PO).Artifact.Path
	b.write(saved, "# P, corrected after the gate\n")
	begun := b.at("po/refining", request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "more"}})
	if text, err := os.ReadFile(filepath.Join(b.dir, begun.Draft.Path)); begun.Draft.Path != b.draft(workflow.PO) || !begun.Draft.Modified || string(text) != "# P, corrected after the gate\n" {
		t.Errorf("the round starts from %+v: %q, %v", begun.Draft, text, err)
	}
	for place, text := range map[string]string{"po/refining": "# P2\nQuality Score: 60/100", "po/awaiting_confirmation": "# P3\nQuality Score: 96/100"} {
		b := newBench(t)
		b.to(workflow.Architect, workflow.Generating)
		b.write(saved, "# P, corrected after the gate\n")
		b.do(request.Request{Action: workflow.ActionReopen, Stage: "po"})
		r := b.at(place, submit(workflow.PO, text))
		if want := b.draft(workflow.PO); r.Draft.Path != want || r.Draft.Modified {
			t.Errorf("at %s the draft is %+v, want %s", place, r.Draft, want)
		}
	}
}

// TestViewedDocumentIsThatOfTheQuestion checks that a person who leaves a question to read its document gets the text
// that it was about, although the working copy is exchanged while they read.
func TestViewedDocumentIsThatOfTheQuestion(t *testing.T) {
	b := newBench(t)
	b.do(start("build a thing"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, `{"prd_draft":"# P\n\nUsers sign in.","quality_score":92}`))
	draft := b.draft(workflow.PO)
	left := viewer{func() { b.write(draft, "# P\n\nA typo is mended.\n") }}
	r := b.at("po/awaiting_confirmation", request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: left}})
	if !strings.Contains(r.UserMessage, "Users sign in.") || strings.Contains(r.UserMessage, "typo") {
		t.Errorf("they read:\n%s", r.UserMessage)
	}
}

type viewer struct{ meanwhile func() }

func (v viewer) Ask(context.Context, gate.Question) (gate.Response, error) {
	v.meanwhile()
	return gate.Response{Silence: gate.Silence{Why: lang.T("not now"), View: true}}, nil
}
