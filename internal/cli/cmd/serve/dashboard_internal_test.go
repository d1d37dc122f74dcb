package serve

import (
	"io"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/agents"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// TestDashboardServer: no visitor holds a connection by sending or reading nothing.
func TestDashboardServer(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, home)
	}
	t.Chdir(home)
	a := app.New(terminal.New(strings.NewReader(""), io.Discard, io.Discard))
	if err := a.SetUp(); err != nil {
		t.Fatal(err)
	}
	shown, err := openDashboard(t.Context(), Server{Term: a.Terminal, Tasks: a.Tasks, Databases: a.Databases}, "127.0.0.1:0", false, nil, a.Parts())
	if err != nil {
		t.Fatal(err)
	}
	defer shown.closeListeners() //nolint:errcheck // nothing depends on it
	defer shown.remove()
	if s := shown.server; s.ReadHeaderTimeout == 0 || s.ConnState == nil || s.WriteTimeout == 0 || s.IdleTimeout == 0 {
		t.Errorf("a connection has no end: %+v", s)
	}
}

// TestServerHasTheNamedModel: the server's assistants can hand tasks to the model of the settings, if
// they name one.
func TestServerHasTheNamedModel(t *testing.T) {
	a := app.New(terminal.New(strings.NewReader(""), io.Discard, io.Discard))
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := Server{Term: a.Terminal, Tasks: a.Tasks, Databases: a.Databases, Model: agents.Delegates(a.Terminal, a.Tasks)}
	for model, want := range map[string]bool{"": false, "claude-haiku-5-5": true} {
		a.Tasks.Config.Model.Name = model
		if got := serverOptions(s, &app.Parts{}, mcpserver.Places{}).Model != nil; got != want {
			t.Errorf("with the model %q: %t", model, got)
		}
	}
}
