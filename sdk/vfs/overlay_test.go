package vfs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// describe lists all that a file system has, as it can be read through its methods.
func describe(t testing.TB, fsys vfs.FS, dir string, files map[string]string) map[string]string {
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
			describe(t, fsys, info.Path, files)
			continue
		}
		data, err := fsys.Read(info.Path)
		if err != nil || int64(len(data)) != info.Size {
			t.Errorf("%+v: %d bytes, %v", info, len(data), err)
		}
		files[info.Path] = string(data)
	}
	return files
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

func TestAnOverlayReadsAsIfItHadWritten(t *testing.T) {
	for base, open := range backends {
		t.Run(base, func(t *testing.T) {
			for seed := range uint64(15) {
				r := rand.New(rand.NewPCG(seed, 0))
				below, plain := open(t), vfs.NewMem(nil)
				for range r.IntN(10) {
					operate(t, r, below, plain)
				}
				untouched := describe(t, below, "/", map[string]string{})
				over := vfs.NewOverlay(below, nil)
				for n := range 40 {
					operate(t, r, over, plain)
					if n == 20 { // another process goes on
						over = reopen(t, over, below)
					}
				}
				want := describe(t, plain, "/", map[string]string{})
				alike(t, seed, "the overlay", want, describe(t, over, "/", map[string]string{}))
				alike(t, seed, "the base before", untouched, describe(t, below, "/", map[string]string{}))
				if err := over.Apply(context.Background()); err != nil {
					t.Fatal(err)
				}
				alike(t, seed, "the base after", want, describe(t, below, "/", map[string]string{}))
				if left, err := over.Changes(); err != nil || len(left) > 0 {
					t.Errorf("%d changes are left, %v", len(left), err)
				}
			}
		})
	}
}

func alike(t *testing.T, seed uint64, what string, want, got map[string]string) {
	t.Helper()
	for name, text := range want {
		if had, ok := got[name]; !ok || had != text {
			t.Errorf("seed %d: %s has %q in %s, want %q", seed, what, had, name, text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("seed %d: %s has %s", seed, what, name)
		}
	}
}

// reopen returns the overlay as another process finds it.
func reopen(t testing.TB, over *vfs.Overlay, base vfs.FS) *vfs.Overlay {
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

func TestOthersChangesAreNotOverwritten(t *testing.T) {
	for what, change := range map[string]func(t *testing.T, base vfs.FS){
		"changed": func(t *testing.T, base vfs.FS) { write(t, base, "/b.md", "theirs") },
		"made":    func(t *testing.T, base vfs.FS) { write(t, base, "/new.md", "theirs") },
	} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(what, restart), func(t *testing.T) {
				base := withFiles(t, "/a.md", "a", "/b.md", "b")
				over := vfs.NewOverlay(base, nil)
				for _, name := range []string{"/a.md", "/b.md", "/new.md"} {
					write(t, over, name, "mine")
					write(t, over, name, "mine, again")
				}
				change(t, base)
				if restart {
					over = reopen(t, over, base)
				}
				before := describe(t, base, "/", map[string]string{})
				var conflict *vfs.ConflictError
				if err := over.Apply(context.Background()); !errors.As(err, &conflict) || !strings.HasPrefix(err.Error(), conflict.Path+" was changed by somebody else") {
					t.Fatalf("%v", err)
				}
				alike(t, 0, "the base", before, describe(t, base, "/", map[string]string{}))
			})
		}
	}
}

func TestTheSameChangeIsNotAConflict(t *testing.T) {
	base := withFiles(t, "/a.md", "a")
	over := vfs.NewOverlay(base, nil)
	write(t, over, "/a.md", "both")
	write(t, base, "/a.md", "both")
	if err := over.Apply(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// failing refuses to write files after some.
type failing struct {
	vfs.FS
	left int
}

func (f *failing) Write(name string, data []byte) error {
	if f.left--; f.left < 0 {
		return errors.New("the disk is full")
	}
	return f.FS.Write(name, data)
}

func TestApplyGoesOnAfterAFailure(t *testing.T) {
	for _, restart := range []bool{false, true} {
		base := &failing{withFiles(t, "/a.md", "a"), 2}
		over := vfs.NewOverlay(base, nil)
		for _, name := range []string{"/a.md", "/b.md", "/c.md", "/d.md"} {
			write(t, over, name, "mine")
		}
		if err := over.Apply(context.Background()); err == nil || err.Error() != "/c.md cannot be written: the disk is full" {
			t.Fatalf("%v", err)
		}
		if got := listPaths(t, base, "/"); got != "/a.md /b.md" {
			t.Errorf("%q", got)
		}
		base.left = 2
		if restart {
			over = reopen(t, over, base)
		}
		if err := over.Apply(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := listPaths(t, base, "/"); got != "/a.md /b.md /c.md /d.md" {
			t.Errorf("%q", got)
		}
		write(t, over, "/a.md", "once more") // the applied changes are part of the new base
		base.left = 1
		if err := over.Apply(context.Background()); err != nil || read(t, base, "/a.md") != "once more" {
			t.Errorf("%v", err)
		}
	}
}

func TestApplyEndsWithItsContext(t *testing.T) {
	base := vfs.NewMem(nil)
	over := vfs.NewOverlay(base, nil)
	write(t, over, "/a", "x")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := over.Apply(ctx); !errors.Is(err, context.Canceled) || listPaths(t, base, "/") != "" {
		t.Errorf("%v", err)
	}
}

func TestChangesShowBothTexts(t *testing.T) {
	base := withFiles(t, "/a.md", "a", "/same.md", "s")
	over := vfs.NewOverlay(base, nil)
	write(t, over, "/a.md", "b")
	write(t, over, "/new.md", "n")
	write(t, over, "/same.md", "s")
	changes, err := over.Changes()
	if err != nil || len(changes) != 2 {
		t.Fatalf("%v, %v", changes, err)
	}
	for n, want := range []string{"/a.md false a b", "/new.md true  n"} {
		c := changes[n]
		if got := fmt.Sprintf("%s %v %s %s", c.Path, c.New, c.Before, c.After); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if docs := vfs.Documents(over); len(docs) != 3 {
		t.Errorf("the documents are %v", docs)
	}
}
