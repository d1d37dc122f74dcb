package trust_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const sessionID = "11111111-2222-4333-8444-555555555555"

func checkpoint(revision int) workflow.Checkpoint {
	return workflow.Checkpoint{Entries: revision, Revision: revision, Head: "ab", At: at, File: "cd"}
}

func signerOf(t *testing.T, f trust.UserState) workflow.Signer {
	t.Helper()
	s, err := f.Signer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// recordFile returns the only file of checkpoints.
func recordFile(t *testing.T, f trust.UserState) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(string(f), "checkpoints", "*", "*.json"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

func TestCheckpointsGoForward(t *testing.T) {
	f, project := folder(t), t.TempDir()
	s := signerOf(t, f)
	want := func(project string, revision int) {
		t.Helper()
		got, ok := f.Checkpoints(s, project, sessionID)[sessionID]
		if ok != (revision > 0) || got.Revision != revision || got.Foreign {
			t.Errorf("got %+v, %v, want revision %d", got, ok, revision)
		}
	}
	want(project, 0)
	for _, step := range []struct{ write, want int }{{3, 3}, {4, 4}, {2, 4}, {4, 4}, {9, 9}} {
		if err := f.Record(t.Context(), s, project, sessionID, checkpoint(step.write)); err != nil {
			t.Fatal(err)
		}
		want(project, step.want)
	}
	other := checkpoint(9)
	other.Head = "another"
	if err := f.Record(t.Context(), s, project, sessionID, other); err != nil || f.Checkpoints(s, project, sessionID)[sessionID].Head != "ab" {
		t.Errorf("a record of the same revision was replaced (%v)", err)
	}
	want(t.TempDir(), 0) // another project with a session of that id
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(project, link); err == nil {
		want(link, 9)
	}
	if got := f.Checkpoints(s, project, "../../key", "", "key", "22222222-2222-4333-8444-555555555555"); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if err := f.Record(t.Context(), s, project, "../key", checkpoint(1)); err == nil {
		t.Error("a path was taken for an id")
	}
	info, err := os.Stat(recordFile(t, f))
	if err != nil || info.Mode().Perm()&0o077 != 0 || info.Size() > 1000 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestForeignCheckpoints: a file that was written without the key proves only that it was written.
func TestForeignCheckpoints(t *testing.T) {
	f, project := folder(t), t.TempDir()
	s := signerOf(t, f)
	if err := f.Record(t.Context(), s, project, sessionID, checkpoint(5)); err != nil {
		t.Fatal(err)
	}
	name := recordFile(t, f)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, with string) string { return strings.Replace(string(whole), old, with, 1) }
	for what, text := range map[string]string{
		"empty": "", "half": string(whole[:len(whole)/2]), "a list": "[]", "null": "null", "more after it": string(whole) + "{}",
		"another revision": replace(`"revision": 5`, `"revision": 4`), "fewer entries": replace(`"entries": 5`, `"entries": 1`),
		"a key put in": replace(`"revision": 5`, `"revision": 5, "broken": 0`), "a key taken out": replace(`"file": "cd",`, ""),
		"of another project": replace(`"project": "`, `"project": "/x`), "of another session": replace(sessionID, "22222222-2222-4333-8444-555555555555"),
		"unsigned": replace(`"signature"`, `"signed"`), "huge": string(whole) + strings.Repeat(" ", 1<<16),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := f.Checkpoints(s, project, sessionID)[sessionID]; !ok || !got.Foreign || got.Revision != 0 {
			t.Errorf("%s: %+v, %v", what, got, ok)
		}
	}
	// The next one takes its place.
	if err := f.Record(t.Context(), s, project, sessionID, checkpoint(2)); err != nil {
		t.Fatal(err)
	}
	if got := f.Checkpoints(s, project, sessionID)[sessionID]; got.Foreign || got.Revision != 2 {
		t.Errorf("%+v", got)
	}
	// Other blanks, and a key of a later version that is signed, change nothing.
	var plain map[string]any
	if err := json.Unmarshal(whole, &plain); err != nil {
		t.Fatal(err)
	}
	compact, err := json.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, compact, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := f.Checkpoints(s, project, sessionID)[sessionID]; got.Foreign || got.Revision != 5 {
		t.Errorf("%+v", got)
	}
	if got := f.Checkpoints(signerOf(t, folder(t)), project, sessionID)[sessionID]; !got.Foreign {
		t.Errorf("by another key: %+v", got)
	}
	if got := f.Checkpoints(nil, project, sessionID); got != nil {
		t.Errorf("without a key: %v", got)
	}
}

// TestElsewhere: a record under another folder shows whether the run is still there, and
// whether the folder is this one by another path.
func TestElsewhere(t *testing.T) {
	f, top := folder(t), t.TempDir()
	s := signerOf(t, f)
	const file = "session.json"
	project := func(name string, holds bool) string {
		path := filepath.Join(top, name)
		check(t, os.Mkdir(path, 0o750))
		if holds {
			put(t, filepath.Join(path, file), "{}")
		}
		check(t, f.Record(t.Context(), s, path, sessionID, checkpoint(3)))
		return path
	}
	here := filepath.Join(top, "here")
	check(t, os.Mkdir(here, 0o750))
	first, left := project("first", true), project("left", false)
	got := map[string]workflow.Elsewhere{}
	for _, e := range f.Elsewhere(s, here, here, sessionID, file) {
		got[filepath.Base(e.Folder)] = e
	}
	if len(got) != 2 || !got["first"].Holds || got["left"].Holds || got["left"].Same || got["first"].Revision != 3 {
		t.Fatalf("%+v", got)
	}
	if other := f.Elsewhere(s, here, here, "22222222-2222-4333-8444-555555555555", file); len(other) != 0 {
		t.Errorf("of another session: %+v", other)
	}
	if other := f.Elsewhere(signerOf(t, folder(t)), here, here, sessionID, file); len(other) != 0 {
		t.Errorf("by another key: %+v", other)
	}
	// The folder that it has left is forgotten with the next record, and only the first of two
	// copies takes its place.
	check(t, f.Record(t.Context(), s, here, sessionID, checkpoint(4), left))
	check(t, f.Record(t.Context(), s, filepath.Join(top, "second"), sessionID, checkpoint(4), left))
	if e := f.Elsewhere(s, first, first, sessionID, file); len(e) != 1 || filepath.Base(e[0].Folder) != "here" {
		t.Errorf("%+v", e)
	}
	// The same folder by another path.
	check(t, os.Rename(here, here+"2"))
	check(t, os.Symlink(here+"2", here))
	for _, e := range f.Elsewhere(s, here, here, sessionID, file) {
		if same := filepath.Base(e.Folder) == "here"; e.Same != same {
			t.Errorf("%+v", e)
		}
	}
}
