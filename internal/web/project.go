package web

import (
	"context"
	"net/url"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// folder is a folder with sessions, known to the server.
type folder struct {
	// ID is made from Path, so that links hold after a restart.
	ID, Path, Name string
}

// folderID returns the id of a folder.
func folderID(folder string) string { return workflow.Hash([]byte(folder))[:10] }

// projects are the served folders, with the queue of the team, nil without one.
type projects struct {
	engine *engine.Engine
	queue  Queue
}

func (p projects) all() []folder {
	var out []folder
	for _, path := range p.engine.Projects().List() {
		out = append(out, folder{folderID(path), path, filepath.Base(path)})
	}
	return out
}

// readAll reads the latest sessions of some folders, by their ids, apart from the ones that are read already. A folder that
// cannot be read is left out, as the inbox says; ok is false then, and if there is no folder.
func (p projects) readAll(ctx context.Context, of []folder, read map[string][]workflow.Summary) (all map[string][]workflow.Summary, ok bool) {
	all, ok = map[string][]workflow.Summary{}, len(of) > 0
	for _, f := range of {
		sessions, has := read[f.ID]
		if !has {
			var err error
			if sessions, err = p.engine.Latest(ctx, addressOf(f), engine.MaxBoard); err != nil {
				ok = false
				continue
			}
		}
		all[f.ID] = sessions
	}
	return all, ok
}

// folderOf returns the folder in the address of a request.
func (p projects) folderOf(a *asked) (folder, error) { return p.findByID(a.r.PathValue("project")) }

// findByID returns the folder with an id.
func (p projects) findByID(id string) (folder, error) {
	for _, f := range p.all() {
		if f.ID == id {
			return f, nil
		}
	}
	return folder{}, fault.New(fault.NotFound, "no project has the id %q", id).WithHint("the inbox lists the projects; a project is known once a run was started in it")
}

// maxTask bounds the name of a task in an address, in bytes.
const maxTask = 300

// requestOf returns an engine request for the session in the address of a request.
func (p projects) requestOf(a *asked) (request.Request, folder, error) {
	f, err := p.folderOf(a)
	task := a.r.PathValue("task")
	if err == nil && (task == "" || len(task) > maxTask) {
		err = fault.New(fault.NotFound, "the address names no run").WithHint("the board of the project lists its runs")
	}
	return request.Request{Address: project.Address{Cwd: f.Path, Session: task}, Caller: request.Caller{By: "browser"}}, f, err
}

// sessionOf reads the session in the address of a request.
func (p projects) sessionOf(a *asked) (*workflow.Session, folder, error) {
	req, f, err := p.requestOf(a)
	if err != nil {
		return nil, f, err
	}
	s, _, err := p.engine.Session(a, req.Address)
	return s, f, noTask(err)
}

// inspected is a session whose history was checked.
type inspected struct {
	req     request.Request
	project folder
	session *workflow.Session
	found   workflow.Verification
}

// inspect reads and checks the session in the address of a request.
func (p projects) inspect(a *asked) (out inspected, err error) {
	if out.req, out.project, err = p.requestOf(a); err == nil {
		out.session, out.found, _, err = p.engine.Inspect(a, out.req.Address)
	}
	return out, noTask(err)
}

// noTask replaces the hint of the engine, which is for assistants, by one for people.
func noTask(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.From(err).WithHint("the board of the project lists its runs")
	}
	return err
}

func noStage(id workflow.StageID) error {
	return fault.New(fault.NotFound, "the run has no stage %q", string(id)).WithHint("its page lists its stages")
}

// Href returns the address of the project's board.
func (p folder) Href() string { return "/p/" + p.ID + "/" }

// Run returns the address of a run of the project.
func (p folder) Run(task string) string { return p.Href() + "r/" + url.PathEscape(task) + "/" }

// Document returns the address of a document of a run.
func (p folder) Document(task string, stage workflow.StageID) string {
	return p.Run(task) + "d/" + url.PathEscape(string(stage))
}

// PageOf returns the address of a run of a project, or of a document of the run, without the origin.
func PageOf(project, task string, stage workflow.StageID) string {
	p := folder{ID: folderID(project)}
	if stage == "" {
		return p.Run(task)
	}
	return p.Document(task, stage)
}

// ShortOf returns a short address of a run, for places with little room, for example the reply to a call. It
// leads to the document waiting for the person, or else to the run.
func ShortOf(project, task string) string { return "/w/" + shortOf(project, task) }

func shortOf(project, task string) string { return folderID(project + "\x00" + task) }

// addressOf returns a project's address for the engine, without a session.
func addressOf(p folder) project.Address { return project.Address{Cwd: p.Path} }
