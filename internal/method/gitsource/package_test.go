package gitsource_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/method/methodtest"
)

// newKit returns a registry with one package, and a cache that asks it.
func newKit(t *testing.T) (*methodtest.Registry, *gitsource.Cache, *clock) {
	t.Helper()
	r := methodtest.NewRegistry(t)
	r.Publish("@scope/kit", "1.0.0", kit(t, "first"))
	c, at := newCache(t)
	c.Registry, c.Git = r.URL, "no-such-program"
	return r, c, at
}

func kit(t *testing.T, text string) []byte {
	t.Helper()
	return methodtest.Pack(t, map[string]string{"README.md": text, "src/agents/po.md": "po", "package.json": `{"scripts": {"install": "exit 1"}}`})
}

// TestTagMoves follows a tag, and serves the last copy while the registry is away.
func TestTagMoves(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"npm:@scope/kit", "npm:@scope/kit@latest"} {
		r, c, at := newKit(t)
		s := parseSpec(t, address)
		first, changed := update(t, c, s)
		if !changed || !strings.HasPrefix(first.Commit, "1.0.0-") || gitsource.ShortCommit(first.Commit) != "1.0.0" || files(t, first.Dir)["README.md"] != "first" {
			t.Errorf("%s: %+v", address, first)
		}
		if again, changed := update(t, c, s); changed || again.Commit != first.Commit {
			t.Errorf("%s, unchanged: %+v, %t", address, again, changed)
		}
		r.Publish("@scope/kit", "1.1.0", kit(t, "second"))
		at.move(gitsource.RefreshAfter)
		c.Refresh(s, nil)
		c.Wait()
		second := have(t, c, s)
		if !strings.HasPrefix(second.Commit, "1.1.0-") || files(t, second.Dir)["README.md"] != "second" || files(t, first.Dir)["README.md"] != "first" {
			t.Errorf("%s, moved: %+v", address, second)
		}
		r.Close()
		at.move(gitsource.RefreshAfter)
		got, _, err := c.Update(t.Context(), s)
		if !fault.Is(err, fault.NotFound) || !strings.Contains(fault.From(err).Hint, "its copy of commit 1.1.0 is used") || got.Commit != second.Commit || got.Problem == "" {
			t.Errorf("%s, away: %+v, %v (%s)", address, got, err, fault.From(err).Hint)
		}
		if c.Due(s) {
			t.Errorf("%s is asked again at once", address)
		}
	}
}

