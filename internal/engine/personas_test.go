package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// people are who acts in stages.
type people map[workflow.StageID]string

func (p people) Persona(_, stage string, _ []string) (string, error) {
	if text := p[workflow.StageID(stage)]; text != "" {
		return text, nil
	}
	return "", errors.New("nobody for " + stage)
}

// TestPersonas has the installed agents act in the stages, if the settings say so.
func TestPersonas(t *testing.T) {
	own := newBench(t)
	own.people = people{workflow.PO: "You act as Noor."}
	own.restart()
	plain, err := own.try(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "a clock"}})
	if err != nil || strings.Contains(plain.RolePrompt, "Noor") {
		t.Fatalf("without the setting: %v, %.80s", err, plain.RolePrompt)
	}

	b := newBench(t)
	b.environ = []string{"BMAD_PERSONAS=bmad"}
	b.people = people{workflow.PO: "You act as Noor." + strings.Repeat(" She listens.", 400)}
	b.restart()
	first, err := b.try(request.Request{Action: workflow.ActionStart, Start: request.Start{Objective: "a clock"}})
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(first.RolePrompt, "\n\n# You are the Product Owner\n")
	if !ok || !strings.HasPrefix(before, "You act as Noor.") || len(before) > engine.MaxPersona+200 {
		t.Errorf("the persona has %d bytes and does not stand before the briefing: %.200s", len(before), first.RolePrompt)
	}
	if _, want, _ := strings.Cut(plain.RolePrompt, "# You are the Product Owner\n"); after != want {
		t.Error("the briefing is not what it is without a persona")
	}
	if b.most > reply.Max {
		t.Errorf("the reply has %d bytes", b.most)
	}
	// A later round is short: the conversation has the persona.
	b.write("prd.md", "# PRD\nQuality Score: 50/100\n")
	round, err := b.try(request.Request{Action: workflow.ActionSubmit, Stage: "po", Submit: request.Submit{Results: []request.Result{{Engine: workflow.Claude, Path: "prd.md"}}}})
	if err != nil || strings.Contains(round.RolePrompt, "Noor") {
		t.Errorf("a later round: %v, %.80s", err, round.RolePrompt)
	}
	// A stage without an agent keeps its own role, and the person is told.
	b.people = people{}
	b.restart()
	resumed, err := b.try(request.Request{Action: workflow.ActionResume})
	if err != nil || !strings.Contains(resumed.RolePrompt, "there is none to act as (nobody for po). Tell the person") || !strings.Contains(resumed.RolePrompt, "# You are the Product Owner") {
		t.Errorf("without an agent: %v, %.300s", err, resumed.RolePrompt)
	}
}
