package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/web/report"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/trace"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

const hostile = "a | b\n# <script>alert(1)</script> [x](javascript:alert(1)) ![i](http://x/i.png) `c` *b* \u202e&amp; https://evil.example"

// story returns a run with everything that a report tells of.
func story(text string) *workflow.Session {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := workflow.Default()
	d.Stages = slices.DeleteFunc(d.Stages, func(st workflow.Stage) bool { // the golden files have no others
		return !slices.Contains([]workflow.StageID{workflow.PO, workflow.Architect, workflow.SM, workflow.Dev, workflow.Review, workflow.QA}, st.ID)
	})
	s := d.NewSession("id", text, "/p", "test", at)
	s.TaskName, s.ReworkCount = text, 1
	score, audit, open, code := 95.0, 81.5, 2, 1
	later := func(minutes int) time.Time { return at.Add(time.Duration(minutes) * time.Minute) }
	yes := workflow.Grant{Channel: workflow.ChannelTerminal, Assurance: workflow.AssuranceMedium, Decision: workflow.DecisionApprove, Feedback: text, Comments: []workflow.Comment{{ID: "r1c1"}}}
	risk := workflow.Grant{Channel: workflow.ChannelElicited, Assurance: workflow.AssuranceHigh, Decision: workflow.DecisionOverride, Feedback: "we ship: " + text}
	s.History = append(s.History,
		workflow.Transition{At: later(1), Action: workflow.ActionSubmit, Event: workflow.EventScoredReady, From: "po/generating", To: "po/awaiting_confirmation", Iteration: 1, Score: &score, AuditScore: &audit},
		workflow.Transition{At: later(2), Action: workflow.ActionConfirm, Event: workflow.EventConfirmed, From: "po/awaiting_confirmation", To: "architect/generating", Iteration: 1, Grant: &yes},
		workflow.Transition{At: later(3), Action: workflow.ActionSubmit, Event: workflow.EventFailed, From: "review/generating", To: "review/awaiting_approval", Iteration: 1, Verdict: workflow.Fail, AuditScore: &audit, FindingsOpen: &open, ExitCode: &code},
		workflow.Transition{At: later(4), Action: workflow.ActionApprove, Event: workflow.EventApproved, From: "review/awaiting_approval", To: "qa/generating", Verdict: workflow.Fail, Grant: &risk},
	)
	po := s.Record(workflow.PO)
	po.Status, po.Iteration, po.ClaimedScore, po.Audit = workflow.Done, 1, &score, &workflow.Audit{Score: audit}
	po.Artifact = &workflow.Artifact{Path: ".claude/specs/x/01-product-requirements.md", Stale: true}
	po.AddRequests([]workflow.Comment{{ID: "r1c1", From: 3, To: 4, Kind: workflow.CommentEdit, Text: text, Replace: text}}, workflow.ChangeRequest{Round: 1})
	po.SettleRequests([]workflow.Resolution{{ID: "r1c1", How: text, Declined: true}}, 2)
	s.Record(workflow.Dev).Resolved = []workflow.Resolution{{ID: "R2", How: "compares in constant time"}}
	s.Record(workflow.Review).Findings = []workflow.Finding{{ID: "R1", Severity: "major", Problem: text}, {ID: "R2", Severity: "critical", Problem: "timing", Status: "fixed"}}
	s.Record(workflow.Review).Evidence = &workflow.Evidence{Command: "go test | " + text, ExitCode: 1, Changed: text}
	s.Record(workflow.QA).Evidence = &workflow.Evidence{Command: "make", NotRun: "it is not allowed"}
	return s
}

// follow returns a trace with a line of each kind, and a text in it.
func follow(text string) trace.Trace {
	return trace.Trace{
		Requirements: []trace.Requirement{{ID: "FR-1", Stories: []string{"US-1"}}, {ID: "FR-2", Criteria: []string{"FR-2"}}},
		Stories:      []trace.Story{{ID: "US-1", Requirements: []string{"FR-1"}}},
		Criteria: []trace.Criterion{
			{ID: text, Requirements: []string{"FR-1"}, Stories: []string{"US-1"}, Sprints: []int{1}, State: trace.Met, Row: &trace.Row{
				Checks: []trace.Check{{ID: "C1"}}, Tests: []string{text}, Files: []verdict.File{{Path: text, Line: 3}},
			}},
			{ID: "FR-2", Requirements: []string{"FR-2"}, State: trace.Open},
		},
		Holes:   []trace.Hole{{Kind: trace.WithoutStory, ID: "FR-2"}, {Kind: trace.WithoutCriterion, ID: text + "!"}},
		Unknown: []trace.Unknown{trace.NoSprints},
	}
}

// TestMarkdown: the story, in both languages.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	found := workflow.Verification{Status: workflow.ChainHolds, Entries: 5, Unvouched: []workflow.Span{{From: 3, To: 3}}}
	for _, l := range []lang.Language{lang.English, "zh"} {
		golden.Check(t, filepath.Join("testdata", "story."+string(l)+".md"), report.Markdown(report.Facts{Session: story("sign-in"), Found: found, Trace: follow("AC-1.1")}, l))
	}
}

