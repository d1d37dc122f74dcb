//go:build unix

package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/cli"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
)

// TestDashboard: the address that is printed lets a browser read, which the command's end takes away,
// with its registration.
func TestDashboard(t *testing.T) {
	w := newWorld(t)
	w.must(t, "task", "start", "Build a clock")
	state := filepath.Join(w.dir, "state", "bmad-mcp")
	printed, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Main([]string{"--cwd", w.project, "dashboard", "build-a-clock"}, strings.NewReader(""), out, os.Stderr)
		_ = out.Close()
	}()
	lines := bufio.NewReader(printed)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(lines)
		rest <- string(text)
	}()
	_, address, _ := strings.Cut(strings.TrimSpace(line), " at ")
	at, err := url.Parse(address)
	if err != nil || at.Hostname() != "localhost" || !strings.Contains(at.Path, "/r/") {
		t.Fatalf("%q: %v", line, err)
	}
	running := pairing.Running(state)
	if len(running) != 1 || running[0].Origin != "http://"+at.Host {
		t.Errorf("registered as %+v", running)
	}
	ask := func(method, path, body string, cookies []*http.Cookie) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:"+at.Port()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = at.Host
		r.Header.Set("Content-Type", "application/json")
		for _, c := range cookies {
			r.AddCookie(c)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if answer := ask("GET", at.Path, "", nil); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a cookie: %s", answer.Status)
	}
	entered := ask("POST", "/enter", fmt.Sprintf(`{"secret":%q}`, strings.TrimPrefix(at.Fragment, "k=")), nil)
	page := ask("GET", at.Path, "", entered.Cookies())
	text, err := io.ReadAll(page.Body)
	if err != nil || page.StatusCode != http.StatusOK || !strings.Contains(string(text), "build-a-clock") {
		t.Errorf("%s %v: %.300s", page.Status, err, text)
	}
	// A page that follows its run does not keep the command from ending.
	stream := ask("GET", "/events?follow="+strings.Split(at.Path, "/")[2], "", entered.Cookies())
	if _, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil || stream.StatusCode != http.StatusOK {
		t.Errorf("%s %v", stream.Status, err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != 0 {
		t.Errorf("it ends with %d", code)
	}
	if said := <-rest; !strings.Contains(said, "bmad-mcp dashboard pair CODE") || strings.Contains(said, "browser opens") {
		t.Errorf("without a terminal it says %q", said)
	}
	if running := pairing.Running(state); len(running) != 0 {
		t.Errorf("it is still registered: %+v", running)
	}
}
