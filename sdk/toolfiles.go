package sdk

import (
	"context"
	"errors"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// ToolFiles are the files of the agent that uses a tool of the caller's.
type ToolFiles struct{ t *thread }

type toolFilesKey struct{}

// FilesOf returns the files of the agent, from the context of a tool's Run; nil in any other context.
func FilesOf(ctx context.Context) *ToolFiles {
	files, _ := ctx.Value(toolFilesKey{}).(*ToolFiles)
	return files
}

// Read returns the content of a file.
func (f *ToolFiles) Read(name string) ([]byte, error) { return f.t.files.Read(name) }

// Write makes or replaces a file, as a document of the agent. A session for reading refuses it.
func (f *ToolFiles) Write(name string, data []byte) error {
	if f.t.state.Options.ReadOnly {
		return errors.New("the files are for reading")
	}
	return f.t.writeDocument(name, data)
}

// writeDocument writes a file in place of the agent.
func (t *thread) writeDocument(name string, data []byte) error {
	name, err := vfs.Clean(name)
	if err == nil {
		err = t.files.Write(name, data)
	}
	if err == nil {
		t.noteWritten(name)
	}
	return err
}

// noteWritten keeps the path of a file written by a tool.
func (t *thread) noteWritten(name string) {
	t.mu.Lock()
	if !slices.Contains(t.state.Written, name) {
		t.state.Written = append(t.state.Written, name)
	}
	t.mu.Unlock()
	if t.parent != nil {
		t.parent.noteWritten(name)
	}
}
