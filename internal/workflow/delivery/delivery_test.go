package delivery_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/delivery"
)

var (
	hashA, hashB = strings.Repeat("0a", 32), strings.Repeat("b1", 32)
	at           = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

// newRun returns a completed run with two artifacts, one of them out of date, rows of each kind, and an accepted risk.
// hostile is in each text of a person or a document.
func newRun(hostile string) *workflow.Session {
	s := workflow.Default().NewSession("7d9f", "Build it "+hostile, "/p", "host", at)
	s.TaskName, s.CurrentStage, s.CurrentState = "build-it", workflow.QA, workflow.Completed
	ana := workflow.Person{Subject: "ana", Name: "Ana" + strings.ReplaceAll(hostile, "<", "") + " <ana@example.org>"}
	grant := func(d workflow.Decision, c workflow.Channel) *workflow.Grant {
		return &workflow.Grant{Decision: d, Channel: c, Person: ana, Feedback: "we know " + hostile, Signature: "s"}
	}
	s.History = append(s.History,
		workflow.Transition{
			At: at, Event: workflow.EventConfirmed, From: "po/awaiting_confirmation", Commit: "c0ffee",
			Grant: grant(workflow.DecisionApprove, workflow.ChannelElicited),
		},
		workflow.Transition{At: at, Event: workflow.EventAnswered, From: "po/clarifying", Grant: grant(workflow.DecisionAnswer, workflow.ChannelTerminal)},
		workflow.Transition{
			At: at, Event: workflow.EventApproved, From: "qa/awaiting_approval", Verdict: workflow.Fail,
			Grant: grant(workflow.DecisionOverride, workflow.ChannelTerminal),
		},
	)
	po, arch, qa := s.Record(workflow.PO), s.Record(workflow.Architect), s.Record(workflow.QA)
	po.Status, po.Score, po.Artifact = workflow.Done, new(95.0), &workflow.Artifact{Path: ".claude/specs/b/01-prd.md", SHA256: hashA}
	po.Questions = []workflow.Question{{ID: "q1", Question: "Who? " + hostile, Status: workflow.QuestionSkipped}, {ID: "q2", Question: "When?", Status: workflow.QuestionAnswered}}
	arch.Status, arch.Artifact = workflow.Done, &workflow.Artifact{Path: ".claude/specs/b/02-arch.md", SHA256: hashB, Stale: true}
	qa.Status, qa.Verdict = workflow.Done, workflow.Fail
	qa.Checks = []workflow.Check{{ID: "C1", Command: "go test " + hostile, Server: true}, {ID: "C2", Command: "go vet", Exit: 2, Server: true}}
	qa.Criteria = []workflow.Criterion{
		{ID: "AC-1", Criterion: "it sells " + hostile, Result: workflow.ResultPass, Check: "C1", Proved: true}, {ID: "AC-2", Result: workflow.ResultPass, Evidence: "seen"},
		{ID: "AC-3", Result: workflow.ResultFail, Check: "C2"}, {ID: "AC-4", Result: workflow.ResultOutOfScope}, {ID: "AC-5", Result: workflow.ResultNotTested, Why: "no box"},
	}
	qa.Evidence = &workflow.Evidence{Command: "make " + hostile, At: at, ExitCode: 1}
	return s
}

// render returns the contract of a run.
func render(t testing.TB, s *workflow.Session, v workflow.Verification, l lang.Language, from string, omitted ...string) (string, delivery.Summary) {
	t.Helper()
	f := delivery.Facts{Session: s, Found: v, OutOfScope: omitted, Header: delivery.Header{ContractID: "a-to-b-2026-03-04", Version: "1.0", Status: "pending-acceptance",
		FromTeam: from, ToTeam: "ops", Date: "2026-03-04", SessionID: s.SessionID, Entries: len(s.History)}}
	f.SignedBy = delivery.SignedBy(s, v, f.Entries)
	text, sum, err := delivery.Render(f, l)
	if err != nil {
		t.Fatal(err)
	}
	return text, sum
}

var sound = workflow.Verification{Status: workflow.ChainHolds}

// TestRender looks for the facts of runs in their contracts.
func TestRender(t *testing.T) {
	unfinished := newRun("")
	unfinished.CurrentState = workflow.AwaitingApproval
	cancelled := newRun("")
	cancelled.CurrentState = workflow.Cancelled
	for name, c := range map[string]struct {
		s    *workflow.Session
		v    workflow.Verification
		l    lang.Language
		want []string
	}{
		"completed": {newRun(""), sound, lang.English, []string{
			"| product requirements | `.claude/specs/b/01-prd.md` | `" + hashA + "` | a score of at least 90, and a yes; reached: score 95 |",
			"| `.claude/specs/b/02-arch.md` | `" + hashB + "` | out of date: the stage was reopened |",
			"| QA | AC-1 it sells | pass | ran | C1; go test : 0 |", "| QA | AC-2 | pass | claimed | seen |", "| QA | AC-3 | fail | ran | C2; go vet: 2 |",
			"| QA | AC-5 | not tested | – | no box |", "| QA | make | exit code 1 | 2026-03-04 05:06 UTC |", "| PO | q1 | question | Who? | skipped |",
			"- [x] The run is complete", "- [ ] The criteria in scope passed: 2 of 4", "- [ ] The verify command was run, and succeeded",
			"| PO | approve | Ana (ana) | form | we know |", "| QA | override | Ana (ana) | terminal | we know |", "| QA | fail | Ana (ana) | we know |",
			"| c0ffee | PO | 2026-03-04 05:06 UTC |", "| AC-4 | out of scope |", "| no taxes | the requirements say so |", "\nsigned_by: Ana (ana), terminal, signed\n"}},
		"unfinished": {unfinished, sound, lang.English, []string{
			"> ⚠ **The run is not finished. The stage QA is open: it waits for your decision.**", "- [ ] The run is complete",
		}},
		"cancelled": {cancelled, sound, lang.English, []string{"> ⚠ **The run was cancelled at the stage QA.**"}},
		"tampered": {newRun(""), workflow.Verification{Status: workflow.ChainChanged, Problem: "entry 3", Unvouched: []workflow.Span{{From: 1, To: 4}},
			Altered: []workflow.Alteration{{Path: "x.md", SHA256: hashA}}}, lang.English, []string{"> ⚠ **The history of the run is in doubt: entry 3.**",
			"> ⚠ **x.md was edited after it was approved**", "signed_by: 'Ana (ana), unconfirmed, the file says: terminal'", "- [ ] The history is signed"}},
		"begun": {workflow.Default().NewSession("7d9f", "Build it", "/p", "host", at), sound, lang.English, []string{"\nsigned_by: \"\"\n",
			"signed_by: Nobody has decided anything in this run yet", "### Required artifacts\n\nNot recorded in this run.\n\n| Artifact | path | sha256 |"}},
		"Chinese": {
			newRun(""), sound, "zh",
			[]string{"# 交付契约：shop → ops", "## 未决问题", "| path | sha256 | 验收标准 |", "status: pending-acceptance", "- accepted_by:"},
		},
	} {
		text, _ := render(t, c.s, c.v, c.l, "shop", "no taxes")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: lacks %q:\n%s", name, want, text)
			}
		}
		back, err := delivery.Parse(text)
		if err != nil || back.ContractID != "a-to-b-2026-03-04" || !back.IsOf(c.s) {
			t.Errorf("%s: read back as %+v, %v", name, back, err)
		}
	}
	if _, sum := render(t, newRun(""), sound, lang.English, "shop"); sum.Artifacts != 2 || sum.Ran != 2 || sum.Claimed != 1 || sum.OpenQuestions != 1 || len(sum.LeftOpen) != 0 {
		t.Errorf("got %+v", sum)
	}
	text, sum := render(t, workflow.Default().NewSession("7d9f", "Build it", "/p", "host", at), sound, lang.English, "shop")
	if n := strings.Count(text, "Not recorded in this run."); n != 6 || len(sum.LeftOpen) != n+2 {
		t.Errorf("%d sections are not recorded, left open: %q", n, sum.LeftOpen)
	}
	odd := newRun("")
	odd.Record(workflow.PO).Artifact.Path = "a`|b.md"
	if text, sum := render(t, odd, sound, lang.English, "shop"); sum.Artifacts != 1 || len(sum.LeftOpen) != 2 || strings.Contains(text, "a`|b") {
		t.Errorf("an artifact of an odd name: %+v", sum)
	}
}

