package project_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

func openProject(t *testing.T, folder string) *project.Project {
	t.Helper()
	f := project.New(project.Options{Backend: storetest.At})
	p, err := f.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func ensure(t *testing.T, p *project.Project, known string) string {
	t.Helper()
	id, err := p.EnsureID(t.Context(), known)
	if err != nil || id == "" || p.ID() != id {
		t.Fatalf("%q, %v; read %q", id, err, p.ID())
	}
	return id
}

func TestIdentity(t *testing.T) {
	here := t.TempDir()
	p := openProject(t, here)
	if p.ID() != "" {
		t.Error("there is an id before anybody needs one")
	}
	if entries, err := os.ReadDir(here); len(entries) != 0 || err != nil {
		t.Error("reading wrote something", entries, err)
	}
	id := ensure(t, p, "")
	if !strings.HasPrefix(id, "local:") || ensure(t, p, "") != id || ensure(t, p, "local:known") != id {
		t.Errorf("%q is not kept", id)
	}
	if data, err := os.ReadFile(filepath.Join(here, ".bmad-task", ".gitignore")); err != nil || string(data) != "*\n" {
		t.Errorf("%q, %v", data, err)
	}
	if ensure(t, openProject(t, t.TempDir()), "") == id {
		t.Error("two projects have one id")
	}
	name := filepath.Join(here, ".bmad-task", "project")
	for what, text := range map[string]string{"empty": "", "cut": id, "two lines": id + "\n\n", "blank": "a b\n", "large": strings.Repeat("x", 1000) + "\n", "binary": "\x00\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p := openProject(t, here); p.ID() != "" || ensure(t, p, "local:known") != "local:known" {
			t.Errorf("%s: %q", what, p.ID())
		}
	}
}

// TestIdentityAtOnce: of many processes that use a project for the first time, all know one id.
func TestIdentityAtOnce(t *testing.T) {
	here := t.TempDir()
	ids := make([]string, 16)
	var wg sync.WaitGroup
	for i := range ids {
		p := openProject(t, here)
		wg.Go(func() { ids[i], _ = p.EnsureID(context.Background(), "") })
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatal(ids)
		}
	}
}
