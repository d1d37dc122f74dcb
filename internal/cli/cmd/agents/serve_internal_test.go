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
	"github.com/bmad-mcp/bmad-mcp/sdk/sdktest"
)

// agentsOf runs the command. Its output goes to said.
func agentsOf(ctx context.Context, t *testing.T, said io.Writer, args ...string) error {
	t.Helper()
	a := agentApp(t, said, sdktest.New(t))
	cmd := serveCommand(&clients{term: a.Terminal, tasks: a.Tasks, program: a, modelOptions: modelOptions{limit: "1"}})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(ctx)
}

// TestAgentServeRefusals: a server that would let in more than its person means does not start.
func TestAgentServeRefusals(t *testing.T) {
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
		{"--no-token", "--http", "127.0.0.1:0", "--public-url", "agents.acme"},
		{"--no-token", "--http", "127.0.0.1:0", "--public-url", "https://agents.acme/a2a"},
	} {
		err := agentsOf(t.Context(), t, io.Discard, args...)
		if !fault.Is(err, fault.InvalidArgument) || fault.From(err).Hint == "" {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestAgentServe: the server answers those with the token, until it is ended.
func TestAgentServe(t *testing.T) {
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
	for bearer, want := range map[string]int{"0123456789abcdef": http.StatusNotFound, "0123456789abcdeg": http.StatusUnauthorized} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/conversations/nobody", nil)
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
