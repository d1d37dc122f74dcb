package artifact_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const id = "1234abcd-0000-4000-8000-000000000000"

func TestName(t *testing.T) {
	long := "Build a user authentication system with single sign-on and audit"
	tests := []struct {
		objective string
		n         int
		want      string
	}{
		{"Build user authentication system", 0, "build-user-authentication-system"},
		{"Build user authentication system", 2, "build-user-authentication-system-2"},
		{long, 0, "build-a-user-authentication-system-with-single"},
		{long, 1, "build-a-user-authentication-system-with-single-1"},
		{long, 12345, "build-a-user-authentication-system-with-12345"},
		{"构建用户系统", 0, "gou-jian-yong-hu-xi-tong"},
		{"Ünïcödé café", 0, "unicode-cafe"},
		{"Система входа", 0, "sistema-vkhoda"},
		{"!!!", 0, "task-1234abcd"},
		{"!!!", 1, "task-1234abcd-1"},
		{"   ", 0, "task-1234abcd"},
		{"-1", 0, "1"},
		{"CON", 0, "con-task"},
		{"nul", 3, "nul-task-3"},
		{"com1", 0, "com1-task"},
		{"../../etc/passwd", 0, "etc-passwd"},
		{"under_score", 0, "under-score"},
		{"0_ 0", 0, "0-0"},
		{strings.Repeat("x", 80), 0, strings.Repeat("x", 50)},
		{strings.Repeat("x", 80), 7, strings.Repeat("x", 48) + "-7"},
		{"a\nb\x00c", 0, "a-b-c"},
	}
	for _, tt := range tests {
		if got := artifact.Name(tt.objective, id, tt.n); got != tt.want {
			t.Errorf("%q, %d: got %q, want %q", tt.objective, tt.n, got, tt.want)
		}
	}
}

func FuzzName(f *testing.F) {
	for _, s := range []string{"Build x", "构建", "!!!", "CON", "🚀 launch", strings.Repeat("ab ", 60)} {
		f.Add(s, uint16(3))
	}
	form := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	f.Fuzz(func(t *testing.T, objective string, n uint16) {
		for _, i := range []int{0, int(n)} {
			got := artifact.Name(objective, id, i)
			if !form.MatchString(got) || len(got) > artifact.MaxName {
				t.Errorf("%q, %d: %q", objective, i, got)
			}
		}
	})
}

func TestSave(t *testing.T) {
	path := t.TempDir()
	dir, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	a, err := artifact.Save(dir, "my-task", "01-x.md", "# body", nil, time.Unix(0, 0))
	if err != nil || a.Kept != "" {
		t.Fatal(a.Kept, err)
	}
	b, err := os.ReadFile(filepath.Join(path, ".claude", "specs", "my-task", "01-x.md"))
	if err != nil || string(b) != "# body\n" || a.Size != 7 || a.Path != ".claude/specs/my-task/01-x.md" {
		t.Errorf("%q, %+v, %v", b, a, err)
	}
	if _, err := artifact.Save(dir, "../../out", "x.md", "b", nil, time.Unix(0, 0)); err == nil {
		t.Error("saved outside the task's folder")
	}

	// Saved again: over our own file without a trace, over an edited one with a copy.
	b2, err := artifact.Save(dir, "my-task", "01-x.md", "# second", &a.Artifact, time.Unix(60, 0))
	if err != nil || b2.Kept != "" {
		t.Fatal(b2.Kept, err)
	}
	file := filepath.Join(path, ".claude", "specs", "my-task", "01-x.md")
	if err := os.WriteFile(file, []byte("# edited by hand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := artifact.Save(dir, "my-task", "01-x.md", "# third", &b2.Artifact, time.Unix(120, 0))
	if err != nil || c.Kept != ".claude/specs/my-task/01-x.edited-19700101T000200Z.md" {
		t.Fatal(c.Kept, err)
	}
	if b, err := os.ReadFile(filepath.Join(path, filepath.FromSlash(c.Kept))); err != nil || string(b) != "# edited by hand\n" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "# third\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestEditsSurviveEveryFault replaces an artifact that was edited by hand, with every
// fault at every step: the edit is there, in its place or beside it; after
// an error that is undone, in its place.
func TestEditsSurviveEveryFault(t *testing.T) {
	const name = ".claude/specs/my-task/01-x.md"
	at := func(d *durabletest.Disk) *durable.Dir { return d.Dir("/simulated/artifact") }
	disk := durabletest.New()
	first, err := artifact.Save(at(disk), "my-task", "01-x.md", "# first", nil, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := at(disk).Replace(name, []byte("# edited by hand\n")); err != nil {
		t.Fatal(err)
	}
	var undo func()
	durabletest.Sweep(t, disk, func(d *durabletest.Disk) error {
		saved, err := artifact.Save(at(d), "my-task", "01-x.md", "# second", &first.Artifact, time.Unix(60, 0))
		undo = saved.Undo
		return err
	}, func(o durabletest.Outcome) {
		dir := at(o.Disk)
		if o.Err != nil && !o.Lost() && undo != nil {
			undo()
		}
		now, err := dir.ReadFile(name, durable.MaxText)
		kept, _ := dir.ReadFile(".claude/specs/my-task/01-x.edited-19700101T000100Z.md", durable.MaxText)
		inPlace, beside := string(now) == "# edited by hand\n", string(kept) == "# edited by hand\n"
		switch {
		case err != nil || !inPlace && !beside:
			t.Errorf("%v: the edit is lost: %q, %q, %v", o, now, kept, err)
		case o.Acknowledged && (string(now) != "# second\n" || !beside):
			t.Errorf("%v: saved %q, kept %q", o, now, kept)
		case o.Err != nil && !o.Lost() && !inPlace:
			t.Errorf("%v: undone, and there is %q", o, now)
		}
	})
}

// TestUndoKeepsTheOnlyCopy has something else write the artifact between save and undo.
func TestUndoKeepsTheOnlyCopy(t *testing.T) {
	const name = ".claude/specs/my-task/01-x.md"
	d := durabletest.New().Dir("/simulated/undo")
	first, err := artifact.Save(d, "my-task", "01-x.md", "# first", nil, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Replace(name, []byte("# hours of work\n")); err != nil {
		t.Fatal(err)
	}
	second, err := artifact.Save(d, "my-task", "01-x.md", "# second", &first.Artifact, time.Unix(60, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Replace(name, []byte("# formatted\n")); err != nil {
		t.Fatal(err)
	}
	second.Undo()
	kept, err := d.ReadFile(second.Kept, durable.MaxText)
	if now, readErr := d.ReadFile(name, durable.MaxText); err != nil || readErr != nil || string(kept) != "# hours of work\n" || string(now) != "# formatted\n" {
		t.Errorf("kept %q, %v; the file holds %q, %v", kept, err, now, readErr)
	}
}

// TestSame: line ends that git turns do not make another text; everything else does.
func TestSame(t *testing.T) {
	unix, windows := "# A\n\nb\n", "# A\r\n\r\nb\r\n"
	for _, saved := range []string{unix, windows} {
		for text, want := range map[string]bool{
			unix: true, windows: true, "# A\r\n\nb\n": true, "# A\n\nb": false, "# A\n\nb\n\n": false, "# A\r\rb\r": false, "\ufeff" + unix: false, "# A\n\nB\n": false, "": false,
		} {
			if got := artifact.Same([]byte(text), workflow.Hash([]byte(saved))); got != want {
				t.Errorf("%q saved as %q: %v", text, saved, got)
			}
		}
	}
}
