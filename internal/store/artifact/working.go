package artifact

import (
	"path"
	"strings"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// WorkFolder holds the working copies of all tasks of a project, relative to it.
const WorkFolder = ".bmad-task/work"

const (
	// MaxWorkPath is the maximum width of a working copy's path, in columns: hosts truncate
	// the lines of their forms, and a truncated path can be neither read nor copied.
	MaxWorkPath = 60
	// longestStage is the longest stage id within the width.
	longestStage = len("architect")
	workHash     = 8
)

// WorkPath returns the path of a stage's working copy: the draft for people to read and edit. It is the
// same in every round, relative to the project, with slashes, and at most MaxWorkPath columns wide.
func WorkPath(task string, stage workflow.StageID) string {
	return WorkTask(task) + "/" + string(stage) + ".md"
}

// WorkTask returns the folder of a task's working copies, relative to the project. A name that is too
// long, or has characters unfit for a path, is shortened and ends in a dot and part of its hash: task names
// have no dots, so no two tasks share a folder.
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

// MarkPath returns the path of the empty file that says that an artifact was written in this folder: one that is
// missing later was removed. It stands beside the working copies, which no checkout of git has.
func MarkPath(task string, a workflow.Artifact) string {
	return WorkTask(task) + "/.written-" + workflow.Hash([]byte(a.Path + "\n" + a.SHA256))[:2*workHash]
}

// SaveWork writes a working copy, or the record of a submission, durably, and replaces the earlier one.
func SaveWork(project *durable.Dir, f File, body string) error { return LayOut(project, f.path, body) }

// LayOut writes a text for people and assistants to read where a reply names it.
func LayOut(project *durable.Dir, name, body string) error {
	made, err := project.MkdirAll(path.Dir(name))
	if state := path.Dir(WorkFolder); err == nil && len(made) > 0 && strings.HasPrefix(name, state+"/") { // without session files nothing else ignores it
		err = project.Ignore(state)
	}
	if err != nil {
		return err
	}
	return project.Replace(name, []byte(body))
}
