package engine_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// crashStep is an action of the run that TestEveryCut cuts, and the state that it leads to.
type crashStep struct {
	place string
	req   request.Request
}

// crashRun takes every road that writes: questions and answers, both engines, a
// change request with comments, edits of drafts at their gates, notes for the next stage, a plan, failed work sent back, an accepted risk, a reopened
// stage whose artifact is replaced.
func crashRun() []crashStep {
	both := submit(workflow.Architect, `{"architecture_draft":"# A claude","quality_score":91}`)
	both.Results = append(both.Results, request.Result{Engine: workflow.Codex, Text: `{"architecture_draft":"# A codex","quality_score":95}`})
	changes, mended := confirm(false), confirm(true)
	changes.Ask = editor{workflow.PO, "# P edited\n", gate.Response{
		Channel: workflow.ChannelElicited, Decision: workflow.DecisionChanges, Feedback: "shorter", Comments: []workflow.Comment{{From: 1, Kind: workflow.CommentEdit, Replace: "# P"}},
	}}
	mended.Ask = editor{workflow.Architect, "# A edited\n", gate.Response{Channel: workflow.ChannelElicited, Decision: workflow.DecisionApprove}}
	noted, sentBack := confirm(true), approve(false, "mend it")
	noted.Comments = []workflow.Comment{{Kind: workflow.CommentChange, Text: "mind the load"}}
	sentBack.Comments = []workflow.Comment{{From: 2, Kind: workflow.CommentQuestion, Text: "since when?"}}
	run := []crashStep{
		{"po/generating", start("build a thing")},
		{"po/clarifying", submit(workflow.PO, `{"prd_draft":"# P","quality_score":70,"questions":["Who?","When?"]}`)},
		{"po/refining", request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "us"}}}},
		{"po/awaiting_confirmation", submit(workflow.PO, `{"prd_updated":"# P long","quality_score":95}`)},
		{"po/refining", changes},
		{"po/awaiting_confirmation", submit(workflow.PO, `{"prd_updated":"# P short","quality_score":96,"resolved":[{"id":"r2c1","status":"declined","how":"it is a PRD"}]}`)},
		{"architect/generating", noted},
		{"architect/awaiting_confirmation", both},
		{"sm/generating", mended},
		{"sm/awaiting_approval", submit(workflow.SM, "# S\n## Sprint 1: one\n## Sprint 2: two")},
		{"dev/generating", approve(true, "")},
		{"review/generating", submit(workflow.Dev, "# D first")},
		{"review/awaiting_approval", submit(workflow.Review, "# R\nStatus: fail")},
		{"dev/refining", sentBack},
		{"review/generating", submit(workflow.Dev, "# D second\n\n{\"resolved\":[{\"id\":\"r1c1\",\"how\":\"since now\"}]}")},
	}
	for st, _ := workflow.Default().Stage(workflow.Review); st.ID != workflow.QA; {
		next, _ := workflow.Default().Next(st.ID)
		run = append(run, crashStep{string(next.ID) + "/generating", submit(st.ID, passes("# R"))})
		st = next
	}
	return append(run, []crashStep{
		{"qa/awaiting_approval", submit(workflow.QA, "# Q\nStatus: fail")},
		{"qa/completed", approve(true, "we ship it")},
		{"qa/refining", request.Request{Action: workflow.ActionReopen, Stage: "qa", Decision: request.Decision{Feedback: "test again"}}},
		{"qa/completed", submit(workflow.QA, passes("# Q agai"))},
	}...)
}

// world is an engine on a simulated disk. Its clock shows the number of the
// action, so that an action that is repeated has the same time.
type world struct {
	// recorded is true if there is a person's state folder too.
	recorded bool

	// count, if not nil, counts the reads.
	count *opens

	disk   *durabletest.Disk
	path   string
	engine *engine.Engine
	clock  *atomic.Int64
}

func newWorld(disk *durabletest.Disk, name string) world { return newWorldOf(disk, name, false) }

// newWorldOf does as newWorld, with a person's state folder on the same disk if recorded.
func newWorldOf(disk *durabletest.Disk, name string, recorded bool) world {
	w := world{recorded: recorded, disk: disk, path: filepath.Join(string(filepath.Separator), "simulated", name), clock: new(atomic.Int64)}
	if abs, err := filepath.Abs(w.path); err == nil {
		w.path = abs // with the drive, if there are some
	}
	return newWorldWithID(w, crashID)
}

