// Package artifact names tasks and saves their deliverables.
//
// A task name is a slug of the objective. An artifact is a stage's accepted document, saved under
// .claude/specs/<task name>/ in the project, for people to review and commit.
package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Folder holds the artifacts of all tasks of a project, relative to it.
const Folder = ".claude/specs"

// TaskFolder returns the folder of a task's artifacts, relative to the project.
func TaskFolder(task string) string { return Folder + "/" + task }

// New describes the artifact made from a text, and ends the text's last line.
func New(f File, body string, at time.Time) (a workflow.Artifact, text string) {
	if body != "" && body[len(body)-1] != '\n' {
		body += "\n"
	}
	return workflow.Artifact{Path: f.path, Size: int64(len(body)), SHA256: workflow.Hash([]byte(body)), SavedAt: at}, body
}

// Save writes an artifact durably, and replaces the earlier one with the hash earlier. If people have
// edited that one since, their version is kept beside it, at the path kept.
func Save(project *durable.Dir, f File, a workflow.Artifact, body, earlier string) (kept string, err error) {
	if _, err := project.MkdirAll(path.Dir(f.path)); err != nil {
		return "", err
	}
	old, err := project.ReadFile(f.path, durable.TextLimit(a.Size))
	switch sum := workflow.Hash(old); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil: // an edited version exists and could not be kept
		return "", err
	case sum != a.SHA256 && sum != earlier:
		if kept, err = keepEdited(project, strings.TrimSuffix(f.path, ".md"), old, a.SavedAt); err != nil {
			return kept, err
		}
	}
	return kept, project.Replace(f.path, []byte(body))
}

// keepEdited writes an edited artifact beside its replacement, unless the copy already exists.
func keepEdited(project *durable.Dir, stem string, body []byte, at time.Time) (name string, err error) {
	for n := 0; ; n++ {
		name = stem + ".edited-" + at.UTC().Format("20060102T150405Z")
		if n > 0 {
			name += fmt.Sprintf("-%d", n)
		}
		name += ".md"
		err = project.CreateUnsynced(name, body)
		if errors.Is(err, fs.ErrExist) {
			if now, err := project.ReadFile(name, durable.TextLimit(int64(len(body)))); err != nil || !bytes.Equal(now, body) {
				continue
			}
		} else if err != nil {
			return name, err
		}
		return name, project.SyncDir(path.Dir(name)) // before the original is replaced
	}
}

// Compare reports whether the file of an artifact is gone, or was edited since it was saved.
func Compare(project *durable.Dir, a workflow.Artifact) (missing, modified bool) {
	data, err := project.ReadFile(a.Path, durable.TextLimit(a.Size))
	return errors.Is(err, fs.ErrNotExist), err == nil && a.SHA256 != "" && !Same(data, a.SHA256)
}

// Same reports whether a text has a hash, apart from line ends.
func Same(text []byte, sha256 string) bool {
	_, same := As(text, sha256)
	return same
}

// As returns the form of a text with a given hash: the text as it is, or with all line ends as on Unix, or
// all as on Windows. Git turns one into the other (core.autocrlf), which changes no word.
func As(text []byte, sha256 string) (body []byte, same bool) {
	unix := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	for _, body := range [][]byte{text, unix, bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n"))} {
		if workflow.Hash(body) == sha256 {
			return body, true
		}
	}
	return nil, false
}
