package artifact

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// WorkFolder holds the working copies of all tasks of a project, relative to it.
const WorkFolder = ".bmad-task/work"

const (
	// MaxWorkPath is how many columns the path of a working copy takes at most: hosts cut
	// the lines of their forms, and a path that is cut can be neither read nor copied.
	MaxWorkPath = 60
	// longestStage is the longest id that a stage may have within that bound.
	longestStage = len("architect")
	workHash     = 8
)

// WorkPath returns where the working copy of a stage's document lies: the draft that
// people read and edit. It is the same in every round, relative to the project, with
// slashes, and at most MaxWorkPath columns wide.
func WorkPath(task string, stage workflow.StageID) string {
	return WorkTask(task) + "/" + string(stage) + ".md"
}

// WorkTask returns the folder of a task's working copies, relative to the project. A name
// that is cut, or that holds what a path must not, ends in a dot and a part of its hash:
// task names have no dots, so the folder belongs to one task alone.
func WorkTask(task string) string {
	room := MaxWorkPath - len(WorkFolder) - len("//.md") - longestStage
	safe := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, task)
	if safe == task && task != "" && visible.Columns(task) <= room {
		return WorkFolder + "/" + task
	}
	hash := workflow.Hash([]byte(task))[:workHash]
	return WorkFolder + "/" + strings.Trim(visible.Cut(safe, room-len(hash)-1, ""), "-") + "." + hash
}

// SaveWork writes a working copy durably, in place of the earlier one; old and readErr are the
// results of reading that. undo puts the earlier one back, as far as the disk lets it.
func SaveWork(project *durable.Dir, name, body string, old []byte, readErr error) (undo func(), err error) {
	undo = func() {}
	switch {
	case readErr == nil && string(old) == body:
		return undo, project.SyncDir(path.Dir(name)) // its writer may have died before it was durable
	case readErr != nil && !errors.Is(readErr, fs.ErrNotExist):
		return undo, readErr
	}
	existed := readErr == nil
	made, err := project.MkdirAll(path.Dir(name))
	if err != nil {
		return undo, err
	}
	undo = func() {
		switch {
		case !holds(project, name, body): // what people have made of it since is theirs
		case existed:
			_ = project.Replace(name, old)
		default:
			_ = project.Remove(name)
		}
		project.RemoveEmpty(made)
	}
	return undo, project.Replace(name, []byte(body))
}
