package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

var ctx = context.Background()

// names are those of the real faces.
var names = standing.Names{Confirm: "bmad-confirm", Program: "bmad-mcp"}

// bench is an engine on a project folder, with a clock and ids that repeat.
type bench struct {
	t       testing.TB
	dir     string
	engine  *engine.Engine
	clock   time.Time
	ids     int
	session string
	bytes   int
	most    int
	// state is the person's folder, environ their variables.
	state   string
	environ []string
	// patience bounds the wait for another that holds a session; the usual time if it is 0.
	patience time.Duration
	// scoring is that of a program which runs stages without a host.
	scoring workflow.ScoringMode
	// own is the person's configuration folder.
	own string
	// workflow is that of a start which names none: six stages that stay as they are when a
	// built-in workflow changes. "" leaves it to the settings.
	workflow string
	// chinese is true if no reply may have a sentence in English.
	chinese bool
	// idle is true if nothing is built at the stage dev.
	idle   bool
	people engine.Personas
	// acting is the person on whose behalf the engine acts.
	acting workflow.Person
	notes  engine.Notes
	// agent is the socket of their SSH agent.
	agent string
	// told are the notices to the person.
	told []notify.Handed
	// backend keeps the runs and texts: in files, unless a test says otherwise.
	backend func(store.Place) (store.Backend, error)
}

// sixFolder is the configuration folder of a person who has the workflow six, and sixName its file in there.
const (
	sixFolder = "../../testdata/person"
	sixName   = "bmad-mcp/workflows/six.yaml"
)

// sixText returns the definition of the workflow six.
func sixText(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sixFolder, sixName))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// benchStart is the time at which the clock of a bench starts.
var benchStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), state: t.TempDir(), clock: benchStart, own: t.TempDir(), workflow: "six"}
	if _, measured := t.(*testing.B); measured {
		b.workflow, b.own = "", "" // a person's own files would be part of the figures
	}
	b.backend = storetest.At
	if _, measured := t.(*testing.B); measured { // as the program does
		kept := filestore.NewSummaries(time.Now)
		b.backend = func(place store.Place) (store.Backend, error) { return kept.Store(place.Dir), nil }
	}
	b.restart()
	return b
}

// restart replaces the engine by a new one, as a new process has it.
func (b *bench) restart() {
	b.t.Helper()
	if b.workflow != "" {
		put(b.t, filepath.Join(b.own, sixName), sixText(b.t))
	}
	var tick sync.Mutex
	b.engine = engine.New(engine.Options{
		Names: names,
		Projects: project.New(project.Options{
			OpenDir: func(name string) (*durable.Dir, error) {
				dir, err := durable.OpenDir(name)
				if err == nil {
					dir.LockTimeout = b.patience
				}
				return dir, err
			},
			Backend:  b.backend,
			Who:      func(string) workflow.Person { return b.acting },
			Known:    project.Known{Folder: b.state},
			Settings: config.Source{UserFolder: b.own, Environ: b.environ, Scoring: b.scoring},
		}),
		Trust:    trust.UserState(b.state),
		Typed:    trust.UserState(b.state),
		Who:      func(string) workflow.Person { return b.acting },
		Personas: b.people,
		Notes:    b.notes,
		Agent:    b.agent,
		Notify:   func(h notify.Handed) { b.told = append(b.told, h) },
		Now: func() time.Time {
			tick.Lock()
			defer tick.Unlock()
			b.clock = b.clock.Add(time.Second)
			return b.clock
		},
		NewID: func() string {
			b.ids++
			return fmt.Sprintf("%08d-0000-4000-8000-000000000000", b.ids)
		},
	})
}

// build writes a file of the work, at a time that is the same in every test.
func (b *bench) build(name, text string) {
	b.t.Helper()
	built := filepath.Join(b.dir, filepath.FromSlash(name))
	put(b.t, built, text)
	if err := os.Chtimes(built, benchStart, benchStart); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) try(req request.Request) (*reply.Reply, error) {
	b.t.Helper()
	if req.Cwd == "" && req.Places == nil {
		req.Cwd = b.dir
	}
	if req.Session == "" && req.Action != workflow.ActionStart {
		req.Session = b.session
	}
	if req.Action == workflow.ActionStart && req.Workflow == "" {
		req.Workflow = b.workflow
	}
	req.By = "test"
	if req.Action == workflow.ActionSubmit && req.Stage == string(workflow.Dev) && !b.idle {
		build, _ := workflow.Default().Stage(workflow.Dev)
		for _, result := range req.Results {
			for _, name := range intake.Read(build, result.Text).Files { // what the report says was built
				b.build(name, "built")
			}
		}
	}
	out, err := b.engine.Do(ctx, req)
	reply := out.Reply
	refusedInChinese(b.t, err)
	decided := req.Action == workflow.ActionApprove || req.Action == workflow.ActionConfirm
	if reply != nil && reply.Stage == workflow.Dev && reply.State == workflow.Generating && decided && !b.idle {
		b.build("thing.txt", fmt.Sprint(reply.Revision))
	}
	if reply != nil {
		if b.chinese {
			repliedInChinese(b.t, reply)
		}
		data, encErr := reply.Lean().Encode()
		if encErr != nil {
			b.t.Fatal(encErr)
		}
		// The project's path is the machine's, so a usual one is counted in its place.
		size := len(strings.ReplaceAll(string(data), b.dir, "/home/ada/src/webhook-relay"))
		b.bytes += size
		b.most = max(b.most, size)
		if reply.SessionID != "" && req.Action == workflow.ActionStart {
			b.session = reply.SessionID
		}
	}
	return reply, err
}

