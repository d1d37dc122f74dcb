package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// faulty is a store with a bug: it panics when it is told to, after having done its work.
type faulty struct {
	store.Backend
	at *string
}

func (f faulty) bug(at string) {
	if *f.at == at {
		var none map[string]int
		none[at]++ //nolint:staticcheck // it is to panic
	}
}

func (f faulty) Get(ctx context.Context, id string) (*workflow.Session, error) {
	s, err := f.Backend.Get(ctx, id)
	f.bug("get")
	return s, err
}

func (f faulty) All(ctx context.Context) (store.Listing, error) {
	all, err := f.Backend.All(ctx)
	f.bug("list")
	return all, err
}

func (f faulty) Latest(ctx context.Context, n int) (store.Listing, error) {
	all, err := f.Backend.Latest(ctx, n)
	f.bug("list")
	return all, err
}

func (f faulty) Update(ctx context.Context, id string, change store.Change) (*workflow.Session, error) {
	s, err := f.Backend.Update(ctx, id, change)
	f.bug("update")
	return s, err
}

// TestPanicIsNoFullDisk plants a nil map in the store, before and after the commit.
func TestPanicIsNoFullDisk(t *testing.T) {
	at, folder := "", t.TempDir()
	var log bytes.Buffer
	e := engine.New(engine.Options{Now: time.Now, Projects: project.New(project.Options{
		OpenDir: durable.OpenDir, Settings: config.Source{},
		Backend: func(place store.Place) (store.Backend, error) { return faulty{storetest.Files(place.Dir), &at}, nil },
	})})
	s := New(e, Options{Version: "test", Log: slog.New(slog.NewTextHandler(&log, nil))})
	defer s.endWaiting()
	call := func(message string) string {
		answer, err := json.Marshal(s.wire.MCP.HandleMessage(t.Context(), json.RawMessage(message)))
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	tool := func(arguments string) string {
		return call(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bmad-task","arguments":` + arguments + `}}`)
	}
	if got := tool(`{"action":"start","objective":"plant","cwd":"` + folder + `"}`); !strings.Contains(got, `po/generating`) && !strings.Contains(got, `generating`) {
		t.Fatal(got)
	}
	refused := func(what, got string) {
		t.Helper()
		for _, want := range []string{"internal", "assignment to entry in nil map", "this is a bug in bmad-mcp", "status"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q: %s", what, want, got)
			}
		}
		for _, never := range []string{"nothing was changed", "free space", `\"code\":\"storage\"`} {
			if strings.Contains(got, never) {
				t.Errorf("%s says %q: %s", what, never, got)
			}
		}
		if !strings.Contains(log.String(), "faulty.bug") || !strings.Contains(log.String(), "goroutine") {
			t.Errorf("%s: the log has no stack: %s", what, log.String())
		}
		log.Reset()
	}

	at = "get"
	got := tool(`{"action":"status","session_id":"plant","cwd":"` + folder + `"}`)
	refused("a tool", got)
	if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `\"code\":\"internal\"`) {
		t.Errorf("got %s", got)
	}
	at = "update"
	refused("a tool after the commit", tool(`{"action":"submit","stage":"po","claude_result":"Quality Score: 95","session_id":"plant","cwd":"`+folder+`"}`))
	at = "list"
	refused("a resource", call(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"`+sessionsURI+`?cwd=`+url.PathEscape(folder)+`"}}`))
	refused("a prompt", call(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"bmad-status","arguments":{"cwd":"`+folder+`"}}}`))
	if got := call(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"bmad-status"},"argument":{"name":"task","value":"p"},"context":{"arguments":{"cwd":"` + folder + `"}}}}`); !strings.Contains(got, `"values"`) || !strings.Contains(log.String(), "faulty.bug") {
		t.Errorf("a completion: %s, %s", got, log.String())
	}
	at = ""
	if got := tool(`{"action":"status","session_id":"plant","cwd":"` + folder + `"}`); !strings.Contains(got, "awaiting_confirmation") {
		t.Errorf("the step that was taken is not there: %s", got)
	}
}
