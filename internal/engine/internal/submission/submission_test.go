package submission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const id = "11111111-2222-4333-8444-555555555555"

var ctx, noon = context.Background(), time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// bench is a project with one session of the default workflow.
type bench struct {
	t    *testing.T
	p    *project.Project
	s    *standing.Standing
	disk *documents.Disk
}

func open(t *testing.T, stage workflow.StageID, state workflow.State) *bench {
	t.Helper()
	p, err := project.New(project.Options{Backend: storetest.At, Settings: config.Source{}}).Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	w := workflow.Default()
	session := w.NewSession(id, "Build a clock", p.Dir.Path(), "test", noon)
	session.TaskName, session.CurrentStage, session.CurrentState = "clock", stage, state
	if err := p.Backend.Create(ctx, session, storetest.Numbered("clock")); err != nil {
		t.Fatal(err)
	}
	st, _ := w.Stage(stage)
	work := artifact.WorkPath("clock", stage)
	return &bench{t, p, &standing.Standing{
		Session: session, Workflow: w, Settings: w, Stage: st, Policy: st.Policy(), Language: lang.English, Documents: lang.English, Draft: standing.Draft{Path: work, Work: work},
	}, documents.On(p)}
}

func (b *bench) write(name, body string) {
	b.t.Helper()
	_, err := b.p.Dir.MkdirAll(path.Dir(name))
	if err = errors.Join(err, b.p.Dir.Replace(name, []byte(body))); err != nil {
		b.t.Fatal(err)
	}
}

// keep stores a submission, and writes its working copy.
func (b *bench) keep(sub *Submission) {
	b.t.Helper()
	_, err := b.p.Backend.Update(ctx, id, func(tx store.Tx, _ *workflow.Session) error { return sub.Keep(ctx, tx, b.disk, b.s, noon) })
	if err = errors.Join(err, b.disk.Settle(b.s.Session)); err != nil {
		b.t.Fatal(err)
	}
}

// read reads texts for the current stage.
func (b *bench) read(results ...request.Result) (*Submission, error) {
	return Read(ctx, &request.Request{Action: workflow.ActionSubmit, Submit: request.Submit{Results: results}}, b.p, b.s)
}

func told(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return fmt.Sprintf("%s: %s | %s", f.Code, f.Message, f.Hint)
	}
	return fmt.Sprint(err)
}

func ptr(f float64) *float64 { return &f }

func scored(score int) string {
	return fmt.Sprintf("# PRD %d\n\nText.\n\n```json\n{\"quality_score\": %d}\n```\n", score, score)
}

const qaReport = "# QA\n\nAll good.\n\n```json\n{\"checks\": [{\"id\": \"C1\", \"command\": \"make\", \"exit\": 0}], \"criteria\": [{\"id\": \"AC-1\", \"result\": \"%s\", \"evidence\": \"303, C1\", \"why\": \"x\"}], \"findings\": []}\n```\n"

