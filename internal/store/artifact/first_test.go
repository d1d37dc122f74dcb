package artifact_test

import (
	"fmt"
	"path"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
)

// TestSaveKeeps checks that no text of a person is lost when an artifact is written over it: not at the first save, and
// not beside a copy of the same moment.
func TestSaveKeeps(t *testing.T) {
	t.Parallel()
	const name, copied = ".claude/specs/my-task/01-x.md", ".claude/specs/my-task/01-x.edited-20260102T030405Z"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	file, err := artifact.Saved("my-task", "01-x.md")
	if err != nil {
		t.Fatal(err)
	}
	first, _ := artifact.New(file, "# first", at)
	second, _ := artifact.New(file, "# second", at)
	for what, tt := range map[string]struct {
		there   map[string]string
		earlier string
		kept    string
		copy    string
	}{
		"nothing":                       {nil, "", "", "-"},
		"a person's file":               {map[string]string{name: "mine\n"}, "", copied + ".md", "mine\n"},
		"an empty file":                 {map[string]string{name: ""}, "", copied + ".md", ""},
		"a person's file, not ours":     {map[string]string{name: "mine\n"}, second.SHA256, copied + ".md", "mine\n"},
		"the one before":                {map[string]string{name: "# second\n"}, second.SHA256, "", "-"},
		"itself":                        {map[string]string{name: "# first\n"}, "", "", "-"},
		"a copy of it":                  {map[string]string{name: "mine\n", copied + ".md": "mine\n"}, "", copied + ".md", "mine\n"},
		"another copy":                  {map[string]string{name: "mine\n", copied + ".md": "other\n"}, "", copied + "-1.md", "mine\n"},
		"another, which begins as this": {map[string]string{name: "mine\n", copied + ".md": "mine\nand more\n"}, "", copied + "-1.md", "mine\n"},
	} {
		dir, err := durable.OpenDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = dir.Close() })
		for file, text := range tt.there {
			if _, err := dir.MkdirAll(path.Dir(file)); err != nil {
				t.Fatal(err)
			}
			if err := dir.Replace(file, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := artifact.Save(dir, file, first, "# first\n", tt.earlier)
		read := func(name string) string {
			data, err := dir.ReadFile(name, 1<<20)
			if name == "" || err != nil {
				return "-"
			}
			return string(data)
		}
		if err != nil || kept != tt.kept || read(kept) != tt.copy || read(name) != "# first\n" {
			t.Errorf("%s: kept as %q with %q, the file has %q (%v); want %q with %q", what, kept, read(kept), read(name), err, tt.kept, tt.copy)
		}
	}
}

// TestWorkPaths checks that each task and stage has a path of its own that a form can show.
func TestWorkPaths(t *testing.T) {
	t.Parallel()
	const folder = ".bmad-task/work/"
	long := "a-task-name-of-thirty-2-columns" // one column fewer than there is room for
	for task, want := range map[string]string{
		"clock": folder + "clock", "时钟": folder + "时钟", "a_b-1": folder + "a_b-1", "": folder + "?", "a/b": folder + "?", "..": folder + "?", long + "-and-more": folder + "?",
	} {
		got := artifact.WorkTask(task)
		if want[len(want)-1] == '?' && (len(got) <= len(folder)+8 || got == folder+task) || want[len(want)-1] != '?' && got != want || len(got) > artifact.MaxWorkPath {
			t.Errorf("%q: got %q, want %q", task, got, want)
		}
	}
	if a, b := artifact.WorkTask("a/b"), artifact.WorkTask("a b"); a == b {
		t.Errorf("two tasks share %s", a)
	}
	if got, want := fmt.Sprint(artifact.WorkPath("clock", "po"), " ", artifact.TaskFolder("clock")), folder+"clock/po.md .claude/specs/clock"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
