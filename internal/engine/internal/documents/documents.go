// Package documents reads and writes the documents of sessions.
//
// The working copy of a stage is the draft that people read and edit. It has one path for
// all [Round]s. Each round is kept beside it, untouched, as it was submitted: a gate
// saves that text as the artifact, and an edit shows by comparing the two. A [Disk] has the
// files of one project as one call sees them.
package documents

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Disk reads the files of a project for one call, each once, for consistency among the parts of a reply.
type Disk struct {
	project *project.Project
	files   map[string]file
	texts   map[string]string
	// pending are the files to write once the session is stored.
	pending []pending
	// Written are the files written, Unwritten the ones with a write error.
	Written, Unwritten []string
	// Kept is the path of the backup of an edited artifact, made before its replacement.
	Kept string
}

// pending is a file to write once the session is stored.
type pending struct {
	name  string
	write func() error
}

// On returns the disk of a project.
func On(p *project.Project) *Disk {
	return &Disk{project: p, files: map[string]file{}, texts: map[string]string{}}
}

type file struct {
	// there is true if the name is taken, missing if no file is behind it.
	there, missing bool
	data           []byte
	hash           string
	size           int64
	err            error
}

// readFile returns a file; size is the size on record, 0 if there is none.
func (d *Disk) readFile(name string, size int64) file {
	if f, known := d.files[name]; known {
		return f
	}
	data, err := d.project.Dir.ReadFile(name, durable.TextLimit(size))
	if err == nil && strings.HasPrefix(name, artifact.WorkFolder+"/") { // other programs follow a link further than this one
		if info, lerr := d.project.Dir.Lstat(name); lerr != nil || !info.Mode().IsRegular() {
			data, err = nil, cmp.Or[error](lerr, &durable.NotRegularError{Name: name, Mode: fs.ModeSymlink})
		}
	}
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
	d.files[name] = f
	return f
}

// Forget has the working copy read again: people may have edited it meanwhile.
func (d *Disk) Forget(s *standing.Standing) { delete(d.files, s.Draft.Work) }

// readText returns a stored text, with the original line ends. It is an error if the file has another text than
// the one with the hash of ref; the hash is empty if an older server kept none.
func (d *Disk) readText(ctx context.Context, ref workflow.ContentRef) (string, error) {
	data, err := d.readStored(ctx, ref)
	if err != nil || ref.SHA256 == "" {
		return data, err
	}
	if body, same := artifact.As([]byte(data), ref.SHA256); same {
		return string(body), nil
	}
	return "", fault.New(fault.Conflict, "the text %s was changed after it was handed in", ref.FilePath).
		WithHint("restore the file, or hand the document in once more")
}

// readStored returns the file of a text unchecked, to compute the hash.
func (d *Disk) readStored(ctx context.Context, ref workflow.ContentRef) (string, error) {
	if body, known := d.texts[ref.FilePath]; known {
		return body, nil
	}
	body, err := d.project.Texts.Read(ctx, ref)
	if err != nil {
		return "", err
	}
	d.texts[ref.FilePath] = body
	return body, nil
}

// hashStored returns the hash of a text as it is now.
func (d *Disk) hashStored(ctx context.Context, path string) (string, error) {
	body, err := d.readStored(ctx, workflow.ContentRef{FilePath: path})
	if err != nil {
		return "", err
	}
	return workflow.Hash([]byte(body)), nil
}

// readScored returns the text of a round as it was scored: from the working copy, if it has the same text, or from
// the record.
func (d *Disk) readScored(ctx context.Context, copied string, ref workflow.ContentRef) (string, error) {
	if work := d.readFile(copied, 0); work.err == nil && ref.SHA256 != "" {
		if body, same := artifact.As(work.data, ref.SHA256); same {
			return string(body), nil
		}
	}
	return d.readText(ctx, ref)
}

// state compares a file with the recorded hash. An unreadable file counts as modified.
func (f file) state(hash string) standing.File {
	differs := hash != "" && f.hash != hash && !artifact.Same(f.data, hash)
	modified := f.err != nil || differs
	return standing.File{Missing: f.missing, Modified: modified && !f.missing, Size: f.size}
}

// Fingerprint returns a fingerprint of the project's files without the documents of the session, "" if there is
// none, and the one expected if nothing has changed since the stage's previous report. sources are the files
// handed in at the given time.
func (d *Disk) Fingerprint(s *standing.Standing, sources []string, at time.Time) (now, same string) {
	documents, last := map[string]time.Time{}, time.Time{}
	for _, e := range s.Session.History {
		for _, source := range e.Sources {
			if _, known := documents[source]; !known { // from the first time on
				documents[source] = e.At
			}
		}
		if e.Action == workflow.ActionSubmit && e.FromStage() == s.Session.CurrentStage {
			last = e.At
		}
	}
	for _, source := range sources {
		if _, known := documents[source]; !known {
			documents[source] = at
		}
	}
	return d.project.Fingerprint(documents, last)
}
