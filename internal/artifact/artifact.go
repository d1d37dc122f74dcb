// Package artifact names tasks and saves their deliverables.
//
// A task name is a slug of the objective. An artifact is a stage's accepted
// document, saved under .claude/specs/<task name>/ in the project, where people
// review it and commit it.
package artifact

import (
	"crypto/sha256"
	"encoding/hex"
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

// Save writes an artifact durably, in place of an earlier one of the same name.
func Save(project *durable.Dir, task, file, body string, at time.Time) (workflow.Artifact, error) {
	if task == "" || task[0] == '.' || strings.ContainsAny(task, `/\`) {
		return workflow.Artifact{}, fault.New(fault.Storage, "the session's task name %q is no folder name", task).
			WithHint("mend task_name in the session file")
	}
	if err := project.MkdirAll(TaskFolder(task)); err != nil {
		return workflow.Artifact{}, err
	}
	if body != "" && body[len(body)-1] != '\n' {
		body += "\n"
	}
	name := Path(task, file)
	if err := project.Replace(name, []byte(body)); err != nil {
		return workflow.Artifact{}, err
	}
	sum := sha256.Sum256([]byte(body))
	return workflow.Artifact{Path: name, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:]), SavedAt: at}, nil
}
