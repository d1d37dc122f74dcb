//go:build unix

package mcpserver_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// attackPage is a page that any program on this machine could serve.
//
//go:embed testdata/attack.html
var attackPage string

// browserNames are programs of a browser engine that runs without a screen.
var browserNames = []string{"chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// browserBinary returns a browser, or skips the test.
func browserBinary(t *testing.T) string {
	t.Helper()
	if name := os.Getenv("TEST_BMAD_BROWSER"); name != "" {
		return name
	}
	for _, name := range browserNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("SKIPPED: there is no browser here, so no real page attacked the server; apt-get install chromium-headless-shell, or name one in TEST_BMAD_BROWSER")
	return ""
}

// pageServer serves the attack page on a port of its own, and takes its reports.
type pageServer struct {
	*httptest.Server
	port string

	mu sync.Mutex
	// said has the outcome of each attempt, by the page's name and the attempt's.
	said map[string]string
	done map[string]chan struct{}
}

func newPageServer(t *testing.T) *pageServer {
	p := &pageServer{said: map[string]string{}, done: map[string]chan struct{}{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, attackPage)
	})
	mux.HandleFunc("POST /report", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*") // of sandboxed frames, too
		var report struct{ Page, Attempt, Outcome string }
		if json.NewDecoder(r.Body).Decode(&report) != nil {
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if report.Attempt == "done" {
			if c := p.done[report.Page]; c != nil {
				close(c)
				delete(p.done, report.Page)
			}
			return
		}
		p.said[report.Page+": "+report.Attempt] = report.Outcome
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	_, p.port, _ = net.SplitHostPort(strings.TrimPrefix(p.URL, "http://"))
	return p
}

// visit opens the page under a name of this machine, in a browser, and waits until it has
// tried everything.
func (p *pageServer) visit(t *testing.T, browser, page, host, target string, frame bool) {
	t.Helper()
	done := make(chan struct{})
	p.mu.Lock()
	p.done[page] = done
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	address := fmt.Sprintf("http://%s:%s/page?name=%s&target=%s&report=%s", host, p.port, page, target, "http://127.0.0.1:"+p.port+"/report")
	if frame {
		address += "&frame=1"
	}
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--user-data-dir="+t.TempDir(), "--host-resolver-rules=MAP evil.example 127.0.0.1", "--remote-debugging-port=0", address)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	// A browser is many processes, and the program that starts it often only a script.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-done:
	case err := <-ended:
		t.Fatalf("%s: the browser ended before the page was done: %v", page, err)
	case <-ctx.Done():
		t.Fatalf("%s: the page does not come to its end; so far: %v", page, p.said)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Log("the browser ended by itself")
	}
}

// outcome returns the outcome of an attempt.
func (p *pageServer) outcome(page, attempt string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said[page+": "+attempt]
}

// attempts are all that the page tries.
var attempts = []string{"initialize", "stateless", "no-cors", "no-cors json", "form", "beacon", "stream", "read stream", "foreign name"}

// TestPageInABrowserOpensNoGate has a real browser open the page of another program of this
// machine, under each name of the machine and in a sandboxed frame. The page drives the server
// as an assistant's host would, answers the form it hopes to be shown, and tries all that
// browsers send without asking the server first.
func TestPageInABrowserOpensNoGate(t *testing.T) {
	t.Parallel()
	browser := browserBinary(t)
	dir := t.TempDir()
	s := serve(t, dir, []string{"BMAD_GATE=strict", alwaysAsks})
	(&speaker{s: s}).greet().waiting()
	before := sessionFile(t, dir)
	pages := newPageServer(t)
	target := strings.TrimPrefix(s.url, "http://")
	for _, c := range []struct {
		name, host string
		frame      bool
	}{{"address", "127.0.0.1", false}, {"name", "localhost", false}, {"foreign", "evil.example", false}, {"sandbox", "127.0.0.1", true}} {
		pages.visit(t, browser, c.name, c.host, target, c.frame)
		for _, attempt := range attempts {
			got := pages.outcome(c.name, attempt)
			switch {
			case got == "":
				t.Errorf("%s, %s: it was not tried", c.name, attempt)
			case strings.HasPrefix(got, "read:"):
				t.Errorf("%s, %s: the page reads %s", c.name, attempt, got)
			}
		}
		if after := sessionFile(t, dir); after != before {
			t.Fatalf("%s: the run was changed:\n%s", c.name, after)
		}
	}
}

// TestAllowedPageInABrowser checks that the same page, let in by --allow-origin, reads answers, so
// that what keeps it out above is the server; and it is shown no form and opens no strict gate.
func TestAllowedPageInABrowser(t *testing.T) {
	t.Parallel()
	browser := browserBinary(t)
	dir := t.TempDir()
	pages := newPageServer(t)
	s := serve(t, dir, []string{"BMAD_GATE=strict", alwaysAsks}, "--allow-origin", "http://localhost:"+pages.port)
	(&speaker{s: s}).greet().waiting()
	before := sessionFile(t, dir)
	pages.visit(t, browser, "allowed", "localhost", strings.TrimPrefix(s.url, "http://"), false)
	for _, attempt := range []string{"initialize", "stateless"} {
		if got := pages.outcome("allowed", attempt); !strings.HasPrefix(got, "read:") || strings.Contains(got, "form") || !strings.Contains(got, "gate_pending") {
			t.Errorf("%s: %q", attempt, got)
		}
	}
	if after := sessionFile(t, dir); after != before {
		t.Errorf("the run was changed:\n%s", after)
	}
}
