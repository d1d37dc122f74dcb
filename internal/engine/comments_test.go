package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const commentedPRD = "# PRD\n\nSign-in by link.\nFast.\n\nQuality Score: 95/100"

// remark returns a comment on line 3 of commentedPRD.
func remark(text string) workflow.Comment {
	return workflow.Comment{From: 3, To: 3, Quote: "Sign-in by link.", Kind: workflow.CommentChange, Text: text}
}

// person decides at a terminal, with comments.
func decides(d workflow.Decision, comments ...workflow.Comment) *answers {
	return &answers{Response: gate.Response{Channel: workflow.ChannelTerminal, Decision: d, Comments: comments, Took: 3 * time.Second}}
}

func requestsOf(r *workflow.Record) string {
	var out []string
	for _, c := range r.ChangeRequests {
		out = append(out, fmt.Sprintf("%s %s:%d %s %s", c.ID, c.Stage, c.Round, c.Status, c.Note))
	}
	return strings.Join(out, "; ")
}

// TestCommentsBecomeChangeRequests follows comments from a decision to the next version, which has
// to name each, and through a second round.
func TestCommentsBecomeChangeRequests(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, commentedPRD))
	sha := b.stored().Current().FinalResultRef.SHA256
	edit := workflow.Comment{From: 4, Kind: workflow.CommentEdit, Replace: "Under 200 ms."}
	r := b.do(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: decides(workflow.DecisionChanges, remark("  by passkey, too "), edit)}})
	if r.State != workflow.Refining || r.RequiresUserConfirmation {
		t.Fatalf("comments are words, and the reply asks for more: %+v", r)
	}
	if got := fmt.Sprintf("%+v", r.ChangeRequests); got != "[{ID:r1c1 File: Lines:3 Stage: Quote:Sign-in by link. Kind:change Text:by passkey, too Replace:} {ID:r1c2 File: Lines:4 Stage: Quote: Kind:edit Text: Replace:Under 200 ms.}]" {
		t.Error(got)
	}
	if !strings.Contains(r.UserMessage, "Change requests from your comments: 2.") || !strings.Contains(r.RolePrompt, "`resolved`") {
		t.Errorf("message %q\nprompt %q", r.UserMessage, r.RolePrompt)
	}
	if c := b.stored().Current().ChangeRequests[0]; c.Round != 1 || c.SHA256 != sha || c.At.IsZero() || !c.Open() {
		t.Errorf("%+v", c)
	}
	if g := b.stored().Last().Grant; len(g.Comments) != 2 || g.Comments[1].To != 4 {
		t.Errorf("the decision does not keep them: %+v", g)
	}

	// A version that says nothing about them is not taken, nor one that declines without a reason.
	before := b.stored().Revision
	b.refused(submit(workflow.PO, commentedPRD+"\nmore"), fault.InvalidArgument, "does not mention 2 change requests of the human: r1c1, r1c2")
	said := func(resolved string) string {
		return "# PRD\n\nSign-in by passkey.\n\n```json\n{\"quality_score\": 95, \"resolved\": " + resolved + "}\n```"
	}
	b.refused(submit(workflow.PO, said(`[{"id":"r1c1","how":"added"},{"id":"r1c2","status":"declined"}]`)), fault.InvalidArgument, "1 change request of the human: r1c2")
	if b.stored().Revision != before || b.stored().Current().Iteration != 1 {
		t.Error("a refused submission changed the run")
	}
	b.at("po/awaiting_confirmation", submit(workflow.PO, said(`[{"id":"r1c1","how":"added"},{"id":"r1c2","status":"declined","how":"nobody measured it"}]`)))
	if got := requestsOf(b.stored().Current()); got != "r1c1 :1 taken_up added; r1c2 :1 declined nobody measured it" {
		t.Error(got)
	}
	if doc := b.stored().Current().FinalResultRef; strings.Contains(doc.Summary, "resolved") {
		t.Errorf("the block stays in the document: %s", doc.Summary)
	}

	// A second round of comments gets ids of its own; settled ones are asked for no more.
	r = b.do(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: decides(workflow.DecisionChanges, remark("by mail, too"))}})
	if len(r.ChangeRequests) != 1 || r.ChangeRequests[0].ID != "r2c1" {
		t.Errorf("%+v", r.ChangeRequests)
	}
	b.at("po/awaiting_confirmation", submit(workflow.PO, said(`{"r2c1": "by mail, too"}`)))
	if got := requestsOf(b.stored().Current()); !strings.HasSuffix(got, "r2c1 :2 taken_up by mail, too") {
		t.Error(got)
	}
}

