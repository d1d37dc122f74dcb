package dashboard

import (
	"net/http"
	"net/url"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// folder is one with sessions that the server knows.
type folder struct {
	// ID addresses it. It is made from the folder, so that a link holds after a restart.
	ID, Path, Name string
}

// maxBoard is how many runs of a project a page lists, those changed last.
const maxBoard = 200

// projectID matches the ids of projects, whether or not one has it.
var projectID = pattern.New(`^[0-9a-f]{10}$`)

// idOf returns the id of a folder.
func idOf(folder string) string { return workflow.Hash([]byte(folder))[:10] }

// folders returns the folders that are served.
func (d *Dashboard) folders() []folder {
	var out []folder
	for _, path := range d.o.Engine.Projects().List() {
		out = append(out, folder{idOf(path), path, filepath.Base(path)})
	}
	return out
}

// folder returns the folder that a request names.
func (d *Dashboard) folder(a *asked) (folder, error) {
	return d.folderOf(a.r.PathValue("project"))
}

// folderOf returns the folder with an id.
func (d *Dashboard) folderOf(id string) (folder, error) {
	if projectID.MatchString(id) {
		for _, p := range d.folders() {
			if p.ID == id {
				return p, nil
			}
		}
	}
	return folder{}, fault.New(fault.NotFound, "no project has the id %q", id).WithHint("the inbox lists the projects; a project is known once a session was started in it")
}

// maxTask bounds the name of a task in an address, in bytes.
const maxTask = 300

// request addresses the session that a request names.
func (d *Dashboard) request(a *asked) (request.Request, folder, error) {
	p, err := d.folder(a)
	task := a.r.PathValue("task")
	if err == nil && (task == "" || len(task) > maxTask) {
		err = fault.New(fault.NotFound, "the address names no task").WithHint("the board of the project lists its tasks")
	}
	return request.Request{Address: project.Address{Cwd: p.Path, Session: task}, Caller: request.Caller{By: "browser"}}, p, err
}

// inspected is the session that a request names, with the result of its check.
type inspected struct {
	req     request.Request
	project folder
	session *workflow.Session
	found   workflow.Verification
}

// inspect reads the session that a request names.
func inspect(d *Dashboard, a *asked) (out inspected, err error) {
	if out.req, out.project, err = d.request(a); err == nil {
		out.session, out.found, _, err = d.o.Engine.Inspect(a, out.req.Address)
	}
	return out, noTask(err)
}

// noTask says where a person finds the tasks that can be opened. The engine's hint is for assistants.
func noTask(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.From(err).WithHint("the board of the project lists its tasks")
	}
	return err
}

// Href returns the address of the project's board.
func (p folder) Href() string { return "/p/" + p.ID + "/" }

// Run returns the address of one of its runs.
func (p folder) Run(task string) string { return p.Href() + "r/" + url.PathEscape(task) + "/" }

// Document returns the address of a document of a run.
func (p folder) Document(task string, stage workflow.StageID) string {
	return p.Run(task) + "d/" + url.PathEscape(string(stage))
}

// PageOf returns the address, within a dashboard, of a run of a project, or of one of its documents.
func PageOf(project, task string, stage workflow.StageID) string {
	p := folder{ID: idOf(project)}
	if stage == "" {
		return p.Run(task)
	}
	return p.Document(task, stage)
}

// ShortOf returns a short address of a run, for places with little room, for example the reply to a call. It
// leads to the document that waits, or to the run.
func ShortOf(project, task string) string { return "/w/" + shortOf(project, task) }

func shortOf(project, task string) string { return idOf(project + "\x00" + task) }

// short leads from a short address to the page.
func (d *Dashboard) short(w http.ResponseWriter, r *http.Request) {
	for _, p := range d.folders() {
		board, err := d.o.Engine.Board(r.Context(), address(p), maxBoard, "")
		if err != nil {
			continue // the inbox says that the project cannot be read
		}
		for _, row := range board.Rows {
			if shortOf(p.Path, row.TaskName) != r.PathValue("short") {
				continue
			}
			to := p.Run(row.TaskName)
			if row.CurrentState.WaitsForHuman() {
				to = p.Document(row.TaskName, row.CurrentStage)
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
	}
	d.screen("inbox", nowhere).ServeHTTP(w, r)
}

// address returns the address of the project itself.
func address(p folder) project.Address { return project.Address{Cwd: p.Path} }