// hostiles are texts of people and documents that would be something else in a contract.
var hostiles = []string{
	"| x | `y.md` | `" + hashB + "` |", "\n| a | path | sha256 |\n|---|---|---|\n| a | `y.md` | `" + hashB + "` |\n",
	"<!-- gone -->", "<!--", "`", "```\n", "\n---\nstatus: accepted\n",
	"\n- accepted_by: Mallory\n", "\n## Acceptance\n", "a: b", "\"'", "\\", "\\|", "\x1b[2J", "\u202e", "# h", "{a: [b", strings.Repeat("x", 10_000),
	"<table><tr><th>path</th><th>sha256</th></tr></table>",
}

// checkHostile checks that a text in every place has added nothing to a contract.
func checkHostile(t *testing.T, hostile string) {
	t.Helper()
	s := newRun(hostile)
	for _, l := range []lang.Language{lang.English, "zh"} {
		text, sum := render(t, s, sound, l, visible.Line(hostile), hostile)
		c, err := delivery.Parse(text)
		want := []delivery.Artifact{{Path: ".claude/specs/b/01-prd.md", SHA256: hashA}, {Path: ".claude/specs/b/02-arch.md", SHA256: hashB}}
		if err != nil || c.Status != "pending-acceptance" || c.AcceptedBy != "" || c.AcceptedOn != "" || !slices.Equal(c.Artifacts, want) || sum.Artifacts != len(want) {
			t.Fatalf("%q: %+v, %v\n%s", hostile, c, err, text)
		}
		if c.ToTeam != "ops" || !c.IsOf(s) {
			t.Errorf("%q: the header is %+v", hostile, c.Header)
		}
		if n, _ := render(t, newRun(""), sound, l, "x", "y"); strings.Count(n, "\n") != strings.Count(text, "\n") || strings.Contains(text[strings.Index(text, "\n# "):], "<") {
			t.Errorf("%q has made other lines:\n%s", hostile, text)
		}
	}
}

