package run

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// runPage shows a run on a terminal, redrawn in place.
type runPage struct {
	out  io.Writer
	size func() (width, height int)
	now  func() time.Time
	stop chan struct{}
	done sync.WaitGroup

	mu      sync.Mutex
	facts   pageFacts
	drawn   int // lines
	resting bool
}

// pageFacts are the facts on a page.
type pageFacts struct {
	language lang.Language
	color    bool
	began    time.Time
	// run is the event at the begin of the run, work at the begin of the latest stage, and cost has the
	// latest cost.
	run, work, cost headless.Event
	spent           price.Money
	results         map[workflow.StageID]string
	stage           workflow.StageID
	doing, note     string
	complete        bool
}

// redraw is the interval for drawing the time again.
const redraw = 500 * time.Millisecond

func newRunPage(term *terminal.Terminal, clock func() time.Time) *runPage {
	p := &runPage{out: term.Raw, size: term.Size, now: clock, stop: make(chan struct{})}
	p.facts = pageFacts{language: term.Lang, color: term.Colored(), results: map[workflow.StageID]string{}, began: p.now()}
	fmt.Fprint(p.out, hideCursor)
	p.done.Go(func() {
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.mu.Lock()
				p.redrawLines()
				p.mu.Unlock()
			case <-p.stop:
				return
			}
		}
	})
	return p
}

const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
)

// showEvent shows an event.
func (p *runPage) showEvent(e headless.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.facts.takeEvent(e)
	p.redrawLines()
}

// stopDrawing leaves the page as it is, and the cursor below it.
func (p *runPage) stopDrawing() {
	close(p.stop)
	p.done.Wait()
	p.pauseDrawing()
}

// pauseDrawing stops drawing, for other output on the terminal.
func (p *runPage) pauseDrawing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resting, p.drawn = true, 0
	fmt.Fprint(p.out, showCursor)
}

// resumeDrawing draws the page again, below the other output.
func (p *runPage) resumeDrawing() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resting = false
	fmt.Fprint(p.out, hideCursor)
	p.redrawLines()
}

// redrawLines replaces the lines that were drawn last.
func (p *runPage) redrawLines() {
	if p.resting || p.facts.run.TaskName == "" {
		return
	}
	width, height := p.size()
	if width == 0 {
		width, height = 80, 24
	}
	var b strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", p.drawn)
	}
	lines := p.facts.pageLines(width, height, p.now())
	for _, line := range lines {
		b.WriteString("\x1b[2K" + line + "\n")
	}
	b.WriteString("\x1b[J")
	p.drawn = len(lines)
	_, _ = io.WriteString(p.out, b.String())
}

// takeEvent updates the facts by an event.
func (f *pageFacts) takeEvent(e headless.Event) {
	switch e.Type {
	case headless.RunStarted:
		f.run = e
	case headless.StageStarted:
		f.work, f.doing, f.note = e, "", ""
		delete(f.results, e.Stage)
	case headless.EngineEvent:
		if e.Text != "" {
			f.doing = visible.Line(e.Text) // an engine's
		}
	case headless.Submitted:
		f.results[e.Stage] = strings.TrimPrefix(headless.Outcome(f.language, e.Score, e.Audit, e.Verdict, e.Rows), ", ")
		f.doing = ""
	case headless.Retry, headless.Rework, headless.Noticed:
		f.note, f.doing = visible.Line(e.Line(f.language)), ""
	case headless.Cost:
		f.cost, f.spent = e, *e.Spent
		if e.Percent > 0 {
			f.note = f.language.Say("%d %% of the budget are spent", e.Percent)
		}
	case headless.Completed, headless.Stopped:
		f.doing, f.work, f.complete = "", headless.Event{}, e.Type == headless.Completed
	}
	switch e.Type {
	case headless.EngineEvent, headless.Submitted, headless.Cost:
	default:
		f.stage = cmp.Or(e.Stage, f.stage)
	}
}

// pageLines returns the lines of the page, each narrower than the terminal, and fewer than it is high.
func (f *pageFacts) pageLines(width, height int, now time.Time) []string {
	fit := func(text string) string { return visible.Cut(text, max(width-1, 1), "…") }
	paint := func(code, text string) string {
		if !f.color {
			return fit(text)
		}
		return "\x1b[" + code + "m" + fit(text) + "\x1b[0m"
	}
	out := []string{paint("1", visible.Line(f.run.TaskName))}
	at := slices.Index(f.run.Stages, f.stage)
	if f.complete {
		at = len(f.run.Stages)
	}
	for i, id := range f.run.Stages {
		text := strings.TrimRight(fmt.Sprintf("%-10s %s", id, f.results[id]), " ")
		switch {
		case i < at:
			out = append(out, fit("✓ "+text))
		case i > at:
			out = append(out, paint("2", "· "+text))
		case f.results[id] != "" || f.work.Engine == "": // the stage waits
			out = append(out, paint("36", "▶ "+text))
		default:
			out = append(out, paint("36", f.language.Say("▶ %-10s round %d · %s", id, f.work.Round, f.work.Engine)))
			if f.doing != "" {
				out = append(out, fit("    "+f.doing))
			}
		}
	}
	if f.note != "" {
		out = append(out, paint("33", f.note))
	}
	cost := headless.Spending(f.language, f.spent, f.cost.Unpriced)
	if f.run.Budget > 0 {
		cost = f.language.Say("%s of %s", cost, f.run.Budget.Short())
	}
	past := now.Sub(f.began).Round(time.Second)
	out = append(out, fit(f.language.Say("%d tokens · %s · %s", f.cost.Tokens, cost, past)))
	if len(out) >= height { // the last lines say most
		out = out[len(out)-max(height-1, 1):]
	}
	return out
}
