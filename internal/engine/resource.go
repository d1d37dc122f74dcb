package engine

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/documents"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The names of the views of a project beside the replies. An artifact is named by the file or the stage.
const (
	ViewSessions = "sessions"
	ViewSession  = "session"
	ViewHistory  = "history"
	ViewWorkflow = "workflow"
	// ViewReview is a document as a page shows it.
	ViewReview = "review"
)

const (
	mimeJSON     = "application/json"
	mimeMarkdown = "text/markdown"
)

// maxListed bounds the sessions of a list read by itself; the ones changed last are in it.
const maxListed = 200

// Resource reads one of the views of a project: of all of it (sessions, workflow), or of the session in the
// address. cwd is the project's folder, "" for the workflow.
func (e *Engine) Resource(ctx context.Context, at project.Address, view string) (res reply.Resource, cwd string, err error) {
	defer func() {
		if err != nil && !errors.Is(err, context.Canceled) {
			err = fault.From(err)
		}
	}()
	switch view {
	case ViewWorkflow:
		res, err = e.projectView(ctx, nil, view)
		return res, "", err
	case ViewSessions:
		p, err := e.Projects().At(at)
		if err != nil {
			return res, "", err
		}
		defer p.Close()
		res, err = e.projectView(ctx, p, view)
		return res, p.Dir.Path(), err
	}
	p, id, err := e.Projects().Find(ctx, at)
	if err != nil {
		return reply.Resource{}, "", err
	}
	defer p.Close()
	check := e.keeper.newCheck(p, id)
	s, err := check.readSession(ctx)
	if err != nil {
		return reply.Resource{}, "", err
	}
	res, err = ofSession(ctx, p, s, check, view)
	return res, p.Dir.Path(), err
}

// readView reads a view for a reply, with only the newest entries of a history. s is a session of the project with
// its check.
func (e *Engine) readView(ctx context.Context, p *project.Project, s *workflow.Session, check *check, view string) (reply.Resource, error) {
	if view == ViewSessions || view == ViewWorkflow {
		return e.projectView(ctx, p, view)
	}
	res, err := ofSession(ctx, p, s, check, view)
	if err != nil || view != ViewHistory || reply.EncodedSize(res.Text) <= reply.MaxShown {
		return res, err
	}
	res.Truncated = true
	for room := reply.MaxShown - 500; ; room /= 2 {
		if res.Text, err = historyJSON(s, check.judgeHistory(), room); err != nil || reply.EncodedSize(res.Text) <= reply.MaxShown {
			return res, err
		}
	}
}

func ofSession(ctx context.Context, p *project.Project, s *workflow.Session, check *check, view string) (reply.Resource, error) {
	switch view {
	case ViewSession:
		data, err := p.Backend.Stored(ctx, s.SessionID)
		return reply.NewResource(view, mimeJSON, sessionFile(p, s.SessionID), string(data)), err
	case ViewHistory:
		check.found.Altered = documents.On(p).Altered(ctx, s, check.found)
		text, err := historyJSON(s, check.judgeHistory(), 0)
		return reply.NewResource(view, mimeJSON, sessionFile(p, s.SessionID), text), err
	}
	if view == ViewDiff || strings.HasPrefix(view, ViewDiff+":") {
		return readDiff(ctx, p, s, view)
	}
	names := []string{ViewSession, ViewHistory, ViewDiff, ViewSessions, ViewWorkflow}
	for _, st := range s.Definition().Stages {
		a := s.Record(st.ID).Artifact
		if a == nil {
			continue
		}
		names = append(names, path.Base(a.Path))
		if view != string(st.ID) && view != path.Base(a.Path) {
			continue
		}
		data, err := p.Dir.ReadFile(a.Path, durable.TextLimit(a.Size))
		if errors.Is(err, fs.ErrNotExist) {
			if data, err = documents.On(p).Pending(ctx, s, st); err != nil {
				return reply.Resource{}, fault.New(fault.NotFound, "the artifact %s is not there any more", a.Path).
					WithHint("restore it from version control, write it again with sync at a terminal, or reopen the stage %s", st.ID)
			}
		}
		if err != nil {
			return reply.Resource{}, store.Trouble(p.Dir, err)
		}
		return reply.NewResource(path.Base(a.Path), mimeMarkdown, a.Path, string(data)), nil
	}
	return reply.Resource{}, fault.New(fault.NotFound, "the run %s has no %q", s.TaskName, view).
		WithHint("there is: %s", strings.Join(names, ", ")).Suggest(view, names)
}

