package grimoire_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

// read reads a whole project.
func read(t *testing.T, fsys fs.FS) (grimoire.Content, []grimoire.Problem, []grimoire.Source) {
	t.Helper()
	sources, problems := grimoire.Sources(fsys)
	runs, more := grimoire.RunSources(fsys)
	sources, problems = append(sources, runs...), append(problems, more...)
	var contents []grimoire.Content
	for _, s := range sources {
		data, err := fs.ReadFile(fsys, s.Path)
		if err != nil {
			t.Fatal(err)
		}
		c, bad := grimoire.Parse(s, data)
		contents, problems = append(contents, c), append(problems, bad...)
	}
	all, bad := grimoire.Join(contents)
	return all, append(problems, bad...), sources
}

// day shows a date, with its time if it has one.
func day(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return strings.TrimSuffix(at.Format("2006-01-02T15:04"), "T00:00")
}

// shown writes all contents in lines.
func shown(c grimoire.Content, problems []grimoire.Problem, sources []grimoire.Source) string {
	var b strings.Builder
	for _, s := range sources {
		fmt.Fprintf(&b, "source %s %s\n", s.Kind, s.Path)
	}
	fmt.Fprintf(&b, "project %+v user %q %q\n", c.Project, c.User.Name, c.User.Language)
	for _, a := range c.Agents {
		fmt.Fprintf(&b, "agent %+v\n", a)
	}
	fmt.Fprintf(&b, "architecture %s:%d %q\n", c.Architecture.Path, c.Architecture.Line, c.Architecture.Text)
	for _, e := range c.Entries {
		fmt.Fprintf(&b, "%s:%d %s @%s %s %q %q\n", e.Path, e.Line, e.Type, e.Agent, day(e.Date), e.Tags, e.Text)
		if e.Failure != nil {
			fmt.Fprintf(&b, "\tfailure %+q\n", *e.Failure)
		}
	}
	for _, x := range c.Branches {
		fmt.Fprintf(&b, "branch %s %s %q from %q %s over=%v %s\n", x.Name, x.Status(c.Runs), x.Purpose, x.Parent, day(x.Created), x.Over, x.Path)
	}
	for _, x := range c.Runs {
		fmt.Fprintf(&b, "run %s of %s: %s %s %v %s\n", x.ID, x.Branch, x.Status, day(x.Updated), x.State, x.Path)
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "problem %s:%d %s\n", p.Path, p.Line, p.Why)
	}
	return b.String()
}

// TestProjects reads whole projects: one of each kit, and one with faults in its files.
func TestProjects(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"kit", "grimoire", "broken"} {
		got := shown(read(t, os.DirFS("testdata/"+name)))
		golden.Check(t, "testdata/"+name+".golden", got)
	}
}

// TestLineEndings checks that files of Windows, with a byte order mark and without an end of the last
// line, have the same content.
func TestLineEndings(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"kit", "grimoire"} {
		unix, windows := os.DirFS("testdata/"+name), fstest.MapFS{}
		sources, _ := grimoire.Sources(unix)
		runs, _ := grimoire.RunSources(unix)
		for _, s := range append(sources, runs...) {
			data, err := fs.ReadFile(unix, s.Path)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(strings.TrimRight(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), "\n", "\r\n")
			windows[s.Path] = &fstest.MapFile{Data: []byte("\ufeff" + text)}
		}
		if got, want := shown(read(t, windows)), shown(read(t, unix)); got != want {
			t.Errorf("%s: with the line endings of Windows\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestLinesAreTrue checks that the text of an entry begins on the line that it names.
func TestLinesAreTrue(t *testing.T) {
	t.Parallel()
	fsys := os.DirFS("testdata/kit")
	all, _, _ := read(t, fsys)
	for _, e := range all.Entries {
		data, err := fs.ReadFile(fsys, e.Path)
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Split(string(data), "\n")[e.Line-1]
		words := strings.FieldsFunc(e.Text, func(r rune) bool { return strings.ContainsRune(" \n·:`\"", r) })
		found := 0
		for _, w := range words {
			if strings.Contains(line, w) {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s:%d is %q, which has no word of %q", e.Path, e.Line, line, e.Text)
		}
	}
	if len(all.Entries) < 30 {
		t.Errorf("only %d entries were read", len(all.Entries))
	}
}
