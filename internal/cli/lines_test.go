package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

const fake = "FAKE LINE"

// looks are the commands that show sessions, and what is around them.
var looks = [][]string{
	{"status", "--all"}, {"status"}, {"log", "clock"}, {"log", "clock", "--verify"}, {"show", "clock"},
	{"diff", "clock", "x"}, {"report", "--graph", "clock"}, {"report", "clock"}, {"sync"}, {"task", "status", "clock"},
	{"doctor"}, {"doctor", "--fix"}, {"adopt", "clock"}, {"store", "check"},
}

// TestNoValueBeginsALine puts a line of its own into every text of a session that may have several, at once, and into every
// other one, which is refused: none of them is a line of what the commands print.
func TestNoValueBeginsALine(t *testing.T) {
	const id = "0c0c0c0c-3d55-4c0e-9a4e-5b8c8f0a7d22"
	d := newDesk(t)
	if err := os.RemoveAll(filepath.Join(d.project, ".bmad-task")); err != nil {
		t.Fatal(err)
	}
	put := func(s *workflow.Session) bool {
		t.Helper()
		data, err := workflow.MarshalIndent(s)
		if err != nil {
			t.Fatal(err)
		}
		d.write(store.SessionPath(id), string(data))
		_, err = store.Decode(data, "f")
		return err == nil
	}
	prose, refused := 0, 0
	for _, state := range workflow.States() {
		s, fields := workflowtest.Full(id)
		s.CurrentState, s.Cwd = state, d.project
		s.Stages["x"].Questions = append(s.Stages["x"].Questions, workflow.Question{ID: "y\n" + fake, Question: "y\n" + fake})
		d.write(".bmad-task/temp/"+id+"/a.md", "# A\n")
		prose, refused = 0, 0
		for i, f := range fields {
			if f.Text == nil || f.Path == "cwd" || f.Path == "current_state" {
				continue
			}
			f.Text("x\n" + fake)
			if put(s) {
				prose++
				continue
			}
			refused++
			d.mustNotSay(f.Path, []string{"status", "--all"})
			plain, again := workflowtest.Full(id)
			if state == workflow.Generating {
				again[i].Text("x\n" + fake)
				put(plain)
				d.mustNotSay(f.Path, []string{"show", "clock"}, []string{"doctor"}, []string{"log", id, "--verify"})
			}
			f.Text(f.Value)
		}
		s.Stages["x"].Evidence.Tail = "x\nits output"
		if !put(s) {
			t.Fatal("the run with all prose does not open")
		}
		d.mustNotSay(string(state), looks...)
		if shown := strings.Count(d.run(0, "show", "clock"), fake); shown < 20 {
			t.Errorf("%s: show has %d of the texts", state, shown)
		}
	}
	if prose < 50 || refused < 50 {
		t.Errorf("%d texts with a line, %d refused", prose, refused)
	}
}

// mustNotSay runs commands, of whose output no line is the fake one.
func (d *desk) mustNotSay(what string, commands ...[]string) {
	d.t.Helper()
	for _, args := range commands {
		_, out := d.call(args...)
		for line := range strings.Lines(out) {
			if strings.HasPrefix(strings.TrimLeft(line, " \t│>-*#•"), fake) {
				d.t.Errorf("%s: %v says\n%s", what, args, out)
				break
			}
		}
	}
}
