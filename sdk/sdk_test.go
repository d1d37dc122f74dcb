package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// project returns a folder with an installation of the method.
func project(t testing.TB) string { return layout(t, "v4") }

// layout returns a project with an installation of the method.
func layout(t testing.TB, name string) string {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	a, err := txtar.ParseFile(filepath.Join("..", "internal", "method", "catalog", "testdata", "layouts", name+".txtar"))
	if err == nil {
		err = txtar.Write(a, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// client returns a client for a script.
func client(t testing.TB, o sdk.Options, steps ...fake.Step) (*sdk.Client, *fake.Provider) {
	t.Helper()
	p := fake.New(steps...)
	o.Provider, o.Prices = p, fake.Prices()
	if o.Project == "" {
		o.Project = project(t)
	}
	c, err := sdk.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, p
}

func newContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func write(path, content string) fake.Step {
	return fake.Call("write_file", map[string]string{"file_path": path, "content": content})
}

func ask(question string) fake.Step {
	return fake.Call("ask_user", map[string]any{"question": question})
}

// next returns the next event of a type.
func next(t testing.TB, events <-chan sdk.Event, kind sdk.EventType) sdk.Event {
	t.Helper()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatalf("the events ended before %q", kind)
			}
			if kind == "" || e.Type == kind {
				return e
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no event %q", kind)
		}
	}
}

func TestSession(t *testing.T) {
	dir := project(t)
	c, p := client(t, sdk.Options{Project: dir}, write("/docs/prd.md", "# PRD\n"), fake.Text("The PRD is written."))
	s, err := c.StartAgent(t.Context(), "pm", "create-prd for a shop", sdk.SessionOptions{Context: map[string]any{"users": 3}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(newContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Documents) != 1 || r.Documents[0].Path != "/docs/prd.md" || r.Documents[0].Content != "# PRD\n" {
		t.Errorf("documents %+v; want /docs/prd.md alone", r.Documents)
	}
	if onDisk, err := os.ReadFile(filepath.Join(dir, "docs", "prd.md")); err != nil || string(onDisk) == r.Documents[0].Content {
		t.Errorf("the project's own file reads %q, %v; want it as it was", onDisk, err)
	}
	if r.Status != sdk.Ended || r.Text != "The PRD is written." || r.Costs.Spent <= 0 || len(r.Tools) != 1 {
		t.Errorf("result %+v", r)
	}
	first := p.Requests()[0]
	if text := first.Messages[0].Text(); !strings.Contains(text, `"users": 3`) || !strings.Contains(text, "for a shop") {
		t.Errorf("the first message lacks the context or the words: %s", text)
	}
	for _, want := range []string{"John", "## Available tools", "`write_file`", "Paths are absolute", "Read a file before you edit it",
		"## Persona", "Keeper of the list", "*create-prd", "/.bmad-core/tasks/create-doc.md"} {
		if !strings.Contains(first.System, want) {
			t.Errorf("the system prompt lacks %q:\n%s", want, first.System)
		}
	}
	last := p.Requests()[1].Messages
	if result := last[len(last)-1].Blocks[0]; result.Type != provider.ToolResult || result.Text != "File written: /docs/prd.md (6 bytes)" {
		t.Errorf("the result of the tool: %+v", result)
	}
	for e := range s.Events() { // it is closed at the end
		if e.Type == sdk.EventFailed {
			t.Errorf("event %+v", e)
		}
	}
}

// TestQuestions: several questions in one answer wait one after the other, and each answer reaches
// the use of the tool that it belongs to.
// TestFilesOfTheirOwn: sessions of one client do not see each other's files.
func TestFilesOfTheirOwn(t *testing.T) {
	c, p := client(t, sdk.Options{}, write("/docs/prd.md", "# One\n"), fake.Text("Done."), fake.Call("read_file", map[string]string{"file_path": "/docs/prd.md"}), fake.Text("Not there."))
	for n, documents := range []int{1, 0} {
		s, err := c.StartAgent(t.Context(), "pm", "write", sdk.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := s.Run(newContext(t)); err != nil || len(r.Documents) != documents {
			t.Errorf("session %d: %+v, %v", n+1, r, err)
		}
	}
	last := p.Requests()[3].Messages
	if result := last[len(last)-1].Blocks[0]; !result.IsError || strings.Contains(result.Text, "One") {
		t.Errorf("the second session read %+v", result)
	}
}

// TestNewChecks: a client is made of what can work only.
func TestNewChecks(t *testing.T) {
	for want, o := range map[string]sdk.Options{
		"not an absolute path":       {Project: "shop"},
		"the cost limit is negative": {CostLimit: -1},
	} {
		if _, err := sdk.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// logged are the lines of a log.
type logged chan string

func (l logged) Write(line []byte) (int, error) { l <- string(line); return len(line), nil }

// TestLog: the log says which session has a trouble, and nothing that was said in it.
func TestLog(t *testing.T) {
	lines := make(logged, 99)
	c, _ := client(t, sdk.Options{Log: slog.New(slog.NewTextHandler(lines, &slog.HandlerOptions{Level: slog.LevelDebug}))}, fake.Fail(&provider.Error{Status: 529, Message: "Overloaded"}))
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err == nil {
		err = v.Send(t.Context(), "a secret wish")
	}
	if err != nil {
		t.Fatal(err)
	}
	for text := ""; !strings.Contains(text, "Overloaded"); {
		select {
		case line := <-lines:
			if text += line; !strings.Contains(line, v.ID()) || strings.Contains(line, "secret") {
				t.Errorf("the log: %s", line)
			}
		case <-newContext(t).Done():
			t.Fatalf("the error was not logged: %s", text)
		}
	}
}

// TestLogOfAConversation checks that the log has each step of an ordinary conversation, and none of its words.
func TestLogOfAConversation(t *testing.T) {
	lines := make(logged, 99)
	c, _ := client(t, sdk.Options{Log: slog.New(slog.NewTextHandler(lines, nil))}, fake.Calls(write("/a.md", "a secret")), fake.Text("a secret"))
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err == nil {
		_, err = v.Ask(t.Context(), "a secret")
	}
	if err != nil {
		t.Fatal(err)
	}
	close(lines)
	text := ""
	for line := range lines {
		text += line
	}
	for _, step := range []string{"msg=started", "msg=turn_started", "msg=turn_completed", "session=" + v.ID()} {
		if !strings.Contains(text, step) || strings.Contains(text, "secret") {
			t.Errorf("got %s, want %s in it, and no words", text, step)
		}
	}
}

// own is a provider of the caller's, which counts nothing.
type own func() (*provider.Response, error)

func (o own) Send(context.Context, provider.Request, func(provider.Delta)) (*provider.Response, error) {
	return o()
}

func (own) Info() provider.Info { return provider.Info{Provider: "own", Model: "own-1"} }

// TestOwnProvider checks that the usage of a provider without a count is estimated, and that one with a fault fails the
// turn and not the program.
func TestOwnProvider(t *testing.T) {
	agent := &sdk.Agent{AgentInfo: sdk.AgentInfo{ID: "own"}}
	hello := provider.Message{Blocks: []provider.Block{provider.TextBlock("Hello, who are you?")}}
	for name, c := range map[string]struct {
		send  own
		fails string
	}{
		"no count":            {func() (*provider.Response, error) { return &provider.Response{Message: hello}, nil }, ""},
		"neither of the two":  {func() (*provider.Response, error) { return nil, nil }, "neither an answer nor an error"},
		"a panic":             {func() (*provider.Response, error) { panic("a fault") }, "a fault"},
		"an answer and error": {func() (*provider.Response, error) { return &provider.Response{Message: hello}, errors.New("no") }, "no"},
	} {
		client, err := sdk.New(sdk.Options{Provider: c.send})
		if err != nil {
			t.Fatal(err)
		}
		v, err := client.StartConversation(t.Context(), "", sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{Agent: agent}})
		if err != nil {
			t.Fatal(err)
		}
		turn, err := v.Ask(t.Context(), "Say hello")
		switch {
		case c.fails != "":
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %v, want %q in the error", name, err, c.fails)
			}
		case err != nil || turn.Usage.Input < 100 || turn.Usage.Output < 5 || turn.Usage.Output > 50 || !turn.Usage.Estimated || turn.Usage != v.Costs().Usage:
			t.Errorf("%s: got %+v, %v, want an estimate of both", name, turn, err)
		}
		client.Close()
	}
}

// TestHelpCostsNothing checks that no way to ask for the menu calls the model.
func TestHelpCostsNothing(t *testing.T) {
	for _, words := range []string{"*help", "/help", "help", "*HELP", "* help", " *help ", "help?", "*menu", "menu"} {
		c, p := client(t, sdk.Options{})
		s, err := c.StartAgent(t.Context(), "pm", words, sdk.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Run(t.Context())
		if err != nil || r.Status != sdk.Ended || !strings.Contains(r.Text, "create-prd") || len(p.Requests()) > 0 || len(r.Costs.Models) > 0 {
			t.Errorf("%q: got %+v, %v after %d requests, want the menu after none", words, r, err, len(p.Requests()))
		}
	}
}

func TestQuestions(t *testing.T) {
	c, p := client(t, sdk.Options{}, fake.Calls(ask("Who uses it?"), write("/a.md", "a"), ask("By when?")), fake.Text("Done."))
	s, err := c.StartAgent(t.Context(), "pm", "write", sdk.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events := s.Events()
	go func() {
		one := next(t, events, sdk.EventQuestion)
		two := next(t, events, sdk.EventQuestion)
		if err := s.Answer(t.Context(), "nobody", "x"); !errors.Is(err, sdk.ErrNoQuestion) {
			t.Errorf("an unknown question: %v", err)
		}
		if err := errors.Join(s.Answer(t.Context(), two.Question.ID, "by May"), s.Answer(t.Context(), "", "shoppers")); err != nil {
			t.Error(err)
		}
		_ = one
	}()
	if _, err := s.Run(newContext(t)); err != nil {
		t.Fatal(err)
	}
	last := p.Requests()[1].Messages
	var results []string
	for _, b := range last[len(last)-1].Blocks {
		results = append(results, b.Text)
	}
	if got := strings.Join(results, " | "); got != "shoppers | File written: /a.md (1 bytes) | by May" {
		t.Errorf("results %q", got)
	}
	if err := s.Answer(t.Context(), "", "more"); !errors.Is(err, sdk.ErrNoQuestion) {
		t.Errorf("an answer without a question: %v", err)
	}
}

// TestResumeElsewhere: a question that waits too long pauses the session; another process answers
// the same use of the tool.
func TestResumeElsewhere(t *testing.T) {
	dir := project(t)
	c, _ := client(t, sdk.Options{Project: dir}, fake.Calls(write("/docs/a.md", "a"), ask("Which colour?")))
	s, err := c.StartAgent(t.Context(), "pm", "write", sdk.SessionOptions{PauseTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(newContext(t))
	if err != nil || r.Status != sdk.Paused || len(r.Questions) != 1 {
		t.Fatalf("%+v, %v; want a pause at the question", r, err)
	}
	c.Close()

	other, p := client(t, sdk.Options{Project: dir}, write("/docs/b.md", "b"), fake.Text("Blue it is."))
	list, err := other.Sessions(t.Context())
	if err != nil || len(list) != 1 || len(list[0].Questions) != 1 || list[0].Questions[0].Question != "Which colour?" {
		t.Errorf("with a question open: sessions %+v, %v", list, err)
	}
	if name := filepath.Join(dir, sdk.StateFile(s.ID())); len(list) == 1 && filepath.Join(list[0].Folder, "state.json") != name {
		t.Errorf("the folder is %q, the state %q", list[0].Folder, name)
	}
	again, err := other.OpenSession(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Answer(t.Context(), r.Questions[0].ID, "blue"); err != nil {
		t.Fatal(err)
	}
	r, err = again.Resume(newContext(t))
	if err != nil || r.Status != sdk.Ended || len(r.Documents) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	messages := p.Requests()[0].Messages
	if b := messages[len(messages)-1].Blocks[1]; b.Text != "blue" || b.ID != messages[1].Blocks[1].ID {
		t.Errorf("the answer arrived as %+v", b)
	}
	list, err = other.Sessions(t.Context())
	if err != nil || len(list) != 1 || list[0].Status != sdk.Ended || list[0].Spent <= 0 {
		t.Errorf("sessions %+v, %v", list, err)
	}
	events, err := other.Transcript(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	for n, e := range events {
		if e.Seq != int64(n+1) {
			t.Errorf("event %d has the number %d", n+1, e.Seq)
		}
	}
	if err := other.Delete(t.Context(), s.ID()); err != nil {
		t.Fatal(err)
	}
	if _, err := other.OpenSession(t.Context(), s.ID()); !errors.Is(err, sdk.ErrNotFound) {
		t.Errorf("after the deletion: %v", err)
	}
}

func TestConversation(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	var ticks atomic.Int64
	clock := func() time.Time { return now.Add(time.Duration(ticks.Add(1)) * time.Second) }
	c, p := client(t, sdk.Options{Clock: clock}, fake.Text("Who is it for?"), write("/docs/prd.md", "v1"), fake.Text("Written."), fake.Text("Two weeks."))
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := newContext(t)
	if err := v.Send(ctx, "Create a PRD"); err != nil {
		t.Fatal(err)
	}
	turn, err := v.Wait(ctx)
	if err != nil || turn.Response != "Who is it for?" || !v.Idle() {
		t.Fatalf("%+v, %v", turn, err)
	}
	if q := v.Questions(); len(q) != 1 || q[0].Source != "text" {
		t.Errorf("questions %+v; want the one in the text", q)
	}
	if err := v.Answer(ctx, "", "For shoppers"); err != nil {
		t.Fatal(err)
	}
	if turn, err = v.Wait(ctx); err != nil || turn.Response != "Written." || turn.User != "For shoppers" {
		t.Fatalf("%+v, %v", turn, err)
	}
	if err := v.Send(ctx, "*help"); err != nil {
		t.Fatal(err)
	}
	if turn, _ = v.Wait(ctx); !strings.Contains(turn.Response, "*create-prd") {
		t.Errorf("help: %q", turn.Response)
	}
	if err := v.Send(ctx, "How long?"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if got := len(p.Requests()[3].Messages); got != 7 {
		t.Errorf("the last turn saw %d messages; want all 7", got)
	}
	out, err := v.End(ctx)
	if err != nil || len(out.Turns) != 4 || len(out.Documents) != 1 || out.Usage.Output == 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if written := out.Turns[1]; written.ID == "" || len(written.Tools) != 1 || written.Tools[0].Name != "write_file" || !written.At.After(now) ||
		written.Took <= 0 || written.Spent <= 0 || written.Usage.Output == 0 {
		t.Errorf("the turn that wrote: %+v", written)
	}
	var spent price.Money
	var took time.Duration
	for _, turn := range out.Turns {
		spent, took = spent+turn.Spent, took+turn.Took
	}
	if out.Costs.Spent != spent || out.Took != took || spent <= out.Turns[1].Spent {
		t.Errorf("%v in %v, the turns %v in %v", out.Costs.Spent, out.Took, spent, took)
	}
	if err := v.Send(ctx, "more"); !errors.Is(err, sdk.ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

func TestBusy(t *testing.T) {
	c, _ := client(t, sdk.Options{}, ask("Which?"), fake.Text("Done."))
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, events := newContext(t), v.Events()
	if err := v.Send(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	next(t, events, sdk.EventQuestion)
	if err := v.Send(ctx, "two"); !errors.Is(err, sdk.ErrBusy) {
		t.Errorf("a message while a question waits: %v", err)
	}
	if _, err := v.End(ctx); !errors.Is(err, sdk.ErrBusy) {
		t.Errorf("the end while a question waits: %v", err)
	}
	if err := v.Answer(ctx, "", "that"); err != nil {
		t.Fatal(err)
	}
	if turn, err := v.Wait(ctx); err != nil || turn.Response != "Done." {
		t.Errorf("%+v, %v", turn, err)
	}
}

// TestKilled: of a conversation whose process died at work, the list, the status and the refusal of a
// message say the same, and a conversation that is at work is not mistaken for one.
func TestKilled(t *testing.T) {
	dir, began, end := project(t), make(chan struct{}), make(chan struct{})
	slow := fake.Text("Late.")
	slow.Before = func(context.Context, provider.Request) error { close(began); <-end; return nil }
	c, _ := client(t, sdk.Options{Project: dir}, slow)
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := newContext(t)
	if err := v.Send(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	<-began
	left := t.TempDir() // what a kill leaves of it
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	status := func(c *sdk.Client) sdk.Status {
		list, err := c.Sessions(ctx)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0].Status
	}
	if got := status(c); got != sdk.Processing {
		t.Errorf("at work, the list says %s", got)
	}
	close(end)
	if _, err := v.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	other, _ := client(t, sdk.Options{Project: left}, fake.Text("Here."))
	again, err := other.Open(ctx, v.ID())
	if err != nil {
		t.Fatal(err)
	}
	if list, opened := status(other), again.Status(); list != sdk.Paused || opened != sdk.Paused {
		t.Errorf("after the kill, the list says %s, the conversation %s; want paused", list, opened)
	}
	err = again.Send(ctx, "two")
	if !errors.Is(err, sdk.ErrPaused) || !errors.Is(err, sdk.ErrBusy) || !strings.Contains(err.Error(), "Resume") {
		t.Errorf("a message is refused with %v", err)
	}
	if err := again.Resume(ctx); err != nil {
		t.Fatal(err)
	}
	if turn, err := again.Wait(ctx); err != nil || turn.Response != "Here." {
		t.Errorf("%+v, %v", turn, err)
	}
}

// TestCancel: a cancelled turn leaves a conversation that goes on.
func TestCancel(t *testing.T) {
	began := make(chan struct{})
	slow := fake.Step{Before: func(ctx context.Context, _ provider.Request) error { close(began); <-ctx.Done(); return ctx.Err() }}
	c, _ := client(t, sdk.Options{}, slow, fake.Text("Here."))
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := newContext(t)
	if err := v.Send(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	<-began
	v.Cancel()
	if _, err := v.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled turn: %v", err)
	}
	if err := v.Send(ctx, "two"); err != nil {
		t.Fatal(err)
	}
	if turn, err := v.Wait(ctx); err != nil || turn.Response != "Here." {
		t.Errorf("%+v, %v", turn, err)
	}
}

// TestCloseGoesOnLater: work that the end of the program interrupts is paused, not lost.
func TestCloseGoesOnLater(t *testing.T) {
	dir, began := project(t), make(chan struct{})
	slow := fake.Step{Before: func(ctx context.Context, _ provider.Request) error { close(began); <-ctx.Done(); return ctx.Err() }}
	c, _ := client(t, sdk.Options{Project: dir}, write("/a.md", "a"), slow)
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Send(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	<-began
	c.Close()
	other, _ := client(t, sdk.Options{Project: dir}, fake.Text("Here."))
	again, err := other.Open(t.Context(), v.ID())
	if err != nil {
		t.Fatal(err)
	}
	if again.Status() != sdk.Paused {
		t.Errorf("status %s; want paused", again.Status())
	}
	if err := again.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if turn, err := again.Wait(newContext(t)); err != nil || turn.Response != "Here." || len(again.Documents()) != 1 {
		t.Errorf("%+v, %v", turn, err)
	}
	if err := v.Send(t.Context(), "stale"); err == nil {
		t.Error("the closed client goes on")
	}
}

func TestStops(t *testing.T) {
	cut := fake.Stop(provider.MaxTokens, "The first half")
	cutTool := fake.Call("write_file", `{"file_path":"/a.md","cont`)
	cutTool.Stop = provider.MaxTokens
	var refused *sdk.RefusalError
	var down = &provider.Error{Status: 529, Type: "overloaded_error", Message: "Overloaded"}
	for name, c := range map[string]struct {
		steps []fake.Step
		text  string
		err   func(error) bool
		calls int
	}{
		"cut once":        {[]fake.Step{cut, fake.Text(" and the second.")}, "The first half\n\n and the second.", nil, 2},
		"cut twice":       {[]fake.Step{cut, cut}, "", is(sdk.ErrTruncated), 2},
		"cut tool":        {[]fake.Step{cutTool, write("/a.md", "a"), fake.Text("ok")}, "ok", nil, 3},
		"pause":           {[]fake.Step{fake.Stop(provider.PauseTurn, "Wait"), fake.Text("There")}, "Wait\n\nThere", nil, 2},
		"refusal":         {[]fake.Step{fake.Stop(provider.Refusal, "No.")}, "", func(err error) bool { return errors.As(err, &refused) && refused.Text == "No." }, 1},
		"full":            {[]fake.Step{fake.Stop(provider.ContextWindow, "")}, "", is(sdk.ErrContextFull), 1},
		"stop sequence":   {[]fake.Step{fake.Stop(provider.StopSequence, "ok")}, "ok", nil, 1},
		"nothing":         {[]fake.Step{fake.Stop(provider.EndTurn, "")}, "", nil, 1},
		"unknown tool":    {[]fake.Step{fake.Call("rm", "{}"), fake.Text("ok")}, "ok", nil, 2},
		"no JSON":         {[]fake.Step{fake.Call("write_file", "{"), fake.Text("ok")}, "ok", nil, 2},
		"question absent": {[]fake.Step{fake.Call("ask_user", "{}"), fake.Text("ok")}, "ok", nil, 2},
		"server":          {[]fake.Step{fake.Fail(down)}, "", func(err error) bool { var e *sdk.ProviderError; return errors.As(err, &e) && e.Status == 529 }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client, p := client(t, sdk.Options{}, c.steps...)
			s, err := client.StartAgent(t.Context(), "pm", "write", sdk.SessionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Run(newContext(t))
			if c.err == nil && err != nil || c.err != nil && !c.err(err) {
				t.Errorf("error %v", err)
			}
			if c.err == nil && r.Text != c.text {
				t.Errorf("text %q; want %q", r.Text, c.text)
			}
			if got := len(p.Requests()); got != c.calls {
				t.Errorf("%d calls; want %d", got, c.calls)
			}
		})
	}
}

func is(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }

// TestRounds: a turn of many calls asks, and ends or goes on by the answer.
func TestRounds(t *testing.T) {
	for answer, calls := range map[string]int{"go on": 4, "stop": 2} {
		c, p := client(t, sdk.Options{}, write("/a", "1"), write("/b", "2"), write("/c", "3"), fake.Text("Done."))
		s, err := c.StartAgent(t.Context(), "pm", "write", sdk.SessionOptions{Rounds: 2})
		if err != nil {
			t.Fatal(err)
		}
		events := s.Events()
		go func() {
			q := next(t, events, sdk.EventQuestion)
			if q.Question.Source != "rounds" {
				t.Errorf("question %+v", q.Question)
			}
			_ = s.Answer(t.Context(), q.Question.ID, answer)
		}()
		_, err = s.Run(newContext(t))
		if (err != nil) != (answer == "stop") || len(p.Requests()) != calls {
			t.Errorf("%s: %v after %d calls; want %d", answer, err, len(p.Requests()), calls)
		}
	}
}

func TestBudget(t *testing.T) {
	big := write("/a", "1")
	big.Usage = provider.Usage{Input: 1, Output: 400_000} // $0.80 of $1
	over := big
	over.Usage.Output = 300_000 // more than is left, and not more than a server may count
	c, p := client(t, sdk.Options{CostLimit: price.Dollar}, big, over, fake.Text("Done."))
	s, err := c.StartAgent(t.Context(), "pm", "write", sdk.SessionOptions{MaxTokens: 400_000})
	if err != nil {
		t.Fatal(err)
	}
	var limit *sdk.CostLimitError
	if _, err = s.Run(newContext(t)); !errors.As(err, &limit) || limit.Spent.Short() != "$1.40" || limit.Limit != price.Dollar {
		t.Errorf("error %v; want the limit with both amounts", err)
	}
	if calls := p.Requests(); len(calls) != 2 || calls[1].MaxTokens >= 100_000 {
		t.Errorf("%d calls, the last of up to %d tokens; want none after the limit, nor an answer of more than is left", len(calls), calls[len(calls)-1].MaxTokens)
	}
	var percents []int
	events := s.Events()
	for len(events) > 0 {
		if e := <-events; e.Type == sdk.EventCostWarning {
			percents = append(percents, e.Cost.Percent)
		}
	}
	if s.Status() != sdk.Paused {
		t.Errorf("status %s; want paused, to go on with more money", s.Status())
	}
	if len(percents) != 2 || percents[0] != 80 || percents[1] != 90 {
		t.Errorf("warnings %v; want 80 and 90", percents)
	}
}

// TestUnknownPrice: with a limit it is refused before the first call.
func TestUnknownPrice(t *testing.T) {
	p := fake.New(fake.Text("Done."))
	c, err := sdk.New(sdk.Options{Provider: p, Project: project(t), CostLimit: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var unknown *sdk.PriceUnknownError
	if _, err := c.StartAgent(t.Context(), "pm", "write", sdk.SessionOptions{}); !errors.As(err, &unknown) {
		t.Errorf("error %v", err)
	}
	if len(p.Requests()) != 0 {
		t.Error("the model was called")
	}
}

// TestSubAgent: an agent that works for another spends its budget, in its files.
func TestSubAgent(t *testing.T) {
	small, big := write("/docs/study.md", "study"), fake.Text("Studied.")
	small.Usage, big.Usage = provider.Usage{Input: 1, Output: 100_000}, provider.Usage{Input: 1, Output: 600_000}
	c, p := client(t, sdk.Options{CostLimit: price.Dollar},
		fake.Call("invoke_agent", map[string]string{"agent_id": "analyst", "command": "Study the market"}), small, big, fake.Text("unreachable"))
	s, err := c.StartAgent(t.Context(), "pm", "write", sdk.SessionOptions{MaxTokens: 400_000})
	if err != nil {
		t.Fatal(err)
	}
	var limit *sdk.CostLimitError
	r, err := s.Run(newContext(t))
	if !errors.As(err, &limit) {
		t.Errorf("error %v; want the limit", err)
	}
	if len(p.Requests()) != 3 || len(r.Documents) != 1 {
		t.Errorf("%d calls, documents %+v", len(p.Requests()), r.Documents)
	}
	if system := p.Requests()[1].System; strings.Contains(system, "ask_user") || strings.Contains(system, "John") {
		t.Errorf("the sub-agent's prompt:\n%s", system)
	}
}

// TestOtherAgentInAConversation: within a turn an agent asks another one, and goes on with the result.
func TestOtherAgentInAConversation(t *testing.T) {
	c, p := client(t, sdk.Options{},
		fake.Call("invoke_agent", map[string]string{"agent_id": "analyst", "command": "Study the market"}), fake.Text("Three rivals."), fake.Text("The analyst knows three rivals."))
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := v.Ask(newContext(t), "Have the market studied")
	if err != nil || turn.Response != "The analyst knows three rivals." || len(p.Requests()) != 3 {
		t.Fatalf("%+v after %d calls, %v", turn, len(p.Requests()), err)
	}
	asked, got := p.Requests()[1], p.Requests()[2].Messages
	if strings.Contains(asked.System, "John") || !strings.Contains(asked.Messages[0].Text(), "Study the market") {
		t.Errorf("the other agent was asked %q in %.200s", asked.Messages[0].Text(), asked.System)
	}
	if data, err := json.Marshal(got[len(got)-1]); err != nil || !strings.Contains(string(data), "Three rivals.") {
		t.Errorf("the result is %s, %v", data, err)
	}
}

// TestOwnAgent: a caller's own agent needs no installation, also when it is opened again.
func TestOwnAgent(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	c, p := client(t, sdk.Options{Project: t.TempDir()}, fake.Text("Here."), fake.Text("Again."))
	own := &sdk.Agent{AgentInfo: sdk.AgentInfo{ID: "mine", Name: "Ida", Title: "Tester"}, Persona: sdk.Persona{Role: "Tests things"}, Commands: []sdk.Command{{Code: "test", Description: "Test it"}}}
	v, err := c.StartConversation(t.Context(), "", sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{Agent: own}})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Send(t.Context(), "*test now"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Wait(newContext(t)); err != nil {
		t.Fatal(err)
	}
	r := p.Requests()[0]
	if !strings.Contains(r.System, "Ida, Tester") || !strings.Contains(r.System, "Tests things") || !strings.Contains(r.Messages[0].Text(), "Test it") {
		t.Errorf("%s\n%s", r.System, r.Messages[0].Text())
	}
	again, err := c.Open(t.Context(), v.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Send(t.Context(), "more"); err != nil {
		t.Fatal(err)
	}
	if turn, err := again.Wait(newContext(t)); err != nil || turn.Response != "Again." || p.Requests()[1].System != r.System {
		t.Errorf("%+v, %v", turn, err)
	}
}

func TestAgents(t *testing.T) {
	c, err := sdk.New(sdk.Options{Project: project(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list, err := c.Agents(t.Context())
	if err != nil || len(list) == 0 {
		t.Fatalf("%+v, %v", list, err)
	}
	a, err := c.Agent(t.Context(), "pm")
	if err != nil || a.Name != "John" || a.Title != "Product Manager" || a.Persona.Role == "" || len(a.Commands) < 3 || len(a.Persona.Activation) != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	var missing *sdk.AgentError
	if _, err := c.Agent(t.Context(), "analist"); !errors.As(err, &missing) || len(missing.Near) == 0 {
		t.Errorf("error %v; want near names", err)
	}
	if _, err := c.StartAgent(t.Context(), "pm", "x", sdk.SessionOptions{}); !errors.Is(err, sdk.ErrNoProvider) {
		t.Errorf("without a provider: %v", err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "own.md"), []byte("# own\n\n```yaml\nagent:\n  name: Olga\n  id: own\npersona:\n  role: Own\n```\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err = c.LoadAgents(t.Context(), folder); err != nil || list[len(list)-1].Source == "" {
		t.Errorf("%+v, %v", list, err)
	}
	if a, err := c.Agent(t.Context(), "own"); err != nil || a.Name != "Olga" {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestState: unknown keys survive, and a file that is not ours is refused and kept.
func TestState(t *testing.T) {
	dir := project(t)
	c, _ := client(t, sdk.Options{Project: dir}, fake.Text("Here."), fake.Text("Again."))
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := newContext(t)
	if err := v.Send(ctx, "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, ".bmad-task", "conversations", v.ID(), "state.json")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	change := func(key string, value any) {
		var all map[string]any
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		all[key] = value
		out, _ := json.Marshal(all)
		if err := os.WriteFile(name, out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	change("future", "kept")
	again, err := c.Open(ctx, v.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Send(ctx, "two"); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if out, _ := os.ReadFile(name); !strings.Contains(string(out), `"future":"kept"`) {
		t.Error("an unknown key did not survive")
	}
	if err := v.Send(ctx, "stale"); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Wait(ctx); !errors.Is(err, sdk.ErrChanged) {
		t.Errorf("a conversation that was continued elsewhere: %v", err)
	}
	for key, value := range map[string]any{"version": 2, "messages": 7, "status": "odd", "id": "other"} {
		change(key, value)
		before, _ := os.ReadFile(name)
		var bad *sdk.StateError
		if _, err := c.Open(ctx, v.ID()); !errors.As(err, &bad) {
			t.Errorf("%s = %v: %v", key, value, err)
		}
		if after, _ := os.ReadFile(name); string(after) != string(before) {
			t.Errorf("%s: the file was changed", key)
		}
	}
	for _, id := range []string{"../x", "", "ABC", "a/b", strings.Repeat("a", 65)} {
		if _, err := c.Open(ctx, id); !errors.Is(err, sdk.ErrNotFound) {
			t.Errorf("id %q: %v", id, err)
		}
	}
}

// TestEventsOfAConversation: the events tell of a turn from its beginning to its end, in order and with what belongs
// to each: the message, the question and its answer, the tools, the costs, the warnings, and the reason of a failure.
func TestEventsOfAConversation(t *testing.T) {
	dear := fake.Text("Done.")
	dear.Usage = provider.Usage{Input: 1, Output: 300_000} // $0.60 of $1
	down := &provider.Error{Status: 529, Type: "overloaded_error", Message: "Overloaded"}
	c, _ := client(t, sdk.Options{}, ask("Who uses it?"), write("/a.md", "a"), dear, fake.Fail(down))
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{CostLimit: price.Dollar, MaxTokens: 400_000}})
	if err != nil {
		t.Fatal(err)
	}
	live := v.Events()
	if err := v.Send(t.Context(), "Write it"); err != nil {
		t.Fatal(err)
	}
	var got []sdk.Event
	until := func(kind sdk.EventType) {
		t.Helper()
		for {
			e := next(t, live, "")
			if e.Type == sdk.EventTextDelta {
				continue
			}
			if got = append(got, e); e.Type == kind {
				return
			}
		}
	}
	until(sdk.EventQuestion)
	if err := v.Answer(t.Context(), got[len(got)-1].Question.ID, "shoppers"); err != nil {
		t.Fatal(err)
	}
	until(sdk.EventIdle)
	if err := v.Send(t.Context(), "More"); err != nil {
		t.Fatal(err)
	}
	until(sdk.EventIdle)
	var told []string
	spent := int64(0)
	for n, e := range got {
		if e.Seq != got[0].Seq+int64(n) {
			t.Errorf("event %d has the number %d", n, e.Seq)
		}
		line := fmt.Sprintf("%d %s", e.Turn, e.Type)
		switch e.Type {
		case sdk.EventQuestion:
			line += " " + e.Question.Question
		case sdk.EventAnswered:
			line += " " + e.Question.Question + " " + e.Text
		case sdk.EventToolStarted, sdk.EventToolFinished:
			line += " " + e.Tool.Name
		case sdk.EventCost:
			if e.Cost.Call == nil || *e.Cost.Call == 0 || e.Cost.Spent != spent+*e.Cost.Call {
				t.Errorf("%+v after %d", e.Cost, spent)
			}
			spent = e.Cost.Spent
		case sdk.EventCostWarning:
			line += fmt.Sprintf(" %d", e.Cost.Percent)
		default:
			line = strings.TrimSpace(line + " " + e.Text)
		}
		told = append(told, line)
	}
	want := []string{
		"0 started fake-1", "1 turn_started Write it", "1 cost", "1 question Who uses it?", "1 answered Who uses it? shoppers", "1 cost",
		"1 tool_started write_file", "1 tool_finished write_file", "1 cost", "1 cost_warning 50", "1 turn_completed Done.", "1 idle",
		"2 turn_started More", "2 failed the model's server answered 529 overloaded_error: Overloaded", "2 idle",
	}
	if !slices.Equal(told, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

// saves counts the states that are saved.
type saves struct {
	sdk.Store
	n atomic.Int64
}

func (s *saves) Save(ctx context.Context, id string, state []byte) error {
	s.n.Add(1)
	return s.Store.Save(ctx, id, state)
}

// TestSaveTurnsOnly: a conversation is saved after each round of tools, or only at the end of a turn.
func TestSaveTurnsOnly(t *testing.T) {
	count := func(o sdk.ConversationOptions) int64 {
		store := &saves{Store: sdk.NewMemStore()}
		c, _ := client(t, sdk.Options{Store: store}, write("/a", "1"), write("/b", "2"), write("/c", "3"), fake.Text("Done."))
		v, err := c.StartConversation(t.Context(), "pm", o)
		if err == nil {
			err = v.Send(t.Context(), "write")
		}
		if err == nil {
			_, err = v.Wait(newContext(t))
		}
		if err != nil {
			t.Fatal(err)
		}
		return store.n.Load()
	}
	every, turns := count(sdk.ConversationOptions{}), count(sdk.ConversationOptions{SaveTurnsOnly: true})
	if turns < 1 || every-turns != 3 {
		t.Errorf("saved %d times, and %d without the three rounds of tools", every, turns)
	}
}

// TestIdleTakesMessages: who sees that the agent is idle can speak to it.
func TestIdleTakesMessages(t *testing.T) {
	var steps []fake.Step
	for range 20 {
		steps = append(steps, fake.Text("Yes."))
	}
	c, _ := client(t, sdk.Options{}, steps...)
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events := v.Events()
	for range 20 {
		if err := v.Send(t.Context(), "more"); err != nil {
			t.Fatal(err)
		}
		next(t, events, sdk.EventIdle)
	}
}

// TestManyAtOnce: whatever callers do at the same time, the conversation stays one that a server
// accepts.
func TestManyAtOnce(t *testing.T) {
	var steps []fake.Step
	for range 400 {
		steps = append(steps, ask("Which?"), fake.Text("Done."))
	}
	c, p := client(t, sdk.Options{}, steps...)
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 64 {
		wg.Go(func() {
			for range 5 {
				switch n % 6 {
				case 0:
					_ = v.Send(t.Context(), "go")
				case 1:
					_ = v.Answer(t.Context(), "", "that one")
				case 2:
					v.Cancel()
				case 3:
					_, _ = v.History(), v.Documents()
				case 4:
					_ = v.Save(t.Context())
				case 5:
					_, _, stop, err := v.Follow(t.Context(), 0)
					if err == nil {
						stop()
					}
				}
			}
		})
	}
	wg.Wait()
	v.Cancel()
	if _, err := v.Wait(newContext(t)); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, r := range p.Requests() {
		if err := fake.Check(r.Messages); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Open(t.Context(), v.ID()); err != nil {
		t.Error(err)
	}
}

// TestSlowReader: it misses events, is told how many, and holds nobody up.
func TestSlowReader(t *testing.T) {
	words := strings.Repeat("word ", 2000)
	c, _ := client(t, sdk.Options{}, fake.Text(words), fake.Text("short"))
	v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events := v.Events()
	for _, text := range []string{"one", "two"} {
		if err := v.Send(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Wait(newContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	got, missed := 0, 0
	for len(events) > 0 {
		e := <-events
		got, missed = got+1, missed+e.Dropped
	}
	if missed < 1000 || missed+got < 2000 {
		t.Errorf("%d events were read and %d are reported as missed", got, missed)
	}
	past, _, stop, err := v.Follow(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	_ = past
}

// TestMoreMoney: a session that has spent its limit goes on with a higher one.
func TestMoreMoney(t *testing.T) {
	dir := project(t)
	big := write("/a", "1")
	big.Usage = provider.Usage{Input: 1, Output: 600_000}
	c, _ := client(t, sdk.Options{Project: dir, CostLimit: price.Dollar}, big)
	s, err := c.StartAgent(t.Context(), "pm", "write", sdk.SessionOptions{MaxTokens: 400_000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(newContext(t)); err == nil {
		t.Fatal("the limit did not hold")
	}
	other, p := client(t, sdk.Options{Project: dir}, fake.Text("Done."))
	v, err := other.Open(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	var spent *sdk.CostLimitError
	if _, err := v.Wait(newContext(t)); !errors.As(err, &spent) || len(p.Requests()) != 0 {
		t.Fatalf("without more money: %v after %d calls; want the limit and no call", err, len(p.Requests()))
	}
	v, err = other.OpenWith(t.Context(), s.ID(), sdk.OpenOptions{CostLeft: price.Dollar})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if turn, err := v.Wait(newContext(t)); err != nil || turn.Response != "Done." || v.Costs().Limit.Short() != "$2.20" {
		t.Errorf("%+v, %v, %+v", turn, err, v.Costs())
	}
}

// TestServerDown: a session whose server does not answer goes on later.
func TestServerDown(t *testing.T) {
	c, _ := client(t, sdk.Options{}, fake.Fail(&provider.Error{Message: "connection refused", Retryable: true}), fake.Text("Done."))
	s, err := c.StartAgent(t.Context(), "pm", "write", sdk.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(newContext(t))
	var down *sdk.ProviderError
	if !errors.As(err, &down) || r.Status != sdk.Paused {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = s.Resume(newContext(t)); err != nil || r.Text != "Done." {
		t.Errorf("%+v, %v", r, err)
	}
}

func BenchmarkStart(b *testing.B) {
	c, _ := client(b, sdk.Options{})
	for b.Loop() {
		if _, err := c.StartAgent(b.Context(), "pm", "*create-prd", sdk.SessionOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestStartsSoon: an agent starts within a twentieth of the tenth of a second that was asked for.
func TestStartsSoon(t *testing.T) {
	scratch.NeedsTime(t, "it compares durations")
	c, _ := client(t, sdk.Options{})
	scratch.Within(t, "the start of an agent", 5, func() {
		if _, err := c.StartAgent(t.Context(), "pm", "*create-prd", sdk.SessionOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}

// talks makes a number of conversations, each with a document of 20 kB, and returns how much memory each takes.
func talks(t testing.TB, many int) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	dir := project(t)
	var all []*sdk.Conversation
	for range many {
		c, _ := client(t, sdk.Options{Project: dir}, write("/docs/prd.md", strings.Repeat("word ", 4000)), fake.Text("Done."))
		v, err := c.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
		if err == nil {
			err = v.Send(t.Context(), "write")
		}
		if err == nil {
			_, err = v.Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(all)
	return (float64(after.HeapInuse) - float64(before.HeapInuse)) / float64(many)
}

// TestConversationsAreSmall: a conversation with a document takes a fifth of the 2.5 MB that were asked for, at most.
func TestConversationsAreSmall(t *testing.T) {
	each := talks(t, 50)
	if t.Logf("%.0f kB each", each/1e3); each > 500e3 {
		t.Errorf("a conversation takes %.0f kB, want 500 at most", each/1e3)
	}
}

// BenchmarkConversations reports the memory of 100 conversations.
func BenchmarkConversations(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(talks(b, 100)*100/1e6, "MB/100")
	}
}
