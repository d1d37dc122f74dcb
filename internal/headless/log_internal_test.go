package headless

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
)

// TestLog checks which events are written at once, and that those which wait are bounded.
func TestLog(t *testing.T) {
	t.Parallel()
	dir, err := durable.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	f := filesOf(dir, "11111111-2222-4333-8444-555555555555")
	if _, err := dir.MkdirAll(f.folder); err != nil {
		t.Fatal(err)
	}
	written := func() int {
		data, err := dir.ReadFile(f.eventsName(), 1<<20)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count(string(data), "\n")
	}
	big := strings.Repeat("x", maxPending/2)
	for _, step := range []struct {
		event Event
		want  int // lines that are written
	}{
		{Event{Type: RunStarted, Seq: 1}, 1}, {Event{Type: EngineEvent, Seq: 2}, 1}, {Event{Type: Submitted, Seq: 3}, 3}, {Event{Type: StageStarted, Seq: 4}, 4}, {Event{Type: Stopped, Seq: 5}, 5},
		{Event{Type: EngineEvent, Seq: 6, Text: big}, 5}, {Event{Type: EngineEvent, Seq: 7, Text: big}, 7}, {Event{Type: EngineEvent, Seq: 8}, 7},
		{Event{Type: EngineEvent, Seq: 9, Activity: hostcli.UsesTool}, 9}, {Event{Type: EngineEvent, Seq: 10, Activity: hostcli.Says}, 9},
	} {
		if err := f.logEvent(step.event); err != nil || written() != step.want {
			t.Errorf("after event %d: %d lines are written (%v), want %d", step.event.Seq, written(), err, step.want)
		}
	}
	if events, err := f.readEvents(); err != nil || len(events) != 9 || events[8].Seq != 9 {
		t.Errorf("%d events (%v)", len(events), err)
	}
}
