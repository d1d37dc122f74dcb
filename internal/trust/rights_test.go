package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// runFile returns the file of a run, for these tests.
func runFile(id string) string { return ".bmad-task/runs/" + id + "/run.json" }

// onlyRights returns the file of the only record.
func onlyRights(t *testing.T, f trust.UserState) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(string(f), "rights", "*", "*", "*.json"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	return found[0]
}

// TestRights: a record counts for its project, kind and id, as it was written with this key.
func TestRights(t *testing.T) {
	f, project := folder(t), t.TempDir()
	runs := f.Rights("runs", project, runFile)
	if got := runs.Kept(t.Context(), sessionID); got != nil {
		t.Errorf("before the first: %s", got)
	}
	for _, data := range []string{`{"budget":1}`, `{"budget":2}`} {
		if err := runs.Keep(t.Context(), sessionID, []byte(data)); err != nil {
			t.Fatal(err)
		}
		if got := string(f.Rights("runs", project, runFile).Kept(t.Context(), sessionID)); got != data {
			t.Errorf("kept %s; want %s", got, data)
		}
	}
	const other = "22222222-2222-4333-8444-555555555555"
	name := onlyRights(t, f)
	record, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for what, c := range map[string]struct {
		kept *trust.Rights
		id   string
	}{
		"another id":      {f.Rights("runs", project, runFile), other},
		"another kind":    {f.Rights("conversations", project, runFile), sessionID},
		"another project": {f.Rights("runs", elsewhere, runFile), sessionID},
	} {
		if err := c.kept.Keep(t.Context(), c.id, []byte(`{"budget":9}`)); err != nil {
			t.Fatal(err)
		}
		all, err := filepath.Glob(filepath.Join(string(f), "rights", "*", "*", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range all { // the first record in the place of this one
			if file != name {
				if err := os.WriteFile(file, record, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := c.kept.Kept(t.Context(), c.id); got != nil {
			t.Errorf("%s has %s", what, got)
		}
	}
	for what, text := range map[string]string{
		"edited": strings.Replace(string(record), `"budget":2`, `"budget":3`, 1), "unsigned": strings.Replace(string(record), `"signature":"`, `"signatur":"`, 1),
		"cut": string(record[:len(record)/2]), "empty": "", "a list": "[]",
	} {
		if text == string(record) {
			t.Fatalf("%s: nothing was changed", what)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := runs.Kept(t.Context(), sessionID); got != nil {
			t.Errorf("%s: %s", what, got)
		}
	}
	for _, id := range []string{"", "../x", "a/b", "A", "a.json"} {
		if err := runs.Keep(t.Context(), id, []byte("{}")); err == nil {
			t.Errorf("the id %q is accepted", id)
		}
		if got := runs.Kept(t.Context(), id); got != nil {
			t.Errorf("the id %q has %s", id, got)
		}
	}
	if err := trust.UserState("").Rights("runs", project, runFile).Keep(t.Context(), sessionID, []byte("{}")); err == nil {
		t.Error("nothing was said where nothing can be kept")
	}
}
