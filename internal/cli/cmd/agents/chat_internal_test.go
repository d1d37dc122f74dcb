package agents

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

// agentApp is a program in a project with the method, whose model is a server of the test.
func agentApp(t *testing.T, out io.Writer, s *sdktest.Server, environ ...string) *app.App {
	t.Helper()
	top := t.TempDir()
	for name, value := range map[string]string{
		"HOME": top, "XDG_CONFIG_HOME": top + "/config", "XDG_STATE_HOME": top + "/state", "XDG_CACHE_HOME": top + "/cache", "CLAUDE_PROJECT_DIR": "",
		"ANTHROPIC_API_KEY": "sk-ant-test", "ANTHROPIC_BASE_URL": s.URL, "BMAD_LANGUAGE": "en",
	} {
		t.Setenv(name, value)
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	project := filepath.Join(top, "project")
	layout, err := txtar.ParseFile(filepath.Join("..", "..", "..", "method", "catalog", "testdata", "layouts", "v4.txtar"))
	if err == nil {
		err = os.Mkdir(project, 0o700)
	}
	if err == nil {
		err = txtar.Write(layout, project)
	}
	a := app.New(&terminal.Terminal{Out: out, Err: out, Raw: out, Lang: lang.English})
	a.Tasks.Cwd = project
	if err == nil {
		err = a.SetUp()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

func newDelegate(a *app.App) mcpserver.Model { return Delegates(a.Terminal, a.Tasks)() }

// TestDelegatedToTheNamedModel: the person's model answers if they have named one, within their
// limit; a key alone names none.
func TestDelegatedToTheNamedModel(t *testing.T) {
	s := sdktest.New(t, sdktest.Text("an answer"))
	if m := newDelegate(agentApp(t, io.Discard, s)); m != nil {
		t.Fatal("a key alone has named a model")
	}
	a := agentApp(t, io.Discard, s, "BMAD_MODEL=claude-haiku-5-5", "BMAD_COST_LIMIT=0.5")
	m := newDelegate(a)
	if m == nil {
		t.Fatal("the server has no model")
	}
	if n := len(s.Requests()); n != 0 {
		t.Fatalf("%d requests before the first task", n)
	}
	text, model, err := m.Complete(t.Context(), "You are Ann.", "Do it.", 500)
	if err != nil || text != "an answer" || model != "claude-haiku-5-5" {
		t.Fatalf("%q, %q, %v", text, model, err)
	}
	r := s.Requests()[0]
	if r.System != "You are Ann." || r.MaxTokens != 500 || r.Messages[0].Text() != "Do it." {
		t.Errorf("the request is %+v", r.Request)
	}
	poor := newDelegate(agentApp(t, io.Discard, s, "BMAD_MODEL=claude-haiku-5-5", "BMAD_COST_LIMIT=0.000001"))
	if _, _, err := poor.Complete(t.Context(), "", strings.Repeat("long ", 1000), 500); err == nil || len(s.Requests()) != 1 {
		t.Errorf("a task beyond the limit: %v, %d requests", err, len(s.Requests()))
	}
	retired := newDelegate(agentApp(t, io.Discard, s, "BMAD_MODEL=claude-opus-4-1"))
	if _, _, err := retired.Complete(t.Context(), "", "x", 500); err == nil || !strings.Contains(err.Error(), "retired") {
		t.Errorf("a retired model: %v", err)
	}
}

// TestInterruptedChat: Ctrl+C once cancels the turn, and the next message is answered; twice ends.
func TestInterruptedChat(t *testing.T) {
	s := sdktest.New(t, sdktest.Text("This goes on and on").With(sdktest.Silent), sdktest.Text("Here again."), sdktest.Text("And silent").With(sdktest.Silent))
	var out bytes.Buffer
	a := agentApp(t, &out, s)
	in, typing := io.Pipe()
	a.Terminal.In = in
	cs := &clients{term: a.Terminal, tasks: a.Tasks, program: a}
	client, err := cs.workingClient()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conversation, err := client.StartConversation(t.Context(), "pm", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events, signals := conversation.Events(), make(chan os.Signal, 2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	until := func(kind sdk.EventType) {
		for {
			select {
			case e := <-events:
				if e.Type == kind {
					return
				}
			case <-ctx.Done():
				t.Errorf("no event %s", kind)
				return
			}
		}
	}
	c := newChat(cs, conversation, signals, cancel)
	c.person = true
	ended := make(chan error, 1)
	go func() { ended <- c.takeLines(ctx) }()
	say := func(line string) {
		if _, err := io.WriteString(typing, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	say("first")
	until(sdk.EventTextDelta)
	signals <- os.Interrupt
	until(sdk.EventIdle)
	say("second")
	until(sdk.EventTurnCompleted)
	say("third")
	until(sdk.EventTextDelta)
	signals <- os.Interrupt
	signals <- os.Interrupt
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("it ended with %v", err)
	}
	if turns := conversation.History(); len(turns) < 2 || turns[0].Problem == "" || turns[1].Response != "Here again." {
		t.Errorf("turns: %+v", turns)
	}
	if !strings.Contains(out.String(), "conversation "+conversation.ID()) {
		t.Errorf("it does not say where the conversation is:\n%s", out.String())
	}
}