// newWorldWithID returns the world with a new engine, which gives sessions this id.
func newWorldWithID(w world, id string) world {
	var own engine.Trust
	if w.recorded {
		own = person{disk: w.disk, path: w.path + "-state"}
	}
	w.engine = engine.New(engine.Options{
		Names: names,
		Projects: project.New(project.Options{
			OpenDir: func(name string) (*durable.Dir, error) {
				if name != w.path {
					return nil, fs.ErrNotExist
				}
				if w.count != nil {
					return w.count.in(w.disk.Dir(w.path)), nil
				}
				return w.disk.Dir(w.path), nil
			},
			Backend: func(place store.Place) (store.Backend, error) {
				if w.count != nil {
					return w.count.backend(place)
				}
				return storetest.At(place)
			},
			Settings: config.Source{},
		}),
		Trust: own,
		Now:   func() time.Time { return time.Unix(1_800_000_000+60*w.clock.Load(), 0) },
		NewID: func() string { return id },
	})
	return w
}

// person is the state folder of a person on a simulated disk.
type person struct {
	disk *durabletest.Disk
	path string
}

func (person) CanSign() bool { return true }

// memoryKey is a key that is on no disk.
type memoryKey struct{ signature.Signer }

func newMemoryKey() workflow.Signer {
	s, err := signature.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		panic(err)
	}
	return memoryKey{s}
}

func (memoryKey) MAC(message string) string { return workflow.Hash([]byte("key" + message)) }

func (person) Signer(context.Context) (workflow.Signer, error) { return newMemoryKey(), nil }
func (person) ReadSigner() (workflow.Signer, error)            { return newMemoryKey(), nil }

func (person) Hold() (release func()) { return func() {} }

// Nothing is asked for in these runs.
func (person) Allowed(trust.Allowance) bool                 { return false }
func (person) InForce(string) []trust.Allowance             { return nil }
func (person) Allowances() ([]trust.Allowance, error)       { return nil, nil }
func (person) Bind(context.Context, string) error           { return nil }
func (person) Allow(context.Context, trust.Allowance) error { return nil }

func (p person) Checkpoints(signer workflow.Signer, project string, ids ...string) map[string]workflow.Checkpoint {
	return trust.CheckpointsIn(p.disk.Dir(p.path)).Read(signer, project, ids...)
}

func (person) Elsewhere(workflow.Signer, string, string, string, string) []workflow.Elsewhere {
	return nil
}

func (p person) Record(ctx context.Context, signer workflow.Signer, project, id string, c workflow.Checkpoint, _ ...string) error {
	return trust.CheckpointsIn(p.disk.Dir(p.path)).Write(ctx, signer, project, id, c)
}

func (p person) Reserve(ctx context.Context) (*trust.Reservation, error) {
	return trust.CheckpointsIn(p.disk.Dir(p.path)).Reserve(ctx)
}

// checkUntouched checks that nothing takes the remains of a fault for a change by other hands.
func (w world) checkUntouched(t *testing.T, o durabletest.Outcome) {
	t.Helper()
	if !w.recorded || w.session(t) == "" {
		return
	}
	_, v, _, err := w.engine.Inspect(ctx, project.Address{Cwd: w.path, Session: crashID})
	if err != nil || v.Status != workflow.ChainHolds {
		t.Fatalf("%v: the history is said to be %+v, %v", o, v, err)
	}
}

const crashID = "11111111-2222-4333-8444-555555555555"

// do does the n-th action.
func (w world) do(n int, step crashStep) (*reply.Reply, error) {
	w.clock.Store(int64(n))
	req := step.req
	req.Cwd, req.By = w.path, "test"
	if req.Action != workflow.ActionStart {
		req.Session = "build-a-thing"
	}
	out, err := w.engine.Do(ctx, req)
	return out.Reply, err
}

// editor is a person who edits a stage's draft, and then decides.
type editor struct {
	stage workflow.StageID
	text  string
	says  gate.Response
}

func (e editor) Ask(context.Context, gate.Question) (gate.Response, error) { return e.says, nil }

// edits writes to the project before a step: the person edits a draft, or the developer builds the files of a report.
func (w world) edits(t *testing.T, step crashStep) {
	t.Helper()
	if step.req.Stage == string(workflow.Dev) {
		if err := w.disk.Dir(w.path).Replace("thing.txt", []byte("built")); err != nil {
			t.Fatal(err)
		}
	}
	e, ok := step.req.Ask.(editor)
	if !ok {
		return
	}
	if err := w.disk.Dir(w.path).Replace(artifact.WorkPath("build-a-thing", e.stage), []byte(e.text)); err != nil {
		t.Fatal(err)
	}
}

