package engine_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// desk is a bench whose project and state folder can be put back to any step of a run.
type desk struct {
	*bench
	// project and machine are the folders in which the run was made, dir and state those in use.
	project, machine string
	// steps are the files of both after each action.
	steps []map[string]string
}

// The steps of the run that tables go back to.
const (
	waits    = 3 // the first document waits at its gate
	refused  = 4 // the person has said no
	approved = 6 // and then yes
	newest   = 7 // the architecture waits
)

// newDesk does a run on a fresh project: questions and answers, a document that is sent
// back, one that is approved, one that waits.
func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{bench: newBench(t)}
	d.dir, d.state = filepath.Join(d.dir, "project"), filepath.Join(d.state, "state")
	d.project, d.machine = d.dir, d.state
	if err := os.Mkdir(d.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	d.under(workflow.GateAuto)
	for _, req := range []request.Request{
		start("Build a relay"),
		submit(workflow.PO, `{"prd_draft":"# P","quality_score":70,"questions":["Who?","When?"]}`),
		{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "us", "q2": "soon"}}},
		submit(workflow.PO, `{"prd_updated":"# P long","quality_score":95}`),
		no("shorter"),
		submit(workflow.PO, `{"prd_updated":"# P short","quality_score":96}`),
		confirm(true),
		nextDraft,
	} {
		d.do(req)
		d.steps = append(d.steps, d.bothTrees())
	}
	return d
}

// nextDraft is the next action after the approved step.
var nextDraft = submit(workflow.Architect, `{"architecture_draft":"# A","quality_score":93}`)

// no sends a document back.
func no(feedback string) request.Request {
	r := confirm(false)
	r.Feedback = feedback
	return r
}

// bothTrees returns the files of the project and of the state folder.
func (d *desk) bothTrees() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	for _, root := range []string{d.dir, d.state} {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(name)
			out[name] = string(data)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			d.t.Fatal(err)
		}
	}
	return out
}

// back puts everything back to a step, for the test t, with a new process.
func (d *desk) back(t testing.TB, step int) {
	t.Helper()
	d.t, d.dir, d.state = t, d.project, d.machine
	for _, root := range []string{d.dir, d.state} {
		for _, suffix := range []string{"", "-2", "-kept", "-copy", "-away", "-moved", "-link"} {
			d.remove(root + suffix)
		}
	}
	d.put(d.steps[step], everything)
	d.under(workflow.GateAuto)
}

func everything(string) bool { return true }

// put writes the wanted files.
func (d *desk) put(files map[string]string, wanted func(name string) bool) {
	d.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if wanted(name) {
			put(d.t, name, files[name])
		}
	}
}

func (d *desk) remove(name string) {
	d.t.Helper()
	if err := os.RemoveAll(name); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) rename(from, to string) {
	d.t.Helper()
	if err := os.Rename(from, to); err != nil {
		d.t.Fatal(err)
	}
}

// under goes on in a new process with the variable BMAD_GATE. One of the attacks changes the objective into Chinese,
// which would change the language.
func (d *desk) under(gate workflow.GateMode) {
	d.variable("BMAD_LANGUAGE=en", "BMAD_GATE="+string(gate))
}

// elsewhere does something with another state folder, as another machine has one.
func (d *desk) elsewhere(folder string, do func()) {
	before := d.state
	d.state = folder
	d.restart()
	do()
	d.state = before
	d.restart()
}

// round hands the architecture in and sends it back, which makes two entries, by a process of its own.
func (d *desk) round() {
	d.t.Helper()
	d.restart()
	d.do(nextDraft)
	d.do(no("again"))
	d.restart()
}

// file returns the path of the run, and recordedName that of its record.
func (d *desk) file() string { return filepath.Join(d.dir, ".bmad-task", "session-"+d.session+".json") }

func (d *desk) recordedName() string {
	d.t.Helper()
	found, err := filepath.Glob(filepath.Join(d.state, "checkpoints", "*", "*.json"))
	if err != nil || len(found) != 1 {
		d.t.Fatal(found, err)
	}
	return found[0]
}

// inspect checks the run of the run, and returns it.
func (d *desk) inspect() (*workflow.Session, workflow.Verification) {
	d.t.Helper()
	s, v, _, err := d.engine.Inspect(ctx, project.Address{Cwd: d.dir, Session: d.session})
	if err != nil {
		d.t.Fatal(err)
	}
	return s, v
}

// reported returns the problems of the runs in the list, and the problems found by doctor.
func (d *desk) reported() (listed, found []string) {
	d.t.Helper()
	at := project.Address{Cwd: d.dir}
	sessions, _, _, err := d.engine.Sessions(ctx, at)
	if err != nil {
		d.t.Fatal(err)
	}
	changed, err := d.engine.Changed(ctx, at, sessions, true)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, v := range changed {
		listed = append(listed, v.Problem)
	}
	_, _, err = d.engine.Histories(ctx, at, func(_ *workflow.Summary, v workflow.Verification) { found = append(found, v.Problem) })
	if err != nil {
		d.t.Fatal(err)
	}
	return listed, found
}

// object is JSON as an editor sees it.
type object = map[string]any

func (d *desk) parse(text string) object {
	d.t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var s object
	if err := dec.Decode(&s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

// was returns the run of a step, edited that of the file, and save writes one.
func (d *desk) was(step int) object { return d.parse(d.steps[step][d.file()]) }

func (d *desk) edited() object {
	d.t.Helper()
	data, err := os.ReadFile(d.file())
	if err != nil {
		d.t.Fatal(err)
	}
	return d.parse(string(data))
}

func (d *desk) save(s object) {
	d.t.Helper()
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		d.t.Fatal(err)
	}
	put(d.t, d.file(), string(data)+"\n")
}

// at returns a value inside a session: keys by name, list items by number, from the end if it is
// negative.
func at(s any, path ...any) object {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			s = s.(object)[p]
		case int:
			list := s.([]any)
			if p < 0 {
				p += len(list)
			}
			s = list[p]
		}
	}
	return s.(object)
}

func history(s object) []any { return s["history"].([]any) }
