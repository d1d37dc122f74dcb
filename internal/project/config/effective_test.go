package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// TestEffective: each setting is shown as it holds, with the one who set that value; a setting of
// the project that does not count is not shown as its.
func TestEffective(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(home, config.UserFile):       "gate: strict\nmax_rounds: 2\nlanguage: zh\nstages: {po: {gate_score: 92}}\n",
		filepath.Join(project, config.ProjectFile): "gate: relay\nmax_rounds: 9\nlanguage: en\nmodel: cheap\nverify: make test\nstages: {po: {gate_score: 50}, architect: {gate_score: 97}}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := durable.OpenDir(project)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	c, err := config.Source{UserFolder: home, Environ: []string{"BMAD_VERIFY_TIMEOUT=90s"}}.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range c.Effective() {
		got[s.Key] = fmt.Sprintf("%s|%s|%s", s.Value, s.By, s.Guard)
	}
	for key, want := range map[string]string{
		"max_rounds": "2|person|tighten", "language": "zh|person|first", "verify_timeout": "1m30s|environment|", "personas": "own||",
		"stages.po.gate": "strict|person|tighten", "stages.po.gate_score": "92|person|tighten", "stages.architect.gate_score": "97|project|tighten", "stages.qa.ran": "none||tighten",
		"stages.dev.verify": "make test|project|first", "stages.sm.audit_floor": "60||tighten", "model": "",
	} {
		if got[key] != want {
			t.Errorf("%s: got %q, want %q", key, got[key], want)
		}
	}
}
