package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// TestMeaning: with a server of the person's, notes are found that share no word with the query;
// without its answer the words count, and the reply says so; without the setting nothing is sent.
func TestMeaning(t *testing.T) {
	var asked atomic.Int64
	var sent atomic.Value
	sent.Store("")
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var in struct{ Input []string }
		if json.NewDecoder(r.Body).Decode(&in) != nil || r.URL.Path != "/v1/embeddings" || status != http.StatusOK {
			w.WriteHeader(max(status, http.StatusBadRequest))
			return
		}
		sent.Store(sent.Load().(string) + strings.Join(in.Input, "\n"))
		data := []map[string]any{}
		for i, text := range in.Input {
			v := []float32{0.1, 1}
			if strings.Contains(text, "junk") || strings.Contains(text, "DKIM") {
				v = []float32{1, 0.1}
			}
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(server.Close)

	m := memory.New(memory.Options{Now: time.Now, Meaning: newMeaning()})
	folder := t.TempDir()
	recall := func(environ ...string) memory.Recalled {
		t.Helper()
		p, err := project.New(project.Options{
			Backend: storetest.At, Settings: config.Source{Environ: environ},
		}).Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		book := m.Of(p)
		for _, text := range []string{"Mails to new customers need DKIM and SPF", "The page for new customers has three steps"} {
			if _, err := book.Remember(t.Context(), notes.Note{Type: notes.Decisions, Agent: "dev", Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		out, err := book.Recall(t.Context(), memory.Query{Text: "what we send is treated as junk by Gmail customers"})
		if err != nil || len(out.Results) == 0 {
			t.Fatalf("%+v, %v", out, err)
		}
		return out
	}
	recall()
	if n := asked.Load(); n != 0 {
		t.Fatalf("%d requests without the setting", n)
	}
	address := "BMAD_MEMORY_EMBEDDINGS=" + server.URL + "/v1"
	if out := recall(address + " words"); !strings.Contains(out.Results[0].Text, "DKIM") || out.NothingClose || out.Degraded != "" {
		t.Errorf("by meaning: %+v", out)
	}
	if text := sent.Load().(string); !strings.Contains(text, "three steps") {
		t.Errorf("sent: %s", text)
	}
	status = http.StatusUnauthorized
	if out := recall(address + " words"); !strings.Contains(out.Degraded, "found by words only: "+strings.TrimPrefix(server.URL, "http://")+" answers with status 401") || len(out.Results) != 2 {
		t.Errorf("without an answer: %+v", out)
	}
	if out := recall(address); !strings.Contains(out.Degraded, "memory_embeddings names no model") {
		t.Errorf("without a model: %+v", out)
	}
}
