package memory_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

func noteLine(id, text, tag, at string) string {
	return fmt.Sprintf(`{"v":1,"id":%q,"type":"failures","agent":"dev","text":%q,"tags":[%q],"project":"p","created_at":%q,"updated_at":%q}`+"\n", id, text, tag, at, at)
}

func deadLine(id, at string) string {
	return fmt.Sprintf(`{"v":1,"id":%q,"type":"failures","deleted_at":%q}`+"\n", id, at)
}

const day1, day2, day3, old = "2026-06-01T00:00:00.000Z", "2026-06-02T00:00:00.000Z", "2026-06-03T00:00:00.000Z", "2026-01-01T00:00:00.000Z"

// collected has each kind of line for gc, on 2026-06-10.
var collected = strings.Join([]string{
	noteLine("kept", "kept", "x", day1),
	noteLine("twice", "twice", "old", day1), noteLine("twice", "twice", "new", day2),
	noteLine("expired", "expired", "", day1), noteLine("expired", "expired", "expires:2026-06-09", day2),
	noteLine("deleted", "deleted", "", day1), deadLine("deleted", day2),
	noteLine("restored", "restored", "", day3), deadLine("restored", day2),
	deadLine("young", day1), deadLine("older", old), deadLine("older", "2026-01-02T00:00:00.000Z"),
	noteLine("clash", strings.Repeat("y", 150)+" one", "", day1), noteLine("clash", strings.Repeat("y", 150)+" two", "", day2),
	"not a note\n",
}, "")

func onDay(t testing.TB, path string) shelf {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 6, 10, 0, 0, 0, 0, time.UTC) }
	return openWith(t, path, memory.New(memory.Options{Now: now}), config.Default(path))
}

// TestCollect removes the lines that do not count and nothing else; a note that another one hid gets an
// id of its own.
func TestCollect(t *testing.T) {
	t.Parallel()
	s := onDay(t, folder(t, "p"))
	s.write(t, "failures.jsonl", collected)
	if problems, err := s.Check(ctx); err != nil || len(problems) != 2 || !strings.Contains(fmt.Sprint(problems), "hides it") {
		t.Errorf("%v, %v", problems, err)
	}
	dry, err := s.Collect(ctx, false)
	if err != nil || dry.Applied || s.read(t, "failures.jsonl") != collected {
		t.Fatalf("a trial: %+v, %v", dry, err)
	}
	done, err := s.Collect(ctx, true)
	if err != nil || !done.Applied {
		t.Fatal(err)
	}
	dry.Applied = true
	if want := (notes.Swept{Expired: 1, Superseded: 4, Deleted: 1, Tombstones: 1, Separated: 1}); fmt.Sprint(dry) != fmt.Sprint(done) || done.Swept != want || done.Lines() != 7 {
		t.Errorf("it did %+v, announced %+v", done, dry)
	}
	after := s.read(t, "failures.jsonl")
	var left []string
	for l := range strings.Lines(after) {
		var n struct{ ID, Text string }
		_ = json.Unmarshal([]byte(l), &n) // one of them is not a note
		left = append(left, n.ID[:min(len(n.ID), 8)])
	}
	if got, want := strings.Join(left[:7], " "), "kept twice deleted restored young "+left[5]+" clash"; got != want || len(left) != 8 || !strings.Contains(after, "not a note\n") {
		t.Errorf("left are %v, want %s\n%s", left, want, after)
	}
	if got := texts(s.list(t)); strings.Count(got, "yyy one") != 1 || strings.Count(got, "yyy two") != 1 || !strings.Contains(got, "twice[new]") {
		t.Errorf("the notes are %s", got)
	}
	if again, err := s.Collect(ctx, true); err != nil || again.Lines()+again.Separated != 0 || s.read(t, "failures.jsonl") != after {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	stats, err := s.Stats(ctx, memory.Filter{})
	if err != nil || stats.Notes != 5 || stats.Files != 1 || stats.Problems != 1 || stats.ByType[notes.Failures] != 5 || stats.ByAgent["dev"] != 5 || stats.Bytes != int64(len(after)) {
		t.Errorf("%+v, %v", stats, err)
	}
}

// TestCollectCut cuts gc at every step: no note is lost, and nothing that was expired, deleted or
// superseded comes back.
func TestCollectCut(t *testing.T) {
	t.Parallel()
	disk := durabletest.New()
	dir := disk.Dir("p")
	own := ".claude/bmad-memory/structured"
	if _, err := dir.MkdirAll(own); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(collected, "\n"), "\n")
	// The lines of one note lie in different files, the older ones first and last.
	parts := [2]string{}
	for i, l := range lines {
		parts[i%2] += strings.TrimSuffix(l, "\n") + "\n"
	}
	for i, name := range []string{"failures.jsonl", "failures-000001.jsonl"} {
		if err := dir.Replace(own+"/"+name, []byte(parts[i])); err != nil {
			t.Fatal(err)
		}
	}
	const today = 1_780_000_000 // 2026-05-28 is before all but the oldest; the expiry needs a later day
	book := func(d *durabletest.Disk) *memory.Book { return bookAt(d, today+3_000_000-1_700_000_000, "gc") }
	seen := func(d *durabletest.Disk) string {
		list, err := book(d).List(ctx, memory.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, n := range list.Notes {
			if !strings.HasSuffix(n.Text, " one") { // hidden before
				out = append(out, n.Text+fmt.Sprint(n.Tags))
			}
		}
		slices.Sort(out)
		return strings.Join(out, "|")
	}
	want := seen(disk)
	_, outcomes := durabletest.Sample(t, disk, func(d *durabletest.Disk) error {
		_, err := book(d).Collect(ctx, true)
		return err
	}, func(o durabletest.Outcome) {
		if got := seen(o.Disk); got != want {
			t.Fatalf("%v: the notes are %s, want %s", o, got, want)
		}
		if _, err := book(o.Disk).Collect(ctx, true); err != nil {
			t.Fatal(err)
		}
		if got := seen(o.Disk); got != want {
			t.Fatalf("%v, repeated: the notes are %s, want %s", o, got, want)
		}
	})
	if outcomes < 20 || strings.Contains(want, "expired") {
		t.Errorf("%d outcomes of %s", outcomes, want)
	}
}
