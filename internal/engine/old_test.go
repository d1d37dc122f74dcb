package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// install puts a stored session of an older server into the bench's project, with
// the files that it refers to.
func (b *bench) install(format, id string, files map[string]string) {
	b.t.Helper()
	name := "session-" + id + ".json"
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "sessions", format, name))
	if err != nil {
		b.t.Fatal(err)
	}
	files[".bmad-task/"+name] = string(data)
	for name, body := range files {
		b.write(name, body)
	}
	b.session = id
}

// write writes a file of the project as a person would.
func (b *bench) write(name, body string) {
	b.t.Helper()
	full := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(body), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// rest takes a session from architect/generating to the end.
func (b *bench) rest() {
	b.t.Helper()
	b.at("architect/awaiting_confirmation", submit(workflow.Architect, `{"architecture_draft":"# A","quality_score":95}`))
	b.fromArchitectGate()
}

func (b *bench) fromArchitectGate() {
	b.t.Helper()
	b.at("sm/generating", confirm(true))
	b.at("sm/awaiting_approval", submit(workflow.SM, "## Sprint 1: one"))
	b.at("dev/generating", approve(true, ""))
	b.at("review/generating", submit(workflow.Dev, "# D"))
	b.at("review/refining", submit(workflow.Review, "Status: pass")) // asked for the block once
	b.do(submit(workflow.Review, passes("")))
	b.onTo(workflow.QA, workflow.Generating)
	b.at("qa/refining", submit(workflow.QA, "# QA report\n\nStatus: Pass"))
	b.at("qa/completed", submit(workflow.QA, passes("")))
}

// TestSessionOfTheNodeServerAtItsGate has its draft only in the session file.
func TestSessionOfTheNodeServerAtItsGate(t *testing.T) {
	b := newBench(t)
	b.install("v0", "0b6f9b1e-3d55-4c0e-9a4e-5b8c8f0a7d22", map[string]string{})
	shown := b.do(request.Request{Action: workflow.ActionStatus})
	if shown.State != workflow.AwaitingConfirmation || !strings.Contains(shown.UserMessage, "Score 93 of 100; 90 needed.") ||
		!strings.Contains(shown.UserMessage, "in the session file") {
		t.Errorf("status says:\n%s", shown.UserMessage)
	}
	b.at("architect/generating", confirm(true))
	if doc := b.artifact("track-loans", "01-product-requirements.md"); doc != "# Track loans\n\nQuality Score: 93/100\n" {
		t.Errorf("saved %q", doc)
	}
	b.rest()
	checkStored(t, b)
	if s := b.stored(); s.Record(workflow.PO).Answers["q1"] != "Two librarians" {
		t.Errorf("the answers are lost: %+v", s.Record(workflow.PO))
	}
}

// TestSessionOfTheNodeServerAmongQuestions has an artifact, and a draft in the session file.
func TestSessionOfTheNodeServerAmongQuestions(t *testing.T) {
	b := newBench(t)
	const id = "6f1c2f0e-9c1b-4a55-8f43-0d2f6a3b7c11"
	b.install("v0", id, map[string]string{
		".claude/specs/build-a-recipe-box/01-product-requirements.md":             "# Recipe box\n",
		".bmad-task/temp/" + id + "/po_claude_result_2025-10-14T09-30-11-120Z.md": `{"prd_draft":"# Recipe box"}`,
	})
	r := b.at("architect/refining", request.Request{Action: workflow.ActionAnswer, Decision: request.Decision{Answers: map[string]string{"q1": "Postgres"}}})
	if r.Draft == nil || len(r.Context.Documents) != 1 || r.Context.Documents[0].Path != ".claude/specs/build-a-recipe-box/01-product-requirements.md" {
		t.Fatalf("draft %+v, documents %+v", r.Draft, r.Context.Documents)
	}
	if draft, err := os.ReadFile(filepath.Join(b.dir, r.Draft.Path)); err != nil || string(draft) != "# Architecture, kept inline\n" {
		t.Errorf("%q, %v", draft, err)
	}
	b.at("architect/awaiting_confirmation", submit(workflow.Architect, `{"architecture_updated":"# A2","quality_score":95}`))
	b.fromArchitectGate()
	checkStored(t, b)
}

// TestSessionOfTheFirstNodeServer: before 0.1.0 the Node server asked twice, first to save a document and then to go on.
func TestSessionOfTheFirstNodeServer(t *testing.T) {
	b := newBench(t)
	b.install("v0", "3e8a5d74-1f0b-4c8e-8a61-9d2c7b5e4f10", map[string]string{
		".claude/specs/lend-tools/01-product-requirements.md": "# Lend tools\n",
	})
	r := b.do(request.Request{Action: workflow.ActionStatus})
	if r.State != workflow.AwaitingConfirmation || r.CurrentState != r.State || !strings.Contains(r.UserMessage, "Score 91 of 100; 90 needed.") {
		t.Errorf("status says %s:\n%s", r.State, r.UserMessage)
	}
	b.at("sm/generating", confirm(true))
	if doc := b.artifact("lend-tools", "02-system-architecture.md"); doc != "# Shelves and cards\n" {
		t.Errorf("saved %q", doc)
	}
	b.at("sm/awaiting_approval", submit(workflow.SM, "## Sprint 1: one"))
	checkStored(t, b)

	for name, c := range map[string]struct {
		stage, state, record string
		decision             request.Request
		after                string
	}{
		"the requirements": {"po", "awaiting_save_confirmation", `{"status":"in_progress","draft":"# P","score":92,"iteration":1}`, confirm(true), "architect/generating"},
		"sent back":        {"po", "awaiting_save_confirmation", `{"status":"in_progress","draft":"# P","score":92,"iteration":1}`, confirm(false), "po/refining"},
		"saved":            {"po", "awaiting_approval", `{"status":"in_progress","draft":"# P","score":92,"iteration":1}`, confirm(true), "architect/generating"},
		"a plan":           {"sm", "awaiting_save_confirmation", `{"status":"in_progress","draft":"# S\n## Sprint 1: Base","iteration":1}`, approve(true, ""), "dev/generating"},
		"a plan as later":  {"sm", "awaiting_approval", `{"status":"in_progress","draft":"# S\n## Sprint 1: Base","iteration":1}`, approve(true, ""), "dev/generating"},
		"a review":         {"review", "awaiting_save_confirmation", `{"status":"in_progress","draft":"# R","iteration":1}`, approve(true, "looked at"), "qa/generating"},
		"the last":         {"qa", "awaiting_save_confirmation", `{"status":"in_progress","draft":"# Q","iteration":1}`, approve(true, "looked at"), "qa/completed"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.session = nodeID
			b.write(".bmad-task/session-"+nodeID+".json", nodeSession(c.stage, c.state, c.record))
			b.at(c.after, c.decision)
			checkStored(t, b)
		})
	}
}

