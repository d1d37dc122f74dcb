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
	"strings"
	"time"

	"bmad-mcp/internal/engine"
	"bmad-mcp/internal/workflow"
)

// terminal is the person at the terminal, as a channel of the engine.
type terminal struct {
	app    *app
	reject bool // the decision is a no already
	lines  *lines
}

// Ask implements engine.Channel.
func (t *terminal) Ask(ctx context.Context, q engine.Question) (engine.Response, error) {
	began := t.app.engine.Now()
	fmt.Fprintf(t.app.out, "%s · %s\n%s\n", q.TaskName, q.Title, indent(q.Text))
	if q.Draft != "" {
		fmt.Fprintf(t.app.out, "  Draft: %s (%s)\n", q.Draft, size(q.Size))
	}
	fmt.Fprintln(t.app.out)
	answer, err := t.decide(ctx, q)
	if len(q.Questions) > 0 {
		answer, err = t.answers(ctx, q)
	}
	if err != nil {
		return engine.Response{}, err
	}
	answer.Channel = workflow.ChannelTerminal
	answer.Took = max(t.app.engine.Now().Sub(began), time.Millisecond)
	return answer, nil
}

func (t *terminal) decide(ctx context.Context, q engine.Question) (engine.Response, error) {
	if len(q.Choices) == 0 {
		return engine.Response{}, nil
	}
	choice := q.Choices[len(q.Choices)-1]
	if !t.reject {
		fmt.Fprintf(t.app.out, "  a  %s\n  c  %s\n  v  View the draft\n  n  Not now: leave it waiting\n\n", q.Choices[0].Label, choice.Label)
	choosing:
		for {
			line, err := t.line(ctx, "Your decision [a/c/v/n]: ")
			if err != nil {
				return ended(ctx, err)
			}
			switch strings.ToLower(line) {
			case "a":
				choice = q.Choices[0]
				break choosing
			case "c":
				break choosing
			case "v":
				t.view(ctx, filepath.Join(q.Cwd, filepath.FromSlash(q.Draft)))
			case "n":
				return engine.Response{Silence: engine.Silence{Why: "not now"}}, nil
			}
		}
	}
	prompt := ""
	switch {
	case choice.Decision == workflow.DecisionChanges:
		prompt = "What is to change: "
	case choice.Reason:
		prompt = "Why (it is recorded): "
	}
	answer := engine.Response{Decision: choice.Decision}
	if prompt != "" {
		words, err := t.line(ctx, prompt)
		if err != nil {
			return ended(ctx, err)
		}
		if words == "" && choice.Reason {
			return engine.Response{Silence: engine.Silence{Why: "no reason was given"}}, nil
		}
		answer.Feedback = words
	}
	return answer, nil
}

func (t *terminal) answers(ctx context.Context, q engine.Question) (engine.Response, error) {
	answer := engine.Response{Answers: map[string]string{}}
	fmt.Fprintln(t.app.out, "An empty line leaves a question open.")
	for _, question := range q.Questions {
		fmt.Fprintf(t.app.out, "\n%s  %s\n", question.ID, oneLine(question.Question))
		if question.Context != "" {
			fmt.Fprintf(t.app.out, "    (%s)\n", oneLine(question.Context))
		}
		line, err := t.line(ctx, "> ")
		if err != nil {
			return ended(ctx, err)
		}
		answer.Answers[question.ID] = line
	}
	answer.Silence.Why = "every question was left open"
	return answer, nil
}

// ended is what the end of the input means: the person went away.
func ended(ctx context.Context, err error) (engine.Response, error) {
	if ctx.Err() != nil {
		return engine.Response{}, ctx.Err()
	}
	if err != io.EOF { //nolint:errorlint // readers return it as it is
		return engine.Response{}, err
	}
	return engine.Response{Silence: engine.Silence{Why: "the input ended"}}, nil
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
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.app.in, t.app.out, t.app.err
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(t.app.err, "%s could not show it: %v\n", pager, err)
	}
}

// line asks for one line.
func (t *terminal) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(t.app.out, prompt)
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
