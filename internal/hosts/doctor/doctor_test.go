package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var (
	ctx  = context.Background()
	day  = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	one  = "11111111-0000-4000-8000-000000000000"
	two  = "22222222-0000-4000-8000-000000000000"
	gone = "99999999-0000-4000-8000-000000000000"
)

// project makes two sessions: the first is completed and has a text, a raw one that
// it does not refer to, and an artifact; the second has just begun.
func project(t *testing.T, dir *durable.Dir) *doctor.ProjectFiles {
	t.Helper()
	s := storetest.Files(dir)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{one, two} {
		session := workflow.Default().NewSession(id, "build it", dir.Path(), "test", day)
		must(s.Create(ctx, session, store.Names{Candidate: func(int) string { return "task-" + id[:1] }}))
	}
	_, err := dir.MkdirAll(".claude/specs/task-1")
	must(err)
	must(dir.Replace(".claude/specs/task-1/01-product-requirements.md", []byte("# P\n")))
	_, err = s.Update(ctx, one, func(tx store.Tx, s *workflow.Session) error {
		refs, err := tx.Put(ctx, []store.Text{
			{Stage: workflow.PO, Kind: "final_result", Body: "# P\n", At: day},
			{Stage: workflow.PO, Kind: "claude_result", Body: `{"prd_draft":"# P"}`, At: day},
		})
		must(err)
		rec := s.Record(workflow.PO)
		rec.FinalResultRef = &refs[0]
		s.SetArtifact(workflow.Default(), workflow.PO, workflow.Artifact{Path: ".claude/specs/task-1/01-product-requirements.md", Size: 4, SHA256: workflow.Hash([]byte("# P\n"))})
		s.History = append(s.History, workflow.Transition{Action: workflow.ActionSubmit, From: "po/generating", To: "po/awaiting_confirmation", Path: refs[0].FilePath, SHA256: refs[0].SHA256, Iteration: 1})
		s.CurrentState = workflow.Completed
		s.Record(workflow.PO).Iteration = 1
		return nil
	})
	must(err)
	return doctor.New(dir, storetest.Files(dir))
}

// realProject makes the project in a folder of the system.
func realProject(t *testing.T) (p *doctor.ProjectFiles, dir *durable.Dir, path string) {
	t.Helper()
	path = t.TempDir()
	dir, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return project(t, dir), dir, path
}