// TestRead checks which texts are a document, and which of two drafts the stage goes on with.
func TestRead(t *testing.T) {
	t.Parallel()
	type list = []request.Result
	const claude, codex = workflow.Claude, workflow.Codex
	for name, tt := range map[string]struct {
		stage   workflow.StageID
		change  func(b *bench)
		results list
		want    string // document, claimed score, engine and reason, or the refusal
	}{
		"working copy":    {workflow.PO, func(b *bench) { b.write(b.s.Draft.Work, scored(91)) }, nil, "# PRD 91\n\nText. 91 claude: it is the only one"},
		"none":            {workflow.PO, nil, nil, "invalid_argument: submit names no document, and the working copy .bmad-task/work/clock/po.md does not exist | write the document there"},
		"a text":          {workflow.PO, nil, list{{Engine: codex, Text: scored(92)}}, "# PRD 92\n\nText. 92 codex: it is the only one"},
		"a file":          {workflow.PO, func(b *bench) { b.write("a.md", scored(93)) }, list{{Engine: claude, Path: "a.md"}}, "# PRD 93\n\nText. 93 claude: it is the only one"},
		"no file":         {workflow.PO, nil, list{{Engine: claude, Path: "a.md"}}, "not_found: "},
		"both":            {workflow.PO, nil, list{{Engine: claude, Text: "x", Path: "a.md"}}, "invalid_argument: claude_result and claude_result_path are both given | pass the text or the path, not both"},
		"empty":           {workflow.PO, nil, list{{Engine: claude, Text: " \n"}}, "invalid_argument: claude_result is empty | submit the document itself; nothing was changed"},
		"not text":        {workflow.PO, nil, list{{Engine: claude, Text: "\xff"}}, "invalid_argument: claude_result is not valid UTF-8"},
		"too large":       {workflow.PO, nil, list{{Engine: claude, Text: strings.Repeat("字", project.MaxDocument/3+1)}}, "invalid_argument: claude_result has 5242881 bytes"},
		"broken JSON":     {workflow.PO, nil, list{{Engine: claude, Text: "{\"prd\": \"# PRD\", \"quality_score\": 95"}}, "invalid_argument: the JSON in claude_result breaks off before its closing brace | write the document as Markdown"},
		"facts alone":     {workflow.PO, nil, list{{Engine: claude, Text: "```json\n{\"quality_score\": 95}\n```\n"}}, "invalid_argument: claude_result holds no document | submit the document for stage \"po\""},
		"a path":          {workflow.PO, nil, list{{Engine: claude, Text: "docs/prd.md"}}, "invalid_argument: claude_result names the file docs/prd.md and is not the document itself | pass the file as claude_result_path, or submit its text; nothing was changed"},
		"a path in JSON":  {workflow.PO, nil, list{{Engine: codex, Text: `{"prd_draft": "docs/prd.md", "quality_score": 95}`}}, "invalid_argument: codex_result names the file docs/prd.md and"},
		"with a score":    {workflow.PO, nil, list{{Engine: claude, Text: "docs/prd.md\n\n```json\n{\"quality_score\": 95}\n```"}}, "invalid_argument: claude_result names the file docs/prd.md and"},
		"of a report":     {workflow.QA, nil, list{{Engine: claude, Text: "docs/qa.md"}}, "invalid_argument: claude_result names the file docs/qa.md and"},
		"another field":   {workflow.QA, nil, list{{Engine: codex, Text: `{"qa_result": "# QA", "verdict": "pass"}`}}, "# QA pass codex: it is the only one"},
		"an only field":   {workflow.Review, nil, list{{Engine: codex, Text: `{"code_review": "# R"}`}}, "# R  codex: it is the only one"},
		"the better":      {workflow.PO, nil, list{{Engine: codex, Text: scored(95)}, {Engine: claude, Text: scored(91)}}, "# PRD 95\n\nText. 95 codex: its score is higher"},
		"the first":       {workflow.PO, nil, list{{Engine: codex, Text: scored(91)}, {Engine: claude, Text: scored(95)}}, "# PRD 95\n\nText. 95 claude: its score is higher"},
		"equal":           {workflow.PO, nil, list{{Engine: codex, Text: scored(91)}, {Engine: claude, Text: scored(91)}}, "# PRD 91\n\nText. 91 claude: both are equal and it is the first"},
		"report":          {workflow.QA, nil, list{{Engine: codex, Text: fmt.Sprintf(qaReport, "pass")}}, "# QA\n\nAll good. pass codex: it is the only one"},
		"blank report":    {workflow.QA, func(b *bench) { b.s.Draft.Work = "form.md"; b.write("form.md", b.s.Contract().Form()+"\n") }, nil, "invalid_argument: codex_result is the form as it was laid out, with nothing filled in | fill in the block"},
		"equal reports":   {workflow.QA, nil, list{{Engine: claude, Text: fmt.Sprintf(qaReport, "pass")}, {Engine: codex, Text: fmt.Sprintf(qaReport, "pass")}}, "# QA\n\nAll good. pass claude: both verdicts are equal and it is the first"},
		"a worse report":  {workflow.QA, nil, list{{Engine: claude, Text: fmt.Sprintf(qaReport, "pass")}, {Engine: codex, Text: fmt.Sprintf(qaReport, "fail")}}, "# QA\n\nAll good. fail codex: its verdict is the worse one"},
		"a better report": {workflow.QA, nil, list{{Engine: claude, Text: fmt.Sprintf(qaReport, "fail")}, {Engine: codex, Text: fmt.Sprintf(qaReport, "pass")}}, "# QA\n\nAll good. fail claude: its verdict is the worse one"},
	} {
		b := open(t, tt.stage, workflow.Generating)
		if tt.change != nil {
			tt.change(b)
		}
		sub, err := b.read(tt.results...)
		if err != nil {
			if got := told(err); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
			}
			continue
		}
		score := string(sub.Report.Verdict())
		if c := sub.Assessment.Claimed; c != nil {
			score = fmt.Sprint(*c)
		}
		if got := fmt.Sprintf("%s %s %s: %s", sub.Assessment.Document, score, sub.drafts[sub.taken].engine, sub.why); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
	}
}

