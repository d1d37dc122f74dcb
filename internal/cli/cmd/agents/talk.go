package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// talk is a session or a conversation.
type talk interface {
	ID() string
	Status() sdk.Status
	Answer(ctx context.Context, questionID, text string) error
	Questions() []sdk.Question
	Events() <-chan sdk.Event
	Pause(ctx context.Context) error
	Documents() []sdk.Document
	Files() vfs.FS
	Costs() price.Report
}

// teller shows the events of a session: a line for each tool, and the agent's text as it arrives.
type teller struct {
	lang lang.Language
	out  io.Writer
	// midLine reports whether the output ends in an unfinished line; streamed, whether this turn has shown
	// text.
	midLine, streamed bool
	// inSteps is true for a document in steps: the sections are named, the answers are JSON.
	inSteps bool
	// text is the last whole answer.
	text string
}

func (t *teller) showEvent(e sdk.Event) {
	line := func(text string) {
		t.endLine()
		fmt.Fprintln(t.out, text)
	}
	isAnswer := e.Type == sdk.EventTextDelta || e.Type == sdk.EventTurnCompleted
	if t.inSteps && isAnswer {
		return
	}
	switch e.Type {
	case sdk.EventTextDelta:
		fmt.Fprint(t.out, e.Text)
		t.midLine, t.streamed = !strings.HasSuffix(e.Text, "\n"), true
	case sdk.EventToolStarted:
		line("· " + visible.Line(e.Tool.Name) + " " + visible.Cut(visible.Line(e.Tool.Input), 90, "…"))
	case sdk.EventToolFinished:
		if e.Tool.Failed {
			line(t.lang.Say("  it failed: %s", visible.Cut(visible.Line(e.Tool.Result), 90, "…")))
		}
	case sdk.EventRetry:
		line(t.lang.Say("(attempt %d in %s: %s)", e.Attempt, time.Duration(e.AfterMS)*time.Millisecond, visible.Line(e.Text)))
	case sdk.EventWarning:
		if e.Attempt > 0 {
			line(t.lang.Say("(the model has not answered in the form that was asked for; it is asked again, %d of %d)", e.Attempt, sdk.MaxRepairs))
			return
		}
		line("(" + visible.Line(e.Text) + ")")
	case sdk.EventCostWarning:
		line(t.lang.Say("(%d%% of the limit is spent: %s of %s)", e.Cost.Percent, price.Money(e.Cost.Spent).Short(), price.Money(e.Cost.Limit).Short()))
	case sdk.EventTurnStarted, sdk.EventResumed:
		t.streamed = t.streamed && e.Type == sdk.EventResumed
		if t.inSteps {
			line("· " + visible.Cut(visible.Line(e.Text), 160, "…"))
		}
	case sdk.EventDropped:
		t.streamed = false // the whole text is shown at the end
	case sdk.EventTurnCompleted:
		t.text = e.Text
		if !t.streamed && e.Text != "" {
			t.endLine()
			fmt.Fprintln(t.out, e.Text)
		}
		t.endLine()
	}
}

func (t *teller) endLine() {
	if t.midLine {
		fmt.Fprintln(t.out)
	}
	t.midLine = false
}

// showQuestion prints a question with its options.
func showQuestion(out io.Writer, q sdk.Question) {
	if q.Source == "review" {
		fmt.Fprintf(out, "\n%s\n", visible.Text(q.Context))
	}
	fmt.Fprintf(out, "\n? %s\n", visible.Line(q.Question))
	if q.Context != "" && q.Source != "review" {
		fmt.Fprintf(out, "  (%s)\n", visible.Line(q.Context))
	}
	for i, option := range q.Options {
		fmt.Fprintf(out, "  %d  %s\n", i+1, visible.Line(option))
	}
}

// chooseOption returns a line as an answer; a number means the option with this number.
func chooseOption(q sdk.Question, line string) string {
	var n int
	if _, err := fmt.Sscanf(line+" ", "%d ", &n); err == nil && fmt.Sprint(n) == line && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1]
	}
	return line
}

// replier answers a question while an agent works; ok is false if nobody can.
type replier func(ctx context.Context, q sdk.Question) (text string, ok bool, err error)