// TestCommentsOfAnApproval go to the next stage as notes, and change no document.
func TestCommentsOfAnApproval(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.do(submit(workflow.PO, commentedPRD))
	r := b.do(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: decides(workflow.DecisionApprove, remark("mind the mail server"))}})
	if r.Stage != workflow.Architect || r.Context == nil || len(r.Context.Comments) != 1 || r.Context.Comments[0].Text != "mind the mail server" || len(r.ChangeRequests) > 0 {
		t.Fatalf("%+v", r.Context)
	}
	if !strings.Contains(r.UserMessage, "Comments for the next stage: 1.") || !strings.Contains(r.RolePrompt, "context.comments") {
		t.Errorf("message %q\nprompt %q", r.UserMessage, r.RolePrompt)
	}
	if got := b.read(r.Artifact); strings.Contains(got, "mail server") {
		t.Error("the artifact has the comment:", got)
	}
	b.at("architect/awaiting_confirmation", submit(workflow.Architect, "# A\nQuality Score: 95")) // a note asks for no answer
	if r = b.do(confirm(true)); r.Context.Comments != nil {
		t.Errorf("the notes go further than to the next stage: %+v", r.Context.Comments)
	}
}

// TestCommentsOnAReport checks that comments on failed work go to the stage that it is sent back
// to.
func TestCommentsOnAReport(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.Generating)
	b.at("review/awaiting_approval", submit(workflow.Review, "# R\n\nThe link works twice.\n\nStatus: fail"))
	r := b.do(request.Request{Action: workflow.ActionApprove, Caller: request.Caller{Ask: decides(workflow.DecisionChanges, remark("this one first"))}})
	if r.Stage != workflow.Dev || len(r.ChangeRequests) != 1 || r.ChangeRequests[0].Stage != workflow.Review {
		t.Fatalf("%s: %+v", r.Stage, r.ChangeRequests)
	}
	b.refused(submit(workflow.Dev, "# D second"), fault.InvalidArgument, "1 change request of the human: r1c1")
	b.at("review/generating", submit(workflow.Dev, "# D second\n\n```json\n{\"resolved\": [{\"id\": \"r1c1\", \"how\": \"used once\"}]}\n```"))
	s := b.stored()
	if got := requestsOf(s.Record(workflow.Dev)); got != "r1c1 review:1 taken_up used once" {
		t.Error(got)
	}
	if got := s.RoundRequests(workflow.Review, 1); len(got) != 1 || len(s.RoundRequests(workflow.Dev, 1)) != 0 {
		t.Errorf("of the review's round: %+v", got)
	}
}

// TestCommentsWithAnswers checks that a person who answers can also ask for changes.
func TestCommentsWithAnswers(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.at("po/clarifying", submit(workflow.PO, `{"prd_draft":"# P\n\nFor all.","quality_score":95,"questions":["Who?"]}`))
	whole := workflow.Comment{ID: "mine", Kind: workflow.CommentQuestion, Text: "why for all?"}
	r := b.do(request.Request{Action: workflow.ActionAnswer, Caller: request.Caller{Ask: &answers{Response: gate.Response{Channel: workflow.ChannelTerminal, SkipRest: true, Comments: []workflow.Comment{whole}}}}})
	if r.State != workflow.Refining || len(r.ChangeRequests) != 1 || r.ChangeRequests[0].ID != "mine" || r.ChangeRequests[0].Lines != "" {
		t.Errorf("%s %+v", r.State, r.ChangeRequests)
	}
	if c := b.stored().Current().ChangeRequests[0]; c.SHA256 == "" || c.Round != 1 {
		t.Errorf("%+v", c)
	}
	b.do(request.Request{Action: workflow.ActionCancel})
}