// TestExactVersion asks nobody for a copy that is there, and repairs a damaged one.
func TestExactVersion(t *testing.T) {
	t.Parallel()
	r, c, at := newKit(t)
	s := parseSpec(t, "npm:@scope/kit@1.0.0")
	first, _ := update(t, c, s)
	if asked := r.Asked(); !slices.Equal(asked, []string{"/@scope%2fkit", "/@scope/kit/-/kit-1.0.0.tgz"}) {
		t.Errorf("asked for %q", asked)
	}
	at.move(gitsource.RefreshAfter)
	if again, changed := update(t, c, s); changed || again.Commit != first.Commit || len(r.Asked()) > 0 || !again.CheckedAt.After(first.CheckedAt) {
		t.Errorf("%+v, %t", again, changed)
	}
	if err := os.Remove(filepath.Join(first.Dir, "README.md")); err != nil {
		t.Fatal(err)
	}
	if again, _ := update(t, c, s); files(t, again.Dir)["README.md"] != "first" || again.Commit != first.Commit {
		t.Errorf("repaired: %+v", again)
	}
	r.Publish("@scope/kit", "1.0.0", kit(t, "other"))
	if err := os.Remove(filepath.Join(first.Dir, "README.md")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Update(t.Context(), s); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "another hash of version 1.0.0") {
		t.Errorf("replaced in the registry: %v", err)
	}
	inside := parseSpec(t, "npm:@scope/kit@1.0.0#:/src")
	if got := have(t, c, inside); !strings.HasSuffix(filepath.ToSlash(got.Dir), "/src") {
		t.Errorf("a folder of it: %+v", got)
	}
	if _, err := c.Copy(parseSpec(t, "npm:@scope/kit@1.0.0#:/none")); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "has no folder none at commit 1.0.0") {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := c.Remove(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Copy(s); !fault.Is(err, fault.NotFound) {
		t.Errorf("removed: %v", err)
	}
}

// TestNothingHalf: a package that is refused leaves the last good copy, and nothing else.
func TestNothingHalf(t *testing.T) {
	t.Parallel()
	r, c, _ := newKit(t)
	s := parseSpec(t, "npm:@scope/kit")
	good, _ := update(t, c, s)
	for name, publish := range map[string]func(){
		"a wrong hash": func() {
			r.PublishDist("@scope/kit", "2.0.0", kit(t, "bad"), map[string]any{"integrity": methodtest.Integrity(nil)})
		},
		"half an archive": func() { r.Publish("@scope/kit", "2.0.0", kit(t, "bad")[:100]) },
		"two files of one name": func() {
			r.Publish("@scope/kit", "2.0.0", methodtest.Pack(t, map[string]string{"a": "a", "A": "a"}))
		},
		"the same version anew": func() { r.Publish("@scope/kit", "1.0.0", kit(t, "bad")) },
	} {
		publish()
		got, changed, err := c.Update(t.Context(), s)
		if !fault.Is(err, fault.NotFound) || changed || got.Commit != good.Commit || files(t, got.Dir)["README.md"] != "first" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if names := inPlace(t, c, s); !slices.Equal(names, []string{good.Commit, "source.json"}) {
			t.Errorf("%s left %q", name, names)
		}
	}
}

// TestRegistryHangs has registries that do not come to an end in time.
func TestRegistryHangs(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"it hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"it dribbles": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		},
	} {
		server := httptest.NewServer(answer)
		c, _ := newCache(t)
		c.Registry, c.Timeout = server.URL, 100*time.Millisecond
		s := parseSpec(t, "npm:kit@1.0.0")
		_, _, err := c.Update(t.Context(), s)
		if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "did not answer in time") || len(inPlace(t, c, s)) != 1 {
			t.Errorf("%s: %v, %q", name, err, inPlace(t, c, s))
		}
		server.Close()
	}
}

// TestPackageKilled kills the process that fetches, before the archive is there and after a half of it.
func TestPackageKilled(t *testing.T) {
	t.Parallel()
	for _, sent := range []int{0, 100} {
		r, c, at := newKit(t)
		s := parseSpec(t, "npm:@scope/kit@1.0.0")
		reached := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			if !strings.HasSuffix(request.URL.Path, ".tgz") {
				answer := httptest.NewRecorder()
				r.ServeHTTP(answer, request)
				_, _ = fmt.Fprint(w, strings.ReplaceAll(answer.Body.String(), r.URL, "http://"+request.Host))
				return
			}
			_, _ = w.Write(kit(t, "first")[:sent])
			w.(http.Flusher).Flush()
			close(reached)
			<-request.Context().Done()
		}))
		other := process(t, job{Folder: c.Folder, Address: s.String()})
		other.Env = append(other.Env, "npm_config_registry="+server.URL)
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		<-reached
		if err := other.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = other.Wait() // it was killed
		server.Close()
		if _, err := c.Copy(s); !fault.Is(err, fault.NotFound) {
			t.Errorf("after the kill: %v", err)
		}
		at.move(gitsource.RetryAfter)
		if got, changed := update(t, c, s); !changed || files(t, got.Dir)["README.md"] != "first" || len(inPlace(t, c, s)) != 2 {
			t.Errorf("afterwards: %+v, %q", got, inPlace(t, c, s))
		}
	}
}

// TestPackageAtOnce adds a package from several processes.
func TestPackageAtOnce(t *testing.T) {
	t.Parallel()
	r, c, _ := newKit(t)
	s := parseSpec(t, "npm:@scope/kit@1.0.0")
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			other := process(t, job{Folder: c.Folder, Address: s.String()})
			other.Env = append(other.Env, "npm_config_registry="+r.URL)
			if out, err := other.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "1.0.0-") {
				t.Errorf("a process: %q, %v", out, err)
			}
		})
	}
	wait.Wait()
	if asked := r.Asked(); len(asked) != 2 || files(t, have(t, c, s).Dir)["README.md"] != "first" {
		t.Errorf("asked for %q", asked)
	}
}