func (b *bench) do(req request.Request) *reply.Reply {
	b.t.Helper()
	reply, err := b.try(req)
	if err != nil {
		b.t.Fatalf("%s: %v", req.Action, err)
	}
	return reply
}

// refused does an action that has to be refused, with a code and words of the reason. It
// returns the hint.
func (b *bench) refused(req request.Request, code fault.Code, words string) string {
	b.t.Helper()
	_, err := b.try(req)
	if !fault.Is(err, code) || !strings.Contains(err.Error(), words) {
		b.t.Fatalf("%s: got %v, want %s, %q", req.Action, err, code, words)
	}
	return fault.From(err).Hint
}

// at does an action and checks where the run stands after it.
func (b *bench) at(place string, req request.Request) *reply.Reply {
	b.t.Helper()
	reply := b.do(req)
	if got := string(reply.Stage) + "/" + string(reply.State); got != place {
		b.t.Fatalf("%s leads to %s, want %s\n%s", req.Action, got, place, reply.UserMessage)
	}
	return reply
}

func start(objective string) request.Request {
	return request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: objective}}
}

// passes returns a report that passes if no document names criteria.
func passes(text string) string {
	return text + "\n\n```json\n{\"checks\": [{\"id\": \"C1\", \"command\": \"go test ./...\", \"exit\": 0}], \"findings\": []}\n```"
}

func submit(stage workflow.StageID, text string) request.Request {
	return request.Request{Action: workflow.ActionSubmit, Stage: string(stage), Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Text: text}}}}
}

func confirm(yes bool) request.Request {
	return request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &yes}}
}

func approve(yes bool, feedback string) request.Request {
	return request.Request{Action: workflow.ActionApprove, Decision: request.Decision{Yes: &yes, Feedback: feedback}}
}

func sample(t testing.TB, run, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "submissions", run, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// to brings a fresh session to a stage and state. It follows the definition: the first document
// asks and is answered, the first verdict fails once, everything else goes through.
func (b *bench) to(stage workflow.StageID, state workflow.State) {
	b.t.Helper()
	b.do(start("build a thing"))
	b.onTo(stage, state)
}

// rests does as to, and knows the way to a cancelled session too.
func (b *bench) rests(stage workflow.StageID, state workflow.State) {
	b.t.Helper()
	if state == workflow.Cancelled {
		b.to(stage, workflow.Generating)
		b.do(request.Request{Action: workflow.ActionCancel})
		return
	}
	b.to(stage, state)
}

// onTo goes on as to does.
func (b *bench) onTo(stage workflow.StageID, state workflow.State) {
	b.t.Helper()
	for range 60 {
		s := b.stored()
		if s.CurrentStage == stage && s.CurrentState == state {
			return
		}
		if !s.CurrentState.Active() {
			break
		}
		b.do(onward(s))
	}
	b.t.Fatalf("got to %s, want %s/%s", b.stored().Place(), stage, state)
}

// onward returns the next action of a run as to makes it.
func onward(s *workflow.Session) request.Request {
	d := s.Definition()
	st := d.Current(s)
	switch s.CurrentState {
	case workflow.Clarifying:
		return request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "us"}}}
	case workflow.AwaitingConfirmation:
		return confirm(true)
	case workflow.AwaitingApproval:
		if st.Kind == workflow.KindVerdict {
			return approve(false, "fix it")
		}
		return approve(true, "")
	}
	first, _ := d.OfKind(st.Kind)
	fresh := st.ID == first.ID && s.Current().Iteration == 0
	switch st.Kind {
	case workflow.KindDocument:
		document := "# " + strings.ToUpper(string(st.ID[:1]))
		if fresh {
			return submit(st.ID, `{"document":"`+document+`","quality_score":70,"questions":["Who?","When?"]}`)
		}
		return submit(st.ID, `{"document":"`+document+`","quality_score":95}`)
	case workflow.KindPlan:
		return submit(st.ID, "# S\n## Sprint 1: one\n## Sprint 2: two")
	case workflow.KindVerdict:
		if fresh {
			return submit(st.ID, "# R\nStatus: fail")
		}
		return submit(st.ID, passes("# R"))
	}
	return submit(st.ID, "# D")
}

