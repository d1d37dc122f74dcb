package submission

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// TestEnter checks the record of a stage after a submission: what it replaces, and what stays.
func TestEnter(t *testing.T) {
	t.Parallel()
	full := func() *workflow.Record {
		return &workflow.Record{
			Score: ptr(1), ClaimedScore: ptr(1), EstimatedScore: ptr(1), ScoreNote: "old", Feedback: "old", Candidates: []workflow.Candidate{{}}, Progress: &workflow.Progress{}, Gaps: []string{"old"},
			Verdict: workflow.Fail, Objections: []string{"old"}, Needs: "old", Returned: []string{"old"}, Findings: []workflow.Finding{{ID: "F1"}}, WorkTree: "old", Evidence: &workflow.Evidence{Command: "old"},
			Questions: []workflow.Question{{ID: "q1", Question: "old"}}, ClaudeResultRef: &workflow.ContentRef{FilePath: "c.md"}, CodexResultRef: &workflow.ContentRef{FilePath: "x.md"},
		}
	}
	scoring, plan, judge := workflow.Stage{Gate: workflow.GateScore}, workflow.Stage{Gate: workflow.GateApproval}, workflow.Stage{Gate: workflow.GateVerdict}
	asks := intake.Assessment{Claimed: ptr(88), Estimated: 70, ScoreNote: lang.T("note"), Questions: []workflow.Question{{ID: "q1", Question: "new"}, {ID: "q2", Question: "other"}}}
	two := []draft{
		{engine: workflow.Claude, read: intake.Assessment{Estimated: 70}, audit: workflow.Audit{Score: 60}, report: verdict.Report{Stated: workflow.Pass}},
		{engine: workflow.Codex, read: intake.Assessment{Claimed: ptr(90)}, audit: workflow.Audit{Score: 50}, report: verdict.Report{Stated: workflow.Fail}},
	}
	both, one := []workflow.Engine{workflow.Claude, workflow.Codex}, []workflow.Engine{workflow.Claude}
	judged := verdict.Judgement{Verdict: workflow.PassWithRisk, Held: []lang.Text{lang.T("held")}, Missing: []lang.Text{lang.T("missing")}, Findings: []workflow.Finding{{ID: "F1"}}}
	blocked := judged
	blocked.Verdict = workflow.Blocked
	for name, tt := range map[string]struct {
		stage   workflow.Stage
		sub     Submission
		engines []workflow.Engine
		want    string
	}{
		"scored":          {scoring, Submission{Assessment: asks, drafts: two[:1], Audit: &workflow.Audit{Score: 5}}, one, `{"status":"","score":88,"claimed_score":88,"estimated_score":70,"score_note":"note","verdict":"fail","objections":["old"],"findings":[{"id":"F1","problem":""}],"returned":["old"],"questions":[{"id":"q1","question":"old"},{"id":"q3","question":"new"},{"id":"q2","question":"other"}],"gaps":["old"],"approved":false,"iteration":0,"audit":{"score":5},"needs":"old","work_tree":"old"}`},
		"an estimate":     {scoring, Submission{Assessment: intake.Assessment{Estimated: 70}, drafts: two[:1]}, one, `{"status":"","score":70,"estimated_score":70,"verdict":"fail","objections":["old"],"findings":[{"id":"F1","problem":""}],"returned":["old"],"questions":[{"id":"q1","question":"old"}],"gaps":["old"],"approved":false,"iteration":0,"needs":"old","work_tree":"old"}`},
		"a plan":          {plan, Submission{Assessment: intake.Assessment{Estimated: 70}, drafts: two[:1]}, one, `{"status":"","verdict":"fail","objections":["old"],"findings":[{"id":"F1","problem":""}],"returned":["old"],"questions":[{"id":"q1","question":"old"}],"gaps":["old"],"approved":false,"iteration":0,"needs":"old","work_tree":"old"}`},
		"claimed plan":    {plan, Submission{Assessment: intake.Assessment{Claimed: ptr(80), Estimated: 70}, drafts: two[:1]}, one, `{"status":"","score":80,"claimed_score":80,"estimated_score":70,"verdict":"fail","objections":["old"],"findings":[{"id":"F1","problem":""}],"returned":["old"],"questions":[{"id":"q1","question":"old"}],"gaps":["old"],"approved":false,"iteration":0,"needs":"old","work_tree":"old"}`},
		"one of two":      {scoring, Submission{drafts: two[:1], why: lang.T("why")}, both, `{"status":"","candidates":[{"engine":"claude","score":70,"score_is_estimate":true,"audit_score":60,"path":"c.md","taken":true,"because":"why"}],"score":0,"estimated_score":0,"verdict":"fail","objections":["old"],"findings":[{"id":"F1","problem":""}],"returned":["old"],"questions":[{"id":"q1","question":"old"}],"gaps":["old"],"approved":false,"iteration":0,"needs":"old","work_tree":"old"}`},
		"two, unasked":    {plan, Submission{drafts: two, taken: 1, why: lang.T("why")}, one, `{"status":"","candidates":[{"engine":"claude","audit_score":60,"path":"c.md"},{"engine":"codex","score":90,"audit_score":50,"path":"x.md","taken":true,"because":"why"}],"verdict":"fail","objections":["old"],"findings":[{"id":"F1","problem":""}],"returned":["old"],"questions":[{"id":"q1","question":"old"}],"gaps":["old"],"approved":false,"iteration":0,"needs":"old","work_tree":"old"}`},
		"a report judged": {judge, Submission{drafts: two, Judgement: judged, WorkTree: "t", SameTree: "old"}, both, `{"status":"","candidates":[{"engine":"claude","verdict":"pass","audit_score":60,"path":"c.md","taken":true},{"engine":"codex","score":90,"verdict":"fail","audit_score":50,"path":"x.md"}],"verdict":"pass_with_risk","objections":["held","missing"],"findings":[{"id":"F1","problem":""}],"questions":[{"id":"q1","question":"old"}],"gaps":["old"],"approved":false,"iteration":0,"progress":{"fixed":0,"open":1,"withdrawn":0,"new":0,"unchanged":true},"work_tree":"t"}`},
		"blocked":         {judge, Submission{drafts: two[:1], Judgement: blocked, Report: verdict.Report{Needs: "a key"}}, one, `{"status":"","verdict":"blocked","objections":["held","missing"],"findings":[{"id":"F1","problem":""}],"questions":[{"id":"q1","question":"old"}],"gaps":["old"],"approved":false,"iteration":0,"progress":{"fixed":0,"open":1,"withdrawn":0,"new":0},"needs":"a key"}`},
		"judged, no key":  {judge, Submission{drafts: two[:1], Judgement: judged, Report: verdict.Report{Needs: "a key"}}, one, `{"status":"","verdict":"pass_with_risk","objections":["held","missing"],"findings":[{"id":"F1","problem":""}],"questions":[{"id":"q1","question":"old"}],"gaps":["old"],"approved":false,"iteration":0,"progress":{"fixed":0,"open":1,"withdrawn":0,"new":0}}`},
	} {
		rec := full()
		tt.sub.Enter(lang.English, rec, tt.stage, tt.engines)
		rec.ClaudeResultRef, rec.CodexResultRef = nil, nil
		if got := encode(t, rec); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		spent bool
		want  string
	}{{false, `fail ["old"] old ["form"]`}, {true, ` null  ["form"]`}} {
		rec := full()
		sub := Submission{Judgement: verdict.Judgement{Returned: []lang.Text{lang.T("form")}}}
		sub.EnterReturn(lang.English, rec, tt.spent)
		if got := fmt.Sprint(rec.Verdict, " ", encode(t, rec.Objections), " ", rec.Needs, " ", encode(t, rec.Returned)); got != tt.want || rec.Gaps != nil || rec.Feedback != "" || len(rec.Findings) != 1 || !sub.Returned() {
			t.Errorf("returned, spent %v: got %s, want %s", tt.spent, got, tt.want)
		}
	}
	for name, tt := range map[string]struct {
		verdict            workflow.Verdict
		claimed, estimated *float64
		want               string // score, estimate, note, verdict
	}{
		"claimed":   {"", ptr(95), ptr(1), `1 70 "stated for round 3, and the text was edited since" fail`},
		"estimated": {"", nil, ptr(1), `70 70 "old" fail`},
		"unscored":  {"", nil, nil, `<nil> <nil> "old" fail`},
		"report":    {workflow.Pass, ptr(95), ptr(1), `1 1 "old" pass`},
	} {
		rec := full()
		rec.Iteration, rec.ClaimedScore, rec.EstimatedScore = 3, tt.claimed, tt.estimated
		sub := Submission{Assessment: intake.Assessment{Estimated: 70}, Judgement: verdict.Judgement{Verdict: tt.verdict}, Audit: &workflow.Audit{Score: 5}}
		sub.EnterEdit(lang.English, rec)
		if got := fmt.Sprintf("%s %s %q %s", number(rec.Score), number(rec.EstimatedScore), rec.ScoreNote, rec.Verdict); got != tt.want || rec.Audit.Score != 5 || rec.Candidates != nil {
			t.Errorf("edited, %s: got %s, want %s", name, got, tt.want)
		}
	}
}