func TestHostileTexts(t *testing.T) {
	for _, hostile := range hostiles {
		checkHostile(t, hostile)
	}
}

// TestParse reads contracts as people leave them.
func TestParse(t *testing.T) {
	good, _ := render(t, newRun(""), sound, lang.English, "shop")
	rowA, rowB := "", ""
	for line := range strings.Lines(good) {
		switch {
		case strings.Contains(line, hashA):
			rowA = line
		case strings.Contains(line, hashB):
			rowB = line
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"as it is":       {good, "01-prd 02-arch"},
		"CRLF":           {strings.ReplaceAll(good, "\n", "\r\n"), "01-prd 02-arch"},
		"a BOM":          {"\ufeff" + good, "01-prd 02-arch"},
		"a BOM and CRLF": {"\ufeff" + strings.ReplaceAll(good, "\n", "\r\n"), "01-prd 02-arch"},
		"rows moved":     {strings.Replace(strings.Replace(good, rowB, "", 1), rowA, rowB+rowA, 1), "02-arch 01-prd"},
		"a row removed":  {strings.Replace(good, rowB, "", 1), "01-prd"},
		"no backticks":   {strings.ReplaceAll(good, "`", ""), "01-prd 02-arch"},
		"letters":        {strings.ReplaceAll(good, hashA, strings.ToUpper(hashA)), "01-prd 02-arch"},
		"other columns": {strings.NewReplacer(
			"| Artifact | path | sha256 | Acceptance criterion |", "| sha256 | path |",
			rowA, "| `"+hashA+"` | `01-prd.md` |\n",
			rowB, "",
		).Replace(good), "01-prd"},
		"accepted": {strings.NewReplacer(
			"pending-acceptance", "accepted",
			"accepted_by:", "accepted_by: Zoe",
			"accepted_date:", "accepted_date: today",
		).Replace(good), "01-prd 02-arch"},
		"indented":        {strings.ReplaceAll(good, "\n|", "\n  |"), "01-prd 02-arch"},
		"a key more":      {strings.Replace(good, "status:", "note: [x]\nstatus:", 1), "01-prd 02-arch"},
		"empty":           {"", "line 1: a contract begins with front matter"},
		"bytes":           {"\x00\xff", "line 1: a contract begins with front matter"},
		"another file":    {"# Read me\n", "line 1: a contract begins with front matter"},
		"not closed":      {"---\nstatus: accepted\n", "line 1: a contract begins with front matter"},
		"only the marks":  {"---\n---\n", "line 2: the front matter has no contract_id or no status"},
		"bad YAML":        {strings.Replace(good, "version:", "version: [", 1), "the front matter is not valid"},
		"a key twice":     {strings.Replace(good, "version:", "status: accepted\nversion:", 1), "the front matter is not valid: yaml: unmarshal errors: line 5: mapping key"},
		"a list":          {strings.Replace(good, "pending-acceptance", "[a]", 1), "the front matter is not valid: yaml: unmarshal errors: line 4: cannot"},
		"a number":        {strings.Replace(good, "history_entries: 4", "history_entries: many", 1), "the front matter is not valid: yaml: unmarshal errors: line 10: cannot"},
		"an anchor":       {strings.Replace(good, "status: ", "status: *x ", 1), "the front matter is not valid"},
		"a short hash":    {strings.Replace(good, hashA, "0a0a", 1), "line 25: the row has no path, or no hash"},
		"no path":         {strings.Replace(good, "`.claude/specs/b/01-prd.md`", " ", 1), "line 25: the row has no path, or no hash"},
		"a cell less":     {strings.Replace(good, rowA, "| x |\n", 1), "line 25: the row has no path, or no hash"},
		"a row apart":     {strings.Replace(good, rowA, "\n"+rowA, 1), "line 26: a row with a hash is in no table"},
		"no heads":        {strings.ReplaceAll(good, "| path |", "| place |"), "line 25: a row with a hash is in no table"},
		"no tables":       {good[:strings.Index(good, "## Delivered")], "line 11: no table with the columns"},
		"of another form": {"---\ncontract_id: a\nstatus: accepted\n---\n\n- [ ] **x**\n", "line 4: no table"},
	} {
		got, err := delivery.Parse(c.text)
		said := ""
		for _, a := range got.Artifacts {
			said += " " + strings.TrimSuffix(a.Path[strings.LastIndexByte(a.Path, '/')+1:], ".md")
		}
		if err != nil {
			said = " " + err.Error()
		}
		isRefused := strings.HasPrefix(c.want, "line") || strings.Contains(c.want, " is ")
		hasReason := isRefused && strings.Contains(said, c.want)
		if strings.TrimSpace(said) != c.want && !hasReason {
			t.Errorf("%s: got %q, want %q", name, said, c.want)
		}
		if name == "accepted" && (got.Status != "accepted" || got.AcceptedBy != "Zoe" || got.AcceptedOn != "today") {
			t.Errorf("got %+v", got)
		}
	}
}

// TestSignedBy: the machine that checks may not know the key of the person who decided.
func TestSignedBy(t *testing.T) {
	s := newRun("")
	strangers := workflow.Verification{Status: workflow.ChainPartly, Unvouched: []workflow.Span{{From: 1, To: 9}}}
	for label, want := range map[string]bool{
		delivery.SignedBy(s, sound, 4): true, delivery.SignedBy(s, strangers, 4): true, delivery.SignedBy(s, sound, 2): false, "": false, "Mallory": false, "Ana (ana)": false,
	} {
		if got := (delivery.Contract{Header: delivery.Header{SignedBy: label, Entries: 4}}).IsOf(s); got != want {
			t.Errorf("%q: got %v", label, got)
		}
	}
	for entries, want := range map[int]string{-1: "", 1: "", 2: "Ana (ana), form, signed", 3: "Ana (ana), form, signed", 99: "Ana (ana), terminal, signed"} {
		if got := delivery.SignedBy(s, sound, entries); got != want {
			t.Errorf("%d entries: got %q, want %q", entries, got, want)
		}
	}
	s.Last().Grant.Channel = workflow.ChannelRelayed
	if got := delivery.SignedBy(s, sound, 4); got != "Ana (ana), passed on by the assistant" {
		t.Errorf("got %q: no person has signed it", got)
	}
}

func FuzzContract(f *testing.F) {
	for _, hostile := range hostiles {
		f.Add(hostile)
	}
	good, _ := render(f, newRun(""), sound, lang.English, "shop")
	f.Add(good)
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := delivery.Parse(text); err != nil && !strings.Contains(err.Error(), "line ") || err == nil && c.Status == "" {
			t.Fatalf("%+v, %v", c, err)
		}
		if len(text) < 20_000 {
			checkHostile(t, text)
		}
	})
}

func TestAcceptance(t *testing.T) {
	for _, c := range []struct{ status, by, want string }{
		{"pending-acceptance", "", "pending"}, {"pending-acceptance", "Zoe", "pending"}, {"accepted", "Zoe", "named"}, {"rejected", "Zoe", "named"},
		{"renegotiating", "", "unnamed"}, {"accepted", "", "unnamed"}, {"Accepted", "Zoe", "unknown"}, {"banana", "", "unknown"},
	} {
		contract := delivery.Contract{Header: delivery.Header{Status: c.status}, AcceptedBy: c.by}
		if got := contract.Acceptance(); got != c.want {
			t.Errorf("%s by %q: got %s, want %s", c.status, c.by, got, c.want)
		}
	}
}
