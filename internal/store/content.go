package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Folder holds the state of all runs of a project, relative to it.
const Folder = ".bmad-task"

// ParseID returns the canonical form of a session's id. Paths are built from nothing else.
func ParseID(id string) (string, bool) {
	u, err := uuid.Parse(id)
	if err != nil || len(id) != 36 {
		return "", false
	}
	return u.String(), true
}

// MovedFile says, in one line, to which shared store the sessions of a project were moved.
const MovedFile = Folder + "/MOVED"

// Moved returns the error for the sessions of a project in a folder if they were moved to a shared store; else nil.
func Moved(dir *durable.Dir) error {
	if _, err := dir.Lstat(MovedFile); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	const most = 1 << 10
	to, err := dir.ReadFile(MovedFile, most)
	if err != nil {
		return Trouble(dir, err)
	}
	// A repository can bring the file along: do not suggest the address in it.
	address, _, _ := strings.Cut(strings.TrimSpace(string(to)), "\n")
	return fault.New(fault.Storage, "the runs of %s were moved to the store %q", dir.Path(), address).
		WithHint("if you have moved them, name it in your settings (store, or BMAD_STORE); else remove %s, and the files count again", dir.Join(MovedFile))
}

// SessionPath returns the path of a session, relative to the project.
func SessionPath(sessionID string) string { return Folder + "/session-" + sessionID + ".json" }

// RunFolder returns the folder for the records of runs without a host of a session, relative to the project.
func RunFolder(sessionID string) string { return Folder + "/runs/" + sessionID }

// textFolder holds the folders of all sessions' texts.
const textFolder = Folder + "/temp"

// ContentFolder returns the folder of a session's texts, relative to the project.
func ContentFolder(sessionID string) string { return textFolder + "/" + sessionID }

// NewRef describes a text stored at path.
func NewRef(path string, t Text) workflow.ContentRef {
	return workflow.ContentRef{
		FilePath: path, Summary: workflow.Summarize(t.Body), Size: int64(len(t.Body)),
		SHA256: workflow.Hash([]byte(t.Body)), LastUpdated: t.At,
	}
}

// ContentPath returns the path of a text, relative to the project; n > 0 distinguishes texts of one kind and
// moment.
func ContentPath(sessionID string, t Text, n int) string {
	stamp := t.At.UTC().Format("20060102T150405.000Z")
	if n > 0 {
		stamp += fmt.Sprintf("-%d", n)
	}
	return fmt.Sprintf("%s/%s_%s_%s.md", ContentFolder(sessionID), t.Stage, t.Kind, stamp)
}

// MissingContent returns the error for a reference whose text is gone or cannot be read.
func MissingContent(ref workflow.ContentRef, cause error) error {
	e := fault.New(fault.Storage, "the file %q that the run refers to cannot be read", ref.FilePath)
	e.Err = cause
	return e.WithHint("restore the file, or send the document back (confirm or approve with false) and submit it again")
}
