//go:build unix

package durable_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// hang is how long something may take before it counts as waiting for ever.
const hang = 30 * time.Second

// within fails the test with every goroutine's stack if do does not return.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(hang):
		panic(what + " hangs") // its goroutine could not be ended otherwise
	}
}

func socket(t *testing.T, path string) {
	t.Helper()
	t.Chdir(filepath.Dir(path)) // the name of a socket is short
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Base(path), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
}

func TestNothingWaits(t *testing.T) {
	path := t.TempDir()
	d, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	at := func(name string) string { return filepath.Join(path, name) }
	for _, err := range []error{
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("pipe", at("link")), os.Symlink("loop", at("loop")),
		os.Symlink("/dev/zero", at("zero")), os.Mkdir(at("folder"), 0o700), os.WriteFile(at("plain"), []byte("text"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	socket(t, at("socket"))
	for name, kind := range map[string]string{
		"pipe": "a named pipe", "link": "a named pipe", "socket": "a socket", "folder": "a folder", "loop": "", "zero": "",
	} {
		for what, read := range map[string]func() error{
			"ReadFile": func() error { _, err := d.ReadFile(name, 100); return err },
			"ReadHead": func() error { _, _, err := durable.ReadHead(d.Tree(), name, 100); return err },
			"ReadPath": func() error {
				if name == "zero" { // by its path a link may lead anywhere
					_, err := durable.ReadPath("/dev/zero", 100)
					return err
				}
				_, err := durable.ReadPath(at(name), 100)
				return err
			},
			"Lock": func() error {
				lock, err := d.Lock(context.Background(), name)
				if err == nil {
					_ = lock.Unlock()
				}
				return err
			},
			"Holder": func() error { _, err := d.Holder(name); return err },
		} {
			within(t, what+" of "+name, func() {
				err := read()
				if err == nil {
					t.Errorf("%s of %s succeeded", what, name)
					return
				}
				var irregular *durable.NotRegularError
				if kind != "" && kind != "a folder" && (!errors.As(err, &irregular) || !strings.Contains(err.Error(), kind)) {
					t.Errorf("%s of %s: %v", what, name, err)
				}
				if !strings.Contains(err.Error(), name) {
					t.Errorf("%s of %s does not name it: %v", what, name, err)
				}
			})
		}
		if name == "folder" {
			continue
		}
		within(t, "listing "+name, func() {
			if _, err := d.ReadDir(name); err == nil {
				t.Errorf("%s was listed", name)
			}
		})
		within(t, "syncing "+name, func() { _ = d.SyncDir(name) })
		within(t, "walking through "+name, func() {
			_ = fs.WalkDir(d.Tree(), name, func(_ string, _ fs.DirEntry, err error) error { return err })
		})
	}
	if data, err := d.ReadFile("./plain", 100); string(data) != "text" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}
