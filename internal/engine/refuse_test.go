package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestBadInput checks that each mistake is named, with a way out, and changes nothing.
func TestBadInput(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("# secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := func(p string) request.Request {
		return request.Request{Action: workflow.ActionSubmit, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Path: p}}}}
	}
	both := submit(workflow.PO, "# x")
	both.Results[0].Path = "x.md"
	sprints := submit(workflow.PO, "# x")
	sprints.Sprints = []int{1}
	tests := []struct {
		name string
		req  request.Request
		code fault.Code
		want string
	}{
		{"unknown action", request.Request{Action: "finish"}, fault.InvalidArgument, `unknown action "finish"`},
		{"no action", request.Request{}, fault.InvalidArgument, `unknown action ""`},
		{"unknown stage", submit("boss", "# x"), fault.InvalidArgument, `unknown stage "boss"`},
		{"no stage", submit("", "# x"), fault.InvalidArgument, "submit needs a stage"},
		{"stage out of order", submit(workflow.QA, "# x"), fault.WrongStage, `is at stage "po", not "qa"`},
		{"empty objective", start("  \n"), fault.InvalidArgument, "start needs an objective"},
		{"long objective", start(strings.Repeat("x", 5000)), fault.InvalidArgument, "5000 bytes; at most 4000"},
		{"objective not UTF-8", start("a\xffb"), fault.InvalidArgument, "objective is not valid UTF-8"},
		{"relative cwd", request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x"}, Address: project.Address{Cwd: "some/where"}}, fault.InvalidArgument, "is not an absolute path"},
		{"missing cwd", request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x"}, Address: project.Address{Cwd: outside + "-not"}}, fault.InvalidArgument, "does not exist"},
		{"cwd is a file", request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x"}, Address: project.Address{Cwd: outside}}, fault.InvalidArgument, "is not a folder"},
		{"no place", request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x"}, Address: project.Address{Places: []string{"", "relative", "/not/there"}}}, fault.InvalidArgument, "not clear which project"},
		{"unknown session", request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: "99999999-0000-4000-8000-000000000000"}}, fault.NotFound, "no run has"},
		{"session id is a path", request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: "../../etc/passwd"}}, fault.NotFound, "no run has"},
		{"session id is long", request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: strings.Repeat("a", 300)}}, fault.InvalidArgument, "session_id has 300 bytes"},
		{"no result", request.Request{Action: workflow.ActionSubmit, Stage: "po"}, fault.InvalidArgument, "submit names no document, and the working copy .bmad-task/work/x/po.md does not exist"},
		{"empty submission", submit(workflow.PO, " \n\t"), fault.InvalidArgument, "claude_result is empty"},
		{"empty document", submit(workflow.PO, `{"prd_draft":"","quality_score":99}`), fault.InvalidArgument, "holds no document"},
		{"cut off", submit(workflow.PO, `{"quality_score": 99, "prd_draft": "# x`), fault.InvalidArgument, "breaks off before its closing brace"},
		{"not UTF-8", submit(workflow.PO, "# x \xff\xfe"), fault.InvalidArgument, "claude_result is not valid UTF-8"},
		{"too large", submit(workflow.PO, strings.Repeat("x", 5<<20+1)), fault.InvalidArgument, "5242881 bytes; at most 5242880"},
		{"50 MB", submit(workflow.PO, strings.Repeat("x", 50<<20)), fault.InvalidArgument, "at most 5242880"},
		{"text and path", both, fault.InvalidArgument, "are both given"},
		{"path outside", path("../secret.md"), fault.InvalidArgument, "is not inside the project"},
		{"absolute path outside", path(outside), fault.InvalidArgument, "is not inside the project"},
		{"path missing", path("none.md"), fault.NotFound, `"none.md" does not exist`},
		{"path is a folder", path("folder"), fault.InvalidArgument, "is not a regular file"},
		{"path is the project", path("."), fault.InvalidArgument, "is not a regular file"},
		{"path is a link", path("link.md"), fault.InvalidArgument, "leads through the symbolic link link.md"},
		{"path through a link", path("linked/secret.md"), fault.InvalidArgument, "leads through the symbolic link linked"},
		{"path not UTF-8", path("latin1.md"), fault.InvalidArgument, "claude_result_path is not valid UTF-8"},
		{"path empty file", path("empty.md"), fault.InvalidArgument, "claude_result_path is empty"},
		{"path too large", path("large.md"), fault.InvalidArgument, "at most 5242880"},
		{"sprints at po", sprints, fault.InvalidArgument, `sprints go with stage "dev"`},
		{"reopen without a stage", request.Request{Action: workflow.ActionReopen}, fault.InvalidArgument, "reopen needs a stage"},
		{"long feedback", request.Request{Action: workflow.ActionCancel, Decision: request.Decision{Feedback: strings.Repeat("x", 9000)}}, fault.InvalidArgument, "feedback has 9000 bytes"},
		{"reopen ahead", request.Request{Action: workflow.ActionReopen, Stage: "dev"}, fault.WrongStage, `stage "dev" is not before`},
		{"reopen here", request.Request{Action: workflow.ActionReopen, Stage: "po"}, fault.WrongStage, "is not before"},
	}
	b := newBench(t)
	b.do(start("x"))
	for name, data := range map[string]string{"latin1.md": "caf\xe9", "empty.md": "", "large.md": strings.Repeat("x", 5<<20+1)} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(b.dir, "folder"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(b.dir, "linked")); err != nil {
		t.Fatal(err)
	}
	before := b.snapshot()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := b.try(tt.req)
			if !fault.Is(err, tt.code) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %s: …%s…", err, tt.code, tt.want)
			}
			if fault.From(err).Hint == "" {
				t.Error("no hint")
			}
			if b.snapshot() != before {
				t.Error("the disk changed")
			}
		})
	}
}