// followTalk calls work, and shows events, until the agent is done or waits for somebody who is not here.
func followTalk(ctx context.Context, s talk, t *teller, events <-chan sdk.Event, reply replier, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
			} else if err := showAndAnswer(ctx, s, t, e, reply); err != nil {
				return err
			}
		case failed := <-done:
			for len(events) > 0 { // events sent before the end
				t.showEvent(<-events)
			}
			t.endLine()
			return failed
		}
	}
}

// showAndAnswer shows an event, and has a question answered. If nobody can answer, it pauses the agent.
func showAndAnswer(ctx context.Context, s talk, t *teller, e sdk.Event, reply replier) error {
	t.showEvent(e)
	if e.Type != sdk.EventQuestion || e.Question.Source == "text" {
		return nil
	}
	text, ok, err := reply(ctx, *e.Question)
	if err == nil && ok {
		if err = s.Answer(ctx, e.Question.ID, text); errors.Is(err, sdk.ErrNoQuestion) {
			err = nil // the turn was cancelled meanwhile
		}
		if err == nil {
			return nil
		}
	}
	return errors.Join(err, s.Pause(context.WithoutCancel(ctx)))
}

// newReplier returns a replier that answers from the file, or else by the person at this terminal, if there
// is one.
func (cs *clients) newReplier(answers map[string]string) replier {
	person, err := cs.term.Person()
	return func(ctx context.Context, q sdk.Question) (string, bool, error) {
		for _, key := range []string{q.ID, q.Question} {
			if text, ok := answers[key]; ok {
				return text, true, nil
			}
		}
		if err != nil { // nobody is here
			return "", false, nil
		}
		return putQuestion(cs.term.Prompts(), q, func() (string, error) { return person.Line(ctx, "> ") })
	}
}

// putQuestion shows a question, and reads a line as the answer; ok is false at the end of the input.
func putQuestion(out io.Writer, q sdk.Question, read func() (string, error)) (text string, ok bool, err error) {
	showQuestion(out, q)
	for {
		line, err := read()
		if errors.Is(err, io.EOF) {
			return "", false, nil
		}
		if err != nil || line != "" {
			return chooseOption(q, line), err == nil, err
		}
	}
}

// saveDocuments writes documents below a folder, with the same forbidden files as in a project. Without force
// it writes none if one of the files exists.
func saveDocuments(docs []sdk.Document, folder string, force bool) (saved []string, err error) {
	if len(docs) == 0 {
		return nil, nil
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fault.New(fault.Storage, "the folder for documents cannot be made: %w", err).WithHint("name another with --out")
	}
	dir, err := vfs.OpenDir(folder, vfs.DirOptions{})
	if err != nil {
		return nil, fault.New(fault.Storage, "the folder for documents cannot be opened: %w", err).WithHint("name another with --out")
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	for _, d := range docs {
		if _, err := dir.Stat(d.Path); err == nil && !force {
			return nil, fault.New(fault.Conflict, "%s exists already; nothing was written",
				filepath.Join(folder, filepath.FromSlash(d.Path))).WithHint("add --force, or name another folder with --out")
		}
	}
	var refused error
	for _, d := range docs {
		if err := dir.Write(d.Path, []byte(d.Content)); err != nil {
			refused = err
			continue
		}
		saved = append(saved, filepath.Join(folder, filepath.FromSlash(d.Path)))
	}
	if refused != nil {
		return saved, fault.New(fault.Storage, "a document cannot be written: %q",
			refused.Error()).WithHint("name another folder with --out; bmad-mcp agent resume --out writes them again")
	}
	return saved, nil
}

// changesOf returns the proposed changes of the project as a unified diff.
func changesOf(files vfs.FS) (string, error) {
	over, ok := files.(*vfs.Overlay)
	if !ok {
		return "", nil
	}
	changes, err := over.Changes()
	var b strings.Builder
	for _, c := range changes {
		name := strings.TrimPrefix(c.Path, "/")
		if !utf8.Valid(c.Before) || !utf8.Valid(c.After) {
			fmt.Fprintf(&b, "Binary files a/%s and b/%s differ\n", name, name)
			continue
		}
		text := string(diff.Diff("a/"+name, c.Before, "b/"+name, c.After))
		_, text, _ = strings.Cut(text, "\n") // the line repeats the names
		b.WriteString(text)
	}
	return b.String(), err
}
