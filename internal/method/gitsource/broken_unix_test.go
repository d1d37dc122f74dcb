//go:build unix

package gitsource_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRecordIsAPipe: a pipe in the place of the record holds nobody up.
func TestRecordIsAPipe(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, _ := newCache(t)
	s := r.spec("#main")
	good, _ := update(t, c, s)
	file := filepath.Join(c.Folder, s.Key(), "source.json")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := have(t, c, s); got.Commit != good.Commit {
		t.Errorf("it serves %q, want %q", got.Commit, good.Commit)
	}
	if got, _ := update(t, c, s); got.Commit != good.Commit {
		t.Errorf("after an update it serves %q, want %q", got.Commit, good.Commit)
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the record is %v, %v", info, err)
	}
}