// TestHostileTexts: words of others are text in a report, in Markdown and in HTML.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	found := workflow.Verification{Status: workflow.ChainChanged, Problem: hostile}
	text := report.Markdown(report.Facts{Session: story(hostile), Found: found, Trace: follow(hostile)}, lang.English)
	if strings.Contains(text, "\u202e") {
		t.Error("a character that turns the text around is in it as it is")
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		plain := strings.ReplaceAll(line, `\|`, "")
		if cells := strings.Count(plain, "|"); cells < 4 || cells > 9 {
			t.Errorf("%d cells: %s", cells, line)
		}
	}
	run := story(hostile)
	run.Record(workflow.PO).Status, run.Record(workflow.PO).Artifact.Path = hostile, "a`|<script>.md"
	run.History[1].Event, run.History[1].From, run.History[2].Grant.Channel = hostile, hostile, hostile
	page, err := report.HTML(report.Facts{Session: run, Found: found, Trace: follow(hostile)}, lang.English)
	if err != nil {
		t.Fatal(err)
	}
	for _, active := range []string{"<script", "<img", "<a ", "javascript:", "\u202e", "<link", "<iframe", " on", "url("} {
		at := strings.Index(strings.ToLower(page), active)
		if at < 0 {
			continue
		}
		if around := page[max(0, at-60):min(len(page), at+60)]; active != " on" && active != "javascript:" || regexp.MustCompile(`(?i)<[^>]*(\son\w+=|javascript:)`).MatchString(page) {
			t.Errorf("%q is in it: %s", active, around)
		}
	}
}

// TestForgedLines: the objective stays one paragraph, and reaches nobody and no issue.
func TestForgedLines(t *testing.T) {
	t.Parallel()
	for objective, want := range map[string]string{
		"- State: completed":   `\- State: completed`,
		"+ passed":             `\+ passed`,
		"1. passed":            `1\. passed`,
		"12) passed":           `12\) passed`,
		"---":                  `\---`,
		"1.5 times as fast":    `1\.5 times as fast`,
		"ask @ada, fixes #12":  `ask @&#8203;ada, fixes \#&#8203;12`,
		"closes GH-7, or gh-8": `closes GH&#8203;-7, or gh&#8203;-8`,
	} {
		run := story("sign-in")
		run.Objective = objective
		text := report.Markdown(report.Facts{Session: run, Found: workflow.Verification{Status: workflow.ChainHolds}}, lang.English)
		if got := strings.Split(text, "\n")[2]; got != want {
			t.Errorf("%q is written as %q, want %q", objective, got, want)
		}
		page, err := report.HTML(report.Facts{Session: run, Found: workflow.Verification{Status: workflow.ChainHolds}}, lang.English)
		if err != nil || !strings.Contains(page, ">"+objective+"</p>") {
			t.Errorf("%q is no paragraph of its own: %v", objective, err)
		}
	}
}

// TestHTML: one file, whose policy allows its own style and nothing else.
func TestHTML(t *testing.T) {
	t.Parallel()
	page, err := report.HTML(report.Facts{Session: story("sign-in"), Found: workflow.Verification{Status: workflow.ChainPartly, Problem: "entry 3"}}, "zh")
	if err != nil {
		t.Fatal(err)
	}
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if style == nil || policy == nil {
		t.Fatalf("no style or policy in\n%s", page)
	}
	sum := sha256.Sum256([]byte(style[1]))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if got := html.UnescapeString(policy[1]); got != want {
		t.Errorf("policy %q, want %q", got, want)
	}
	if strings.Count(page, "<h1") != 1 || strings.Count(page, "<table") != 7 || strings.Count(page, "<h2") != 7 || !strings.Contains(page, `<html lang="zh">`) {
		t.Errorf("%d headings, %d tables", strings.Count(page, "<h1"), strings.Count(page, "<table"))
	}
	if strings.Contains(page, "style=") {
		t.Error("the policy keeps inline styles from working")
	}
}

// TestOldSessions: every format makes a report.
func TestOldSessions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../testdata/sessions/v1/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var s workflow.Session
		if err := workflow.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		if text := report.Markdown(report.Facts{Session: &s, Found: s.Verify(nil, nil)}, lang.English); !strings.Contains(text, "## Stages") || !strings.Contains(text, "## Rounds") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// TestCodeInAReport lists the changed files, and keeps what they hold from becoming markup.
func TestCodeInAReport(t *testing.T) {
	side := func(text string) *codediff.Side {
		return &codediff.Side{Mode: "100644", ID: workflow.Hash([]byte(text)), Text: text}
	}
	code := codediff.Of([]codediff.Pair{
		{Path: "a|b*.go", Before: side("one\n"), After: side("two\n~~~\n<script>alert(1)</script>\n# heading\n")},
		{Path: "logo.png", After: side("\x00")},
	})
	text := report.Markdown(report.Facts{Session: story("sign-in"), Code: code}, lang.English)
	for _, part := range []string{"## Code", `| a\|b\*.go | +4 −1 |`, "| logo.png | – | new, binary |"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text[strings.Index(text, "## Code"):])
		}
	}
	page, err := report.HTML(report.Facts{Session: story("sign-in"), Code: code}, lang.English)
	if err != nil || strings.Contains(page, "<script>alert") || !strings.Contains(page, "+&lt;script&gt;alert(1)") {
		t.Errorf("%v\n%s", err, page[strings.Index(page, "logo.png"):])
	}
}
