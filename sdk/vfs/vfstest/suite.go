// Package vfstest has the tests that every file system of agents passes.
package vfstest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// Run tests a file system. open returns an empty one each time.
func Run(t *testing.T, open func(t *testing.T) vfs.FS) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, vfs.FS){
		"FilesAreReadAsWritten": testFilesAreReadAsWritten, "FoldersAreListed": testFoldersAreListed, "WhatIsNotThere": testWhatIsNotThere,
		"FilesAndFoldersDoNotReplaceEachOther": testFilesAndFoldersDoNotReplaceEachOther, "PathsAreInsideHoweverWritten": testPathsAreInsideHoweverWritten,
		"AFileHasALimit": testAFileHasALimit, "CallsAtTheSameTime": testCallsAtTheSameTime,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
	t.Run("AnOverlayReadsAsIfItHadWritten", func(t *testing.T) { testOverlay(t, open) })
}

// Write makes or replaces a file.
func Write(t testing.TB, fsys vfs.FS, name, text string) {
	t.Helper()
	if err := fsys.Write(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// Read returns the content of a file.
func Read(t testing.TB, fsys vfs.FS, name string) string {
	t.Helper()
	data, err := fsys.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// ListPaths returns the paths in a folder; paths of folders end in a slash.
func ListPaths(t testing.TB, fsys vfs.FS, name string) string {
	t.Helper()
	infos, err := fsys.List(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, info := range infos {
		if info.Dir {
			info.Path += "/"
		}
		out = append(out, info.Path)
	}
	return strings.Join(out, " ")
}

func testFilesAreReadAsWritten(t *testing.T, fsys vfs.FS) {
	for _, data := range []string{"", "a", "é\n", "\x00\xff", strings.Repeat("x", vfs.MaxFile)} {
		Write(t, fsys, "/a/b/c.md", data)
		if got := Read(t, fsys, "/a/b/c.md"); got != data {
			t.Fatalf("%d bytes came back as %d", len(data), len(got))
		}
		info, err := fsys.Stat("/a/b/c.md")
		if err != nil || info.Size != int64(len(data)) || info.Dir || info.Path != "/a/b/c.md" {
			t.Fatalf("%+v, %v", info, err)
		}
	}
	data := []byte("mine")
	if err := fsys.Write("/own.md", data); err != nil {
		t.Fatal(err)
	}
	data[0] = 'X'
	got, _ := fsys.Read("/own.md")
	got[1] = 'X'
	if text := Read(t, fsys, "/own.md"); text != "mine" {
		t.Errorf("a caller's bytes changed the file to %q", text)
	}
}

func testFoldersAreListed(t *testing.T, fsys vfs.FS) {
	if got := ListPaths(t, fsys, "/"); got != "" {
		t.Fatalf("a new one has %q", got)
	}
	for _, name := range []string{"/b.md", "/a/x.md", "/a.md", "/a/sub/y.md", "/.hidden"} {
		Write(t, fsys, name, "x")
	}
	for range 2 {
		if err := fsys.Mkdir("/empty/deep"); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		"/": "/.hidden /a/ /a.md /b.md /empty/", "/a": "/a/sub/ /a/x.md", "/a/": "/a/sub/ /a/x.md",
		"/empty": "/empty/deep/", "/empty/deep": "", "/a/sub/..//sub": "/a/sub/y.md",
	} {
		if got := ListPaths(t, fsys, dir); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
	for _, dir := range []string{"/", "/a", "/empty/deep"} {
		if info, err := fsys.Stat(dir); err != nil || !info.Dir || info.Path != dir || info.Size != 0 {
			t.Errorf("%s: %+v, %v", dir, info, err)
		}
	}
}

func testWhatIsNotThere(t *testing.T, fsys vfs.FS) {
	Write(t, fsys, "/a.md", "x")
	for _, name := range []string{"/no.md", "/no/no.md", "/a.md/below", "/no/../none"} {
		if _, err := fsys.Read(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read(%q): %v", name, err)
		}
		if _, err := fsys.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Stat(%q): %v", name, err)
		}
		if _, err := fsys.List(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("List(%q): %v", name, err)
		}
	}
	if _, err := fsys.Read("/no.md"); err.Error() != "File not found: /no.md" {
		t.Errorf("%q", err)
	}
}

func testFilesAndFoldersDoNotReplaceEachOther(t *testing.T, fsys vfs.FS) {
	Write(t, fsys, "/d/f.md", "x")
	_, readErr := fsys.Read("/d")
	_, listErr := fsys.List("/d/f.md")
	for what, err := range map[string]error{
		"write on a folder": fsys.Write("/d", nil), "write on the root": fsys.Write("/", nil), "write through a file": fsys.Write("/d/f.md/x/y", nil),
		"mkdir on a file": fsys.Mkdir("/d/f.md"), "mkdir through a file": fsys.Mkdir("/d/f.md/x"), "read a folder": readErr, "list a file": listErr,
	} {
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := ListPaths(t, fsys, "/") + ListPaths(t, fsys, "/d") + Read(t, fsys, "/d/f.md"); got != "/d//d/f.mdx" {
		t.Errorf("refused calls left %q", got)
	}
}

func testPathsAreInsideHoweverWritten(t *testing.T, fsys vfs.FS) {
	for name, want := range map[string]string{
		"/": "/", "//": "/", "/a/../b": "/b", "//x": "/x", "/../etc/x": "/etc/x", "/a/./b/": "/a/b", "/../../..": "/", "/...": "/...", "/a b": "/a b", "/é": "/é",
	} {
		if got, err := vfs.Clean(name); err != nil || got != want {
			t.Errorf("Clean(%q) = %q, %v", name, got, err)
		}
	}
	long := "/" + strings.Repeat("é/", 1000)
	Write(t, fsys, "/x/../../etc/p", "inside")
	if got := Read(t, fsys, "//etc//./p"); got != "inside" {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"", "a.md", "./a", "../a", "~/a", "C:/a", "/a\x00b", "/a\xff", `/a\b`, `\a`, "/a\nb", "/a\x1b[31m", long} {
		_, e1 := fsys.Read(name)
		_, e2 := fsys.Stat(name)
		_, e3 := fsys.List(name)
		for at, err := range []error{e1, e2, e3, fsys.Write(name, nil), fsys.Mkdir(name)} {
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("call %d with %.20q: %v", at, name, err)
			}
		}
	}
	if _, err := fsys.Read("a.md"); err == nil || err.Error() != "Path must be absolute (start with /)" {
		t.Errorf("%v", err)
	}
	if got := ListPaths(t, fsys, "/"); got != "/etc/" {
		t.Errorf("refused calls left %q", got)
	}
}

func testAFileHasALimit(t *testing.T, fsys vfs.FS) {
	large := make([]byte, vfs.MaxFile+1)
	if err := fsys.Write("/new/large", large); err == nil || !strings.Contains(err.Error(), "4194304") {
		t.Errorf("%v", err)
	}
	if got := ListPaths(t, fsys, "/"); got != "" {
		t.Errorf("it left %q", got)
	}
}

func testCallsAtTheSameTime(t *testing.T, fsys vfs.FS) {
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			own := fmt.Sprintf("/d%d/f.md", worker)
			for n := range 10 {
				text := strings.Repeat(fmt.Sprint(worker), 100+n)
				if err := errors.Join(fsys.Write(own, []byte(text)), fsys.Write("/shared.md", []byte(text)), fsys.Mkdir("/made")); err != nil {
					t.Error(err)
					return
				}
				if got, err := fsys.Read(own); err != nil || string(got) != text {
					t.Errorf("%s: %d bytes, %v", own, len(got), err)
				}
				if got, err := fsys.Read("/shared.md"); err != nil || len(bytes.Trim(got, string(got[:1]))) > 0 {
					t.Errorf("a mixed file: %.20q, %v", got, err)
				}
				_, e1 := fsys.List("/")
				_, e2 := fsys.Stat("/made")
				if err := errors.Join(e1, e2); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := ListPaths(t, fsys, "/"); got != "/d0/ /d1/ /d2/ /d3/ /made/ /shared.md" {
		t.Errorf("%q", got)
	}
}

func testOverlay(t *testing.T, open func(t *testing.T) vfs.FS) {
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 0))
		below, plain := open(t), vfs.NewMem(nil)
		for range r.IntN(10) {
			operate(t, r, below, plain)
		}
		untouched := Describe(t, below)
		over := vfs.NewOverlay(below, nil)
		for n := range 40 {
			operate(t, r, over, plain)
			if n == 20 { // another process goes on
				over = Reopen(t, over, below)
			}
		}
		want := Describe(t, plain)
		Compare(t, fmt.Sprintf("seed %d: the overlay", seed), want, Describe(t, over))
		Compare(t, fmt.Sprintf("seed %d: the base before", seed), untouched, Describe(t, below))
		if err := over.Apply(context.Background()); err != nil {
			t.Fatal(err)
		}
		Compare(t, fmt.Sprintf("seed %d: the base after", seed), want, Describe(t, below))
		if left, err := over.Changes(); err != nil || len(left) > 0 {
			t.Errorf("%d changes are left, %v", len(left), err)
		}
	}
}

// Describe lists all that a file system has, as it can be read through its methods.
func Describe(t testing.TB, fsys vfs.FS) map[string]string {
	t.Helper()
	files := map[string]string{}
	describeFolder(t, fsys, "/", files)
	return files
}

func describeFolder(t testing.TB, fsys vfs.FS, dir string, files map[string]string) {
	t.Helper()
	infos, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		stat, err := fsys.Stat(info.Path)
		if err != nil || stat.Dir != info.Dir || stat.Size != info.Size || stat.Given != info.Given || stat.Path != info.Path {
			t.Errorf("listed as %+v, described as %+v, %v", info, stat, err)
		}
		if info.Dir {
			files[info.Path] = "a folder"
			describeFolder(t, fsys, info.Path, files)
			continue
		}
		data, err := fsys.Read(info.Path)
		if err != nil || int64(len(data)) != info.Size {
			t.Errorf("%+v: %d bytes, %v", info, len(data), err)
		}
		files[info.Path] = string(data)
	}
}

// somePath returns one of a few paths, so that operations meet.
func somePath(r *rand.Rand) string {
	names := []string{"a", "b", "a.md"}
	out := ""
	for range 1 + r.IntN(3) {
		out += "/" + names[r.IntN(len(names))]
	}
	return out
}

// operate does something on two file systems, which have to agree on whether it can be done.
func operate(t testing.TB, r *rand.Rand, one, two vfs.FS) {
	t.Helper()
	name, data := somePath(r), []byte(fmt.Sprint(r.IntN(4)))
	var e1, e2 error
	var what string
	switch r.IntN(5) {
	case 0:
		what, e1, e2 = "mkdir", one.Mkdir(name), two.Mkdir(name)
	case 1:
		what = "read"
		_, e1 = one.Read(name)
		_, e2 = two.Read(name)
	case 2:
		what = "list"
		_, e1 = one.List(name)
		_, e2 = two.List(name)
	default:
		what, e1, e2 = "write", one.Write(name, data), two.Write(name, data)
	}
	if (e1 == nil) != (e2 == nil) || errors.Is(e1, fs.ErrNotExist) != errors.Is(e2, fs.ErrNotExist) {
		t.Fatalf("%s %s: %v, and %v", what, name, e1, e2)
	}
}

// Compare reports the differences of two results of Describe.
func Compare(t testing.TB, what string, want, got map[string]string) {
	t.Helper()
	for name, text := range want {
		if had, ok := got[name]; !ok || had != text {
			t.Errorf("%s has %q in %s, want %q", what, had, name, text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s has %s", what, name)
		}
	}
}

// Reopen returns the overlay as another process finds it.
func Reopen(t testing.TB, over *vfs.Overlay, base vfs.FS) *vfs.Overlay {
	t.Helper()
	text, err := json.Marshal(over.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	var s vfs.Snapshot
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	fresh := vfs.NewOverlay(base, nil)
	if err := fresh.Restore(s); err != nil {
		t.Fatal(err)
	}
	return fresh
}
