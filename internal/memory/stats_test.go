package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

func noteLine(id, text, tag, at string) string {
	return fmt.Sprintf(`{"v":1,"id":%q,"type":"failures","agent":"dev","text":%q,"tags":[%q],"project":"p","created_at":%q,"updated_at":%q}`+"\n", id, text, tag, at, at)
}

func deadLine(id, at string) string {
	return fmt.Sprintf(`{"v":1,"id":%q,"type":"failures","deleted_at":%q}`+"\n", id, at)
}

// TestStats counts the notes of a file with lines of each kind. Lines of expired and deleted notes stay in it until a
// person removes them, which brings nothing back.
func TestStats(t *testing.T) {
	t.Parallel()
	const day1, day2, day3 = "2026-06-01T00:00:00.000Z", "2026-06-02T00:00:00.000Z", "2026-06-03T00:00:00.000Z"
	kept := noteLine("kept", "kept", "x", day1) + noteLine("twice", "twice", "new", day2) + noteLine("restored", "restored", "", day3) + deadLine("young", day1)
	spent := noteLine("twice", "twice", "old", day1) + noteLine("expired", "expired", "", day1) + noteLine("expired", "expired", "expires:2026-06-09", day2) +
		noteLine("deleted", "deleted", "", day1) + deadLine("deleted", day2) + deadLine("restored", day2)
	path := folder(t, "p")
	now := func() time.Time { return time.Date(2026, 6, 10, 0, 0, 0, 0, time.UTC) }
	s := openWith(t, path, memory.New(memory.Options{Now: now}), config.Default())
	for _, file := range []string{kept + spent + "not a note\n", kept} {
		s.write(t, "failures.jsonl", file)
		got, err := s.Stats(ctx)
		if want := (memory.Stats{Notes: 3, Files: 1}); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		list := texts(s.list(t))
		for _, want := range []string{"kept[x]", "twice[new]", "restored[]"} {
			if !strings.Contains(list, want) {
				t.Errorf("%s is not in %s", want, list)
			}
		}
		if s.read(t, "failures.jsonl") != file {
			t.Error("the file was changed")
		}
	}
}