// snapshot returns everything below the project folder.
func (b *bench) snapshot() string { return b.content(true) }

// files returns a snapshot without the folders.
func (b *bench) files() string { return b.content(false) }

func (b *bench) content(folders bool) string {
	b.t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, ".lock") {
			return err
		}
		if folders || !d.IsDir() {
			fmt.Fprintln(&out, path)
		}
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out.Write(data)
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.String()
}

func (b *bench) stored() *workflow.Session {
	b.t.Helper()
	dir, err := durable.OpenDir(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	backend, err := b.backend(store.Place{Dir: dir})
	if err != nil {
		b.t.Fatal(err)
	}
	data, err := backend.Stored(ctx, b.session)
	if err != nil {
		b.t.Fatal(err)
	}
	var s workflow.Session
	if err := workflow.Unmarshal(data, &s); err != nil {
		b.t.Fatal(err)
	}
	return &s
}

// draft returns the path of a stage's working copy.
func (b *bench) draft(stage workflow.StageID) string {
	return artifact.WorkPath(b.stored().TaskName, stage)
}

func (b *bench) artifact(task, name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, ".claude", "specs", task, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

// places has every state that a session can be in.
var places = []struct {
	stage workflow.StageID
	state workflow.State
}{
	{workflow.PO, workflow.Generating},
	{workflow.PO, workflow.Clarifying},
	{workflow.PO, workflow.Refining},
	{workflow.PO, workflow.AwaitingConfirmation},
	{workflow.SM, workflow.AwaitingApproval},
	{workflow.Review, workflow.AwaitingApproval},
	{workflow.QA, workflow.Completed},
	{workflow.PO, workflow.Cancelled},
}

// TestStateActionMatrix tries every action in every state: it moves as the golden
// file says, or is refused with the allowed actions and without a change on disk.
func TestStateActionMatrix(t *testing.T) {
	t.Parallel()
	requests := func(stage workflow.StageID) []struct {
		name string
		req  request.Request
	} {
		yes, no := true, false
		return []struct {
			name string
			req  request.Request
		}{
			{"start", start("another thing")},
			{"submit", submit(stage, `{"prd_draft":"# P","quality_score":95,"verdict":"pass"}`)},
			{"answer", request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "a"}}}},
			{"confirm", request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &yes}}},
			{"confirm no", request.Request{Action: workflow.ActionConfirm, Decision: request.Decision{Yes: &no, Feedback: "more"}}},
			{"approve", request.Request{Action: workflow.ActionApprove, Decision: request.Decision{Yes: &yes}}},
			{"approve no", request.Request{Action: workflow.ActionApprove, Decision: request.Decision{Yes: &no, Feedback: "more"}}},
			{"status", request.Request{Action: workflow.ActionStatus}},
			{"resume", request.Request{Action: workflow.ActionResume}},
			{"reopen po", request.Request{Action: workflow.ActionReopen, Stage: "po"}},
			{"cancel", request.Request{Action: workflow.ActionCancel}},
		}
	}
	var out strings.Builder
	for _, place := range places {
		b := newBench(t)
		b.rests(place.stage, place.state)
		d, session := &desk{bench: b, project: b.dir, machine: b.state}, b.session
		d.steps = []map[string]string{d.bothTrees()}
		for _, action := range requests(place.stage) {
			d.back(t, 0)
			b.session = session
			before := b.snapshot()
			reply, err := b.try(action.req)
			cell := ""
			if err != nil {
				var f *fault.Error
				if !errors.As(err, &f) {
					t.Fatalf("%s: %v is no fault", action.name, err)
				}
				cell = string(f.Code) + " [" + strings.Join(f.Allowed, " ") + "]"
				if after := b.snapshot(); after != before {
					t.Errorf("%s/%s %s: refused, yet the disk changed", place.stage, place.state, action.name)
				}
				if f.Hint == "" || len(f.Allowed) == 0 || f.SessionID != b.session {
					t.Errorf("%s/%s %s: %+v", place.stage, place.state, action.name, f)
				}
			} else {
				cell = string(reply.Stage) + "/" + string(reply.State)
			}
			fmt.Fprintf(&out, "%-28s %-11s %s\n", string(place.stage)+"/"+string(place.state), action.name, cell)
		}
	}
	golden.Check(t, "testdata/matrix.txt", out.String())
}
