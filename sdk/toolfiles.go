package sdk

import (
	"context"
	"errors"
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
