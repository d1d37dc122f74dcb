package artifact

import (
	"io/fs"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxElement is the greatest length of a path element on every file system, in bytes.
const maxElement = 255

// IsName reports whether a name can belong to a folder or file of a session: one path element, not hidden,
// without anything to steer a terminal.
func IsName(name string) bool {
	return name != "" && len(name) <= maxElement && name[0] != '.' && !strings.ContainsAny(name, "/\\\n\t") && !visible.Steers(name)
}

// File is a file of the checkout to be written for a session. Nothing but [Saved], [Work] and [In] makes
// one, so a name from a session, an archive or a row reaches no other path.
type File struct{ path string }

// Path returns the path of the file, relative to the project.
func (f File) Path() string { return f.path }

// Saved returns the file of an artifact of a task.
func Saved(task, file string) (File, error) {
	if !IsName(task) {
		return File{}, fault.New(fault.Storage, "the run's task name %q is not a folder name", task).
			WithHint("correct task_name in the session file")
	}
	return In(TaskFolder(task), file)
}

// Work returns the file of a stage's working copy.
func Work(task string, stage workflow.StageID) (File, error) {
	return In(WorkTask(task), string(stage)+".md")
}

// In returns a file in a folder of this program.
func In(folder, file string) (File, error) {
	if name := folder + "/" + file; IsName(file) && fs.ValidPath(name) && !strings.Contains(folder, `\`) {
		return File{name}, nil
	}
	return File{}, fault.New(fault.Storage, "%q is not the name of a file that a run has", file).
		WithHint("correct it in the session file")
}