// TestStateBeforeArguments calls every action without the arguments that it needs, in every state.
// If the state forbids it, that is the refusal: the argument would not help.
func TestStateBeforeArguments(t *testing.T) {
	t.Parallel()
	bare := map[workflow.Action]struct {
		req     request.Request
		missing string
	}{
		workflow.ActionSubmit:  {request.Request{}, "submit needs a stage"},
		workflow.ActionAnswer:  {request.Request{}, "answer needs answers"},
		workflow.ActionConfirm: {request.Request{Decision: request.Decision{Feedback: "not yet"}}, "confirm with feedback needs confirmed"},
		workflow.ActionApprove: {request.Request{Decision: request.Decision{Feedback: "not yet"}}, "approve needs approved"},
		workflow.ActionReopen:  {request.Request{}, "reopen needs a stage"},
	}
	// These repeat the step that was taken last.
	repeated := map[string]bool{"po/refining answer": true, "qa/completed submit": true}
	for _, place := range places {
		b := newBench(t)
		b.rests(place.stage, place.state)
		before := b.snapshot()
		for action, call := range bare {
			req := call.req
			req.Action = action
			_, err := b.try(req)
			at := fmt.Sprintf("%s/%s %s", place.stage, place.state, action)
			switch {
			case err == nil:
				t.Errorf("%s: taken", at)
			case slices.Contains(place.state.Allowed(), action):
				if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), call.missing) {
					t.Errorf("%s: %v, want %q", at, err, call.missing)
				}
			case repeated[at]:
				if !fault.Is(err, fault.Conflict) {
					t.Errorf("%s: %v, want a conflict", at, err)
				}
			case !fault.Is(err, fault.NotAllowed) && !fault.Is(err, fault.GatePending):
				t.Errorf("%s: %v, want its state", at, err)
			}
			if f := fault.From(err); f.Hint == "" || len(f.Allowed) == 0 {
				t.Errorf("%s: %+v", at, f)
			}
		}
		if b.snapshot() != before {
			t.Errorf("%s/%s: a refusal changed the disk", place.stage, place.state)
		}
	}
}

