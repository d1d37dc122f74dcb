package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang/langtest"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// notices returns those for some files, by their paths below a home folder with a project in it.
func notices(t *testing.T, files map[string]string, environ ...string) (config.Config, []string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	files["p/.claude/any"] = ""
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := durable.OpenDir(filepath.Join(home, "p"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	s := config.Source{UserFolder: filepath.Join(home, ".config"), Environ: environ}
	c, err := s.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, n := range s.Notices(dir, &c) {
		out = append(out, n.Text().String())
		if found := langtest.English(n.Text().In("zh")); len(found) > 0 {
			t.Errorf("English in Chinese: %q", found)
		}
	}
	return c, out
}

// TestGoneSettings: a setting of an older version stops nothing, whatever its value, and a notice names its place and what
// replaces it.
func TestGoneSettings(t *testing.T) {
	c, got := notices(t, map[string]string{
		".config/bmad-mcp/config.yaml": "quorum: 2\n\nscoring: audited\nprompts: {a: [1]}\nlock_timeout: [[1]]\n",
		"p/.claude/bmad-task.yaml":     "stages:\n  po: {audit_floor: 80, gate: strict}\n  qa: {proved: all}\n",
	}, "BMAD_LOG_LEVEL=debug", "BMAD_PO_SCORING=audited")
	want := []string{
		"~/.config/bmad-mcp/config.yaml, line 3: scoring is gone: use audit_floor",
		"~/.config/bmad-mcp/config.yaml, line 4: prompts is gone: prompts are in .claude/bmad-prompts",
		"~/.config/bmad-mcp/config.yaml, line 5: lock_timeout is gone: a call waits ten seconds for another",
		".claude/bmad-task.yaml, line 2: stages.po.audit_floor is gone: use audit_floor for all stages",
		".claude/bmad-task.yaml, line 3: stages.qa.proved is gone: use ran for all stages",
		"BMAD_LOG_LEVEL: log_level is gone: start the server with --log-level",
		"BMAD_PO_SCORING: stages.po.scoring is gone: use audit_floor for all stages",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	settings := map[string]string{}
	for _, s := range c.Effective() {
		settings[s.Key] = s.Value
	}
	if settings["stages.po.gate"] != "strict" || settings["quorum"] != "2" {
		t.Errorf("the others do not count: %v", settings)
	}
}

// TestMisspeltNames: files and variables that nearly have the name of one that is read are named.
func TestMisspeltNames(t *testing.T) {
	_, got := notices(t, map[string]string{
		".config/bmad-mcp/config.yml": "gate: strict\n", ".config/bmad-mcp/prices.json": "{}",
		"p/.claude/bmad-task.yml": "gate: strict\n", "p/.claude/BMAD-Task.yaml": "gate: strict\n", "p/.claude/settings.json": "{}",
		"p/.claude/bmad-prompts/PO.md": "x", "p/.claude/bmad-prompts/qa.md": "---\nstage: qa\ntitle: QA\n---\nx\n", "p/.claude/bmad-prompts/notes.md": "x",
		"p/.claude/bmad-rubrics/PO.yaml": "x", "p/.claude/bmad-rubrics/sm.yml": "x",
		"p/.claude/bmad-rubrics/qa.yaml": "x", "p/.claude/bmad-prompts/README.md": "x", "p/.claude/bmad-prompts/product-owner.md": "x",
		"p/.claude/bmad-workflows/own.yml": "x", "p/.claude/bmad-workflows/team/x.yaml": "x", ".config/bmad-mcp/workflows/mine.yml": "x",
		"p/.claude/bmad_task.json": "x", "p/.claude/bmad-taks.yaml": "x", "p/.claude/bmad-prompt/po.md": "x", "p/.claude/skills/x": "x", "p/.claude/bmad-task-notes.md": "x",
		"p/bmad-task.yaml": "x", "p/.bmad-workflows/own.yml": "x", "p/.bmad-task/bmad-task.yaml": "x", "p/bmad-core/x": "x",
		".claude/bmad-task.yaml": "x", ".bmad-mcp/config.yaml": "x",
	}, "BMAD_LANGUAG=zh", "BMAD_HOME=/x", "bmad_gate=strict", "BMAD_GATES=strict", "BMAD_MCP_GATE=strict", "BMAD_STAGES_PO_GATE=strict", "BMAD_PROJEKT_DIR=/x",
		"BMAD_PROJECT_DIR=src/clock", "CLAUDE_PROJECT_DIR=/nowhere", "BMAD_PROJECT_ROOT=${workspaceFolder}", "XDG_CONFIG_HOME=config", "XDG_STATE_HOME=/new", "BMAD_EMPTY=", "BMAD_GATE=strict", "BMAD_PAGER=less", "BMAD_PO_GATE=auto", "OTHER=1")
	want := []string{
		"~/.config/bmad-mcp/config.yml: it is not read; did you mean config.yaml?",
		"~/.config/bmad-mcp/workflows/mine.yml: it is not read; did you mean mine.yaml?",
		"~/.bmad-mcp/config.yaml: it is not read; did you mean ~/.config/bmad-mcp/config.yaml?",
		"~/.claude/bmad-task.yaml: it is not read; did you mean ~/.config/bmad-mcp/config.yaml?",
		".claude/BMAD-Task.yaml: it is not read; did you mean bmad-task.yaml?",
		".claude/bmad-prompt: it is not read; did you mean bmad-prompts?",
		".claude/bmad-taks.yaml: it is not read; did you mean bmad-task.yaml?",
		".claude/bmad-task.yml: it is not read; did you mean bmad-task.yaml?",
		".claude/bmad_task.json: it is not read; did you mean bmad-task.yaml?",
		".claude/bmad-prompts/PO.md: it is not read; did you mean po.md?",
		".claude/bmad-prompts/notes.md: it is not read",
		".claude/bmad-prompts/product-owner.md: it is not read",
		".claude/bmad-rubrics/PO.yaml: it is not read; did you mean po.yaml?",
		".claude/bmad-rubrics/qa.yaml: it is not read",
		".claude/bmad-rubrics/sm.yml: it is not read; did you mean sm.yaml?",
		".claude/bmad-workflows/own.yml: it is not read; did you mean own.yaml?",
		".claude/bmad-workflows/team: it is not read",
		"bmad-task.yaml: it is not read; did you mean .claude/bmad-task.yaml?",
		".bmad-task/bmad-task.yaml: it is not read; did you mean .claude/bmad-task.yaml?",
		".bmad-workflows: it is not read; did you mean .claude/bmad-workflows?",
		"BMAD_GATES: it is not read; did you mean BMAD_GATE?",
		"BMAD_HOME: it is not read",
		"BMAD_LANGUAG: it is not read; did you mean BMAD_LANGUAGE, BMAD_DOCUMENT_LANGUAGE?",
		"BMAD_MCP_GATE: it is not read; did you mean BMAD_GATE?",
		`BMAD_PROJECT_DIR: it does not count: "src/clock" is not the absolute path of a folder`,
		"BMAD_PROJEKT_DIR: it is not read; did you mean BMAD_PROJECT_DIR?",
		"BMAD_STAGES_PO_GATE: it is not read; did you mean BMAD_PO_GATE?",
		`CLAUDE_PROJECT_DIR: it does not count: "/nowhere" is not the absolute path of a folder`,
		`XDG_CONFIG_HOME: it does not count: "config" is not the absolute path of a folder`,
		"bmad_gate: it is not read; did you mean BMAD_GATE?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if _, got := notices(t, map[string]string{"p/.claude/bmad-task.yaml": "gate: strict\n", "p/.claude/bmad-prompts/po.md": "x"}); got != nil {
		t.Errorf("without a mistake: %q", got)
	}
}

var variable = regexp.MustCompile(`\bBMAD_[A-Z_]*[A-Z]\b`)

// TestVariablesAreKnown: no variable that the program reads anywhere is called unread.
func TestVariablesAreKnown(t *testing.T) {
	var names []string
	for _, root := range []string{"../../../internal", "../../../cmd", "../../../sdk", "../../../prompts", "../../../packaging"} {
		err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
			forTests := d.Name() == "testkit" || strings.HasSuffix(strings.TrimSuffix(d.Name(), ".go"), "test")
			switch {
			case err != nil:
				return err
			case forTests && d.IsDir():
				return filepath.SkipDir
			case forTests || filepath.Ext(name) != ".go" && d.Name() != ".mcp.json":
				return nil
			}
			text, err := os.ReadFile(name)
			names = append(names, variable.FindAllString(string(text), -1)...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		c := config.Default()
		for _, n := range (config.Source{Environ: []string{name + "=/"}}).Notices(nil, &c) {
			if n.Place.String() == name {
				t.Errorf("%s: %s", name, n.What)
			}
		}
	}
	if len(names) < 10 {
		t.Errorf("found only %q", names)
	}
}