func number(f *float64) string {
	if f == nil {
		return "<nil>"
	}
	return fmt.Sprint(*f)
}

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := workflow.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestGaps checks which gaps the next round is told of.
func TestGaps(t *testing.T) {
	t.Parallel()
	scoring, plan := workflow.Stage{Gate: workflow.GateScore}, workflow.Stage{Gate: workflow.GateApproval}
	read := intake.Assessment{Gaps: []string{"own"}, Missing: []lang.Text{lang.T("found")}, ScoreNote: lang.T("note")}
	claimed, unnoted := read, read
	claimed.Claimed, unnoted.ScoreNote = ptr(80), lang.Text{}
	const ask = ` | state "quality_score" as a number from 0 to 100: without it the score is an estimate, which ends at 85 and opens no gate | found`
	for name, tt := range map[string]struct {
		stage workflow.Stage
		event workflow.Event
		read  intake.Assessment
		want  string
	}{
		"planned":   {plan, workflow.EventPlanned, read, "own | found"},
		"delivered": {workflow.Stage{}, workflow.EventDelivered, read, "own"},
		"reached":   {scoring, workflow.EventScoredReady, read, "own"},
		"claimed":   {scoring, workflow.EventScoredBelow, claimed, "own"},
		"estimated": {scoring, workflow.EventScoredBelow, read, "own | note" + ask},
		"nothing":   {scoring, workflow.EventScoredBelow, unnoted, "own" + ask},
	} {
		sub := Submission{Assessment: tt.read}
		if got := strings.Join(sub.Gaps(lang.English, tt.stage, tt.event), " | "); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	if len(read.Gaps) != 1 {
		t.Errorf("the gaps of the submission were changed: %q", read.Gaps)
	}
}

// TestFindings checks how the findings of two reports are compared, and which of a build's resolutions count.
func TestFindings(t *testing.T) {
	t.Parallel()
	find := func(id, status string) workflow.Finding { return workflow.Finding{ID: id, Status: status} }
	type list = []workflow.Finding
	for name, tt := range map[string]struct {
		before, after list
		tree, same    string
		want          string // fixed, open, withdrawn, new, unchanged
	}{
		"none before":      {nil, list{find("a", "")}, "t", "t", "none"},
		"each":             {list{find("a", ""), find("b", "open"), find("c", "")}, list{find("a", ""), find("b", "fixed"), find("c", "withdrawn"), find("d", "")}, "t", "t", "1 1 1 1 false"},
		"told before":      {list{find("a", "fixed")}, list{find("a", "fixed")}, "t", "t", "0 0 0 0 false"},
		"open again":       {list{find("a", "fixed")}, list{find("a", "")}, "t", "t", "0 1 0 0 true"},
		"the same":         {list{find("a", "")}, list{find("a", "")}, "t", "t", "0 1 0 0 true"},
		"another tree":     {list{find("a", "")}, list{find("a", "")}, "t", "u", "0 1 0 0 false"},
		"tree not known":   {list{find("a", "")}, list{find("a", "")}, "", "", "0 1 0 0 false"},
		"one is withdrawn": {list{find("a", ""), find("b", "")}, list{find("a", ""), find("b", "withdrawn")}, "t", "t", "0 1 1 0 false"},
		"one is fixed":     {list{find("a", ""), find("b", "")}, list{find("a", ""), find("b", "fixed")}, "t", "t", "1 1 0 0 false"},
		"one is new":       {list{find("a", "")}, list{find("a", ""), find("b", "")}, "t", "t", "0 1 0 1 false"},
	} {
		got := "none"
		if p := compareFindings(&workflow.Record{Findings: tt.before, WorkTree: tt.tree}, tt.after, tt.same); p != nil {
			got = fmt.Sprint(p.Fixed, p.Open, p.Withdrawn, p.New, p.Unchanged)
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	build, document := workflow.Stage{Kind: workflow.KindBuild}, workflow.Stage{Kind: workflow.KindDocument}
	rec := &workflow.Record{ChangeRequests: []workflow.ChangeRequest{{Comment: workflow.Comment{ID: "r1c1"}, Status: workflow.RequestOpen}, {Comment: workflow.Comment{ID: "r1c2"}, Status: workflow.RequestOpen}}}
	sub := Submission{Assessment: intake.Assessment{Resolved: []workflow.Resolution{{ID: "F1"}, {ID: "r1c1", How: "x"}, {ID: "F2"}}}}
	if a, b := sub.Fixed(build, rec), sub.Fixed(document, rec); a != 2 || b != 0 {
		t.Errorf("fixed: got %d and %d, want 2 and 0", a, b)
	}
	const refused = `invalid_argument: the submission does not mention 1 change request of the human: r1c2 | name each in "resolved" of the JSON block at the end, such as {"resolved": [{"id": "r1c2", `
	if got := told(sub.TakesUp(rec)); !strings.HasPrefix(got, refused) {
		t.Errorf("got %s, want %s", got, refused)
	}
	if err := sub.TakesUp(&workflow.Record{}); err != nil {
		t.Errorf("nothing was asked for: %v", err)
	}
}
