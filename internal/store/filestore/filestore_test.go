package filestore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func TestFilestore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (storetest.Backend, func() storetest.Backend) {
		path := t.TempDir()
		reopen := func() storetest.Backend { return openStore(t, path) }
		return reopen(), reopen
	})
}

// TestFilestoreOfOneProcess runs the suite on stores that share their summaries, as calls of one process do,
// and on the simulated disk, on which a file settles as soon as it is written.
func TestFilestoreOfOneProcess(t *testing.T) {
	for _, where := range []string{"files", "simulated"} {
		t.Run(where, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) (storetest.Backend, func() storetest.Backend) {
				path, disk := t.TempDir(), durabletest.New()
				kept := filestore.NewSummaries(time.Now)
				reopen := func() storetest.Backend {
					if where == "simulated" {
						return kept.Store(disk.Dir("/simulated/" + t.Name()))
					}
					dir, err := durable.OpenDir(path)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = dir.Close() })
					return kept.Store(dir)
				}
				return reopen(), reopen
			})
		})
	}
}

// TestFilestoreOnASimulatedDisk runs the suite on the disk of the tests of faults.
func TestFilestoreOnASimulatedDisk(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (storetest.Backend, func() storetest.Backend) {
		disk := durabletest.New()
		reopen := func() storetest.Backend { return storetest.Files(disk.Dir("/simulated/" + t.Name())) }
		return reopen(), reopen
	})
}

func TestEveryFault(t *testing.T) {
	remove := func(d *durable.Dir, names ...string) {
		for _, name := range names {
			if err := d.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	storetest.RunFaults(t, func(d *durable.Dir) storetest.Backend { return storetest.Files(d) }, map[string]func(*durable.Dir){
		"a project in use": func(*durable.Dir) {},
		"one of an older server": func(d *durable.Dir) {
			remove(d, ".bmad-task/names/task", ".bmad-task/names", ".bmad-task/task-mapping.json")
		},
		"one whose mapping is damaged": func(d *durable.Dir) {
			remove(d, ".bmad-task/task-mapping.json")
			write(t, d, ".bmad-task/task-mapping.json", "[]\n")
		},
		"one whose mapping is about to turn": func(d *durable.Dir) {
			remove(d, ".bmad-task/task-mapping.json")
			write(t, d, ".bmad-task/task-mapping.json", bigMapping())
		},
		"one where a start died": func(d *durable.Dir) { write(t, d, ".bmad-task/names/task-1", "99999999-0000-4000-8000-000000000000\n") },
	})
}

func write(t *testing.T, d *durable.Dir, name, body string) {
	t.Helper()
	if err := errors.Join(d.CreateUnsynced(name, []byte(body)), d.SyncDir(".bmad-task"), d.SyncDir(".bmad-task/names")); err != nil {
		t.Fatal(err)
	}
}

// bigMapping returns a mapping of the size at which it is set aside.
func bigMapping() string {
	var b strings.Builder
	b.WriteString("{")
	for i := 0; b.Len() < 130<<10; i++ {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n  \"%08d-0000-4000-8000-000000000000\": {\n    \"task_name\": \"older-%d\"\n  }", i, i)
	}
	return b.String() + "\n}\n"
}

func openStore(t *testing.T, path string) *filestore.Store {
	t.Helper()
	dir, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return storetest.Files(dir)
}

var ctx = context.Background()

func start(t *testing.T, s *filestore.Store, name string) *workflow.Session {
	t.Helper()
	session := workflow.Default().NewSession(uuid.NewString(), "build "+name, "/p", "test", time.Now().UTC())
	if err := s.Create(ctx, session, storetest.Numbered(name)); err != nil {
		t.Fatal(err)
	}
	return session
}

func mapping(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path, ".bmad-task", "task-mapping.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]map[string]string
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	return m
}

func TestMappingListsEverySession(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	for n := range 5 {
		session := start(t, s, "task")
		m := mapping(t, path)
		if len(m) != n+1 || m[session.SessionID]["task_name"] != session.TaskName || m[session.SessionID]["objective"] != session.Objective {
			t.Fatalf("after %d: %v", n+1, m)
		}
	}
}

func TestMappingIsRebuiltWhenMissingOrBroken(t *testing.T) {
	file := func(path string) string { return filepath.Join(path, ".bmad-task", "task-mapping.json") }
	breaks := map[string]func(path string) error{
		"missing":   func(path string) error { return os.Remove(file(path)) },
		"empty":     func(path string) error { return os.WriteFile(file(path), nil, 0o600) },
		"cut":       func(path string) error { return os.Truncate(file(path), 40) },
		"nonsense":  func(path string) error { return os.WriteFile(file(path), []byte("{ not json }\n}\n"), 0o600) },
		"other end": func(path string) error { return os.WriteFile(file(path), []byte(`{"a":{}}`), 0o600) },
	}
	for name, damage := range breaks {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			s := openStore(t, path)
			start(t, s, "one")
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			start(t, s, "two")
			if m := mapping(t, path); len(m) != 2 {
				t.Errorf("%v", m)
			}
		})
	}
	t.Run("by an update", func(t *testing.T) {
		path := t.TempDir()
		s := openStore(t, path)
		session := start(t, s, "one")
		if err := os.WriteFile(file(path), []byte("{broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Update(ctx, session.SessionID, func(store.Tx, *workflow.Session) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if m := mapping(t, path); len(m) != 1 {
			t.Errorf("%v", m)
		}
	})
}

