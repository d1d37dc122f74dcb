package filestore_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func sessionFile(path, id string) string {
	return filepath.Join(path, ".bmad-task", "session-"+id+".json")
}

func overwrite(t *testing.T, file, body string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

func contentOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func nothing(store.Tx, *workflow.Session) error { return nil }

// TestNameChangedByHand is taken as it is, and no other session gets it once the
// session has been used.
func TestNameChangedByHand(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	a := start(t, s, "alpha")
	file := sessionFile(path, a.SessionID)
	overwrite(t, file, strings.Replace(contentOf(t, file), `"task_name": "alpha"`, `"task_name": "beta"`, 1))
	if id, err := s.Find(ctx, "beta"); err != nil || id != a.SessionID {
		t.Errorf("%q, %v", id, err)
	}
	if _, err := s.Update(ctx, a.SessionID, nothing); err != nil {
		t.Fatal(err)
	}
	if b := start(t, s, "beta"); b.TaskName != "beta-1" {
		t.Errorf("the name was given again: %q", b.TaskName)
	}
}

// TestNameOfASessionThatCannotBeRead is known from the mapping, in a project whose
// names are taken over.
func TestNameOfASessionThatCannotBeRead(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	a := start(t, s, "alpha")
	if err := os.RemoveAll(filepath.Join(path, ".bmad-task", "names")); err != nil {
		t.Fatal(err)
	}
	overwrite(t, sessionFile(path, a.SessionID), `{"version": 2}`)
	if b := start(t, s, "alpha"); b.TaskName != "alpha-1" {
		t.Errorf("the name was given again: %q", b.TaskName)
	}
}

// TestNamesFilesDoNotCount: a file of names that was changed gives no session the name of another, and of two sessions
// with one name none is found by it.
func TestNamesFilesDoNotCount(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	a, b := start(t, s, "alpha"), start(t, s, "beta")
	overwrite(t, filepath.Join(path, ".bmad-task", "names", "beta"), a.SessionID+"\n")
	overwrite(t, filepath.Join(path, ".bmad-task", "names", "gamma"), a.SessionID+"\n")
	overwrite(t, filepath.Join(path, ".bmad-task", "task-mapping.json"), `{"`+a.SessionID+`": {"task_name": "beta"}}`)
	for ref, want := range map[string]string{"alpha": a.SessionID, "beta": b.SessionID, "gamma": ""} {
		if id, err := s.Find(ctx, ref); id != want || want == "" && !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: found %q, %v", ref, id, err)
		}
	}
	text, err := os.ReadFile(sessionFile(path, b.SessionID))
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, sessionFile(path, b.SessionID), strings.ReplaceAll(string(text), `"beta"`, `"alpha"`))
	if err := os.RemoveAll(filepath.Join(path, ".bmad-task", "names")); err != nil {
		t.Fatal(err)
	}
	if id, err := s.Find(ctx, "alpha"); !fault.Is(err, fault.Conflict) {
		t.Errorf("one of two is found: %q, %v", id, err)
	}
}

// unreadable is a file system on which files can be seen and not opened, as with too
// many of them open.
type unreadable struct{ durable.FS }

func (u unreadable) Tree() fs.FS { return closedTree{u.FS.Tree()} }

type closedTree struct{ fs.FS }

func (c closedTree) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EMFILE}
}
func (c closedTree) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(c.FS, name) }
func (c closedTree) Lstat(name string) (fs.FileInfo, error)     { return fs.Lstat(c.FS, name) }
func (c closedTree) ReadLink(name string) (string, error)       { return fs.ReadLink(c.FS, name) }
func (c closedTree) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(c.FS, name) }

func TestNothingIsTakenOverThatCannotBeRead(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	a := start(t, s, "alpha")
	dir, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	blind := storetest.Files(durable.NewDir(path, unreadable{dir.FS}))
	session := workflow.Default().NewSession(uuid.NewString(), "o", "/p", "t", time.Now())
	if err := blind.Create(ctx, session, storetest.Numbered("alpha")); err == nil {
		t.Errorf("started as %q", session.TaskName)
	}
	if id, err := s.Find(ctx, "alpha"); err != nil || id != a.SessionID || mapping(t, path)[a.SessionID] == nil {
		t.Errorf("the name leads to %q, %v; the mapping has %v", id, err, mapping(t, path))
	}
}

