package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// begin starts a run of a workflow.
func (b *bench) begin(name string) *reply.Reply {
	b.t.Helper()
	return b.do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "build a thing", Workflow: name}})
}

// secure adds a seventh stage to a workflow of six, by YAML alone.
func secure(t *testing.T) string {
	t.Helper()
	text := strings.Replace(sixText(t), "name: six", "name: secure", 1)
	stage := `  - id: security
    kind: verdict
    role: Security Reviewer
    description: looks for vulnerabilities in the implementation
    document: security report
    sends_back_to: dev
    artifact: 04b-security.md

`
	out := strings.Replace(text, "  - id: qa\n", stage+"  - id: qa\n", 1)
	if len(out) == len(text) {
		t.Fatal("the stage was not added")
	}
	return out
}

// allowWorkflow allows, as a person does at a terminal, the things that the project brings.
func (b *bench) allowWorkflow() {
	b.t.Helper()
	_, wants, err := b.engine.Wants(project.Address{Cwd: b.dir})
	if err != nil {
		b.t.Fatal(err)
	}
	i := slices.IndexFunc(wants, func(w permission.Want) bool { return w.Kind == "workflow" })
	if i < 0 {
		b.t.Fatalf("no workflow is asked about: %+v", wants)
	}
	if err := b.engine.Allow(ctx, wants[i]); err != nil {
		b.t.Fatal(err)
	}
}

func TestBuiltinWorkflowsEnd(t *testing.T) {
	for _, definition := range workflow.Builtins() {
		name := definition.Name
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.begin(name)
			s := b.stored()
			var want []string
			for _, st := range s.Definition().Stages {
				if st.Artifact != "" {
					want = append(want, st.Artifact)
				}
			}
			b.onTo(s.Definition().Stages[len(s.Definition().Stages)-1].ID, workflow.Completed)
			s = b.stored()
			var saved []string
			for _, path := range s.Artifacts {
				saved = append(saved, filepath.Base(path))
				if b.read(path) == "" {
					t.Errorf("%s is empty", path)
				}
			}
			if !slices.Equal(saved, want) {
				t.Errorf("artifacts: got %q, want %q", saved, want)
			}
			if s.Workflow == nil || s.Workflow.Name != name || s.Workflow.Hash == "" || len(s.Stages) != len(s.Workflow.Stages) {
				t.Errorf("stored workflow: got %+v, stages %v", s.Workflow, s.Stages)
			}
			status := b.do(request.Request{Action: workflow.ActionStatus})
			if len(status.Stages) != len(s.Workflow.Stages) || strings.Contains(status.UserMessage, "not built yet") {
				t.Errorf("status: got %d stages and\n%s", len(status.Stages), status.UserMessage)
			}
		})
	}
}