func TestAnswersToUnknownQuestions(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.Clarifying)
	for want, answers := range map[string]map[string]string{
		`question "q9" is not open`: {"q1": "a", "q9": "b"},
		"all answers are empty":     {"q1": " "},
		"not valid UTF-8":           {"q1": "\xff"},
	} {
		before := b.snapshot()
		_, err := b.try(request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: answers}})
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), want) || b.snapshot() != before {
			t.Errorf("%v: %v", answers, err)
		}
	}
}

// TestReportsAreReturned checks that a report without the rows that it owes goes back to its
// author, whatever it states, and the third time in a row the person decides.
func TestReportsAreReturned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.to(workflow.Review, workflow.Generating)
	revision, rework := b.stored().Revision, b.stored().ReworkCount
	const form = "It ends with one block"
	for i, text := range []string{"ALL TESTS FAIL", "# Looks good to me\n\nStatus: Pass", `{"review":"fine"}`} {
		place := "review/refining"
		if i == 2 {
			place = "review/awaiting_approval"
		}
		r := b.at(place, submit(workflow.Review, text))
		if len(r.Returned) == 0 || r.Verdict != "" || r.Iteration != i+1 || r.Rework != rework {
			t.Errorf("%q: %+v", text, r)
		}
		if i == 0 && (strings.Contains(r.RolePrompt, form) || !strings.Contains(b.do(request.Request{Action: workflow.ActionResume}).RolePrompt, form)) {
			t.Errorf("only resume repeats the form: %q", r.RolePrompt)
		}
	}
	if got := b.stored().Revision; got != revision+3 {
		t.Errorf("revision %d", got)
	}
	b.refused(approve(true, ""), fault.InvalidArgument, "needs the human's reason")
	again := b.at("review/refining", approve(false, "hand in the block"))
	if again.Rework != rework || again.Context.Feedback != "hand in the block" {
		t.Errorf("%+v", again)
	}
	b.at("review/refining", submit(workflow.Review, "Status: pass")) // counted from the start
	b.at("qa/generating", submit(workflow.Review, passes("# R")))
}

func TestUnknownSprint(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Dev, workflow.Generating)
	req := submit(workflow.Dev, "# D")
	req.Sprints = []int{1, 7}
	if _, err := b.try(req); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "no sprint 7") {
		t.Errorf("got %v", err)
	}
}

// TestSprintsOfAPlanWithoutAny checks that a number cannot be chosen if there is none.
func TestSprintsOfAPlanWithoutAny(t *testing.T) {
	b := newBench(t)
	b.to(workflow.SM, workflow.Generating)
	b.do(submit(workflow.SM, "# Plan\n\nOne thing, in one go."))
	b.at("dev/generating", approve(true, ""))
	for _, numbers := range [][]int{{1}, {}} {
		req := submit(workflow.Dev, "# D")
		req.Sprints = numbers
		if hint := b.refused(req, fault.InvalidArgument, "no numbered sprints"); !strings.Contains(hint, "leave sprints out") {
			t.Errorf("%v: hint %q", numbers, hint)
		}
	}
	b.at("review/generating", submit(workflow.Dev, "# D"))
}

func TestDraftChangedAfterScoringIsNotSaved(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.AwaitingConfirmation)
	draft := filepath.Join(b.dir, b.draft(workflow.PO))
	if err := os.WriteFile(draft, []byte("# other"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := b.snapshot()
	if _, err := b.try(confirm(true)); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "changed after it was scored") || b.snapshot() != before {
		t.Errorf("got %v", err)
	}
	b.at("po/refining", confirm(false))
}

func TestBrokenConfigurationNamesTheLine(t *testing.T) {
	b := newBench(t)
	if err := os.MkdirAll(filepath.Join(b.dir, ".claude"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, ".claude", "bmad-task.yaml"), []byte("\ngates: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := b.snapshot()
	if _, err := b.try(start("x")); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), "bmad-task.yaml, line 2") || b.snapshot() != before {
		t.Errorf("got %v", err)
	}
}

