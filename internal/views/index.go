package views

import (
	"context"
	"path"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// IndexEntry is one thing of an Index.
type IndexEntry struct {
	Session workflow.Summary
	// View is what of the session it is: ViewSession, or the file name of an artifact.
	View string
	// Path is relative to the project.
	Path    string
	Size    int64
	Changed time.Time
}

// Index lists what can be read by itself of a project's sessions, of the ones changed
// last, at most n: each session's file and its artifacts, with their sizes in bytes.
func (v *Reader) Index(ctx context.Context, at project.Address, n int) (entries []IndexEntry, cwd string, err error) {
	p, err := v.projects.At(at)
	if err != nil {
		return nil, "", err
	}
	defer p.Close()
	sessions, err := p.Backend.Latest(ctx, n)
	if err != nil {
		return nil, "", err
	}
	for _, summary := range sessions {
		file := store.SessionPath(summary.SessionID)
		data, err := p.Backend.Stored(ctx, summary.SessionID)
		if err != nil {
			continue // removed since: there is nothing of it to read
		}
		s, err := store.Decode(data, file)
		if err != nil {
			continue
		}
		entries = append(entries, IndexEntry{Session: summary, View: ViewSession, Path: file, Size: int64(len(data)), Changed: s.UpdatedAt})
		for _, st := range s.Definition().Stages {
			a := s.Record(st.ID).Artifact
			if a == nil {
				continue
			}
			if info, err := p.Dir.Stat(a.Path); err == nil {
				entries = append(entries, IndexEntry{Session: summary, View: path.Base(a.Path), Path: a.Path, Size: info.Size(), Changed: info.ModTime()})
			}
		}
	}
	return entries, p.Dir.Path(), nil
}
