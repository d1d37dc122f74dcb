//go:build unix

package durable_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// keeping opens a folder that keeps those in it open.
func keeping(t *testing.T, path string) *durable.Dir {
	t.Helper()
	d, err := durable.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	d.KeepFolders()
	return d
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readsAs(t *testing.T, d *durable.Dir, name, want string) {
	t.Helper()
	data, err := d.ReadFile(name, durable.MaxText)
	if err != nil || string(data) != want {
		t.Errorf("%s reads %q, %v; want %q", name, data, err, want)
	}
}

// TestKeptFoldersChangeNothing: through folders that are kept open the same can be reached as
// without, and errors name the same path.
func TestKeptFoldersChangeNothing(t *testing.T) {
	top := t.TempDir()
	write(t, filepath.Join(top, "a/b/c/file"), "file")
	write(t, filepath.Join(top, "other/file"), "other")
	for link, target := range map[string]string{
		"a/b/up": "../../other/file", "a/b/out": "../../../outside", "a/b/absolute": filepath.Join(top, "other/file"),
		"a/link": "../other", "a/away": filepath.Dir(top), "a/b/dangling": "nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(filepath.Dir(top), "outside"), "secret")
	plain, err := durable.OpenDir(top)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	kept := keeping(t, top)
	names := []string{
		"a/b/c/file", "a/b/up", "a/b/out", "a/b/absolute", "a/link/file", "a/away/outside", "a/b/dangling", "a/b/none", "a/none/file", "a/b/c/file/x",
		"a/b", "a", ".", "a/../other/file", "../outside", "a/b/../../../outside", "", "/a",
	}
	for range 2 { // the second round uses the open folders
		for _, name := range names {
			for what, look := range map[string]func(*durable.Dir) string{
				"read": func(d *durable.Dir) string {
					data, err := d.ReadFile(name, durable.MaxText)
					return fmt.Sprintf("%s, %v", data, err)
				},
				"stat":  func(d *durable.Dir) string { return describe(d.Stat(name)) },
				"lstat": func(d *durable.Dir) string { return describe(d.Lstat(name)) },
				"list": func(d *durable.Dir) string {
					list, err := d.ReadDir(name)
					return fmt.Sprint(list, err)
				},
			} {
				if got, want := look(kept), look(plain); got != want {
					t.Errorf("%s of %q: %s; want %s", what, name, got, want)
				}
			}
		}
	}
}

func describe(info fs.FileInfo, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.Name(), info.Size(), info.Mode(), info.ModTime())
}

// TestReplacedFolders: a folder that is kept open and was replaced does not receive files of the new one.
func TestReplacedFolders(t *testing.T) {
	top := t.TempDir()
	d := keeping(t, top)
	fill := func(folder string) {
		t.Helper()
		if _, err := d.MkdirAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := d.Replace(folder+"/file", []byte("old")); err != nil {
			t.Fatal(err)
		}
	}
	// By itself, under another name.
	fill("a/b")
	if err := d.Move("a", "aside"); err != nil {
		t.Fatal(err)
	}
	fill("a/b")
	readsAs(t, d, "aside/b/file", "old")
	if err := d.Replace("a/b/file", []byte("new")); err != nil {
		t.Fatal(err)
	}
	readsAs(t, d, "aside/b/file", "old")
	readsAs(t, d, "a/b/file", "new")

	// By others, who have made it anew.
	fill("c/d")
	if err := os.RemoveAll(filepath.Join(top, "c")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(top, "c/d"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := d.Replace("c/d/file", []byte("new")); err != nil {
		t.Fatal(err)
	}
	readsAs(t, d, "c/d/file", "new")

	// By others, while a lock is waited for.
	fill("e")
	readsAs(t, d, "e/file", "old")
	other, err := durable.OpenDir(top)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	held, err := other.Lock(t.Context(), "lock")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		lock, err := d.Lock(t.Context(), "lock")
		if err != nil {
			t.Error(err)
			return
		}
		readsAs(t, d, "e/file", "new")
		if err := lock.Unlock(); err != nil {
			t.Error(err)
		}
	})
	for durable.Awaited(filepath.Join(top, "lock")) < 2 {
		runtime.Gosched() // until the other one is waiting
	}
	if err := os.Rename(filepath.Join(top, "e"), filepath.Join(top, "gone")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(top, "e/file"), "new")
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
}

// TestPipeInPlaceOfAFolder: nothing waits for a pipe in the place of a folder.
func TestPipeInPlaceOfAFolder(t *testing.T) {
	top := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(top, "pipe"), 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	d := keeping(t, top)
	if _, err := d.ReadFile("pipe/file", durable.MaxText); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := d.Replace("pipe/file", []byte("x")); err == nil {
		t.Error("a file was made in a pipe")
	}
}

// TestManyKeptFolders: a walk through many folders neither fails nor holds them all.
func TestManyKeptFolders(t *testing.T) {
	top := t.TempDir()
	d := keeping(t, top)
	var wg sync.WaitGroup
	for n := range 100 {
		wg.Go(func() {
			folder := fmt.Sprintf("f%d/g", n)
			if _, err := d.MkdirAll(folder); err != nil {
				t.Error(err)
				return
			}
			if err := d.Replace(folder+"/file", []byte(folder)); err != nil {
				t.Error(err)
			}
			readsAs(t, d, folder+"/file", folder)
		})
	}
	wg.Wait()
	if open := durable.KeptOpen(d); open > 16 {
		t.Errorf("%d folders are open", open)
	}
}