// TestFixStopsForItsScope checks that nothing is built before a person has approved what is.
func TestFixStopsForItsScope(t *testing.T) {
	b := newBench(t)
	b.write("check.sh", "touch ran\n")
	b.own = t.TempDir()
	b.restart()
	b.personal("verify: sh check.sh\n")
	b.allow()
	begun := b.begin("fix")
	if begun.Stage != workflow.Dev || !strings.Contains(begun.RolePrompt, "## First: the scope") || !strings.Contains(begun.UserMessage, "proposes the scope") {
		t.Errorf("start: got %s\n%s", begun.Stage, begun.UserMessage)
	}
	gate := b.at("dev/awaiting_approval", submit(workflow.Dev, "# Scope\nChange door.go:12 only. Tests fail today: TestDoor."))
	if gate.Verdict != "" || strings.Contains(gate.UserMessage, "failed") || strings.Contains(gate.UserMessage, "risk") || !strings.Contains(gate.UserMessage, "The scope is ready") {
		t.Errorf("gate: got\n%s", gate.UserMessage)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("the verify command ran on a scope")
	}
	b.refused(submit(workflow.Dev, "# Report\nAll is built."), fault.GatePending, "")
	again := b.at("dev/refining", approve(false, "leave door.go alone"))
	if again.Context.Feedback != "leave door.go alone" || !strings.Contains(again.RolePrompt, "of the scope") {
		t.Errorf("again: got %+v", again)
	}
	b.at("dev/awaiting_approval", submit(workflow.Dev, "# Scope\nChange hinge.go:3 only."))

	// An edit at the gate differs from the text that was shown.
	b.write(b.draft(workflow.Dev), "# Scope\nChange everything.")
	b.refused(approve(true, ""), fault.Conflict, "changed after it was scored")
	b.write(b.draft(workflow.Dev), "# Scope\nChange hinge.go:3 only.\n")
	build := b.at("dev/generating", approve(true, ""))
	if !strings.Contains(build.RolePrompt, "## Then: the change") || build.RequiresUserConfirmation || !strings.Contains(build.UserMessage, "The scope is approved.") {
		t.Errorf("build: got %s", build.UserMessage)
	}
	i := slices.IndexFunc(build.Context.Documents, func(d standing.Document) bool { return d.Summary == "the approved scope" })
	if i < 0 || !strings.Contains(b.read(build.Context.Documents[i].Path), "hinge.go:3") {
		t.Errorf("the approved scope is not handed on: %+v", build.Context.Documents)
	}
	s := b.stored()
	if g := s.Last().Grant; s.Last().Event != workflow.EventScopeApproved || g == nil || g.Decision != workflow.DecisionApprove || s.Current().ApprovedScope == nil {
		t.Errorf("history: got %+v", s.Last())
	}
	b.at("review/generating", submit(workflow.Dev, "# Report\nhinge.go:3 changed."))
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err != nil {
		t.Errorf("the verify command did not run on the report: %+v", b.stored().Record(workflow.Dev).Evidence)
	}
	// Rework stays inside the scope, and is not asked about again.
	b.at("review/awaiting_approval", submit(workflow.Review, "# R\nStatus: fail"))
	b.at("dev/refining", approve(false, "see R1"))
	b.at("review/generating", submit(workflow.Dev, "# Report\nfixed"))
}

// TestStrictScope checks that under a strict policy the scope's gate, too, takes only the person's
// own act.
func TestStrictScope(t *testing.T) {
	b := newBench(t)
	b.settings("gate: strict\n")
	b.begin("fix")
	b.at("dev/awaiting_approval", submit(workflow.Dev, "# Scope"))
	b.refused(approve(true, ""), fault.GatePending, "only the human's own act")
	b.refused(request.Request{Action: workflow.ActionCancel}, fault.GatePending, "only the human's own act")
}

