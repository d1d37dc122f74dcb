package method_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

const agentFile = "# %s\n\n```yaml\nactivation-instructions:\n  - Greet\nagent:\n  name: Nadia\n  id: %s\n  title: Tester of %s\npersona:\n  role: Tester\ncommands:\n  - help: Show this\n```\n"

func write(t *testing.T, text string, names ...string) {
	t.Helper()
	name := filepath.Join(names...)
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPackages: agents of npm packages and of folders that a caller names are found, whatever the
// form of the folder.
func TestPackages(t *testing.T) {
	project, bare, pack, whole := folder(t, "shop"), folder(t, "mine"), folder(t, "pack"), folder(t, "whole")
	for name, at := range map[string][]string{
		"scoped":   {project, "node_modules", "@bmad-acme", "agents", "scoped.md"},
		"packed":   {project, "node_modules", "@bmad-acme", "kit", "agents", "packed.md"},
		"foreign":  {project, "node_modules", "@other", "kit", "agents", "foreign.md"},
		"unscoped": {project, "node_modules", "bmad-kit", "agents", "unscoped.md"},
		"bare":     {bare, "bare.md"},
		"pack":     {pack, "agents", "pack.md"},
	} {
		write(t, strings.ReplaceAll(agentFile, "%s", name), at...)
	}
	write(t, "# Task\n\nDo it.\n", pack, "tasks", "do-it.md")
	install(t, "v4", whole)
	l := method.New(method.Options{Folders: []string{bare, pack, whole, filepath.Join(whole, "absent")}, Now: newClock().time})
	s := l.At(project)
	got := agents(s)
	for _, want := range []string{"bmad-acme:bmad-core/scoped", "bmad-acme-kit:bmad-core/packed", "mine:bmad-core/bare", "pack:bmad-core/pack", "whole:bmad-core/pm"} {
		if !strings.Contains(" "+got+" ", " "+want) {
			t.Errorf("agents %s: no %s", got, want)
		}
	}
	for _, never := range []string{"foreign", "unscoped"} {
		if strings.Contains(got, never) {
			t.Errorf("agents %s: %s is of a package that is not the method's", got, never)
		}
	}
	if d, err := s.Details(catalog.Agent, "bare"); err != nil || d.Persona.Name != "Nadia" || len(d.Persona.Activation) != 1 || d.Persona.Activation[0] != "Greet" {
		t.Errorf("bare: %+v, %v", d, err)
	}
	if text, err := s.Task("do-it", "", method.ToolNames{Read: "read", Workflow: "run", Agent: "act"}); err != nil || !strings.Contains(text, "Do it.") {
		t.Errorf("the task of a package: %q, %v", text, err)
	}
	if last := s.Sources[4]; last.State != "failed" || last.Problem == "" {
		t.Errorf("the folder that does not exist: %+v", last)
	}
	write(t, strings.ReplaceAll(agentFile, "%s", "later"), project, "node_modules", "@bmad-acme", "agents", "later.md")
	l.Recheck()
	if got := agents(l.At(project)); !strings.Contains(got, "later") {
		t.Errorf("after a change: %s", got)
	}
}
