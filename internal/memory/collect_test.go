package memory_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
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

// TestExportAndImport: notes exported in a format can be imported, a second time without effect;
// a note that cannot be taken is named with its reason.
func TestExportAndImport(t *testing.T) {
	t.Parallel()
	s := open(t, folder(t, "Demo Projet"))
	s.remember(t, notes.Note{Type: notes.AgentLearnings, Agent: "forge", Text: "The provider needs\nversion 5", Tags: []string{"aws"}}, notes.Created)
	s.remember(t, notes.Note{Type: notes.AgentLearnings, Agent: "atlas", Text: "Run make before a release"}, notes.Created)
	s.remember(t, notes.Note{Type: notes.Failures, Agent: "dev", Text: "Tests were not run\nRun them before saying done", Tags: []string{"CC-FAIL", "critical"}, Session: "s", Finding: "f"}, notes.Created)
	s.remember(t, notes.Note{Type: notes.Decisions, Agent: "architect", Text: "Postgres, not SQLite"}, notes.Created)
	for format, want := range map[string][]string{
		"jsonl":     {`"finding":"f"`, `"tags":["CC-FAIL","critical"]`},
		"md":        {"# agent-learnings — bmad-demo-projet", "> Exporté : 2023-11-14 | Entrées : 2", "## forge\n\n- [2023-11-14] The provider needs version 5 `aws`\n", "# decisions — bmad-demo-projet"},
		"museum":    {"## 🔴\n\n### [2023-11-14] [dev] CC-FAIL — Tests were not run\n**Leçon** : Run them before saying done\n"},
		"learnings": {"# Learnings — atlas\n\n- [2023-11-14] Run make before a release\n"},
	} {
		got, err := s.Export(ctx, format, memory.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %q:\n%s", format, w, got)
			}
		}
		if format != "jsonl" && format != "md" {
			continue
		}
		other := open(t, folder(t, "Demo Projet"))
		src := memory.Source{Name: "notes." + format, Data: []byte(got), By: "t"}
		dry, err := other.Import(ctx, src, false)
		if err != nil || dry.Applied || dry.Count[notes.Created] != 4 || other.Exists() {
			t.Fatalf("%s, a trial: %+v, %v", format, dry, err)
		}
		if done, err := other.Import(ctx, src, true); err != nil || !done.Applied || done.Count[notes.Created] != 4 {
			t.Fatalf("%s: %+v, %v", format, done, err)
		}
		if again, err := other.Import(ctx, src, true); err != nil || again.Count[notes.Unchanged] != 4 {
			t.Errorf("%s, again: %+v, %v", format, again, err)
		}
		for _, n := range other.list(t) {
			if n.CreatedAt.Time.Format(time.DateOnly) != "2023-11-14" || format == "jsonl" && n.Type == notes.Failures && (n.Finding != "f" || len(n.Tags) != 2) {
				t.Errorf("%s: %+v", format, n)
			}
		}
	}
	if _, err := s.Export(ctx, "jsnl", memory.Filter{}); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(fault.From(err).Hint, "did you mean") {
		t.Errorf("an unknown format: %v", err)
	}
	// A kit's own list, with items that cannot be taken.
	deleted := s.remember(t, notes.Note{Type: notes.SharedContext, Agent: "a", Text: "was deleted"}, notes.Created)
	if _, err := s.Forget(ctx, notes.SharedContext, deleted.ID, "t"); err != nil {
		t.Fatal(err)
	}
	kit := `[{"id":1,"memory":"kubectl needs 1.30","metadata":{"agent":"Helm Gopher","type":"agent-learnings","tags":["k8s"]},"created_at":"2026-02-27T10:00:00"},
{"id":2,"memory":"db password=hunter2","metadata":{"agent":"forge","type":"decisions"}},
{"id":3,"memory":"was deleted","metadata":{"agent":"a","type":"shared-context"}},
{"id":4,"memory":"Postgres, not SQLite","metadata":{"agent":"architect","type":"decisions"}}]`
	got, err := s.Import(ctx, memory.Source{Name: "memories.json", Data: []byte(kit)}, true)
	if err != nil || got.Count[notes.Created] != 1 || got.Count[memory.Refused] != 2 || got.Count[notes.Unchanged] != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []struct{ status, why string }{{notes.Created, ""}, {memory.Refused, "a password"}, {memory.Refused, "restore " + deleted.ID}, {notes.Unchanged, ""}} {
		if item := got.Items[i]; item.Status != want.status || !strings.Contains(item.Why, want.why) || item.Line != i+1 || strings.Contains(item.Text, "hunter2") {
			t.Errorf("item %d: %+v", i, item)
		}
	}
	if n := s.list(t)[0]; got.Items[0].Agent != "helm-gopher" && got.Items[0].Agent != "Helm-Gopher" {
		t.Errorf("%+v, %+v", got.Items[0], n)
	}
	if _, err := s.Import(ctx, memory.Source{Name: "empty", Data: []byte("\n")}, true); !fault.Is(err, fault.InvalidArgument) || fault.From(err).Hint == "" {
		t.Errorf("an empty file: %v", err)
	}
}