// TestReopenedRequests checks that the requests to a stage that begins again from another text are
// no longer asked for.
func TestReopenedRequests(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.AwaitingConfirmation)
	b.do(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: decides(workflow.DecisionChanges, workflow.Comment{Kind: workflow.CommentChange, Text: "smaller"})}})
	b.do(request.Request{Action: workflow.ActionReopen, Stage: "po", Decision: request.Decision{Feedback: "another aim"}})
	if got := requestsOf(b.stored().Record(workflow.Architect)); !strings.Contains(got, " outdated ") {
		t.Error(got)
	}
}

// TestRefusedComments checks that a comment that does not fit the draft changes nothing.
func TestRefusedComments(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.do(submit(workflow.PO, commentedPRD))
	before := b.stored().Revision
	long := strings.Repeat("x", 501)
	many := make([]workflow.Comment, 41)
	big := make([]workflow.Comment, 17)
	for i := range big {
		big[i] = remark(long[:500])
	}
	at := func(from, to int) workflow.Comment {
		return workflow.Comment{From: from, To: to, Kind: workflow.CommentChange, Text: "x"}
	}
	for want, given := range map[string][]workflow.Comment{
		"there are 41 comments; at most 40":               many,
		"the comments have 8500 bytes together":           big,
		"comment 1 has 501 bytes; at most 500":            {remark(long)},
		"comment 2: it is empty":                          {remark("x"), remark(" ")},
		"lines 4 to 3 are not in the document":            {at(4, 3)},
		"lines 3 to 9 are not in the document, which has": {at(3, 9)},
		"lines -1 to 3 are not":                           {at(-1, 3)},
		`the kind "praise" is not known`:                  {{Kind: "praise", Text: "x"}},
		"an edit needs the text to put there":             {{From: 3, Kind: workflow.CommentEdit, Text: "x"}},
		"and is not an edit":                              {{From: 3, Kind: workflow.CommentChange, Text: "x", Replace: "y"}},
		"it does not say which lines it is for":           {{Kind: workflow.CommentRemove}},
		`two comments have the id "a"`:                    {{ID: "a", Kind: workflow.CommentChange, Text: "x"}, {ID: "a", Kind: workflow.CommentChange, Text: "y"}},
		"comment 1: its id has other characters":          {{ID: "a b", Kind: workflow.CommentChange, Text: "x"}},
		"comment 1 is not valid UTF-8":                    {{Kind: workflow.CommentChange, Text: "\xff"}},
		"comment c contains a NUL character":              {{ID: "c", From: 3, Quote: "\x00", Kind: workflow.CommentChange, Text: "x"}},
	} {
		b.refused(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: decides(workflow.DecisionChanges, given...)}}, fault.InvalidArgument, want)
	}
	b.refused(request.Request{Action: workflow.ActionCancel, Caller: request.Caller{Ask: decides(workflow.DecisionCancel, remark("x"))}}, fault.InvalidArgument, "cancel takes no comments")
	b.refused(request.Request{Action: workflow.ActionStatus, Decision: request.Decision{Comments: []workflow.Comment{remark("x")}}}, fault.InvalidArgument, "status takes no comments")
	if b.stored().Revision != before {
		t.Error("a refused comment changed the run")
	}
	// The person's own hand still decides, and a long quote is cut.
	quoted := remark("x")
	quoted.Quote = strings.Repeat("é", 200)
	r := b.do(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: decides(workflow.DecisionChanges, quoted)}})
	if got := r.ChangeRequests[0].Quote; len(got) > 200 || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestCommentsAreWords checks that if failed work needs words, comments are some for a no; they are