// TestMappingKeepsWhatOnlyItKnows damages the mapping of a session that cannot be read.
func TestMappingKeepsWhatOnlyItKnows(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	a, b := start(t, s, "alpha"), start(t, s, "beta")
	overwrite(t, sessionFile(path, a.SessionID), "{")
	file := filepath.Join(path, ".bmad-task", "task-mapping.json")
	whole := contentOf(t, file)
	for _, damaged := range []string{strings.TrimRight(whole, "\n"), whole[:len(whole)-3], whole[:len(whole)-40]} {
		overwrite(t, file, damaged)
		if _, err := s.Update(ctx, b.SessionID, nothing); err != nil {
			t.Fatal(err)
		}
		if m := mapping(t, path); m[a.SessionID]["task_name"] != "alpha" || m[b.SessionID]["task_name"] != "beta" {
			t.Errorf("rebuilt from %q: %v", damaged, m)
		}
	}
}

// TestDeadEntryIsNotSetAside finds the entry of a start that died in a part about to be set aside.
func TestDeadEntryIsNotSetAside(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	start(t, s, "one")
	overwrite(t, filepath.Join(path, ".bmad-task", "task-mapping.json"), bigMapping())
	all := mapping(t, path)
	last := fmt.Sprintf("%08d-0000-4000-8000-000000000000", len(all)-1)
	start(t, s, "two")
	if m, err := s.Mapping(); err != nil || len(m) != len(all) || m[last].TaskName != "" {
		t.Errorf("%d entries of %d, the dead one is %q, %v", len(m), len(all), m[last].TaskName, err)
	}
}

// TestRebuildCutWithParts cuts a rebuild of a mapping of several parts, one session of
// which cannot be read.
func TestRebuildCutWithParts(t *testing.T) {
	at := func(d *durabletest.Disk) *durable.Dir { return d.Dir("/simulated/rebuild") }
	disk := durabletest.New()
	s := storetest.Files(at(disk))
	var ids []string
	for n := range 5 {
		session := workflow.Default().NewSession(fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), strings.Repeat("long ", 12<<10), "/p", "t", time.Unix(int64(n), 0).UTC())
		if err := s.Create(ctx, session, storetest.Numbered("task")); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, session.SessionID)
	}
	if !at(disk).Exists(".bmad-task/task-mapping-000001.json") {
		t.Fatal("the mapping has one part")
	}
	if err := at(disk).Replace(".bmad-task/session-"+ids[0]+".json", []byte("{")); err != nil {
		t.Fatal(err)
	}
	if err := at(disk).Replace(".bmad-task/task-mapping.json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	update := func(d *durabletest.Disk) error {
		_, err := storetest.Files(at(d)).Update(ctx, ids[1], nothing)
		return err
	}
	steps, outcomes := durabletest.Sample(t, disk, update, func(o durabletest.Outcome) {
		if err := update(o.Disk); err != nil {
			t.Fatalf("%v: %v", o, err)
		}
		m, err := storetest.Files(at(o.Disk)).Mapping()
		for _, id := range ids {
			if err != nil || m[id].TaskName == "" {
				t.Fatalf("%v: %d entries, none for %s, %v", o, len(m), id, err)
			}
		}
	})
	t.Logf("%d steps, %d different outcomes", len(steps), outcomes)
}

// TestMappingWithOddEntries: ids and names of the mapping that are none are refused, and rewritten from the runs.
func TestMappingWithOddEntries(t *testing.T) {
	path := t.TempDir()
	s := openStore(t, path)
	a, b := start(t, s, "alpha"), start(t, s, "beta")
	file := filepath.Join(path, ".bmad-task", "task-mapping.json")
	whole := contentOf(t, file)
	for _, odd := range []string{`"x\nFAKE LINE": {"task_name": "x"}`, `"../x": {}`, `"` + strings.ToUpper(a.SessionID) + `": {}`, `"` + fullID + `": {"task_name": "../../x"}`, `"` + fullID + `": {"task_name": "x\nFAKE LINE"}`} {
		overwrite(t, file, strings.Replace(whole, "{\n", "{\n  "+odd+",\n", 1))
		all, err := s.All(ctx)
		if err != nil || len(all.Sessions) != 2 {
			t.Fatal(len(all.Sessions), err)
		}
		if faults, err := s.MappingFaults(all.Sessions, all.Broken); err == nil {
			t.Errorf("%s: %q", odd, faults)
		}
		overwrite(t, sessionFile(path, a.SessionID), "{")
		overwrite(t, file, strings.TrimRight(contentOf(t, file), "\n"))
		if _, err := s.Update(ctx, b.SessionID, nothing); err != nil {
			t.Fatal(err)
		}
		if m := mapping(t, path); len(m) > 2 {
			t.Errorf("%s: the mapping has %v", odd, m)
		}
		overwrite(t, sessionFile(path, a.SessionID), strings.ReplaceAll(contentOf(t, sessionFile(path, b.SessionID)), b.SessionID, a.SessionID))
	}
}

const fullID = "0c0c0c0c-3d55-4c0e-9a4e-5b8c8f0a7d22"