// sessionFile returns the file of a session; "" if it is in a shared store.
func sessionFile(p *project.Project, id string) string {
	if p.IsShared() {
		return ""
	}
	return store.SessionPath(id)
}

// projectView reads a view of the project: the workflow, for which p may be nil, or the sessions, the ones changed
// last first.
func (e *Engine) projectView(ctx context.Context, p *project.Project, view string) (res reply.Resource, err error) {
	if view == ViewWorkflow {
		return reply.NewResource(view, mimeMarkdown, "", "```mermaid\n"+workflow.Graph()+"```\n"), nil
	}
	all, err := p.Sessions(ctx)
	if err != nil {
		return res, err
	}
	page, err := all.Page(store.Query{Limit: maxListed})
	if err != nil {
		return res, err
	}
	rows := e.sessionRows(ctx, p, page.Sessions, math.MaxInt, false)
	if err := ctx.Err(); err != nil {
		return res, err
	}
	data, err := workflow.MarshalIndent(map[string]any{
		"cwd": p.Dir.Path(), "total": page.Total, "sessions": rows, "unreadable": sayBroken(page.Broken, p.Language("")),
	})
	return reply.NewResource(ViewSessions, mimeJSON, "", string(data)), err
}

// sessionRows describes sessions of a project for a list, each with the given number of bytes of the objective.
// Unless all is set, it checks only some of the sessions without a record.
func (e *Engine) sessionRows(ctx context.Context, p *project.Project, sessions []workflow.Summary, objective int, all bool) []reply.SessionView {
	rows, changed := make([]reply.SessionView, len(sessions)), e.keeper.findChanged(ctx, p, sessions, all)
	for i, s := range sessions {
		rows[i] = reply.SessionView{
			SessionID: s.SessionID, TaskName: s.TaskName, Stage: s.CurrentStage, State: s.CurrentState,
			Objective: visible.Fit(s.Objective, objective), UpdatedAt: s.UpdatedAt.Format(time.RFC3339),
		}
		v := changed[s.SessionID]
		rows[i].Altered = len(v.Altered) > 0
		if !v.Sound() {
			rows[i].Integrity = string(v.Status)
		}
	}
	return rows
}

// IndexEntry is one resource of an Index.
type IndexEntry struct {
	Session workflow.Summary
	// View is the part of the session: ViewSession, or the file name of an artifact.
	View string
	// Path is relative to the project.
	Path    string
	Size    int64
	Changed time.Time
}

// Index lists the resources of the n sessions of a project changed last: each session's file and artifacts, with
// their sizes in bytes.
func (e *Engine) Index(ctx context.Context, at project.Address, n int) (entries []IndexEntry, cwd string, err error) {
	p, err := e.Projects().At(at)
	if err != nil {
		return nil, "", err
	}
	defer p.Close()
	newest, err := p.Backend.Latest(ctx, n)
	if err != nil {
		return nil, "", err
	}
	for _, summary := range newest.Sessions[:min(n, len(newest.Sessions))] {
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

// historyJSON returns a session's history as JSON, the oldest entry first, without signatures. If room is not 0,
// it has the newest entries within room bytes, and the number of the others.
func historyJSON(s *workflow.Session, v workflow.Verification, room int) (string, error) {
	steps, omitted := s.Steps(v), 0
	for i := range steps {
		steps[i] = steps[i].Unsigned()
	}
	for used, i := 0, len(steps)-1; i >= 0 && room > 0; i-- {
		data, err := workflow.Marshal(steps[i])
		if err != nil {
			return "", err
		}
		if used += len(data) + 1; used > room {
			steps, omitted = steps[i+1:], i+1
			break
		}
	}
	out := map[string]any{"session_id": s.SessionID, "task_name": s.TaskName, "current_stage": s.CurrentStage, "current_state": s.CurrentState, "entries": steps}
	if omitted > 0 {
		out["omitted"] = omitted
	}
	if !v.Sound() {
		out["integrity"], out["problem"] = v.Status, v.Problem
	}
	if len(v.Altered) > 0 {
		out["altered"] = v.Altered
	}
	if room == 0 {
		data, err := workflow.MarshalIndent(out)
		return string(data), err
	}
	data, err := workflow.Marshal(out)
	return string(data) + "\n", err
}
