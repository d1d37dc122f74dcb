// Package artifact names tasks and saves their deliverables.
//
// A task name is a slug of the objective. An artifact is a stage's accepted document, saved under
// .claude/specs/<task name>/ in the project, so that people can review and commit it.
package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Folder holds the artifacts of all tasks of a project, relative to it.
const Folder = ".claude/specs"

// Path returns the path of an artifact of a task, relative to the project.
func Path(task, file string) string { return Folder + "/" + task + "/" + file }

// TaskFolder returns the folder of a task's artifacts, relative to the project.
func TaskFolder(task string) string { return Folder + "/" + task }

// Saved is the result of writing an artifact.
type Saved struct {
	workflow.Artifact
	// Kept is the path of an earlier, edited artifact that was kept; "" if there was none.
	Kept string
	// Undo restores the earlier state as far as the disk allows, for a caller that
	// fails afterwards. It is nil if nothing was written.
	Undo func()
}

// Save writes an artifact durably and replaces the earlier one. If people have edited
// that since it was saved, their version is kept beside it.
func Save(project *durable.Dir, task, file, body string, earlier *workflow.Artifact, at time.Time) (saved Saved, err error) {
	if task == "" || task[0] == '.' || strings.ContainsAny(task, `/\`) {
		return saved, fault.New(fault.Storage, "the session's task name %q is not a folder name", task).
			WithHint("correct task_name in the session file")
	}
	if body != "" && body[len(body)-1] != '\n' {
		body += "\n"
	}
	name := Path(task, file)
	saved.Artifact = workflow.Artifact{Path: name, Size: int64(len(body)), SHA256: workflow.Hash([]byte(body)), SavedAt: at}
	made, err := project.MkdirAll(TaskFolder(task))
	if err != nil {
		return saved, err
	}
	old, err := project.ReadFile(name, durable.TextLimit(saved.Size))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		saved.Undo = func() {
			if holds(project, name, body) {
				_ = project.Remove(name)
			}
			project.RemoveEmpty(made)
		}
	case err != nil: // an edited version exists and could not be kept
		return saved, err
	default:
		drop := func() {}
		if sum := workflow.Hash(old); sum != saved.SHA256 && (earlier == nil || sum != earlier.SHA256) {
			if saved.Kept, drop, err = keep(project, Path(task, strings.TrimSuffix(file, ".md")), old, at); err != nil {
				return saved, err
			}
		}
		saved.Undo = func() {
			if holds(project, name, body) {
				_ = project.Replace(name, old)
			}
			if holds(project, name, string(old)) { // otherwise the kept copy may be the only one
				drop()
			}
		}
	}
	return saved, project.Replace(name, []byte(body))
}

// holds reports whether a file holds these bytes. If people have edited it since, undoing
// our write would lose their work.
func holds(project *durable.Dir, name, body string) bool {
	now, err := project.ReadFile(name, durable.TextLimit(int64(len(body))))
	return err == nil && string(now) == body
}

// keep writes an edited artifact beside its replacement, unless that copy already exists.
// drop removes the copy again.
func keep(project *durable.Dir, stem string, body []byte, at time.Time) (name string, drop func(), err error) {
	drop = func() {}
	for n := 0; ; n++ {
		name = stem + ".edited-" + at.UTC().Format("20060102T150405Z")
		if n > 0 {
			name += fmt.Sprintf("-%d", n)
		}
		name += ".md"
		err = project.CreateUnsynced(name, body)
		if errors.Is(err, fs.ErrExist) {
			if !holds(project, name, string(body)) {
				continue
			}
		} else if err != nil {
			return name, drop, err
		} else {
			drop = func() { _ = project.Remove(name) }
		}
		if err = project.SyncDir(path.Dir(name)); err != nil { // before the original is replaced
			drop()
		}
		return name, drop, err
	}
}

// Compare reports whether the file of an artifact is gone, or was edited since it was saved.
func Compare(project *durable.Dir, a workflow.Artifact) (missing, modified bool) {
	data, err := project.ReadFile(a.Path, durable.TextLimit(a.Size))
	return errors.Is(err, fs.ErrNotExist), err == nil && a.SHA256 != "" && !Same(data, a.SHA256)
}

// Same reports whether a text has a hash, with its line ends as they are, or all as on Unix, or all
// as on Windows: git turns one into the other (core.autocrlf), and neither changes a word.
func Same(text []byte, sha256 string) bool {
	if workflow.Hash(text) == sha256 {
		return true
	}
	unix := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return workflow.Hash(unix) == sha256 || workflow.Hash(bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n"))) == sha256
}
