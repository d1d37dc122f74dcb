//go:build unix

package notify

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is the program behind [Handed.Hand], if a test starts it as that.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "take" {
		h, err := Read(os.Stdin)
		text := fmt.Sprint(h.Run, " ", h.Folder, " ", err)
		if err := errors.Join(os.WriteFile(os.Args[2]+".new", []byte(text), 0o600), os.Rename(os.Args[2]+".new", os.Args[2])); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestCommand runs commands of all kinds.
func TestCommand(t *testing.T) {
	t.Setenv("BMAD_GATE", "relay")
	out := filepath.Join(t.TempDir(), "out")
	hostile := example
	hostile.Run, hostile.Project = "--option $(touch x)", `"; touch y; "`
	for _, c := range []struct {
		name    string
		command []string
		want    string // the error
		wrote   string
	}{
		{"with the text", []string{"sh", "-c", `printf %s "$1" > "$2"`, "-", "{text}", out}, "", "bmad-mcp: option___touch_x_ in ___touch_y___ waits for your decision at po"},
		{"with the facts", []string{"sh", "-c", `cat > "$1"; pwd >> "$1"; echo "gate $BMAD_GATE" >> "$1"`, "-", out}, "", `"run":"option___touch_x_"`},
		{"without reading them", []string{"true", "x"}, "", ""},
		{"much output", []string{"sh", "-c", "yes | head -c 50000000; yes | head -c 50000000 >&2"}, "", ""},
		{"missing", []string{"there-is-no-such-program", "hush"}, "the command cannot be started", ""},
		{"missing, by its path", []string{"/there/is/none", "hush"}, "the command cannot be started", ""},
		{"a folder", []string{t.TempDir(), "hush"}, "the command cannot be started", ""},
		{"failing", []string{"sh", "-c", "exit 3", "hush"}, "the command failed: exit status 3", ""},
		{"killed", []string{"sh", "-c", "kill -9 $$", "hush"}, "the command failed: signal: killed", ""},
	} {
		s, _ := sender(t, c.command...)
		err := s.Send(t.Context(), hostile)
		if got := fmt.Sprint(err); err == nil != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "hush") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		text, _ := os.ReadFile(out)
		if !strings.Contains(string(text), c.wrote) || c.name == "with the facts" && !strings.HasSuffix(string(text), s.Folder+"\ngate \n") {
			t.Errorf("%s: it wrote %s, want %s", c.name, text, c.wrote)
		}
	}
}

// TestCommandHangs ends a command that hangs, with its children.
func TestCommandHangs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	s, _ := sender(t, "sh", "-c", `sleep 600 & echo $! > "$1"; wait`, "-", file)
	s.Limit = time.Second
	err := s.Send(t.Context(), example)
	if err == nil || !strings.Contains(err.Error(), "the command did not end within 1s") {
		t.Errorf("%v", err)
	}
	text, _ := os.ReadFile(file)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if pid == 0 {
		t.Skip("the machine was too slow for the command to begin")
	}
	if err := syscall.Kill(pid, 0); err == nil {
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // init may not have collected it
		if !strings.Contains(string(state), ") Z ") {
			t.Errorf("the child %d goes on: %s", pid, state)
		}
	}
}

// TestHand gives notices to a program, and waits for nothing.
func TestHand(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, c := range map[string]struct{ folder, want string }{
		"short": {"/srv/clock", "dark_mode /srv/clock <nil>"},
		"long":  {"/" + strings.Repeat("x", 1<<20), "dark_mode  <nil>"},
	} {
		out := filepath.Join(dir, name)
		n := example
		n.Run = "dark mode"
		if err := (Handed{Notice: n, Folder: c.folder}).Hand(dir, self, "take", out); err != nil {
			t.Fatal(err)
		}
		text := waitForFile(t, out)
		if text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
	if err := (Handed{Notice: example}).Hand(dir, filepath.Join(dir, "none")); err == nil {
		t.Error("a missing program was started")
	}
	if _, err := Read(strings.NewReader("{")); err == nil {
		t.Error("half a notice was read")
	}
}

func waitForFile(t *testing.T, name string) string {
	t.Helper()
	for t.Context().Err() == nil {
		if text, err := os.ReadFile(name); err == nil {
			return string(text)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ""
}
