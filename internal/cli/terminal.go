package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// terminal is the person at the terminal, as a channel of the engine.
type terminal struct {
	app    *app
	reject bool   // the decision is a no already
	words  string // and these are its words, if any
	edited bool   // the decision is to take the draft as it was edited
	out    io.Writer
	lines  *lines
}

// Ask implements request.Channel.
func (t *terminal) Ask(ctx context.Context, q gate.Question) (gate.Response, error) {
	began := t.app.engine.Now()
	fmt.Fprintf(t.out, "%s · %s\n", q.TaskName, q.Title)
	if q.Draft != "" {
		fmt.Fprintln(t.out, indent(q.DraftLine()))
	}
	for _, text := range []string{q.Lead, q.Worst, q.Text} {
		if text != "" {
			fmt.Fprintln(t.out, indent(text))
		}
	}
	fmt.Fprintln(t.out)
	ask := t.decide
	if len(q.Questions) > 0 {
		ask = t.answers
	}
	answer, err := ask(ctx, q)
	if err != nil {
		return gate.Response{}, err
	}
	answer.Channel = workflow.ChannelTerminal
	answer.Took = max(t.app.engine.Now().Sub(began), time.Millisecond)
	return answer, nil
}

func (t *terminal) decide(ctx context.Context, q gate.Question) (gate.Response, error) {
	var choice gate.Choice
	for _, offered := range q.Choices {
		if offered.Decision == workflow.DecisionChanges {
			choice = offered
		}
	}
	if t.edited {
		yes := slices.IndexFunc(q.Choices, func(c gate.Choice) bool { return c.Decision != workflow.DecisionChanges })
		if !q.Edited || yes < 0 {
			return silent(lang.T("the draft was not changed since it was scored")), nil
		}
		choice = q.Choices[yes]
	} else if !t.reject {
		var err error
		if choice, err = t.choose(ctx, q); err != nil {
			return answerAtEnd(ctx, err)
		}
		if choice.Decision == "" {
			return silent(lang.T("not now")), nil
		}
	}
	answer := gate.Response{Decision: choice.Decision, Feedback: t.words}
	if t.words != "" || choice.Words == "" {
		return answer, nil
	}
	words, err := t.line(ctx, choice.Words+" ")
	if err != nil {
		return answerAtEnd(ctx, err)
	}
	if words == "" {
		return silent(lang.T("no words were given")), nil
	}
	answer.Feedback = words
	return answer, nil
}

// choose asks for one of the choices; the zero one is "not now".
func (t *terminal) choose(ctx context.Context, q gate.Question) (gate.Choice, error) {
	offered, view := "", ""
	for _, choice := range q.Choices {
		key := "a"
		if choice.Decision == workflow.DecisionChanges {
			key = "c"
		}
		offered += key
		fmt.Fprintf(t.out, "  %s  %s\n", key, choice.Label)
	}
	if q.Draft != "" {
		view = "v"
		fmt.Fprintln(t.out, "  v ", q.Language.Say("View the draft"))
	}
	fmt.Fprintf(t.out, "  n  %s\n\n", q.Language.Say("Not now: leave it as it is"))
	for {
		line, err := t.line(ctx, q.Language.Say("Your decision [%s]: ", offered+view+"n"))
		if err != nil {
			return gate.Choice{}, err
		}
		line = strings.ToLower(line)
		switch i := strings.Index(offered, line); {
		case line == "n":
			return gate.Choice{}, nil
		case line == "v" && view != "":
			t.view(ctx, filepath.Join(q.Cwd, filepath.FromSlash(q.Draft)))
		case len(line) == 1 && i >= 0:
			return q.Choices[i], nil
		}
	}
}

func silent(why lang.Text) gate.Response {
	return gate.Response{Silence: gate.Silence{Why: why}}
}

func (t *terminal) answers(ctx context.Context, q gate.Question) (gate.Response, error) {
	answer := gate.Response{Answers: map[string]string{}}
	fmt.Fprintln(t.out, q.Language.Say("An empty line leaves a question open, “skip” skips it; the end of the input (Ctrl-D) leaves the rest."))
	for _, question := range q.Questions {
		fmt.Fprintf(t.out, "\n%s  %s\n", question.ID, oneLine(question.Question))
		for _, option := range question.Options {
			fmt.Fprintf(t.out, "    - %s\n", oneLine(option))
		}
		if question.Context != "" {
			fmt.Fprintf(t.out, "    (%s)\n", oneLine(question.Context))
		}
		line, err := t.line(ctx, "> ")
		if err == io.EOF && len(answer.Answers) > 0 { //nolint:errorlint // readers return it as it is
			break
		}
		if err != nil {
			return answerAtEnd(ctx, err)
		}
		answer.Answers[question.ID] = line
	}
	answer.Silence.Why = lang.T("every question was left open")
	return answer, nil
}

// answerAtEnd returns the answer for an error of reading: at the end of the input the person went away.
func answerAtEnd(ctx context.Context, err error) (gate.Response, error) {
	if ctx.Err() != nil {
		return gate.Response{}, ctx.Err()
	}
	if err != io.EOF { //nolint:errorlint // readers return it as it is
		return gate.Response{}, err
	}
	return silent(lang.T("the input ended")), nil
}

// view opens a file in the person's pager.
func (t *terminal) view(ctx context.Context, file string) {
	pager := os.Getenv("PAGER")
	if pager == "" {
		pager = map[bool]string{true: "more", false: "less"}[runtime.GOOS == "windows"]
	}
	words := strings.Fields(pager)
	if len(words) == 0 {
		return
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], file)...) //nolint:gosec // the person's own pager
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.app.in, t.app.raw, t.app.err
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(t.app.err, t.app.lang.Say("%s could not show it: %v", pager, err))
	}
}

// line asks for one line.
func (t *terminal) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(t.out, prompt)
	return t.lines.next(ctx)
}

// lines reads lines without keeping a signal from ending the program.
type lines struct{ in *bufio.Reader }

func newLines(in io.Reader) *lines { return &lines{in: bufio.NewReader(in)} }

func (l *lines) next(ctx context.Context) (string, error) {
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := l.in.ReadString('\n')
		done <- read{text, err}
	}()
	select {
	case r := <-done:
		if r.err == io.EOF && r.text != "" { //nolint:errorlint // readers return it as it is
			r.err = nil
		}
		return strings.TrimSpace(r.text), r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// assistantsTerminal has variables that assistants set for the commands that they run.
var assistantsTerminal = []string{"CLAUDECODE", "CODEX_SANDBOX", "CURSOR_AGENT", "GEMINI_CLI"}

// terminal returns the person at this terminal, if there is one.
func (a *app) terminal(reject bool, words string) (*terminal, error) {
	in, ok := a.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, noPerson(lang.T("standard input is not a terminal"))
	}
	if name := assistantHere(); name != "" {
		return nil, noPerson(lang.T("this terminal is an assistant's (%s is set)", name))
	}
	return &terminal{app: a, reject: reject, words: words, out: a.prompts(), lines: newLines(a.in)}, nil
}

// assistantHere returns the variable by which an assistant shows at this terminal, "" if none does.
func assistantHere() string {
	for _, name := range assistantsTerminal {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

func noPerson(why lang.Text) error {
	return fault.New(fault.GatePending, "%s, so no person can decide here", why).
		WithHint("run it in a terminal of your own")
}

// prompts returns the output for questions to a person, apart from the JSON that a program reads.
func (a *app) prompts() io.Writer {
	if a.asJSON {
		return a.err
	}
	return a.out
}
