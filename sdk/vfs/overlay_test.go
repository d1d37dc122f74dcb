package vfs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs/vfstest"
)

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
					over = vfstest.Reopen(t, over, base)
				}
				before := vfstest.Describe(t, base)
				var conflict *vfs.ConflictError
				if err := over.Apply(context.Background()); !errors.As(err, &conflict) || !strings.HasPrefix(err.Error(), conflict.Path+" was changed by somebody else") {
					t.Fatalf("%v", err)
				}
				vfstest.Compare(t, "the base", before, vfstest.Describe(t, base))
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
			over = vfstest.Reopen(t, over, base)
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