func TestEmptyMappingObjectGrows(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	start(t, s, "one")
	if err := os.WriteFile(filepath.Join(path, ".bmad-task", "task-mapping.json"), []byte("{\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	two := start(t, s, "two")
	if m := mapping(t, path); m[two.SessionID] == nil {
		t.Errorf("%v", m)
	}
}

// TestMappingTurns fills the mapping until it is set aside, and finds all of it.
func TestMappingTurns(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	one := start(t, s, "one")
	file := filepath.Join(path, ".bmad-task", "task-mapping.json")
	if err := os.WriteFile(file, []byte(bigMapping()), 0o600); err != nil {
		t.Fatal(err)
	}
	two, three := start(t, s, "two"), start(t, s, "three")
	all, err := s.Mapping()
	if err != nil || len(all) < 1000 || all[two.SessionID].TaskName != "two" || all[three.SessionID].TaskName != "three" {
		t.Errorf("%d entries, %v", len(all), err)
	}
	if m := mapping(t, path); len(m) != 2 {
		t.Errorf("the newest part has %d entries, want 2", len(m))
	}
	// A second turn keeps the first part.
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(bigMapping(), "-0000-4000-", "-1111-4000-")), 0o600); err != nil {
		t.Fatal(err)
	}
	more := start(t, s, "more")
	if again, err := s.Mapping(); err != nil || len(again) < 2*len(all)-10 || again[more.SessionID].TaskName != "more" {
		t.Errorf("after the second turn %d entries, %v; after the first there were %d", len(again), err, len(all))
	}
	if err := os.WriteFile(file, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	four := start(t, s, "four")
	all, err = s.Mapping()
	if err != nil || len(all) != 5 || all[one.SessionID].TaskName != "one" || all[four.SessionID].TaskName != "four" {
		t.Errorf("rebuilt: %v, %v", all, err)
	}
}

// TestStartTakesOverWhatADeadOneLeft finds the name and the mapping entry of a start
// that died before its session was stored.
func TestStartTakesOverWhatADeadOneLeft(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	dead := start(t, s, "task")
	if err := os.Remove(filepath.Join(path, ".bmad-task", "session-"+dead.SessionID+".json")); err != nil {
		t.Fatal(err)
	}
	if again := start(t, s, "task"); again.TaskName != "task" {
		t.Errorf("got %q", again.TaskName)
	}
	if m := mapping(t, path); len(m) != 1 {
		t.Errorf("the mapping has %v", m)
	}
	if next := start(t, s, "task"); next.TaskName != "task-1" {
		t.Errorf("got %q", next.TaskName)
	}
}

func TestIgnoreFile(t *testing.T) {
	path := t.TempDir()
	start(t, openStore(t, path), "one")
	if b, err := os.ReadFile(filepath.Join(path, ".bmad-task", ".gitignore")); err != nil || string(b) != "*\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestReadingMakesNothing(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	_, _ = s.All(ctx)
	_, _ = s.Get(ctx, uuid.NewString())
	_, _ = s.Find(ctx, "name")
	_, _ = s.Update(ctx, uuid.NewString(), func(store.Tx, *workflow.Session) error { return errors.New("no") })
	if entries, _ := os.ReadDir(path); len(entries) != 0 {
		t.Errorf("made %v", entries)
	}
}

func TestBrokenSessionHidesNoOther(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	good, bad := start(t, s, "good"), start(t, s, "bad")
	file := filepath.Join(path, ".bmad-task", "session-"+bad.SessionID+".json")
	if err := os.WriteFile(file, []byte("{\n\"session_id\": oops"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := s.All(ctx)
	if err != nil || len(all.Sessions) != 1 || all.Sessions[0].SessionID != good.SessionID {
		t.Errorf("%v, %v", all, err)
	}
	if len(all.Broken) != 1 || !strings.Contains(all.Broken[0].Err.Error(), "line 2") {
		t.Errorf("%v", all.Broken)
	}
	_, err = s.Update(ctx, bad.SessionID, func(store.Tx, *workflow.Session) error { t.Error("changed"); return nil })
	if !fault.Is(err, fault.Storage) {
		t.Errorf("got %v", err)
	}
	if b, _ := os.ReadFile(file); string(b) != "{\n\"session_id\": oops" {
		t.Error("the broken file was written over")
	}
}

func TestSessionWithoutVersionOpens(t *testing.T) {
	path := t.TempDir()
	id := uuid.NewString()
	if err := os.MkdirAll(filepath.Join(path, ".bmad-task"), 0o750); err != nil {
		t.Fatal(err)
	}
	old := `{"session_id":"` + id + `","task_name":"old-task","cwd":"/p","objective":"o","current_stage":"po","current_state":"generating",
	"stages":{"po":{"status":"in_progress","draft":"inline"}},"artifacts":[],"created_at":"2025-10-01T10:00:00.000Z","updated_at":"2025-10-01T10:00:00.000Z"}`
	if err := os.WriteFile(filepath.Join(path, ".bmad-task", "session-"+id+".json"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path)
	if found, err := s.Find(ctx, "old-task"); err != nil || found != id {
		t.Errorf("%q, %v", found, err)
	}
	if fresh := start(t, s, "old-task"); fresh.TaskName != "old-task-1" {
		t.Errorf("the name of the old session was given again: %q", fresh.TaskName)
	}
	got, err := s.Update(ctx, id, func(store.Tx, *workflow.Session) error { return nil })
	if err != nil || got.Version != workflow.FormatVersion || string(got.Record(workflow.PO).Extra["draft"]) != `"inline"` {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFolderThatIsAFileOrALinkOut(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, ".bmad-task"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	session := workflow.Default().NewSession(uuid.NewString(), "o", "/p", "t", time.Now())
	if err := openStore(t, path).Create(ctx, session, storetest.Numbered("n")); !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), "is a file; want the folder") {
		t.Errorf("got %v", err)
	}
	path, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(path, ".bmad-task")); err != nil {
		t.Skip(err)
	}
	if err := openStore(t, path).Create(ctx, session, storetest.Numbered("n")); !fault.Is(err, fault.Storage) {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("outside holds %v", entries)
	}
}
