//go:build unix

package gitsource_test

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// TestSSH has a program in the place of ssh that runs the command on this machine.
func TestSSH(t *testing.T) {
	const serve = `for last; do :; done; exec sh -c "git ${last#git-}"`
	for name, c := range map[string]struct {
		set  func(t *testing.T, ssh string)
		ours bool
	}{
		"ours": {func(t *testing.T, ssh string) {
			t.Setenv("PATH", filepath.Dir(ssh)+string(filepath.ListSeparator)+os.Getenv("PATH"))
		}, true},
		"the person's": {func(t *testing.T, ssh string) {
			t.Setenv("GIT_SSH_COMMAND", "'"+ssh+"' -oMine=yes")
			t.Setenv("GIT_SSH_VARIANT", "ssh")
		}, false},
		"the person's, of the settings": {func(t *testing.T, ssh string) {
			t.Setenv("GIT_CONFIG_COUNT", "1")
			t.Setenv("GIT_CONFIG_KEY_0", "core.sshCommand")
			t.Setenv("GIT_CONFIG_VALUE_0", "'"+ssh+"' -oMine=yes")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			said := filepath.Join(t.TempDir(), "said")
			ssh := fake(t, `echo "$*; $GIT_ASKPASS$SSH_ASKPASS; $GIT_DIR" >>'`+said+"'\n"+serve)
			if err := os.Rename(ssh, filepath.Join(filepath.Dir(ssh), "ssh")); err != nil {
				t.Fatal(err)
			}
			ssh = filepath.Join(filepath.Dir(ssh), "ssh")
			t.Setenv("GIT_SSH_COMMAND", "")
			t.Setenv("SSH_ASKPASS", "/bin/ask")
			t.Setenv("GIT_ASKPASS", "/bin/ask")
			c.set(t, ssh)
			cache, _ := newCache(t)
			s := parseSpec(t, "git+ssh://me@example.org:2222"+(&url.URL{Path: r.dir}).EscapedPath()+"#main")
			want := r.at("main")
			t.Setenv("GIT_DIR", r.dir+".elsewhere") // as in a hook; from here on, as the test's own git minds it
			got, _, err := cache.Update(t.Context(), s)
			if err != nil || got.Commit != want {
				t.Fatalf("%+v, %v", got, err)
			}
			data, err := os.ReadFile(said)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			if !strings.Contains(text, "-p 2222 me@example.org git-upload-pack '"+r.dir+"'") || strings.Contains(text, "ask;") || strings.Contains(text, "elsewhere") {
				t.Errorf("ssh was asked: %s", text)
			}
			if ours := strings.Contains(text, "-oBatchMode=yes -oConnectTimeout=10"); ours != c.ours || strings.Contains(text, "-oMine=yes") == c.ours {
				t.Errorf("ssh was asked: %s", text)
			}
		})
	}
}

// TestHTTPS has a server on this machine that wants a password, and moves some of the repositories that it
// has to another one.
func TestHTTPS(t *testing.T) {
	backend := filepath.Join(git(t, "", "", "--exec-path"), "git-http-backend")
	for _, program := range []string{backend, filepath.Join(filepath.Dir(backend), "git-remote-https")} {
		if _, err := os.Stat(program); err != nil {
			t.Skip(err)
		}
	}
	t.Setenv("GIT_SSL_NO_VERIFY", "1")
	t.Setenv("no_proxy", "*")
	r := newRepo(t)
	serve := &cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(r.dir), "GIT_HTTP_EXPORT_ALL=1"}}
	var mu sync.Mutex
	var elsewhere []string
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		elsewhere = append(elsewhere, q.Header.Get("Authorization"))
		mu.Unlock()
		serve.ServeHTTP(w, q)
	}))
	defer other.Close()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if rest, ok := strings.CutPrefix(q.URL.Path, "/moved"); ok {
			http.Redirect(w, q, other.URL+rest+"?"+q.URL.RawQuery, http.StatusMovedPermanently)
			return
		}
		if user, password, _ := q.BasicAuth(); user != "alice" || password != "hunter22/+x" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			http.Error(w, "who are you, "+user+", with "+password, http.StatusUnauthorized)
			return
		}
		serve.ServeHTTP(w, q)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "https://")

	c, _ := newCache(t)
	got, _ := update(t, c, parseSpec(t, "git+https://alice:hunter22%2F%2Bx@"+host+"/remote.git#main:/src"))
	if got.Commit != r.at("main") || files(t, got.Dir)["agents/po.md"] != "po 1" {
		t.Errorf("%+v", got)
	}
	// Whoever has no password may use the copy, but not ask.
	open := parseSpec(t, "git+https://"+host+"/remote.git#main:/src")
	if have(t, c, open) != got {
		t.Error("it has a copy of its own")
	}
	for _, address := range []string{"git+https://" + host + "/remote.git#main", "git+https://alice:wrong77@" + host + "/remote.git#main"} {
		_, _, err := c.Update(t.Context(), parseSpec(t, address))
		if !fault.Is(err, fault.NotFound) || strings.Contains(err.Error(), "wrong77") || !strings.Contains(fault.From(err).Hint, "credential helper") {
			t.Errorf("%v, hint %q", err, fault.From(err).Hint)
		}
	}
	if have(t, c, open).Problem == "" {
		t.Error("no problem is told")
	}

	// The password is for one server, whatever that says.
	_, _, err := c.Update(t.Context(), parseSpec(t, "git+https://alice:hunter22%2F%2Bx@"+host+"/moved/remote.git"))
	if !fault.Is(err, fault.NotFound) || len(elsewhere) != 0 {
		t.Errorf("%v; elsewhere %q", err, elsewhere)
	}
	moved, _, err := c.Update(t.Context(), parseSpec(t, "git+https://"+host+"/moved/remote.git"))
	if err != nil || moved.Commit != got.Commit || len(elsewhere) == 0 {
		t.Errorf("without a password it is followed: %+v, %v, %q", moved, err, elsewhere)
	}
}