// TestKeep checks which texts of a submission are stored, and when one is word for word that of before.
func TestKeep(t *testing.T) {
	t.Parallel()
	const tables = "<!-- results: made from the block of JSON below; edit the block -->\n\n## Criteria\n\n1 criterion: 1 passed, not by a command that the server ran.\n\n| Id | Criterion | Result | Basis | Evidence |\n|---|---|---|---|---|\n| AC-1 |  | pass | not run | 303, C1; x |\n\n" +
		"## Checks\n\n| Id | Command | Exit code | Run by | Output |\n|---|---|---|---|---|\n| C1 | `make` | 0 | the report |  |\n\n<!-- end of the results -->\n\n"
	for name, tt := range map[string]struct {
		stage   workflow.StageID
		work    string
		results []request.Result
		want    string // the document, and the texts of the engines and the edits if they are others
	}{
		"a document": {workflow.PO, "", []request.Result{{Engine: workflow.Claude, Text: "# PRD\n\nText.\n\n"}}, "# PRD\n\nText.\n claude=# PRD\n\nText.\n\n"},
		"as it is":   {workflow.PO, "", []request.Result{{Engine: workflow.Claude, Text: "# PRD\n\nText.\n"}}, "# PRD\n\nText.\n claude=document"},
		"indented":   {workflow.PO, "", []request.Result{{Engine: workflow.Claude, Text: "    make\n\n# PRD\n"}}, "make\n\n# PRD\n claude=    make\n\n# PRD\n"},
		"with facts": {workflow.PO, "", []request.Result{{Engine: workflow.Codex, Text: scored(90)}}, "# PRD 90\n\nText.\n codex=" + scored(90)},
		"two":        {workflow.PO, "", []request.Result{{Engine: workflow.Claude, Text: "# A\n"}, {Engine: workflow.Codex, Text: "# B\n"}}, "# A\n claude=document codex=# B\n"},
		"edits":      {workflow.PO, "mine\n", []request.Result{{Engine: workflow.Claude, Text: "# A\n"}}, "# A\n claude=document edits=mine\n"},
		"its own":    {workflow.PO, "# A\n", []request.Result{{Engine: workflow.Claude, Text: "# A"}}, "# A\n claude=# A"},
		"report":     {workflow.QA, "", []request.Result{{Engine: workflow.Codex, Text: fmt.Sprintf(qaReport, "pass")}}, strings.Replace(fmt.Sprintf(qaReport, "pass"), "good.\n\n", "good.\n\n"+tables, 1) + " codex=" + fmt.Sprintf(qaReport, "pass")},
	} {
		b := open(t, tt.stage, workflow.Generating)
		if tt.work != "" {
			b.write(b.s.Draft.Work, tt.work)
		}
		sub, err := b.read(tt.results...)
		if err != nil {
			t.Fatal(err)
		}
		if tt.stage == workflow.QA {
			sub.JudgeReport(b.s)
		}
		b.keep(sub)
		rec := b.s.Session.Current()
		text := func(ref *workflow.ContentRef) string {
			body, err := b.p.Texts.Read(ctx, *ref)
			if err != nil {
				t.Fatal(err)
			}
			return body
		}
		got := text(rec.FinalResultRef)
		for _, one := range []struct {
			name string
			ref  *workflow.ContentRef
		}{{"claude", rec.ClaudeResultRef}, {"codex", rec.CodexResultRef}} {
			switch {
			case one.ref == nil:
			case one.ref.FilePath == rec.FinalResultRef.FilePath:
				got += " " + one.name + "=document"
			default:
				got += " " + one.name + "=" + text(one.ref)
			}
		}
		if sub.Edits != "" {
			got += " edits=" + text(&workflow.ContentRef{FilePath: sub.Edits})
		}
		if got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
		if data, _ := b.p.Dir.ReadFile(b.s.Draft.Work, 1<<20); string(data) != text(rec.FinalResultRef) || sub.SHA256(b.s) != rec.FinalResultRef.SHA256 {
			t.Errorf("%s: the working copy is %q", name, data)
		}
		for stale, want := range map[bool]string{false: "[word for word the document of the round before]", true: "[word for word the document from before an earlier stage was reopened]"} {
			rec.Artifact = &workflow.Artifact{Stale: stale}
			if got := fmt.Sprint(sub.SameAsBefore(b.s)); got != want {
				t.Errorf("%s: stale %v: got %s, want %s", name, stale, got, want)
			}
		}
		if rec.FinalResultRef.SHA256 = "other"; sub.SameAsBefore(b.s) != nil {
			t.Errorf("%s: another text counts as the same", name)
		}
		if rec.FinalResultRef = nil; sub.SameAsBefore(b.s) != nil {
			t.Errorf("%s: no text counts as the same", name)
		}
	}
}

