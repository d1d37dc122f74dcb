// Package artifact names tasks and saves their deliverables.
//
// A task name is a slug of the objective. An artifact is a stage's accepted
// document, saved under .claude/specs/<task name>/ in the project, where people
// review it and commit it.
package artifact

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"bmad-mcp/internal/durable"
	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/workflow"
)

// Folder holds the artifacts of all tasks of a project, relative to it.
const Folder = ".claude/specs"

// Path returns where an artifact of a task belongs, relative to the project.
func Path(task, file string) string { return Folder + "/" + task + "/" + file }

// TaskFolder returns the folder of a task's artifacts, relative to the project.
func TaskFolder(task string) string { return Folder + "/" + task }

// Save writes an artifact durably, in place of the earlier one. What people have
// made of that since it was saved is kept beside it, under the name that kept
// returns; it is "" where nothing had to be.
func Save(project *durable.Dir, task, file, body string, earlier *workflow.Artifact, at time.Time) (saved workflow.Artifact, kept string, err error) {
	if task == "" || task[0] == '.' || strings.ContainsAny(task, `/\`) {
		return saved, "", fault.New(fault.Storage, "the session's task name %q is no folder name", task).
			WithHint("mend task_name in the session file")
	}
	if err := project.MkdirAll(TaskFolder(task)); err != nil {
		return saved, "", err
	}
	if body != "" && body[len(body)-1] != '\n' {
		body += "\n"
	}
	name := Path(task, file)
	saved = workflow.Artifact{Path: name, Size: int64(len(body)), SHA256: workflow.Hash([]byte(body)), SavedAt: at}
	if old, readErr := project.ReadFile(name); readErr == nil {
		if sum := workflow.Hash(old); sum != saved.SHA256 && (earlier == nil || sum != earlier.SHA256) {
			kept = Path(task, strings.TrimSuffix(file, ".md")+".edited-"+at.UTC().Format("20060102T150405Z")+".md")
			if err := project.Create(kept, old); err != nil && !errors.Is(err, fs.ErrExist) {
				return saved, "", err
			}
		}
	}
	return saved, kept, project.Replace(name, []byte(body))
}
