package engine

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The names of what can be read of a project besides its replies. Of an artifact the
// name is that of its file or of its stage.
const (
	ViewSessions = "sessions"
	ViewSession  = "session"
	ViewHistory  = "history"
	ViewWorkflow = "workflow"
)

const (
	mimeJSON     = "application/json"
	mimeMarkdown = "text/markdown"
)

// maxListed bounds the sessions of a list that is read by itself, the ones changed last.
const maxListed = 200

// Resource reads one of the views of a project: of all of it (sessions, workflow), or of
// the session that the request names. cwd is the project's folder, "" for the workflow.
func (e *Engine) Resource(ctx context.Context, req Request, view string) (res Resource, cwd string, err error) {
	res, cwd, err = e.resource(ctx, req, view)
	if err != nil && !errors.Is(err, context.Canceled) {
		err = fault.From(err)
	}
	return res, cwd, err
}

func (e *Engine) resource(ctx context.Context, req Request, view string) (Resource, string, error) {
	switch view {
	case ViewWorkflow:
		return reply.NewResource(view, mimeMarkdown, "", "```mermaid\n"+workflow.Graph()+"```\n"), "", nil
	case ViewSessions:
		return e.sessionsResource(ctx, req)
	}
	p, id, err := e.projects.Find(ctx, req.Address())
	if err != nil {
		return Resource{}, "", err
	}
	defer p.Close()
	r := e.run(p, id, req, 0)
	s, err := r.check.Get(ctx)
	if err != nil {
		return Resource{}, "", err
	}
	res, err := r.resourceOf(ctx, s, view)
	return res, p.Dir.Path(), err
}

func (r *run) resourceOf(ctx context.Context, s *workflow.Session, view string) (Resource, error) {
	p := r.project
	switch view {
	case ViewSession:
		data, err := p.Backend.Stored(ctx, s.SessionID)
		return reply.NewResource(view, mimeJSON, store.SessionPath(s.SessionID), string(data)), err
	case ViewHistory:
		text, err := historyJSON(s, r.check.Vouched(), 0)
		return reply.NewResource(view, mimeJSON, store.SessionPath(s.SessionID), text), err
	}
	for _, st := range s.Definition().Stages {
		a := s.Record(st.ID).Artifact
		if a == nil || view != string(st.ID) && view != path.Base(a.Path) {
			continue
		}
		data, err := p.Dir.ReadFile(a.Path, durable.TextLimit(a.Size))
		if errors.Is(err, fs.ErrNotExist) {
			return Resource{}, fault.New(fault.NotFound, "the artifact %s is not there any more", a.Path).
				WithHint("restore it from version control, or reopen the stage %s", st.ID)
		}
		if err != nil {
			return Resource{}, store.Trouble(p.Dir, err)
		}
		return reply.NewResource(path.Base(a.Path), mimeMarkdown, a.Path, string(data)), nil
	}
	return Resource{}, fault.New(fault.NotFound, "the session %s has no %q", s.TaskName, view).
		WithHint("there is: %s", strings.Join(append([]string{ViewSession, ViewHistory, ViewSessions, ViewWorkflow}, artifactNames(s)...), ", "))
}

// artifactNames lists the file names of a session's saved artifacts.
func artifactNames(s *workflow.Session) []string {
	var out []string
	for _, st := range s.Definition().Stages {
		if a := s.Record(st.ID).Artifact; a != nil {
			out = append(out, path.Base(a.Path))
		}
	}
	return out
}

// MarshalJSON writes the entry as the session file has it, whether nothing vouches for its
// decision, and the seconds that the session had waited for the human before it.
func (s Step) MarshalJSON() ([]byte, error) {
	data, err := workflow.Marshal(s.Transition)
	if err != nil {
		return data, err
	}
	if s.Unvouched {
		data = append(data[:len(data)-1], `,"unvouched":true}`...)
	}
	if s.Waited == nil {
		return data, nil
	}
	seconds, err := workflow.Marshal(s.Waited.Seconds())
	return append(append(append(data[:len(data)-1], `,"waited_seconds":`...), seconds...), '}'), err
}

// historyJSON returns a session's history as JSON, the oldest entry first. Where room is
// not 0, entries of at most that many bytes: the newest, and how many are left out.
func historyJSON(s *workflow.Session, v workflow.Verification, room int) (string, error) {
	steps, omitted := History(s, v), 0
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
	if v.Changed() {
		out["integrity"], out["problem"] = reply.IntegrityChanged, v.Problem
	}
	if room == 0 {
		data, err := workflow.MarshalIndent(out)
		return string(data), err
	}
	data, err := workflow.Marshal(out)
	return string(data) + "\n", err
}

// sessionsResource lists the sessions of a project, the ones changed last first.
func (e *Engine) sessionsResource(ctx context.Context, req Request) (Resource, string, error) {
	page, cwd, err := e.List(ctx, req, store.Query{Limit: maxListed})
	if err != nil {
		return Resource{}, cwd, err
	}
	rows := make([]SessionView, len(page.Sessions))
	changed, err := e.Changed(ctx, req, sessionIDs(page.Sessions), false)
	if err != nil {
		return Resource{}, cwd, err
	}
	for i, s := range page.Sessions {
		rows[i] = sessionView(s, len(s.Objective))
		if _, found := changed[s.SessionID]; found {
			rows[i].Integrity = reply.IntegrityChanged
		}
	}
	unreadable := make([]string, len(page.Broken))
	for i, b := range page.Broken {
		unreadable[i] = b.Err.Error()
	}
	data, err := workflow.MarshalIndent(map[string]any{"cwd": cwd, "total": page.Total, "sessions": rows, "unreadable": unreadable})
	return reply.NewResource(ViewSessions, mimeJSON, "", string(data)), cwd, err
}

// sessionIDs returns the ids of sessions.
func sessionIDs(sessions []workflow.Summary) []string {
	out := make([]string, len(sessions))
	for i, s := range sessions {
		out[i] = s.SessionID
	}
	return out
}

func sessionView(s workflow.Summary, objective int) SessionView {
	return SessionView{
		SessionID: s.SessionID, TaskName: s.TaskName, Stage: s.CurrentStage, State: s.CurrentState,
		Objective: words.Clip(s.Objective, objective), UpdatedAt: s.UpdatedAt.Format(time.RFC3339),
	}
}

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
func (e *Engine) Index(ctx context.Context, req Request, n int) (entries []IndexEntry, cwd string, err error) {
	p, err := e.projects.At(req.Address())
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

// show adds to a reply what the call wants to see besides.
func (r *run) show(ctx context.Context, s *standing.Standing, out *Reply) error {
	switch r.req.View {
	case "":
		return nil
	case ViewSessions, ViewWorkflow:
		res, _, err := r.resource(ctx, Request{Cwd: r.project.Dir.Path()}, r.req.View)
		out.Show(res)
		return err
	}
	res, err := r.resourceOf(ctx, s.Session, r.req.View)
	if err != nil {
		return err
	}
	if r.req.View == ViewHistory && reply.EncodedSize(res.Text) > reply.MaxShown {
		whole := res.Size
		for room := reply.MaxShown - 500; ; room /= 2 {
			if res.Text, err = historyJSON(s.Session, r.check.Vouched(), room); err != nil {
				return err
			}
			if reply.EncodedSize(res.Text) <= reply.MaxShown {
				break
			}
		}
		res.Size, res.Truncated = whole, true
	}
	out.Show(res)
	return nil
}
