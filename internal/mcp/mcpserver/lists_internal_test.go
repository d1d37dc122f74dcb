package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// TestWhatWaitsIsListedFirst: a resource that waits for the person is before the others, whatever
// its name, on the first page; the pages together have each once.
func TestWhatWaitsIsListedFirst(t *testing.T) {
	most := 1.0
	long := make([]byte, maxList/3)
	for i := range long {
		long[i] = 'x'
	}
	all := []mcp.Resource{
		{Name: "clock", Description: string(long)}, {Name: "bell", Description: string(long)}, {Name: "door", Description: string(long)},
		{Name: "zoo", Annotated: mcp.Annotated{Annotations: &mcp.Annotations{Priority: &most}}},
		{Name: "alarm", Annotated: mcp.Annotated{Annotations: &mcp.Annotations{LastModified: "2026-01-02T03:04:05Z"}}},
	}
	var got []string
	pages := 0
	for cursor := mcp.Cursor(""); pages == 0 || cursor != ""; pages++ {
		var page []mcp.Resource
		page, cursor = pageOf(slices.Clone(all), cursor, resourceOrder)
		for _, r := range page {
			got = append(got, r.Name)
		}
	}
	if want := []string{"zoo", "alarm", "bell", "clock", "door"}; !slices.Equal(got, want) || pages != 2 {
		t.Errorf("got %v on %d pages, want %v on 2", got, pages, want)
	}
}

// TestListsOfToolsHaveTheSameBytes: the answers to requests for the tools, the first and those from the list that is
// kept, have the bytes that the library writes; clients of each kind have a list of their own.
func TestListsOfToolsHaveTheSameBytes(t *testing.T) {
	s := New(engine.New(engine.Options{Projects: project.New(project.Options{OpenDir: durable.OpenDir, Backend: storetest.At})}),
		Options{Version: "1", Places: Places{Remote: true}})
	h := s.Handler(HTTPOptions{MaxBody: 1 << 20, Idle: time.Minute, Now: time.Now})
	defer h.Close(t.Context())
	lists := map[string]bool{}
	for _, can := range []string{`{}`, `{"extensions":{"` + appsExtension + `":{"mimeTypes":["` + reviewAppMIME + `"]}}}`} {
		message := `{"jsonrpc":"2.0","id":"\"tools\":[]","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":` + can + `}}}`
		want, err := json.Marshal(s.wire.MCP.HandleMessage(context.Background(), json.RawMessage(message))) // without a way to edit the answer
		if err != nil || !bytes.Contains(want, []byte(TaskTool)) {
			t.Fatalf("%s, %v", want, err)
		}
		lists[string(want)] = true
		for range 3 {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1"+Endpoint, strings.NewReader(message))
			for name, value := range map[string]string{
				"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
				mcp.HeaderProtocolVersion: "2026-07-28", mcp.HeaderMethod: "tools/list",
			} {
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got, err := io.ReadAll(w.Body); err != nil || string(bytes.TrimSpace(got)) != string(want) {
				t.Fatalf("got %s, %v\nwant %s", got, err, want)
			}
		}
	}
	if len(lists) != 2 {
		t.Errorf("clients that show apps and others have %d lists between them", len(lists))
	}
}
