package doctor_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/doctor"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
)

// weighed is a file system that calls a function before a file is opened.
type weighed struct {
	durable.FS
	before func(name string)
}

func (w weighed) Tree() fs.FS { return weighedTree{w.FS.Tree(), w.before} }

type weighedTree struct {
	fs.FS
	before func(name string)
}

func (w weighedTree) Open(name string) (fs.File, error) {
	w.before(name)
	return w.FS.Open(name)
}

func (w weighedTree) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(w.FS, name) }
func (w weighedTree) Lstat(name string) (fs.FileInfo, error)     { return fs.Lstat(w.FS, name) }
func (w weighedTree) ReadLink(name string) (string, error)       { return fs.ReadLink(w.FS, name) }
func (w weighedTree) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(w.FS, name) }

// heldAt returns the bytes in use when a check opens the last of n sessions, and the size of their files.
func heldAt(t *testing.T, n int) (held, size int64) {
	t.Helper()
	folder := t.TempDir()
	ids := storetest.Ordinary(t, folder, n)
	for _, id := range ids {
		info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(store.SessionPath(id))))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	storetest.OrdinaryTexts(t, folder, n)
	dir, err := durable.OpenDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	last := path.Base(store.SessionPath(ids[n-1]))
	slow := durable.NewDir(folder, weighed{dir.FS, func(name string) {
		if path.Base(name) == last {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			held = int64(m.HeapAlloc)
		}
	}})
	if r := check(t, doctor.New(slow, storetest.Files(slow))); !said(r, "sessions", doctor.OK, "readable") {
		t.Fatalf("%+v", r)
	}
	return held, size
}

// TestHoldsOneSessionAtATime compares the memory of projects of different sizes: a session more costs
// a small part of its file.
func TestHoldsOneSessionAtATime(t *testing.T) {
	const n = 50
	heldAt(t, n) // what is made once
	few, small := heldAt(t, n)
	many, large := heldAt(t, 4*n)
	if few == 0 || many-few > (large-small)/16 {
		t.Errorf("%d sessions more, of %d bytes, take %d bytes", 3*n, large-small, many-few)
	}
	t.Logf("%d bytes of %d", many-few, large-small)
}