var simulated = regexp.MustCompile(`"cwd": ".*"`)

// session returns the stored form of the run, "" if there is none.
func (w world) session(t *testing.T) string {
	t.Helper()
	data, err := w.disk.Dir(w.path).ReadFile(store.SessionPath(crashID), durable.MaxText)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return simulated.ReplaceAllString(string(data), `"cwd": ""`)
}

// artifacts returns all that stands in the folder for people, but for what a killed
// process leaves of a write.
func (w world) artifacts(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	w.walk(t, ".claude", func(name string, data []byte) {
		if _, temp := durable.IsTemp(path.Base(name)); !temp {
			fmt.Fprintf(&out, "%s\n%s\n", name, data)
		}
	})
	return out.String()
}

func (w world) walk(t *testing.T, folder string, visit func(name string, data []byte)) {
	t.Helper()
	tree := w.disk.Dir(w.path).Tree()
	err := fs.WalkDir(tree, folder, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == folder {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		visit(name, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sound checks that every JSON file parses, and that what the run refers to is
// there, of the size and hash it says.
func (w world) sound(t *testing.T) error {
	t.Helper()
	var problem error
	w.walk(t, ".bmad-task", func(name string, data []byte) {
		if strings.HasSuffix(name, ".json") && !json.Valid(data) {
			problem = fmt.Errorf("%s is no JSON: %q", name, data)
		}
	})
	text := w.session(t)
	if text == "" || problem != nil {
		return problem
	}
	s, err := store.Decode([]byte(text), "session")
	if err != nil {
		return err
	}
	dir := w.disk.Dir(w.path)
	there := func(name, sum string) {
		if data, err := dir.ReadFile(name, durable.MaxText); err != nil {
			problem = err
		} else if sum != "" && workflow.Hash(data) != sum {
			problem = fmt.Errorf("%s is not what the run says", name)
		}
	}
	for _, rec := range s.Stages {
		for _, ref := range []*workflow.ContentRef{rec.ClaudeResultRef, rec.CodexResultRef, rec.FinalResultRef} {
			if ref != nil {
				there(ref.FilePath, ref.SHA256)
			}
		}
		if rec.Artifact != nil {
			there(rec.Artifact.Text.FilePath, rec.Artifact.SHA256)
		}
	}
	if problem == nil {
		problem = w.mends(t, s)
	}
	for _, e := range s.History {
		if e.Path != "" {
			there(e.Path, e.SHA256)
		}
	}
	if data, err := dir.ReadFile(".bmad-task/names/"+s.TaskName, durable.MaxText); err != nil || strings.TrimSpace(string(data)) != s.SessionID {
		return fmt.Errorf("the name leads to %q, %w", data, err)
	}
	mapping, err := storetest.Files(dir).Mapping()
	if err != nil {
		return err
	}
	if mapping[s.SessionID].TaskName != s.TaskName {
		return fmt.Errorf("the mapping has %v", mapping)
	}
	return problem
}

// mends checks that sync restores the artifacts on record.
func (w world) mends(t *testing.T, s *workflow.Session) error {
	t.Helper()
	if w.holdsArtifacts(s) == nil {
		return nil
	}
	w = newWorldOf(w.disk.Copy(), filepath.Base(w.path), w.recorded)
	if _, err := w.engine.Sync(ctx, project.Address{Cwd: w.path}); err != nil {
		return err
	}
	return w.holdsArtifacts(s)
}

// holdsArtifacts compares the artifacts with the run.
func (w world) holdsArtifacts(s *workflow.Session) error {
	for _, rec := range s.Stages {
		if rec.Artifact == nil {
			continue
		}
		if data, err := w.disk.Dir(w.path).ReadFile(rec.Artifact.Path, durable.MaxText); err != nil || workflow.Hash(data) != rec.Artifact.SHA256 {
			return fmt.Errorf("%s is not what the run says, %w", rec.Artifact.Path, err)
		}
	}
	return nil
}

// road returns the run's history without the parts that differ between a run and its repetition.
func road(t *testing.T, text string) string {
	t.Helper()
	s, err := store.Decode([]byte(text), "session")
	if err != nil {
		t.Fatal(err)
	}
	out := s.TaskName
	for _, e := range s.History {
		out += fmt.Sprintf("\n%s %s %s→%s %d %s %s", e.Action, e.Event, e.From, e.To, e.Iteration, e.SHA256, e.Feedback)
	}
	return out
}

// TestEveryCut does a whole run on a simulated disk and, at every step of every action,
// loses power or breaks the disk in every way: then the run is exactly as before
// or as after, acknowledged work is there, everything parses and nothing is
// missing, and the run goes on to the same end with the same artifacts.
func TestEveryCut(t *testing.T) { cutEvery(t, every, false) }

// TestEveryCutOfARecord does the same if each action is recorded in the person's state
// folder after it: whatever fails there fails no action, and nothing that a cut leaves is
// taken for a change by other hands. It cuts some actions: the records have one form.
func TestEveryCutOfARecord(t *testing.T) { cutEvery(t, 10*every, true) }

// reach is for how many actions more what a killed process has left is looked at after
// each: what it had not synced, these have, or have written over.
const reach = 2

// firstCut is an action that every sample has: a person edits a draft at its gate, and lets it pass.
const firstCut = 8

// cutEvery cuts every n-th action of the run.
func cutEvery(t *testing.T, nth int, recorded bool) {
	run := crashRun()
	// The undisturbed run, with the disk before each action.
	smooth := newWorldOf(durabletest.New(), "smooth", recorded)
	disks := make([]*durabletest.Disk, len(run))
	sessions := make([]string, len(run)+1)
	for n, step := range run {
		smooth.edits(t, step)
		disks[n] = smooth.disk.Copy()
		reply, err := smooth.do(n, step)
		if err != nil {
			t.Fatalf("%s: %v", step.req.Action, err)
		}
		if got := string(reply.Stage) + "/" + string(reply.State); got != step.place {
			t.Fatalf("%s leads to %s, want %s", step.req.Action, got, step.place)
		}
		sessions[n+1] = smooth.session(t)
	}
	wantRoad, wantArtifacts := road(t, sessions[len(run)]), smooth.artifacts(t)

	var steps, outcomes atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d actions, %d steps, %d different outcomes", len(run), steps.Load(), outcomes.Load())
	})
	for n, step := range run {
		if n%nth != firstCut%nth {
			continue
		}
		t.Run(fmt.Sprintf("%02d_%s", n, step.req.Action), func(t *testing.T) {
			t.Parallel()
			played := map[string]bool{} // disks from which the rest of the run was played
			on := func(disk *durabletest.Disk) world { return newWorldOf(disk, fmt.Sprint("action-", n), recorded) }
			s, o := durabletest.Sweep(t, disks[n], func(disk *durabletest.Disk) error {
				_, err := on(disk).do(n, step)
				return err
			}, func(o durabletest.Outcome) {
				w := on(o.Disk)
				checkError(t, o)
				if o.Seen {
					return
				}
				if err := w.sound(t); err != nil {
					t.Fatalf("%v: %v", o, err)
				}
				checkMended(t, o, w)
				w.checkUntouched(t, o)
				done := w.session(t) == sessions[n+1]
				if before := on(disks[n]).keptFiles(t); !done && o.Fault.Kind == durabletest.Broken && w.keptFiles(t) != before {
					t.Fatalf("%v: it failed and left\n%s\nwhere there was\n%s", o, w.keptFiles(t), before)
				}
				var unconfirmed *durable.UnconfirmedError
				switch {
				case !done && w.session(t) != sessions[n]:
					t.Fatalf("%v: the run is neither as before nor as after:\n%s", o, w.session(t))
				case o.Acknowledged && !done:
					t.Fatalf("%v: an acknowledged action is lost", o)
				case done && o.Err != nil && !o.Lost() && !errors.As(o.Err, &unconfirmed):
					t.Fatalf("%v: %v, yet it was done", o, o.Err)
				}
				rest := run[n:]
				if done {
					rest = run[n+1:]
					if _, err := w.do(n, step); !fault.Is(err, fault.Conflict) || w.session(t) != sessions[n+1] {
						t.Fatalf("%v: repeated though it was done: %v", o, err)
					}
				}
				for i, step := range rest {
					if (i > 0 || done) && i <= reach {
						w.survivesPowerLoss(t, o)
					}
					since := i - (len(rest) - len(run[n+1:])) // actions since this one is done
					if since == 0 && o.Fault.Kind != durabletest.Kill || since == reach {
						now := fmt.Sprint(since, w.disk.Fingerprint())
						if played[now] {
							return
						}
						played[now] = true
					}
					if i > 0 || done {
						w.edits(t, step)
					}
					if reply, err := w.do(len(run)-len(rest)+i, step); err != nil {
						t.Fatalf("%v: then %s: %v", o, step.req.Action, err)
					} else if got := string(reply.Stage) + "/" + string(reply.State); got != step.place {
						t.Fatalf("%v: then %s leads to %s, want %s", o, step.req.Action, got, step.place)
					}
				}
				if got := road(t, w.session(t)); got != wantRoad {
					t.Fatalf("%v: the run took the road\n%s\nnot\n%s", o, got, wantRoad)
				}
				if len(rest) == 0 { // no step is left to write the last document
					if _, err := w.engine.Sync(ctx, project.Address{Cwd: w.path}); err != nil {
						t.Fatalf("%v: %v", o, err)
					}
				}
				if got := w.artifacts(t); got != wantArtifacts {
					t.Fatalf("%v: the artifacts are\n%s\nnot\n%s", o, got, wantArtifacts)
				}
				if err := w.sound(t); err != nil {
					t.Fatalf("%v: at the end: %v", o, err)
				}
				w.checkUntouched(t, o)
			})
			steps.Add(int64(len(s)))
			outcomes.Add(int64(o))
		})
	}
}

// survivesPowerLoss cuts the power after an action that a second process has done, or was
// told is done, on the disk that a killed one left: it is there on every disk that can come of it.
func (w world) survivesPowerLoss(t *testing.T, o durabletest.Outcome) {
	t.Helper()
	if o.Fault.Kind != durabletest.Kill {
		return
	}
	want := w.session(t)
	for _, image := range w.disk.Images() {
		left := newWorld(image, filepath.Base(w.path))
		if got := left.session(t); got != want {
			t.Fatalf("%v, then a process that goes on, then a power loss: the run is\n%s\nnot\n%s", o, got, want)
		}
		if err := left.sound(t); err != nil {
			t.Fatalf("%v, then a process that goes on, then a power loss: %v", o, err)
		}
	}
}

// keptFiles returns everything that a failed action must leave as it was: all files but
// locks and the one that keeps the state folder out of version control, and the
// mapping by its content.
func (w world) keptFiles(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	for _, folder := range []string{".bmad-task", ".claude"} {
		w.walk(t, folder, func(name string, data []byte) {
			if !strings.Contains(name, "mapping") && !strings.Contains(name, "/locks/") && path.Base(name) != ".gitignore" {
				fmt.Fprintf(&out, "%s\n%s\n", name, simulated.ReplaceAll(data, nil))
			}
		})
	}
	mapping, _ := storetest.Files(w.disk.Dir(w.path)).Mapping() // none is an empty one
	fmt.Fprint(&out, mapping)
	return out.String()
}

// checkMended checks that doctor --fix can mend the remains of a fault.
func checkMended(t *testing.T, o durabletest.Outcome, w world) {
	t.Helper()
	dir := w.disk.Copy().Dir(w.path + "-mended")
	p := doctor.New(dir, storetest.Files(dir))
	if _, err := p.Fix(ctx, time.Unix(1_900_000_000, 0)); err != nil {
		t.Fatalf("%v: doctor --fix: %v", o, err)
	}
	checks, err := p.Check(ctx)
	for _, c := range checks {
		if err != nil || c.Status != doctor.OK {
			t.Fatalf("%v: after doctor --fix: %+v, %v", o, c, err)
		}
	}
}

// checkError checks the error for the caller of an action whose disk failed.
func checkError(t *testing.T, o durabletest.Outcome) {
	t.Helper()
	if o.Lost() || o.Err == nil {
		return
	}
	var f *fault.Error
	if !errors.As(o.Err, &f) || f.Code != fault.Storage || f.Hint == "" {
		t.Fatalf("%v: the error is %#v", o, o.Err)
	}
	says := map[durabletest.Kind]string{
		durabletest.Full: "free some space", durabletest.ReadOnly: "mounted read-only", durabletest.Denied: "writable for you",
	}[o.Fault.Kind]
	var unconfirmed *durable.UnconfirmedError
	if errors.As(o.Err, &unconfirmed) {
		says = "call status to see where the run stands"
	}
	if !strings.Contains(f.Hint, says) {
		t.Fatalf("%v: %s; the hint %q does not say %q", o, f.Message, f.Hint, says)
	}
}
