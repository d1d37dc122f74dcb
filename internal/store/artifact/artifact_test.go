package artifact_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
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
		{"_a__b_", 0, "a-b"},
		{"Don't ask “Q&A @ home” – tell", 0, "dont-ask-qanda-at-home-tell"},
		{"一个系统", 0, "yi-ge-xi-tong"},
		{"Lpt９", 0, "lpt9-task"},
		{"🚀 a\xffb", 0, "ab"},
		{strings.Repeat("系统", 200), 0, "xi-tong-xi-tong-xi-tong-xi-tong-xi-tong-xi-tong-xi"},
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

// save saves an artifact of a task.
func save(dir *durable.Dir, body, earlier string, at time.Time) (workflow.Artifact, string, error) {
	f, err := artifact.Saved("my-task", "01-x.md")
	if err != nil {
		return workflow.Artifact{}, "", err
	}
	a, body := artifact.New(f, body, at)
	kept, err := artifact.Save(dir, f, a, body, earlier)
	return a, kept, err
}

func TestSave(t *testing.T) {
	path := t.TempDir()
	dir, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	a, kept, err := save(dir, "# body", "", time.Unix(0, 0))
	if err != nil || kept != "" {
		t.Fatal(kept, err)
	}
	b, err := os.ReadFile(filepath.Join(path, ".claude", "specs", "my-task", "01-x.md"))
	if err != nil || string(b) != "# body\n" || a.Size != 7 || a.Path != ".claude/specs/my-task/01-x.md" || a.SHA256 != workflow.Hash(b) {
		t.Errorf("%q, %+v, %v", b, a, err)
	}
	// Saved again: over our own file without a trace, over an edited one with a copy.
	second, kept, err := save(dir, "# second", a.SHA256, time.Unix(60, 0))
	if err != nil || kept != "" {
		t.Fatal(kept, err)
	}
	file := filepath.Join(path, ".claude", "specs", "my-task", "01-x.md")
	if err := os.WriteFile(file, []byte("# edited by hand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, kept, err = save(dir, "# third", second.SHA256, time.Unix(120, 0))
	if err != nil || kept != ".claude/specs/my-task/01-x.edited-19700101T000200Z.md" {
		t.Fatal(kept, err)
	}
	if b, err := os.ReadFile(filepath.Join(path, filepath.FromSlash(kept))); err != nil || string(b) != "# edited by hand\n" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "# third\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestEditsSurviveEveryFault replaces an artifact that was edited by hand, with every
// fault at every step: the edit is there, in its place or beside it.
func TestEditsSurviveEveryFault(t *testing.T) {
	const name = ".claude/specs/my-task/01-x.md"
	at := func(d *durabletest.Disk) *durable.Dir { return d.Dir("/simulated/artifact") }
	disk := durabletest.New()
	first, _, err := save(at(disk), "# first", "", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := at(disk).Replace(name, []byte("# edited by hand\n")); err != nil {
		t.Fatal(err)
	}
	durabletest.Sweep(t, disk, func(d *durabletest.Disk) error {
		_, _, err := save(at(d), "# second", first.SHA256, time.Unix(60, 0))
		return err
	}, func(o durabletest.Outcome) {
		dir := at(o.Disk)
		now, err := dir.ReadFile(name, durable.MaxText)
		kept, _ := dir.ReadFile(".claude/specs/my-task/01-x.edited-19700101T000100Z.md", durable.MaxText)
		inPlace, beside := string(now) == "# edited by hand\n", string(kept) == "# edited by hand\n"
		switch {
		case err != nil || !inPlace && !beside:
			t.Errorf("%v: the edit is lost: %q, %q, %v", o, now, kept, err)
		case o.Acknowledged && (string(now) != "# second\n" || !beside):
			t.Errorf("%v: saved %q, kept %q", o, now, kept)
		}
	})
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
