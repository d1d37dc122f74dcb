package artifact_test

import (
	"path"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// outside are values that lead out of a folder, hide in it, or steer a terminal.
var outside = []string{
	"", ".", "..", "../..", "../../out", "/etc", "a/b", `a\b`, `..\..`, ".x", ".git", "x\ny", "x\ry", "x\ty", "x\x00", "\x1b[2J", "x\u2028y", "x\u202ey", "x\u0085", "\xff", strings.Repeat("x", 256),
}

// TestFiles checks that no name of a session leads to a file outside of the folder that it belongs to.
func TestFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"clock", "Clock", "时钟", "a b", "a_b-1", "x..y", "CLAUDE.md", strings.Repeat("x", 250)} {
		saved, err := artifact.Saved(name, name)
		if err != nil || saved.Path() != artifact.TaskFolder(name)+"/"+name {
			t.Errorf("%q: %q, %v", name, saved.Path(), err)
		}
		if work, err := artifact.Work("clock", workflow.StageID(name)); err != nil || work.Path() != artifact.WorkPath("clock", workflow.StageID(name)) {
			t.Errorf("%q: %q, %v", name, work.Path(), err)
		}
	}
	for _, name := range outside {
		for from, make := range map[string]func() (artifact.File, error){
			"task":     func() (artifact.File, error) { return artifact.Saved(name, "01-x.md") },
			"artifact": func() (artifact.File, error) { return artifact.Saved("clock", name) },
			"text":     func() (artifact.File, error) { return artifact.In(".bmad-task/temp/x", name) },
		} {
			if f, err := make(); err == nil {
				t.Errorf("%s %q is the file %q", from, name, f.Path())
			}
		}
		stage := workflow.StageID(name)
		if f, err := artifact.Work("clock", stage); err == nil && path.Dir(f.Path()) != artifact.WorkTask("clock") {
			t.Errorf("the stage %q is the file %q", name, f.Path())
		}
		if f, err := artifact.In(name, "x"); err == nil && strings.HasPrefix(path.Clean(f.Path()), "..") {
			t.Errorf("the folder %q has the file %q", name, f.Path())
		}
	}
}