// TestSeventhStage checks that a stage that YAML alone adds works like the others, and its findings
// reach the developer and come back by their ids.
func TestSeventhStage(t *testing.T) {
	b := newBench(t)
	b.write(".claude/bmad-workflows/secure.yaml", secure(t))
	asks := request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "build a thing", Workflow: "secure"}}
	hint := b.refused(asks, fault.NotAllowed, "the person has not allowed it as it is")
	if !strings.Contains(hint, "bmad, quick, plan, fix, six") {
		t.Errorf("hint: got %s", hint)
	}
	b.allowWorkflow()
	b.do(asks)
	b.onTo("security", workflow.Generating)

	b.at("security/refining", submit("security", "# No verdict"))
	failed := b.at("security/awaiting_approval", submit("security", `{"security_report":"# S","verdict":"fail","findings":[{"id":"S7","severity":"critical","file":"door.go:1","problem":"opens for anyone","status":"open"}]}`))
	if failed.Verdict != workflow.Fail || len(failed.Findings) != 1 {
		t.Errorf("failed: got %+v", failed)
	}
	if !slices.Equal(failed.PendingUserActions, []string{"accept_risk", "send_back_to_dev"}) {
		t.Errorf("actions: got %v", failed.PendingUserActions)
	}
	back := b.at("dev/refining", approve(false, "close it"))
	if i := slices.IndexFunc(back.Findings, func(f workflow.Finding) bool { return f.ID == "S7" }); i < 0 {
		t.Errorf("the finding did not reach the developer: %+v", back.Findings)
	}
	b.at("review/generating", submit(workflow.Dev, `{"implementation":"# D","sprints":[1],"resolved":[{"id":"S7","how":"locked"}]}`))
	b.at("security/generating", submit(workflow.Review, passes("# R")))
	if r := b.at("security/refining", submit("security", passes("# S"))); !strings.Contains(strings.Join(r.Returned, ""), "S7") {
		t.Errorf("returned: got %q", r.Returned)
	}
	b.at("qa/generating", submit("security", `{"security_report":"# S","no_checks":"by hand","findings":[{"id":"S7","severity":"critical","problem":"opened for anyone","status":"fixed"}]}`))
	done := b.at("qa/completed", submit(workflow.QA, passes("# Q")))
	if !slices.ContainsFunc(b.stored().Artifacts, func(p string) bool { return strings.HasSuffix(p, "04b-security.md") }) {
		t.Errorf("artifacts: got %v", b.stored().Artifacts)
	}
	if !strings.Contains(done.UserMessage, "Security Reviewer ✓") {
		t.Errorf("pipeline: got %s", done.UserMessage)
	}
}

// TestARunKeepsItsWorkflow checks that neither an edit of the file nor its removal changes a run.
func TestARunKeepsItsWorkflow(t *testing.T) {
	b := newBench(t)
	const file = ".claude/bmad-workflows/secure.yaml"
	b.write(file, secure(t))
	b.allowWorkflow()
	b.begin("secure")
	b.write(file, strings.Replace(secure(t), "    gate: score\n    gate_score: 90\n", "    gate: none\n", 1))
	b.refused(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x", Workflow: "secure"}}, fault.NotAllowed, "has not allowed it as it is")
	b.onTo(workflow.PO, workflow.AwaitingConfirmation)
	if err := os.Remove(filepath.Join(b.dir, filepath.FromSlash(file))); err != nil {
		t.Fatal(err)
	}
	b.restart()
	b.onTo("security", workflow.Generating)

	// A definition that somebody edits in the session file is not one that can be run by.
	b.replace(`"sends_back_to": "dev"`, `"sends_back_to": "moon"`)
	b.refused(request.Request{Action: workflow.ActionStatus}, fault.Storage, `no valid "workflow"`)
}

// TestGateTakenOutOfASession checks that a gate that an edit of the session file leaves out shows.
func TestGateTakenOutOfASession(t *testing.T) {
	b := newBench(t)
	b.settings("gate: strict\n")
	b.begin("bmad")
	b.replace(`"gate": "score"`, `"gate": "none"`)
	b.refused(submit(workflow.PO, "# P\nQuality Score: 10"), fault.Conflict, "")
}

func TestStartOptions(t *testing.T) {
	b := newBench(t)
	named := b.do(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "build a thing", TaskName: "The Door!"}})
	if named.TaskName != "the-door" {
		t.Errorf("task name: got %s", named.TaskName)
	}
	b.refused(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x", Workflow: "nope"}}, fault.InvalidArgument, `no workflow "nope"`)
	b.workflow = ""
	b.settings("workflow: quick\n")
	if r := b.do(start("another")); !strings.Contains(r.UserMessage, "PO ● → Dev → QA") {
		t.Errorf("configured workflow: got %s", r.UserMessage)
	}
	b.write(".claude/bmad-workflows/broken.yaml", "name: broken\n")
	b.refused(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "x", Workflow: "broken"}}, fault.InvalidArgument, "line 1: stages is missing")
	b.do(start("a broken file keeps nobody from their work"))
}
