package documents

import (
	"cmp"
	"fmt"

	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// writeLater has a file written once the session is stored. It is read as if it were.
func (d *Disk) writeLater(name, body string, write func() error) {
	d.files[name] = file{there: true, data: []byte(body), hash: workflow.Hash([]byte(body)), size: int64(len(body))}
	d.pending = append(d.pending, pending{name, write})
}

// saveLater has the file of an artifact written once the session is stored.
func (d *Disk) saveLater(f artifact.File, a workflow.Artifact, body string) {
	d.writeLater(f.Path(), body, func() error {
		kept, err := artifact.Save(d.project.Dir, f, a, body, a.Replaces)
		d.Kept = cmp.Or(kept, d.Kept)
		return err
	})
}

// Settle writes the files of a stored change. The error names an unwritten one: the next step writes it.
func (d *Disk) Settle(s *workflow.Session) (err error) {
	for _, p := range d.pending {
		writeErr := p.write()
		if writeErr == nil {
			d.Written = append(d.Written, p.name)
		} else {
			delete(d.files, p.name)
			d.Unwritten = append(d.Unwritten, p.name)
			err = cmp.Or(err, fmt.Errorf("%s: %w", p.name, writeErr))
		}
	}
	d.pending = nil
	for _, rec := range s.Stages {
		if rec != nil && rec.Artifact != nil {
			d.noteWritten(s, *rec.Artifact)
		}
	}
	return err
}

// Drop forgets the files of a change when it is not stored.
func (d *Disk) Drop() {
	for _, p := range d.pending {
		delete(d.files, p.name)
	}
	d.pending = nil
}
