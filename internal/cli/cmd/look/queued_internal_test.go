package look

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
)

// TestSortQueued: of the runs at work, the queued ones are no work for the assistant; the ones that stand still have
// a command, and a name from the database cannot add another.
func TestSortQueued(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, task     string
		entry          *queue.Entry
		state, command string
		workers, rest  int
	}{
		{"not queued", "a", nil, "", "", 0, 1},
		{"ready", "a", &queue.Entry{State: queue.Ready}, "", "", 1, 0},
		{"with a worker", "a", &queue.Entry{State: queue.Working}, "", "", 1, 0},
		{"lost", "a", &queue.Entry{State: queue.Working, Lost: true}, "lost", "bmad-mcp queue show a", 0, 0},
		{"failed", "a", &queue.Entry{State: queue.Failed}, "failed", "bmad-mcp queue retry a", 0, 0},
		{"spent", "a", &queue.Entry{State: queue.Spent}, "spent", "bmad-mcp queue retry a --budget USD", 0, 0},
		{"cancelled", "a", &queue.Entry{State: queue.Cancelled}, "cancelled", "bmad-mcp queue retry a", 0, 0},
		{"stopped without a gate", "a", &queue.Entry{State: queue.Waiting}, "waiting", "bmad-mcp queue retry a", 0, 0},
		{"done", "a", &queue.Entry{State: queue.Done}, "", "", 0, 1},
		{"in a state of others", "a", &queue.Entry{State: "x"}, "", "", 0, 1},
		{"with a hostile name", "a; rm -rf /", &queue.Entry{State: queue.Failed}, "failed", "bmad-mcp queue retry 'a; rm -rf /'", 0, 0},
	} {
		o := &overview{working: []workingRun{{"id", tt.task, "/p/shop"}}}
		entries := []queue.Entry{{SessionID: "another", State: queue.Failed}}
		if tt.entry != nil {
			tt.entry.SessionID, tt.entry.Why = "id", "because"
			entries = append(entries, *tt.entry)
		}
		o.sortQueued(entries)
		if len(o.workers) != tt.workers || len(o.working) != tt.rest || (len(o.Queued) == 1) != (tt.state != "") {
			t.Errorf("%s: %+v", tt.name, o)
			continue
		}
		if tt.state == "" {
			continue
		}
		r := o.Queued[0]
		if r.State != tt.state || r.Command != tt.command || r.Why != "because" || r.Project != "/p/shop" {
			t.Errorf("%s: %+v", tt.name, r)
		}
		if words := queuedWords[r.State].In(lang.English); words == "" || strings.Contains(words, "%") {
			t.Errorf("%s is called %q", r.State, words)
		}
	}
}
