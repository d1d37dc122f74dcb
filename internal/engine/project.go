package engine

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

// Project is one open project folder.
type Project struct {
	dir     *durable.Dir
	backend Backend
	// texts is where rounds are read: the backend, or the update that is under way.
	texts   store.Contents
	cfg     config.Config
	prompts map[workflow.StageID]prompts.Prompt // those read so far
	// openOwn opens a folder of prompts or rubrics that lies outside of the project.
	openOwn func(name string) (*durable.Dir, error)
}

func (p *Project) close() { _ = p.dir.Close() }

// folder opens an existing folder that may be served; it makes nothing.
func (e *Engine) folder(cwd string) (*durable.Dir, error) {
	if !filepath.IsAbs(cwd) {
		return nil, fault.New(fault.InvalidArgument, "cwd %q is not an absolute path", cwd).
			WithHint("pass the absolute path of the project folder")
	}
	cwd = filepath.Clean(cwd)
	dir, err := e.openFolder(cwd)
	switch {
	case errors.Is(err, reach.ErrOutside):
		return nil, outOfReach(err)
	case errors.Is(err, durable.ErrOutside):
		return nil, fault.New(fault.NotAllowed, "cwd %q lies in none of the folders that this server serves", cwd).
			WithHint("pass a folder in one of: %s", strings.Join(e.within, ", "))
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.InvalidArgument, "cwd %q does not exist", cwd).
			WithHint("pass the path of an existing project folder; it is not made for you")
	case errors.Is(err, syscall.ENOTDIR):
		return nil, fault.New(fault.InvalidArgument, "cwd %q is not a folder", cwd).
			WithHint("pass the path of the project folder")
	case err != nil:
		return nil, fault.New(fault.Storage, "cwd %q cannot be opened: %w", cwd, err).WithHint("check its permissions")
	}
	return dir, nil
}

// open opens the project in an existing folder.
func (e *Engine) open(cwd string) (*Project, error) {
	dir, err := e.folder(cwd)
	if err != nil {
		return nil, err
	}
	cfg, err := e.settings.Load(dir)
	if err != nil {
		_ = dir.Close()
		return nil, err
	}
	if err := e.mayRead(filepath.Clean(cwd), cfg); err != nil {
		_ = dir.Close()
		return nil, err
	}
	dir.LockTimeout = cfg.LockTimeout
	backend := e.backend(dir)
	return &Project{
		dir: dir, backend: backend, texts: backend, cfg: cfg, prompts: map[workflow.StageID]prompts.Prompt{},
		openOwn: func(name string) (*durable.Dir, error) {
			if e.confined() {
				if own, err := e.personNames(name); err != nil || !own {
					return e.openFolder(name)
				}
			}
			return durable.OpenDir(name)
		},
	}, nil
}

// prompt returns a stage's role prompt, the project's own if it has one. It reads it once.
func (p *Project) prompt(id workflow.StageID) (prompts.Prompt, error) {
	if known, ok := p.prompts[id]; ok {
		return known, nil
	}
	read, err := p.readPrompt(id)
	if err == nil {
		p.prompts[id] = read
	}
	return read, err
}

func (p *Project) readPrompt(id workflow.StageID) (prompts.Prompt, error) {
	own, done, _, err := p.ownFolder(p.cfg.Prompts)
	if err != nil {
		return prompts.Prompt{}, err
	}
	defer done()
	return prompts.Load(own, id)
}

// checkPrompts reports the first prompt file of the project that cannot be used.
func (p *Project) checkPrompts() error {
	for _, st := range p.cfg.Workflow.Stages {
		if _, err := p.prompt(st.ID); err != nil {
			return err
		}
	}
	return nil
}

// openFolder opens a folder, if it lies in one that is served: with all links followed,
// and through that one, so that no link can lead out while it is opened.
func (e *Engine) openFolder(cwd string) (*durable.Dir, error) {
	switch {
	case e.reach != nil:
		return e.openReached(cwd)
	case len(e.within) == 0:
		return e.openDir(cwd)
	}
	root, rel, ok := e.servedAs(cwd)
	if !ok {
		return nil, durable.ErrOutside
	}
	return durable.OpenDirIn(root, rel, cwd)
}

// servedAs returns the served folder that a folder lies in, and the way from there.
func (e *Engine) servedAs(name string) (root, rel string, ok bool) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		real = name // there is nothing to open; what is said of it must not tell what is there
	}
	for _, root := range e.within {
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			return root, rel, true
		}
	}
	return "", "", false
}

// home opens the project that a request is for.
func (e *Engine) home(req Request) (*Project, error) {
	cwd, err := e.place(req)
	if err != nil {
		return nil, err
	}
	return e.open(cwd)
}

// place returns the folder a call is for: without cwd, the first place that exists.
func (e *Engine) place(req Request) (string, error) {
	if req.Cwd != "" {
		return req.Cwd, nil
	}
	for _, place := range req.Places {
		if !filepath.IsAbs(place) {
			continue
		}
		if dir, err := e.openFolder(place); err == nil {
			_ = dir.Close()
			return place, nil
		}
	}
	hint := "pass cwd: the absolute path of the project folder"
	switch {
	case e.reach != nil:
		hint += "; the home folder and what holds it are never one"
	case len(e.within) > 0:
		hint += e.servedHint()
	}
	return "", fault.New(fault.InvalidArgument, "it is not clear which project this is for").WithHint("%s", hint)
}