func TestWhichSession(t *testing.T) {
	b := newBench(t)
	if r := b.do(request.Request{Action: workflow.ActionStatus}); !strings.Contains(r.UserMessage, "no run yet") || r.PendingUserActions[0] != "start" {
		t.Errorf("%+v", r)
	}
	one := b.do(start("first"))
	b.session = ""
	if r := b.do(request.Request{Action: workflow.ActionStatus}); r.SessionID != one.SessionID || len(r.Stages) != 6 {
		t.Errorf("the only active run is not found: %+v", r)
	}
	two := b.do(start("second"))
	b.session = ""
	if r := b.do(request.Request{Action: workflow.ActionStatus}); len(r.Sessions) != 2 || r.Sessions[0].TaskName != "second" {
		t.Errorf("%+v", r)
	}
	if _, err := b.try(request.Request{Action: workflow.ActionCancel}); !fault.Is(err, fault.Conflict) || !strings.Contains(fault.From(err).Hint, "first, second") {
		t.Errorf("got %v", err)
	}
	if r := b.do(request.Request{Action: workflow.ActionCancel, Address: project.Address{Session: "second"}}); r.SessionID != two.SessionID {
		t.Errorf("%+v", r)
	}
	// From another folder, by the list of known projects.
	elsewhere := t.TempDir()
	if r := b.do(request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: one.SessionID, Places: []string{elsewhere}}}); r.Cwd != b.dir {
		t.Errorf("found in %q", r.Cwd)
	}
	other := t.TempDir()
	b.do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "first"}, Address: project.Address{Cwd: other}})
	if _, err := b.try(request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: "first", Places: []string{elsewhere}}}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a name in two projects: %v", err)
	}
	if r := b.do(request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: "first", Places: []string{other}}}); r.Cwd != other {
		t.Errorf("found in %q", r.Cwd)
	}
}

// TestRefusalsNameWhatIsNear checks that a refusal of a misspelt name suggests similar names. It
// does not reveal whether a folder outside the project exists.
func TestRefusalsNameWhatIsNear(t *testing.T) {
	b := newBench(t)
	start := request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "build a clock", TaskName: "build-a-clock"}}
	b.do(start)
	b.write("docs/requirements.md", "# R")
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "requirements.md"), []byte("# R"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.dir, "linked")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	before := b.snapshot()
	status := func(session string) request.Request {
		return request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: session}}
	}
	for _, tt := range []struct {
		name string
		req  request.Request
		code fault.Code
		near string
	}{
		{"session", status("buid-a-clock"), fault.NotFound, "build-a-clock"},
		{"session with its folder", request.Request{Action: workflow.ActionStatus, Address: project.Address{Session: "build-a-clok", Cwd: b.dir}}, fault.NotFound, "build-a-clock"},
		{"another session", status("paint-the-house"), fault.NotFound, ""},
		{"file", byPath(workflow.PO, "docs/requirments.md"), fault.NotFound, "docs/requirements.md"},
		{"folder of a file", byPath(workflow.PO, "doc/requirements.md"), fault.NotFound, "docs/requirements.md"},
		{"file behind a link", byPath(workflow.PO, "linkd/requirements.md"), fault.NotFound, ""},
		{"stage", submit("archtect", "# A"), fault.InvalidArgument, "architect"},
		{"action", request.Request{Action: "aprove"}, fault.InvalidArgument, "approve"},
		{"workflow", request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x", Workflow: "bmadd"}}, fault.InvalidArgument, "bmad"},
	} {
		_, err := b.try(tt.req)
		f := fault.From(err)
		if !fault.Is(err, tt.code) || strings.Join(f.Suggestions, " ") != tt.near || tt.near != "" && !strings.Contains(f.Hint, "did you mean "+tt.near+"?") {
			t.Errorf("%s: got %v, %q and hint %q, want %q", tt.name, err, f.Suggestions, f.Hint, tt.near)
		}
	}
	if b.snapshot() != before {
		t.Error("a refusal changed something")
	}
}
