package doctor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

func TestTrim(t *testing.T) {
	p, _, path := realProject(t)
	raw := ".bmad-task/temp/" + one + "/po_claude_result_20260506T070809.000Z.md"
	old := ".bmad-task/trash/20260101T000000Z/temp/x.md"
	recent := ".bmad-task/trash/20260601T000000Z/y.md"
	for _, name := range []string{old, recent, ".bmad-task/trash/by hand.txt"} {
		full := filepath.Join(path, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := func(before time.Time, apply bool) string {
		t.Helper()
		files, err := p.Trim(ctx, before, apply)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Path)
		}
		return strings.Join(names, " ")
	}
	files := tree(t, path)
	if got := found(day, false); got != old {
		t.Errorf("before the session was finished: %s", got)
	}
	if got := found(day.Add(time.Hour), false); got != raw+" "+old {
		t.Errorf("after it: %s", got)
	}
	if after := tree(t, path); fmt.Sprint(after) != fmt.Sprint(files) {
		t.Error("a dry run changed files")
	}
	if got := found(day.Add(time.Hour), true); got != raw+" "+old {
		t.Errorf("applied: %s", got)
	}
	after := tree(t, path)
	for name := range files {
		if _, there := after[name]; there == (name == raw || name == old) {
			t.Errorf("%s is there: %v", name, there)
		}
	}
	if _, err := os.Stat(filepath.Join(path, ".bmad-task/trash/20260101T000000Z")); err == nil {
		t.Error("the emptied folder of the trash is still there")
	}
	if r := check(t, p); !r.OK {
		t.Errorf("after it: %+v", r)
	}
}

// TestFixAtEveryCut cuts a repair at every step: no file is lost, and it can be repeated.
func TestFixAtEveryCut(t *testing.T) {
	disk := durabletest.New()
	at := func(d *durabletest.Disk) *durable.Dir { return d.Dir("/simulated/fix") }
	project(t, at(disk))
	d := at(disk)
	for _, err := range []error{
		d.Remove(".bmad-task/names/task-1"), d.Replace(".bmad-task/names/task-9", []byte(gone)), d.Replace(".bmad-task/task-mapping.json", []byte("[]\n")),
		d.CreateUnsynced(".bmad-task/.session-"+two+".json.tmp-0011223344556677", []byte("{")), d.Remove(".bmad-task/.gitignore"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	steps, outcomes := durabletest.Sweep(t, disk, func(d *durabletest.Disk) error {
		_, err := doctor.New(at(d), storetest.Files(at(d))).Fix(ctx, day)
		return err
	}, func(o durabletest.Outcome) {
		p := doctor.New(at(o.Disk), storetest.Files(at(o.Disk)))
		if _, err := p.Fix(ctx, day); err != nil {
			t.Fatalf("%v: repeated: %v", o, err)
		}
		if r := check(t, p); !r.OK || said(r, "leftovers", doctor.Warning, "") {
			t.Fatalf("%v: %+v", o, r)
		}
		all, err := storetest.Files(at(o.Disk)).All(ctx)
		if err != nil || len(all.Sessions) != 2 || len(all.Broken) != 0 {
			t.Fatalf("%v: %v, %v", o, all, err)
		}
	})
	t.Logf("%d steps, %d different outcomes", len(steps), outcomes)
}

// TestTrimRuns checks that the output of engines goes with a finished session, and the rest of a run
// with a session that is gone, and that a run of an active session is left alone.
func TestTrimRuns(t *testing.T) {
	p, _, path := realProject(t)
	write := func(id string, names ...string) {
		for _, name := range names {
			full := filepath.Join(path, filepath.FromSlash(store.RunFolder(id)), name)
			if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(full, day, day); err != nil {
				t.Fatal(err)
			}
		}
	}
	gone := "99999999-0000-4000-8000-000000000000"
	write(one, "run.json", "events.jsonl", "engine-po-1.jsonl")
	write(gone, "run.json", "engine-po-1.jsonl")
	runs := func(before time.Time, apply bool) string {
		t.Helper()
		files, err := p.Trim(ctx, before, apply)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			if rest, ok := strings.CutPrefix(f.Path, ".bmad-task/runs/"); ok {
				names = append(names, rest)
			}
		}
		return strings.Join(names, " ")
	}
	if got := runs(day, false); got != "" {
		t.Errorf("before the session was finished: %s", got)
	}
	want := one + "/engine-po-1.jsonl " + gone + "/engine-po-1.jsonl " + gone + "/run.json"
	for _, apply := range []bool{false, true} {
		if got := runs(day.Add(time.Hour), apply); got != want {
			t.Errorf("applied %v: %s; want %s", apply, got, want)
		}
	}
	if got := runs(day.Add(time.Hour), true); got != "" {
		t.Errorf("once more: %s", got)
	}
	if _, err := os.Stat(filepath.Join(path, filepath.FromSlash(store.RunFolder(gone)))); err == nil {
		t.Error("the empty folder of a run has stayed")
	}
}