// locate opens the project of the session that a call is for. The id is empty
// when the call names none, the project has not exactly one active, and the
// action can do without.
func (e *Engine) locate(ctx context.Context, req Request) (*Project, string, error) {
	if req.SessionID == "" {
		return e.locateOnly(ctx, req)
	}
	if req.Cwd != "" {
		p, err := e.open(req.Cwd)
		if err != nil {
			return nil, "", err
		}
		id, err := p.backend.Find(ctx, req.SessionID)
		if err != nil {
			p.close()
			return nil, "", err
		}
		return p, id, nil
	}
	p, id, trouble := e.search(ctx, req.Places, req.SessionID, false)
	if p != nil || trouble != nil && !fault.Is(trouble, fault.Storage) {
		return p, id, trouble
	}
	if e.known != nil {
		// One of the known projects may be long gone: no trouble of this call.
		if p, id, err := e.search(ctx, e.known.List(), req.SessionID, true); p != nil || err != nil && !fault.Is(err, fault.Storage) {
			return p, id, err
		}
	}
	if trouble != nil {
		return nil, "", trouble
	}
	return nil, "", fault.New(fault.NotFound, "no session has the id or task name %q", req.SessionID).
		WithHint("status without a session lists those of this project (in a terminal: bmad-mcp sessions); for another project pass its cwd")
}

// search looks for a session in several folders. Where only one may have it, a
// second one is an error. If none has it, a project whose state could not be looked
// into is a Storage error.
func (e *Engine) search(ctx context.Context, places []string, ref string, only bool) (*Project, string, error) {
	var found *Project
	var foundID string
	var trouble error
	for i, place := range places {
		if slices.Contains(places[:i], place) || !filepath.IsAbs(place) {
			continue
		}
		p, id, err := e.lookIn(ctx, place, ref)
		switch {
		case p == nil && fault.Is(err, fault.Storage) && ctx.Err() == nil:
			trouble = cmp.Or(trouble, err)
			continue
		case err != nil:
			if found != nil {
				found.close()
			}
			return nil, "", err
		case p == nil:
			continue
		case found == nil:
			found, foundID = p, id
		case foundID == id: // the same folder under another path
			p.close()
		default:
			first, second := found.dir.Path(), p.dir.Path()
			p.close()
			found.close()
			return nil, "", fault.New(fault.Conflict, "the task %q exists in several projects: %s and %s", ref, first, second).
				WithHint("pass cwd, or the session id")
		}
		if !only {
			break
		}
	}
	if found == nil {
		return nil, "", trouble
	}
	return found, foundID, nil
}

// lookIn returns the project in a folder if it has the session. A folder that is not
// there is passed over, but not one that has the session and cannot be opened, for its
// configuration say.
func (e *Engine) lookIn(ctx context.Context, place, ref string) (*Project, string, error) {
	dir, err := e.openFolder(place)
	if err != nil {
		return nil, "", nil
	}
	id, err := e.backend(dir).Find(ctx, ref)
	_ = dir.Close()
	if fault.Is(err, fault.NotFound) {
		return nil, "", ctx.Err()
	}
	if err != nil {
		return nil, "", err
	}
	p, err := e.open(place)
	return p, id, err
}

// locateOnly finds the only active session of the caller's project.
func (e *Engine) locateOnly(ctx context.Context, req Request) (*Project, string, error) {
	p, err := e.home(req)
	if err != nil {
		return nil, "", err
	}
	page, err := onlySession(ctx, p, req.Action)
	if err != nil {
		p.close()
		return nil, "", err
	}
	switch {
	case page.Total == 1:
		return p, page.Sessions[0].SessionID, nil
	case req.Action == workflow.ActionStatus:
		return p, "", nil
	}
	path := p.dir.Path()
	p.close()
	if page.Active == 0 {
		return nil, "", fault.New(fault.NotFound, "the project %s has no active session", path).
			WithHint("start one, or pass session_id to reopen a completed one")
	}
	store.SortByAge(page.Sessions)
	names := make([]string, len(page.Sessions))
	for i, s := range page.Sessions {
		names[i] = s.TaskName
	}
	more := ""
	if page.Next != "" {
		more = ", …"
	}
	return nil, "", fault.New(fault.Conflict, "the project %s has %d active sessions", path, page.Active).
		WithHint("pass session_id; the task names are: %s%s", strings.Join(names, ", "), more)
}

// onlySession returns the active sessions of a project, at most ten; where it has none, and
// the action may be one for a session that has ended, any two.
func onlySession(ctx context.Context, p *Project, action workflow.Action) (store.Page, error) {
	q := store.Active()
	q.Limit = 10
	page, err := p.backend.List(ctx, q)
	if err == nil && page.Total == 0 && action != workflow.ActionStatus {
		return p.backend.List(ctx, store.Query{Limit: 2})
	}
	return page, err
}
