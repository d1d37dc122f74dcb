package grimoire

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// The statuses of branches and runs.
const (
	Active    = "active"
	Completed = "completed"
	Failed    = "failed"
)

// Branch is a line of work with runs of its own. Its name is that of its folder: the file in it
// may be a copy of another branch's.
type Branch struct {
	Name, Purpose, Parent string
	Created               time.Time
	Over                  bool // it was merged or archived
	Path                  string
}

// Run is one execution of a workflow of a kit. ID and Branch are the names of its folders.
type Run struct {
	ID, Branch, Status string
	Updated            time.Time
	// State has those fields of the file that describe the run.
	State map[string]any
	Path  string
}

// Stage names the current step, for example 4/8, or "" if the file has none.
func (r Run) Stage() string {
	step, steps := field(r.State, "current_step"), field(r.State, "total_steps")
	if step != "" && steps != "" {
		return step + "/" + steps
	}
	return step
}

// Status returns the status of a branch, which is that of its runs unless it is over.
func (b Branch) Status(runs []Run) string {
	var last Run
	done := true
	for _, r := range runs {
		if r.Branch == b.Name {
			done = done && r.Status == Completed
			if last.ID == "" || r.Updated.After(last.Updated) {
				last = r
			}
		}
	}
	switch {
	case last.Status == Failed:
		return Failed
	case b.Over, last.ID != "" && done:
		return Completed
	}
	return Active
}

// archived matches the date at the end of an archived branch's name.
var archived = pattern.New(`-\d{8}$`)

// place returns the names of the folders that a file lies in, below .runs.
func (r *reader) place() (folders []string, over bool) {
	_, below, _ := strings.Cut(path.Dir(r.path), "/.runs/")
	if folders = strings.Split(below, "/"); len(folders) > 1 && folders[0] == "archive" {
		folders[1] = archived.ReplaceAllString(folders[1], "")
		return folders[1:], true
	}
	return folders, false
}

// json reads a file with one JSON object.
func (r *reader) json(file string) map[string]any {
	var value any
	if err := json.Unmarshal([]byte(file), &value); err != nil {
		r.problem(faultAt(file, err), "the file is not JSON: %v", err)
		return nil
	}
	m, ok := value.(map[string]any)
	if !ok {
		r.problem(1, "the file is not a JSON object")
	}
	return m
}

// branch reads branch.json.
func (r *reader) branch(file string) {
	folders, over := r.place()
	b := Branch{Name: path.Join(folders...), Over: over, Path: r.path}
	if m := r.json(file); field(m, "branch") == b.Name {
		b.Purpose, b.Parent, b.Created = field(m, "purpose"), field(m, "parent_branch"), readDate(field(m, "created_at"))
		b.Over = over || field(m, "status") == "merged"
	}
	r.Branches = []Branch{b}
}

// stateFields are the fields of a run that people ask for.
var stateFields = []string{
	"workflow_path", "status", "started_at", "last_checkpoint", "checkpoint_id",
	"steps_completed", "current_step", "total_steps", "resume_from_step",
	"artefacts_produced", "issues", "agent_notes",
}

// run reads state.json. A run is active if it is paused or its status is unknown.
func (r *reader) run(file string) {
	folders, over := r.place()
	m := r.json(file)
	if m == nil {
		return
	}
	last := len(folders) - 1
	run := Run{ID: folders[last], Branch: path.Join(folders[:last]...), Status: Active, State: map[string]any{}, Path: r.path}
	if s := strings.ToLower(field(m, "status")); s == Completed || s == Failed {
		run.Status = s
	} else if over {
		run.Status = Completed
	}
	run.Updated = readDate(field(m, "last_checkpoint", "started_at"))
	run.Branch = cmp.Or(run.Branch, field(m, "session_branch"), "main") // older kits have no folder for it
	for _, name := range stateFields {
		if m[name] != nil {
			run.State[name] = m[name]
		}
	}
	r.Runs = []Run{run}
}