// TestOfEdit checks what is read from a draft that was edited at its gate, and what cannot be taken.
func TestOfEdit(t *testing.T) {
	t.Parallel()
	const plan = "# Plan\n\n## Sprint 1: Ring\n\nx\n"
	for name, tt := range map[string]struct {
		stage       workflow.StageID
		was, edited string
		change      func(b *bench)
		want        string // document, claimed score, sprints and verdict, or the refusal
	}{
		"document":        {workflow.PO, scored(95), "# Mine\n", nil, "# Mine 95 [] "},
		"a score in it":   {workflow.PO, scored(95), scored(99), nil, "# PRD 99\n\nText. 95 [] "},
		"empty":           {workflow.PO, scored(95), "\n", nil, "invalid_argument: .bmad-task/work/clock/po.md is empty | "},
		"facts alone":     {workflow.PO, scored(95), "```json\n{\"quality_score\": 95}\n```\n", nil, "invalid_argument: the draft .bmad-task/work/clock/po.md has no document in it any more | restore the text"},
		"too large":       {workflow.PO, scored(95), strings.Repeat("x", project.MaxDocument+1), nil, "invalid_argument: "},
		"plan":            {workflow.SM, plan, strings.Replace(plan, "Ring", "Bell", 1), nil, "# Plan\n\n## Sprint 1: Bell\n\nx <nil> [{1  Bell pending [] map[]}] "},
		"no sprint":       {workflow.SM, plan, "# Plan\n", nil, "invalid_argument: the plan .bmad-task/work/clock/sm.md has no sprint any more, as it was edited | restore its headings"},
		"sprints beside":  {workflow.SM, "# Plan\n", "# Mine\n", func(b *bench) { b.s.Session.Sprints = []workflow.Sprint{{Number: 4}} }, "# Mine <nil> [{4    [] map[]}] "},
		"report":          {workflow.QA, fmt.Sprintf(qaReport, "pass"), `"result": "pass"=>"result": "fail"`, nil, "# QA\n\nAll good. <nil> [] fail"},
		"report, refused": {workflow.QA, fmt.Sprintf(qaReport, "pass"), "# QA\n\n```json\n{\"criteria\": [\n```\n", nil, "invalid_argument: the report .bmad-task/work/clock/qa.md cannot be taken as it was edited: "},
		"report, opposed": {workflow.QA, fmt.Sprintf(qaReport, "fail"), `"result": "fail"=>"result": "pass"`, func(b *bench) { b.s.Session.Current().Evidence = &workflow.Evidence{Command: "make", ExitCode: 1} }, "# QA\n\nAll good. <nil> [] pass (held)"},
	} {
		b := open(t, tt.stage, workflow.AwaitingApproval)
		sub, err := b.read(request.Result{Engine: workflow.Claude, Text: tt.was})
		if err != nil {
			t.Fatal(err)
		}
		if tt.stage == workflow.QA {
			sub.JudgeReport(b.s)
		}
		b.keep(sub)
		b.s.Session.Current().ClaimedScore = sub.Assessment.Claimed
		edited := tt.edited
		if from, to, part := strings.Cut(edited, "=>"); part {
			edited = strings.Replace(sub.roundText(b.s), from, to, 1)
		}
		b.write(b.s.Draft.Work, edited)
		if tt.change != nil {
			tt.change(b)
		}
		sub, err = OfEdit(ctx, b.p, documents.On(b.p), b.s)
		got := told(err)
		if err == nil {
			got = fmt.Sprintf("%s %s %v %s", sub.Assessment.Document, number(sub.Assessment.Claimed), sub.Assessment.Sprints, sub.Judgement.Verdict)
			if len(sub.Judgement.Held) > 0 && strings.Contains(fmt.Sprint(sub.Judgement.Held), "the verify command says no") {
				got += " (held)"
			}
		}
		if got != tt.want && (err == nil || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
	}
}

// TestAuditDocuments checks that a rubric which the project brings only counts where it asks for more, until the
// person has allowed it.
func TestAuditDocuments(t *testing.T) {
	t.Parallel()
	lenient := "stage: po\nchecks:\n  - {id: NO-PRD, kind: section, severity: minor, points: 5, name: PRD, also: [text], problem: 'no', fix: 'add'}\n"
	harsh := "stage: po\nchecks:\n  - {id: NO-X, kind: section, severity: critical, points: 99, name: Xyzzy, also: [xyzzy], problem: 'no', fix: 'add'}\n"
	for name, tt := range map[string]struct {
		rubric  string
		allowed bool
		want    string
	}{
		"built in": {"", false, "builtin"}, "lenient": {lenient, false, "builtin"}, "lenient, allowed": {lenient, true, "95"}, "harsh": {harsh, false, "1"}, "harsh, allowed": {harsh, true, "1"},
	} {
		b := open(t, workflow.PO, workflow.Generating)
		if tt.rubric != "" {
			b.write(".claude/bmad-rubrics/po.yaml", tt.rubric)
		}
		person := &permission.Person{Consent: trust.UserState(t.TempDir()), Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}
		if tt.allowed {
			if err := person.Allow(ctx, permission.Want{Allowance: trust.Allowance{Project: b.p.Dir.Path(), Kind: trust.KindRubric, Text: b.p.Dir.Join(".claude/bmad-rubrics/po.yaml"), SHA256: workflow.Hash([]byte(tt.rubric))}}); err != nil {
				t.Fatal(err)
			}
		}
		audit := func(p *bench) *Submission {
			sub, err := p.read(request.Result{Engine: workflow.Claude, Text: "# PRD\n\nText.\n"})
			if err == nil {
				err = sub.AuditDocuments(ctx, p.s, p.disk, person.In(p.p))
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return sub
		}
		want := tt.want
		if want == "builtin" {
			want = fmt.Sprint(audit(open(t, workflow.PO, workflow.Generating)).Audit.Score)
		}
		sub := audit(b)
		if got := fmt.Sprint(sub.Audit.Score); got != want || sub.Assessment.Estimated > sub.Audit.Score {
			t.Errorf("%s: got %s, want %s; estimate %v", name, got, want, sub.Assessment.Estimated)
		}
	}
}

// TestAuditKnowsEarlierDocuments checks that a document is audited beside those of the stages before it, and none after.
func TestAuditKnowsEarlierDocuments(t *testing.T) {
	t.Parallel()
	const requirements = "# PRD\n\n## Functional requirements\n\n- FR-1 (Must) The clock rings at the hour that was set.\n- FR-2 (Must) The clock is silent at night.\n"
	missing := func(of workflow.StageID) bool {
		b := open(t, workflow.Architect, workflow.Generating)
		if _, err := b.p.Backend.Update(ctx, id, func(tx store.Tx, _ *workflow.Session) error {
			refs, err := tx.Put(ctx, []store.Text{{Stage: of, Kind: "final_result", Body: requirements, At: noon}})
			if err == nil {
				b.s.Session.Record(of).FinalResultRef = &refs[0]
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		sub, err := b.read(request.Result{Engine: workflow.Claude, Text: "# Architecture\n\nThe bell answers FR-1.\n"})
		person := &permission.Person{Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)}
		if err == nil {
			err = sub.AuditDocuments(ctx, b.s, b.disk, person.In(b.p))
		}
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(encode(t, sub.Audit), "FR-2")
	}
	if !missing(workflow.PO) {
		t.Error("a requirement that nothing answers is not missed")
	}
	if missing(workflow.SM) {
		t.Error("a later document counts as an earlier one")
	}
}
