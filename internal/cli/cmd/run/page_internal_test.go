package run

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// pageEvents are those of a run that is in its second stage.
func pageEvents() []headless.Event {
	score, audit, spent := 95.0, 97.0, price.Dollar/4
	return []headless.Event{
		{Type: headless.RunStarted, TaskName: "build-a-list", Stage: "po", Stages: []workflow.StageID{"po", "architect", "sm"}, Budget: 2 * price.Dollar},
		{Type: headless.StageStarted, Stage: "po", Round: 1, Engine: "claude"},
		{Type: headless.EngineEvent, Stage: "po", Text: "Read README.md"},
		{Type: headless.Submitted, Stage: "po", Score: &score, Audit: &audit},
		{Type: headless.Cost, Stage: "po", Spent: &spent, Tokens: 12345, Percent: 50},
		{Type: headless.StageStarted, Stage: "architect", Round: 2, Engine: "codex"},
		{Type: headless.EngineEvent, Stage: "architect", Text: "Write \x1b[2Jdocs/設計.md, which has a rather long name"},
	}
}

func TestPageLines(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	at := began.Add(83*time.Second + 400*time.Millisecond)
	facts := pageFacts{language: lang.English, results: map[workflow.StageID]string{}, began: began}
	for _, e := range pageEvents() {
		facts.takeEvent(e)
	}
	want := `build-a-list
✓ po         score 95, form 97
▶ architect  round 2 · codex
    Write \u001b[2Jdocs/設計.md, which has a rather long name
· sm
12345 tokens · $0.25 of $2.00 · 1m23s`
	got := strings.Join(facts.pageLines(80, 24, at), "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, size := range [][2]int{{200, 50}, {30, 24}, {12, 10}, {1, 2}, {40, 3}} {
		lines := facts.pageLines(size[0], size[1], at)
		if len(lines) >= size[1] {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for _, line := range lines {
			if n := visible.Columns(line); n >= max(size[0], 2) || strings.ContainsAny(line, "\x1b\n") {
				t.Errorf("%v: %q has %d columns", size, line, n)
			}
		}
	}
	score := 91.0
	facts.takeEvent(headless.Event{Type: headless.Submitted, Stage: "architect", Score: &score})
	facts.takeEvent(headless.Event{Type: headless.GateReached, Stage: "architect"})
	if all := strings.Join(facts.pageLines(80, 24, at), "\n"); !strings.Contains(all, "▶ architect  score 91\n· sm\n") {
		t.Errorf("at a gate:\n%s", all)
	}
	copied := facts
	copied.takeEvent(headless.Event{Type: headless.Completed, Stage: "dev"})
	if all := strings.Join(copied.pageLines(80, 24, at), "\n"); strings.Count(all, "✓") != 3 || !strings.Contains(all, "✓ architect  score 91") {
		t.Errorf("complete:\n%s", all)
	}
	copied.takeEvent(headless.Event{Type: headless.Rework, Stage: "po", Text: "once more"})
	copied.complete = false
	if all := strings.Join(copied.pageLines(80, 24, at), "\n"); !strings.Contains(all, "· architect  score 91") || !strings.Contains(all, "back to work: once more") {
		t.Errorf("sent back:\n%s", all)
	}
	codes := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	facts.color = false
	got = strings.Join(facts.pageLines(80, 24, at), "\n")
	facts.color = true
	for i, line := range facts.pageLines(80, 24, at) {
		if plain := codes.ReplaceAllString(line, ""); plain != strings.Split(got, "\n")[i] {
			t.Errorf("in colour: %q; want %q", plain, strings.Split(got, "\n")[i])
		}
	}
	facts.language = lang.Language("zh")
	facts.takeEvent(headless.Event{Type: headless.StageStarted, Stage: "architect", Round: 2, Engine: "codex"})
	if got := strings.Join(facts.pageLines(80, 24, at), "\n"); !strings.Contains(got, "第 2 轮") {
		t.Errorf("in Chinese:\n%s", got)
	}
}

// screen is a terminal of one column of text: it knows the codes that a page uses.
type screen struct {
	lines  []string
	at     int
	hidden bool
}

var pageCode = regexp.MustCompile(`^\x1b\[(\??[0-9;]*)([A-Za-z])`)

func (s *screen) play(t *testing.T, out string) {
	t.Helper()
	for out != "" {
		for len(s.lines) <= s.at {
			s.lines = append(s.lines, "")
		}
		if m := pageCode.FindStringSubmatch(out); m != nil {
			out = out[len(m[0]):]
			switch m[2] {
			case "A":
				n := 0
				if _, err := fmt.Sscan(m[1], &n); err != nil || s.at < n {
					t.Fatalf("up by %q from line %d", m[1], s.at)
				}
				s.at -= n
			case "K":
				s.lines[s.at] = ""
			case "J":
				s.lines = s.lines[:s.at]
			case "h", "l":
				s.hidden = m[2] == "l"
			case "m":
			default:
				t.Fatalf("the code %q is not known", m[0])
			}
			continue
		}
		switch out[0] {
		case '\n':
			s.at++
		case '\r':
		default:
			s.lines[s.at] += out[:1]
		}
		out = out[1:]
	}
}

// TestPageIsRedrawnInPlace: whatever is drawn, the terminal shows one page, and above it only the
// output while it rested.
func TestPageIsRedrawnInPlace(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(1_800_000_000, 0)
	p := &runPage{out: &out, now: func() time.Time { return clock }, stop: make(chan struct{}), size: func() (int, int) { return 60, 24 }}
	p.facts = pageFacts{language: lang.English, color: true, results: map[workflow.StageID]string{}, began: clock}
	var s screen
	for _, e := range pageEvents() {
		p.showEvent(e)
		s.play(t, out.String())
		out.Reset()
		want := p.facts.pageLines(60, 24, clock)
		if len(s.lines) != len(want) {
			t.Fatalf("after %s the terminal shows %d lines; want %d:\n%s", e.Type, len(s.lines), len(want), strings.Join(s.lines, "\n"))
		}
	}
	p.pauseDrawing()
	s.play(t, out.String()+"Your decision? a\n")
	if s.hidden {
		t.Error("the cursor is hidden while the person types")
	}
	out.Reset()
	p.resumeDrawing()
	p.showEvent(headless.Event{Type: headless.StageStarted, Stage: "sm", Round: 1, Engine: "claude"})
	p.stopDrawing()
	s.play(t, out.String())
	text := strings.TrimRight(strings.Join(s.lines, "\n"), "\n")
	if strings.Count(text, "build-a-list") != 2 || strings.Count(text, "Your decision? a") != 1 || !strings.HasSuffix(text, p.facts.pageLines(60, 24, clock)[4]) || s.hidden {
		t.Errorf("the terminal shows (cursor hidden: %v):\n%s", s.hidden, text)
	}
	out.Reset()
	p.showEvent(headless.Event{Type: headless.Completed})
	if out.Len() > 0 {
		t.Errorf("a closed page draws %q", out.String())
	}
}
