package trust_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

func urls(t *testing.T, f trust.UserState) string {
	t.Helper()
	list, err := f.Sources()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range list {
		out = append(out, s.URL)
	}
	return strings.Join(out, " ")
}

// same tells addresses of one repository: those with the same end.
func same(url string) func(string) bool {
	return func(other string) bool {
		return url[strings.LastIndexByte(url, '/')+1:] == other[strings.LastIndexByte(other, '/')+1:]
	}
}

func TestSources(t *testing.T) {
	f := trust.UserState(filepath.Join(t.TempDir(), "state"))
	if got := urls(t, f); got != "" {
		t.Errorf("before: %q", got)
	}
	if n, err := f.RemoveSource(t.Context(), func(string) bool { return true }); n != 0 || err != nil {
		t.Errorf("removing from nothing: %d, %v", n, err)
	}
	for _, c := range []struct {
		url   string
		added bool
	}{{"git+https://a/b.git", true}, {"git+https://user:old@a/c.git#v1&x", true}, {"git+https://a/b.git", false}, {"git+https://user:word@a/c.git#v1&x", false}} {
		if added, err := f.AddSource(t.Context(), trust.Source{URL: c.url, AddedAt: at}, same(c.url)); added != c.added || err != nil {
			t.Errorf("%s: %v, %v", c.url, added, err)
		}
	}
	if got := urls(t, f); got != "git+https://a/b.git git+https://user:word@a/c.git#v1&x" {
		t.Errorf("added: %q", got)
	}
	// It may have credentials: nobody else reads it.
	if info, err := os.Stat(filepath.Join(string(f), "sources.json")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if n, err := f.RemoveSource(t.Context(), func(url string) bool { return strings.HasSuffix(url, "b.git") }); n != 1 || err != nil {
		t.Errorf("removed: %d, %v", n, err)
	}
	if got := urls(t, f); got != "git+https://user:word@a/c.git#v1&x" {
		t.Errorf("after: %q", got)
	}
}

func TestSourcesOfManyProcessesAreKept(t *testing.T) {
	f := trust.UserState(t.TempDir())
	var wait sync.WaitGroup
	for n := range 20 {
		wait.Go(func() {
			if _, err := f.AddSource(t.Context(), trust.Source{URL: "git+https://a/" + string(rune('a'+n)), AddedAt: at}, same("git+https://a/"+string(rune('a'+n)))); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := strings.Fields(urls(t, f)); len(got) != 20 {
		t.Errorf("%d of 20 are kept", len(got))
	}
}

func TestBrokenSourcesAreLeft(t *testing.T) {
	f := trust.UserState(t.TempDir())
	name := filepath.Join(string(f), "sources.json")
	if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Sources(); !fault.Is(err, fault.Storage) || !strings.Contains(fault.From(err).Hint, "move it away") {
		t.Errorf("reading: %v", err)
	}
	if _, err := f.AddSource(t.Context(), trust.Source{URL: "x", AddedAt: at}, same("x")); !fault.Is(err, fault.Storage) {
		t.Errorf("adding: %v", err)
	}
	if data, err := os.ReadFile(name); string(data) != "{" || err != nil {
		t.Errorf("it is %q now, %v", data, err)
	}
}

func TestAllowedSource(t *testing.T) {
	f := trust.UserState(t.TempDir())
	a := trust.Allowance{Project: t.TempDir(), Kind: trust.KindSource, Text: "git+https://a/b.git"}
	if f.Allowed(a) {
		t.Error("allowed before")
	}
	allow(t, f, a)
	if !f.Allowed(a) {
		t.Error("not allowed after")
	}
	a.Text += "#other"
	if f.Allowed(a) {
		t.Error("another address is allowed along with it")
	}
}