// nodeSession returns a session as the Node server stored it, at a stage and state.
func nodeSession(stage, state, record string) string {
	return `{"session_id":"` + nodeID + `","task_name":"old-one","cwd":"/home/ada/old","objective":"Build the old one",
"current_stage":"` + stage + `","current_state":"` + state + `",
"stages":{"po":{"status":"pending"},"architect":{"status":"pending"},"dev":{"status":"pending"},"review":{"status":"pending"},"qa":{"status":"pending"},
"` + stage + `":` + record + `},
"artifacts":[],"created_at":"2025-10-20T08:00:00.000Z","updated_at":"2025-10-20T08:21:40.512Z"}`
}

const nodeID = "0c0c0c0c-3d55-4c0e-9a4e-5b8c8f0a7d22"

func TestPlanOfTheNodeServerHasItsSprints(t *testing.T) {
	b := newBench(t)
	b.session = nodeID
	b.write(".bmad-task/session-"+nodeID+".json", nodeSession("sm", "awaiting_approval", `{"status":"in_progress","draft":"# Plan\n## Sprint 1: Base\n## Sprint 2: More","iteration":1}`))
	if r := b.do(request.Request{Action: workflow.ActionStatus}); len(r.Sprints) != 2 || !strings.Contains(r.UserMessage, "Sprint 2: “More”") {
		t.Errorf("status: %+v\n%s", r.Sprints, r.UserMessage)
	}
	b.at("dev/generating", approve(true, ""))
	one := submit(workflow.Dev, "# D")
	one.Sprints = []int{1}
	b.at("review/generating", one)
	if s := b.stored(); len(s.Sprints) != 2 || s.Sprints[0].Status != workflow.SprintImplemented {
		t.Errorf("%+v", s.Sprints)
	}
}

// TestDevOfTheNodeServerHasItsSprints begins where the plan was approved before, with the
// paths of a server on Windows.
func TestDevOfTheNodeServerHasItsSprints(t *testing.T) {
	b := newBench(t)
	b.session = nodeID
	plan := ".bmad-task/temp/" + nodeID + "/sm_claude_result_x.md"
	b.write(plan, "# Plan\n## Sprint 1: Base\n## Sprint 2: More")
	b.write(".bmad-task/session-"+nodeID+".json", strings.Replace(nodeSession("dev", "generating", `{"status":"in_progress"}`), `"stages":{`,
		`"stages":{"sm":{"status":"completed","claude_result_ref":{"file_path":"`+strings.ReplaceAll(plan, "/", `\\`)+`","summary":"","size":1}},`, 1))
	resumed := b.do(request.Request{Action: workflow.ActionResume})
	one := submit(workflow.Dev, "# D")
	one.Sprints = []int{1}
	if len(resumed.Sprints) != 2 {
		t.Fatalf("sprints %+v", resumed.Sprints)
	}
	b.at("review/generating", one)
	if s := b.stored(); len(s.Sprints) != 2 || s.Sprints[0].Status != workflow.SprintImplemented || s.Sprints[1].Status != workflow.SprintPending {
		t.Errorf("%+v", s.Sprints)
	}
}

func TestRoundOfTheNodeServerGoesOn(t *testing.T) {
	b := newBench(t)
	b.session = nodeID
	b.write(".bmad-task/session-"+nodeID+".json", nodeSession("po", "refining",
		`{"status":"in_progress","draft":"# P one","score":70,"iteration":1,"questions":[{"id":"q1","question":"Who?"}],"answers":{"q1":"us"}}`))
	r := b.do(request.Request{Action: workflow.ActionResume})
	if r.Draft == nil || !strings.Contains(r.Draft.Summary, "stages.po.draft") || len(r.Context.Answers) != 1 || r.Context.Answers[0].Answer != "us" {
		t.Errorf("resume: draft %+v, context %+v", r.Draft, r.Context)
	}
	b.at("po/awaiting_confirmation", submit(workflow.PO, `{"prd_updated":"# P two","quality_score":95}`))
	checkStored(t, b)
	if files, _ := filepath.Glob(filepath.Join(b.dir, ".bmad-task", "temp", nodeID, "*final_result*")); len(files) != 1 {
		t.Errorf("texts %v", files)
	}
}
