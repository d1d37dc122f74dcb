package gitsource_test

import (
	"bytes"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// fake installs a shell script as a program and returns its path. Another process writes
// it: no child of this one can then have it open for writing, which would keep it from
// being started.
func fake(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	path := filepath.Join(t.TempDir(), "git")
	cmd := exec.Command("sh", "-c", `cat >"$1" && chmod +x "$1"`, "sh", path)
	cmd.Stdin = strings.NewReader("#!/bin/sh\n" + script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// recorder returns a git that writes the subcommands it is asked for to a file, one a line with
// all its arguments.
func recorder(t *testing.T) (program string, asked func(command string) int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "asked")
	program = fake(t, `echo "$*" >>'`+file+`'; exec git "$@"`)
	return program, func(command string) int {
		data, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Count(string(data), " "+command+" ")
	}
}

// logTo returns a log of everything, and a function for its content.
func logTo() (*slog.Logger, func() string) {
	var mu sync.Mutex
	var out bytes.Buffer
	w := writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return out.Write(p)
	})
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})), func() string {
		mu.Lock()
		defer mu.Unlock()
		return out.String()
	}
}

type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }
