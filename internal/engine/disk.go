package engine

import (
	"context"
	"errors"
	"io/fs"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// disk reads the files of a project for one call, each once, so that the parts of a reply
// agree with each other.
type disk struct {
	project *project.Project
	files   map[string]file
	texts   map[string]string
}

// file is a file as the call has read it.
type file struct {
	// there is true where the name is taken, missing where no file is behind it.
	there, missing bool
	data           []byte
	hash           string
	size           int64
	err            error
}

// read returns a file; size is the size on record, 0 where there is none.
func (d *disk) read(name string, size int64) file {
	if f, known := d.files[name]; known {
		return f
	}
	data, err := d.project.Dir.ReadFile(name, durable.TextLimit(size))
	f := file{there: true, data: data, size: int64(len(data)), err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.missing, f.there = true, d.project.Dir.Exists(name)
	case err != nil:
		f.size = size
		if info, err := d.project.Dir.Stat(name); err == nil {
			f.size = info.Size()
		}
	default:
		f.hash = workflow.Hash(data)
	}
	d.keep(name, f)
	return f
}

// keep notes the content of a file, as read or as the call itself has written it.
func (d *disk) keep(name string, f file) {
	if d.files == nil {
		d.files = map[string]file{}
	}
	d.files[name] = f
}

// forget has a file read again: people may have edited it meanwhile.
func (d *disk) forget(name string) { delete(d.files, name) }

// text returns the text of a round, which nobody changes.
func (d *disk) text(ctx context.Context, ref workflow.ContentRef) (string, error) {
	if body, known := d.texts[ref.FilePath]; known {
		return body, nil
	}
	body, err := d.project.Texts.Read(ctx, ref)
	if err != nil {
		return "", err
	}
	if d.texts == nil {
		d.texts = map[string]string{}
	}
	d.texts[ref.FilePath] = body
	return body, nil
}

// state compares a file with the hash that was recorded of it.
func (f file) state(hash string) standing.File {
	return standing.File{Missing: f.missing, Modified: f.hash != "" && hash != "" && f.hash != hash, Size: f.size}
}