// no reason to accept a risk.
func TestCommentsAreWords(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.Generating)
	b.do(submit(workflow.Review, "# R\nStatus: blocked"))
	if r := b.do(request.Request{Action: workflow.ActionApprove, Caller: request.Caller{Ask: decides(workflow.DecisionChanges, workflow.Comment{Kind: workflow.CommentChange, Text: "the key is in the vault"})}}); len(r.ChangeRequests) != 1 || r.Stage != workflow.Review {
		t.Errorf("%s %+v", r.Stage, r.ChangeRequests)
	}
}

// TestManyCommentsFit checks that the reply keeps every id within its size, whatever is asked for.
func TestManyCommentsFit(t *testing.T) {
	b := newBench(t)
	b.do(start("x"))
	b.do(submit(workflow.PO, commentedPRD))
	all := make([]workflow.Comment, 40)
	for i := range all {
		all[i] = workflow.Comment{From: 3, Kind: workflow.CommentEdit, Quote: strings.Repeat("q", 200), Text: strings.Repeat("<", 90), Replace: strings.Repeat("\"", 100)}
	}
	r := b.do(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: decides(workflow.DecisionChanges, all...)}})
	data, err := r.Encode()
	if err != nil || len(data) > reply.Max {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if len(r.ChangeRequests) != 40 || r.ChangeRequests[39].ID != "r1c40" || r.SessionFile == "" {
		t.Errorf("%d requests, file %q", len(r.ChangeRequests), r.SessionFile)
	}
}

// TestHistoryKeepsWhatWasMeasured checks that scores of all rounds can be shown later.
func TestHistoryKeepsWhatWasMeasured(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Review, workflow.Generating)
	b.do(submit(workflow.Review, "# R\n\n```json\n{\"verdict\": \"fail\", \"findings\": [{\"id\": \"R1\", \"severity\": \"major\", \"problem\": \"x\"}, {\"id\": \"R2\", \"severity\": \"minor\", \"problem\": \"y\", \"status\": \"fixed\"}]}\n```"))
	for _, e := range b.stored().History {
		switch {
		case e.Action != workflow.ActionSubmit:
			if e.AuditScore != nil || e.FindingsOpen != nil {
				t.Errorf("%s: %+v", e.Event, e)
			}
		case (e.AuditScore == nil) != (e.FromStage() == workflow.Review), (e.FindingsOpen != nil) != (e.FromStage() == workflow.Review):
			t.Errorf("%s %s: %v %v", e.Event, e.From, e.AuditScore, e.FindingsOpen)
		}
	}
	if last := b.stored().Last(); *last.FindingsOpen != 1 {
		t.Errorf("%+v", last)
	}
}

// TestCommentsOfEveryYes checks that the next stage gets the comments of all whose yes a gate wanted, of each text only.
func TestCommentsOfEveryYes(t *testing.T) {
	b := newBench(t)
	b.settings("quorum: 2\n")
	b.acting = ann
	b.do(start("x"))
	yes := func(who workflow.Person, text string) *reply.Reply {
		b.acting = who
		return b.do(request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: decides(workflow.DecisionApprove, remark(text))}})
	}
	b.do(submit(workflow.PO, commentedPRD))
	yes(bob, "of the first round")
	b.do(confirm(false))
	b.do(submit(workflow.PO, commentedPRD+"\nmore"))
	yes(bob, "mind the mail server")
	r := yes(cat, "and the clock")
	var got []string
	for _, c := range r.Context.Comments {
		got = append(got, c.ID+" "+c.Text)
	}
	if text := strings.Join(got, "; "); text != "r2c1 mind the mail server; r2c2 and the clock" || !strings.Contains(r.UserMessage, "Comments for the next stage: 2.") {
		t.Errorf("%s\n%s", text, r.UserMessage)
	}
}
