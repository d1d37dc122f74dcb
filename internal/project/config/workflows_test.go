package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	ownWorkflow = "name: %s\nstages:\n  - {id: po, kind: document, gate: none}\n  - {id: check, kind: verdict, sends_back_to: po, verify: true}\n"
	noWorkflow  = "name: %s\nstages: []\n"
)

// loadWith loads the settings of a project with files of its own and of the person's, by paths.
func loadWith(t *testing.T, files map[string]string, environ ...string) (config.Config, error) {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, "%s", strings.TrimSuffix(filepath.Base(path), ".yaml"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	project := filepath.Join(top, "project")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := durable.OpenDir(project)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return config.Source{UserFolder: filepath.Join(top, "user"), Environ: environ}.Load(dir)
}

func TestOwnWorkflows(t *testing.T) {
	const mine, theirs = "user/bmad-mcp/workflows/", "project/.claude/bmad-workflows/"
	c, err := loadWith(t, map[string]string{
		mine + "mine.yaml": ownWorkflow, mine + "both.yaml": ownWorkflow, mine + "broken.yaml": noWorkflow, mine + "bmad.yaml": ownWorkflow, mine + "notes.md": "x",
		theirs + "theirs.yaml": ownWorkflow, theirs + "both.yaml": ownWorkflow, theirs + "large.yaml": "# " + strings.Repeat("x", workflow.MaxDefinition),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(c.WorkflowNames(), " "), "bmad quick plan fix both broken mine large theirs"; got != want {
		t.Errorf("names: got %s, want %s", got, want)
	}
	for name, want := range map[string]workflow.Setter{"bmad": "", "mine": workflow.SetByPerson, "both": workflow.SetByPerson, "theirs": workflow.SetByProject} {
		if w, err := c.Find(name); err != nil || w.By != want {
			t.Errorf("%s: got %q and %v, want %q", name, w.By, err, want)
		}
	}
	for name, want := range map[string]string{"broken": "line 2: stages", "large": "more than", "none": `no workflow "none"`} {
		if _, err := c.Find(name); !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), want) || fault.From(err).Hint == "" {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if got := lang.Join(c.Ignored, "\n").String(); !strings.Contains(got, "bmad.yaml does not count: a built-in workflow") || !strings.Contains(got, ".claude/bmad-workflows/both.yaml does not count: one of your own") {
		t.Errorf("ignored: got %s", got)
	}
}

// TestSettingsOfOwnStages: the settings reach the stages of every workflow, and no further.
func TestSettingsOfOwnStages(t *testing.T) {
	own := map[string]string{"project/.claude/bmad-workflows/own.yaml": ownWorkflow}
	with := func(settings string) map[string]string {
		return map[string]string{"project/.claude/bmad-workflows/own.yaml": ownWorkflow, "project/.claude/bmad-task.yaml": settings}
	}
	c, err := loadWith(t, with("verify: make test\nstages: {check: {gate: strict, engines: [codex]}}\n"), "BMAD_CHECK_ENGINES=claude", "BMAD_WORKFLOW=own")
	if err != nil {
		t.Fatal(err)
	}
	w, err := c.Find(c.Workflow)
	if err != nil {
		t.Fatal(err)
	}
	st, _ := c.Under(w.Definition).Stage("check")
	if c.Workflow != "own" || st.Rules.Gate != workflow.GateStrict || st.Engines[0] != workflow.Claude || c.Verify["check"] != "make test" {
		t.Errorf("got %s, %+v, verify %v", c.Workflow, st, c.Verify)
	}
	if plain, _ := w.Definition.Stage("check"); plain.Engines[0] != workflow.Claude || len(plain.Engines) != 1 {
		t.Errorf("the definition itself: got %+v", plain)
	}
	for settings, want := range map[string]string{
		"stages: {chek: {gate: strict}}":     `unknown stage "chek", did you mean check? valid stages: ` + strings.Join(append(workflow.Default().IDs(), "check"), ", "),
		"stages: {check: {gate_score: 80}}":  `stage "check" has no score gate; gate_score is for po and architect`,
		"stages: {review: {verify: make}}":   `stage "review" is not verified; verify is for dev, qa and check`,
		"workflow: owm":                      `workflow "owm" is not one of bmad, quick, plan, fix, own`,
		"stages: {check: {engines: [none]}}": `"none" is not one of claude, codex`,
	} {
		if _, err := loadWith(t, with(settings)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", settings, err, want)
		}
	}
	// A workflow that cannot be used takes nothing else away.
	own["project/.claude/bmad-workflows/bad.yaml"] = noWorkflow
	if c, err = loadWith(t, own); err != nil || len(c.StageIDs()) != len(workflow.Default().Stages)+1 {
		t.Errorf("got %v, %v", c.StageIDs(), err)
	}
}

// TestThePersonsWorkflowHolds: a project does not take their choice away.
func TestThePersonsWorkflowHolds(t *testing.T) {
	c, err := loadWith(t, map[string]string{"user/bmad-mcp/config.yaml": "workflow: bmad\n", "project/.claude/bmad-task.yaml": "workflow: quick\n"})
	if err != nil || c.Workflow != "bmad" || len(c.Ignored) != 1 {
		t.Errorf("got %s, %q, %v", c.Workflow, c.Ignored, err)
	}
	if c, err = loadWith(t, map[string]string{"project/.claude/bmad-task.yaml": "workflow: quick\n"}); err != nil || c.Workflow != "quick" {
		t.Errorf("got %s, %v", c.Workflow, err)
	}
}