func check(t *testing.T, p *doctor.ProjectFiles) doctor.Report {
	t.Helper()
	checks, err := p.Check(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var r doctor.Report
	r.Add(checks...)
	return r
}

// said reports whether a check has a status and speaks of a text.
func said(r doctor.Report, name string, status doctor.CheckStatus, what string) bool {
	return slices.ContainsFunc(r.Checks, func(c doctor.Check) bool {
		text, _ := json.Marshal(c)
		return c.Name == name && c.Status == status && strings.Contains(string(text), what) && (status == doctor.OK || c.Remedy != "")
	})
}

func tree(t *testing.T, path string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(path, name)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// giveBranch has a session be one of a run in a worktree.
func giveBranch(t *testing.T, dir *durable.Dir, id string) {
	t.Helper()
	_, err := storetest.Files(dir).Update(ctx, id, func(_ store.Tx, s *workflow.Session) error {
		s.Branch = workflow.BranchFor(s.TaskName)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDamage does each kind of damage to a project: it is found, named with a remedy, and repaired if
// that is possible. No file is lost that cannot be derived.
func TestDamage(t *testing.T) {
	text := ".bmad-task/temp/" + one + "/po_final_result_20260506T070809.000Z.md"
	raw := ".bmad-task/temp/" + one + "/po_claude_result_20260506T070809.000Z.md"
	art := ".claude/specs/task-1/01-product-requirements.md"
	tests := []struct {
		name   string
		damage map[string]string // file → its new content, "" removes it
		check  string
		status doctor.CheckStatus
		what   string
		fixed  bool
	}{
		{"none", nil, "contents", doctor.OK, "all as they were submitted", false},
		{"a submission that was never taken", map[string]string{strings.Replace(raw, "070809", "090000", 1): "x"}, "leftovers", doctor.Warning, "T090000", true},
		{"session truncated", map[string]string{".bmad-task/session-" + two + ".json": "{\n  \"session_id\":"}, "sessions", doctor.Problem, "line 2, column 15", false},
		{"session of a newer version", map[string]string{".bmad-task/session-" + two + ".json": `{"version": 99}`}, "sessions", doctor.Problem, "format version 99", false},
		{"mapping missing", map[string]string{".bmad-task/task-mapping.json": ""}, "mapping", doctor.Problem, "task-mapping.json", true},
		{"mapping broken", map[string]string{".bmad-task/task-mapping.json": "{"}, "mapping", doctor.Problem, "task-mapping.json", true},
		{"mapping wrong", map[string]string{".bmad-task/task-mapping.json": `{"` + one + `": {"task_name": "other"}, "` + gone + `": {}}`}, "mapping", doctor.Problem, "other", true},
		{"name missing", map[string]string{".bmad-task/names/task-1": ""}, "task names", doctor.Problem, "names/task-1", true},
		{"name of nobody", map[string]string{".bmad-task/names/task-9": gone}, "task names", doctor.Problem, "belongs to no run", true},
		{"name of another", map[string]string{".bmad-task/names/task-1": two}, "task names", doctor.Problem, "does not lead to run " + one, true},
		{"text missing", map[string]string{text: ""}, "contents", doctor.Problem, text, false},
		{"text edited", map[string]string{text: "# edited"}, "contents", doctor.OK, "1 edited since", false},
		{"artifact missing", map[string]string{art: ""}, "artifacts", doctor.Problem, art, false},
		{"artifact edited", map[string]string{art: "# edited"}, "artifacts", doctor.OK, "1 modified", false},
		{"a write that died", map[string]string{".bmad-task/.session-" + two + ".json.tmp-0011223344556677": "{"}, "leftovers", doctor.Warning, ".tmp-", true},
		{"one beside an artifact", map[string]string{".claude/specs/task-1/.01-product-requirements.md.tmp-0011223344556677": "#"}, "leftovers", doctor.Warning, ".tmp-", true},
		{"texts of no session", map[string]string{".bmad-task/temp/" + gone + "/po_final_result_x.md": "x"}, "leftovers", doctor.Warning, gone, true},
		{"worktree gone", map[string]string{"branch of " + two: "x"}, "worktrees", doctor.Warning, "run --resume task-2", false},
		{"worktree of a run that has ended", map[string]string{"branch of " + one: "x", "trees/task-1/README.md": "x"}, "worktrees", doctor.Warning, "run --clean", false},
		{"worktree of a run under way", map[string]string{"branch of " + two: "x", "trees/task-2/README.md": "x"}, "worktrees", doctor.OK, "1 run with", false},
		{"documents on a branch", map[string]string{"branch of " + one: "x", art: ""}, "artifacts", doctor.OK, "1 saved", false},
		{"not ignored", map[string]string{".bmad-task/.gitignore": ""}, "state folder", doctor.Problem, "version control", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, dir, path := realProject(t)
			p.Worktree = func(task string) string { return filepath.Join(path, "trees", task) }
			for name, body := range tt.damage {
				if id, ok := strings.CutPrefix(name, "branch of "); ok {
					giveBranch(t, dir, id)
					continue
				}
				full := filepath.Join(path, filepath.FromSlash(name))
				err := os.Remove(full)
				if body != "" {
					_ = os.MkdirAll(filepath.Dir(full), 0o750)
					err = os.WriteFile(full, []byte(body), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, path)
			report := check(t, p)
			if !said(report, tt.check, tt.status, tt.what) || report.OK != (tt.status != doctor.Problem) {
				t.Errorf("the report is %+v", report)
			}
			if after := tree(t, path); fmt.Sprint(without(after)) != fmt.Sprint(without(before)) {
				t.Errorf("a check changed files:\n%v\n%v", before, after)
			}
			done, err := p.Fix(ctx, day)
			if err != nil || tt.fixed && len(done.Done) == 0 {
				t.Errorf("fix did %q, %v", done, err)
			}
			after := tree(t, path)
			for name, body := range before {
				trash := ".bmad-task/trash/20260506T070809Z/" + strings.TrimPrefix(name, ".bmad-task/")
				derived := strings.Contains(name, "mapping") || strings.Contains(name, "/names/") || strings.HasSuffix(name, ".lock")
				if after[name] != body && after[trash] != body && !derived {
					t.Errorf("%s is lost", name)
				}
			}
			report = check(t, p)
			if tt.fixed && (!report.OK || said(report, tt.check, tt.status, tt.what)) {
				t.Errorf("not repaired: %+v", report)
			}
			if !tt.fixed && !said(report, tt.check, tt.status, tt.what) {
				t.Errorf("no longer reported: %+v", report)
			}
			if again, err := p.Fix(ctx, day); err != nil || len(again.Done) != 0 {
				t.Errorf("a second fix did %q, %v", again, err)
			}
		})
	}
}

// TestWhatABrokenSessionMayReferTo checks that its possible texts are left alone: another session's
// text, one in a folder of its own, an artifact being written. A reference in another spelling counts.
func TestWhatABrokenSessionMayReferTo(t *testing.T) {
	for name, session := range map[string]string{"newer": `{"version": 99}`, "broken": "{", "of another spelling": ""} {
		t.Run(name, func(t *testing.T) {
			p, dir, path := realProject(t)
			files := map[string]string{
				".bmad-task/temp/" + one + "/po_claude_result_20260506T070809.000Z.md": `{"prd_draft":"# P"}`,
				".bmad-task/temp/" + two + "/po/1/final.md":                            "x",
				".claude/specs/task-2/.01-x.md.tmp-0011223344556677":                   "x",
			}
			for name, body := range files {
				full := filepath.Join(path, filepath.FromSlash(name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o750), os.WriteFile(full, []byte(body), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if session != "" {
				err = os.WriteFile(filepath.Join(path, ".bmad-task/session-"+two+".json"), []byte(session), 0o600)
			} else {
				_, err = storetest.Files(dir).Update(ctx, two, func(_ store.Tx, s *workflow.Session) error {
					s.Record(workflow.PO).FinalResultRef = &workflow.ContentRef{FilePath: "./.bmad-task/temp/" + one + "/po_claude_result_20260506T070809.000Z.md"}
					return nil
				})
				delete(files, ".bmad-task/temp/"+two+"/po/1/final.md")
				delete(files, ".claude/specs/task-2/.01-x.md.tmp-0011223344556677")
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Fix(ctx, day); err != nil {
				t.Fatal(err)
			}
			after := tree(t, path)
			for name, body := range files {
				if after[name] != body {
					t.Errorf("%s is gone", name)
				}
			}
		})
	}
}

// TestRenamedSessionFileLosesNothing finds the run of an id under the name of another.
func TestRenamedSessionFileLosesNothing(t *testing.T) {
	p, _, path := realProject(t)
	file := func(id string) string { return filepath.Join(path, ".bmad-task", "session-"+id+".json") }
	if err := os.Rename(file(one), file(gone)); err != nil {
		t.Fatal(err)
	}
	if r := check(t, p); !said(r, "sessions", doctor.Problem, "holds another run") || !said(r, "task names", doctor.OK, "") || !said(r, "mapping", doctor.OK, "") {
		t.Errorf("%+v", r)
	}
	if _, err := p.Fix(ctx, day); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file(gone), file(one)); err != nil {
		t.Fatal(err)
	}
	if r := check(t, p); !r.OK || !said(r, "contents", doctor.OK, "all as they were submitted") {
		t.Errorf("with its name again: %+v", r)
	}
}

// TestCheckGoesOn checks a state folder that lacks something, and one with other files in its way.
func TestCheckGoesOn(t *testing.T) {
	p, _, path := realProject(t)
	in := func(name string) string { return filepath.Join(path, ".bmad-task", name) }
	if err := errors.Join(os.Remove(in(".gitignore")), os.WriteFile(in("session-"+two+".json"), []byte("{"), 0o600),
		os.RemoveAll(in("locks")), os.WriteFile(in("locks"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	r := check(t, p)
	if !said(r, "sessions", doctor.Problem, "not readable") || !said(r, "state folder", doctor.Problem, "locks") || !said(r, "locks", doctor.Problem, "") {
		t.Errorf("%+v", r)
	}
}

// without leaves out the locks: to look at one is to take it.
func without(files map[string]string) map[string]string {
	for name := range files {
		if strings.HasSuffix(name, ".lock") {
			delete(files, name)
		}
	}
	return files
}

func TestTwoSessionsWithOneName(t *testing.T) {
	p, dir, _ := realProject(t)
	if _, err := storetest.Files(dir).Update(ctx, two, func(_ store.Tx, s *workflow.Session) error { s.TaskName = "task-1"; return nil }); err != nil {
		t.Fatal(err)
	}
	if r := check(t, p); !said(r, "task names", doctor.Problem, "which run "+one+" has too") {
		t.Errorf("%+v", r)
	}
}

// TestBrokenSessionKeepsWhatItMayNeed checks that fix touches no file to which a session that cannot be read may refer.
func TestBrokenSessionKeepsWhatItMayNeed(t *testing.T) {
	p, dir, path := realProject(t)
	for name, body := range map[string]string{"session-" + one + ".json": "{", "task-mapping.json": "{\n  \"" + one + "\": {\"task_name\": \"task-1\"}\n}\n"} {
		if err := os.WriteFile(filepath.Join(path, ".bmad-task", name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, path)
	if _, err := p.Fix(ctx, day); err != nil {
		t.Fatal(err)
	}
	after := tree(t, path)
	for name, body := range before {
		if strings.Contains(name, one) && after[name] != body && !strings.HasSuffix(name, ".lock") {
			t.Errorf("%s is lost", name)
		}
	}
	if mapping, err := storetest.Files(dir).Mapping(); err != nil || mapping[one].TaskName != "task-1" || mapping[two].TaskName != "task-2" {
		t.Errorf("the mapping has %v, %v", mapping, err)
	}
}

func TestHeldLockIsNamed(t *testing.T) {
	p, dir, _ := realProject(t)
	lock, err := dir.Lock(ctx, filestore.SessionLock(one))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Unlock() }()
	if r := check(t, p); !said(r, "locks", doctor.OK, fmt.Sprintf("by process %d since", os.Getpid())) {
		t.Errorf("%+v", r)
	}
}
