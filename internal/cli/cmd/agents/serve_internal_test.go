package agents

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/run"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// agentsOf runs the command with a scripted model. Its output goes to said.
func agentsOf(ctx context.Context, t *testing.T, said io.Writer, args ...string) error {
	t.Helper()
	a := app.New(&terminal.Terminal{Err: said})
	if err := a.SetUp(); err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	cmd := serveCommand(&clients{term: a.Terminal, tasks: a.Tasks, program: a, modelOptions: modelOptions{limit: "1"}}, func() (*sdk.Client, error) {
		return sdk.New(sdk.Options{Provider: fake.New(), Prices: fake.Prices(), Project: t.TempDir()})
	}, func(ctx context.Context) *run.Served { return run.Serve(ctx, a.Terminal, a.Tasks) })
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(ctx)
}

// TestAgentServeRefusals: a server that would let in more than its person means does not start.
func TestAgentServeRefusals(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	short := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(short, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		nil,
		{"--no-token", "--token-file", short},
		{"--no-token", "--http", "0.0.0.0:0"},
		{"--no-token", "--http", ":0"},
		{"--no-token", "--http", "here"},
		{"--token-file", short},
		{"--no-token", "--http", "127.0.0.1:0", "--allow-origin", "*"},
	} {
		err := agentsOf(t.Context(), t, io.Discard, args...)
		if !fault.Is(err, fault.InvalidArgument) || fault.From(err).Hint == "" {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestAgentServe: the server answers those with the token, until it is ended.
func TestAgentServe(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	read, said := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- agentsOf(ctx, t, said, "--http", "127.0.0.1:0", "--token-file", token) }()
	line := make([]byte, 200)
	n, err := read.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(line[:n]), "http://")
	address, _, _ := strings.Cut(rest, ". ")
	for bearer, want := range map[string]int{"0123456789abcdef": http.StatusOK, "0123456789abcdeg": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/conversations", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bearer)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("with the token %q: %d", bearer, response.StatusCode)
		}
	}
	end()
	if err := <-ended; err != nil {
		t.Errorf("at the end: %v", err)
	}
}
