package vfs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs/vfstest"
)

// backends are all file systems, empty.
var backends = map[string]func(t *testing.T) vfs.FS{
	"mem": func(*testing.T) vfs.FS { return vfs.NewMem(nil) },
	"dir": func(t *testing.T) vfs.FS { return openDir(t, t.TempDir()) },
	"overlay over mem": func(*testing.T) vfs.FS {
		return vfs.NewOverlay(vfs.NewMem(nil), nil)
	},
	"overlay over dir": func(t *testing.T) vfs.FS {
		return vfs.NewOverlay(openDir(t, t.TempDir()), nil)
	},
}

var (
	write     = vfstest.Write
	read      = vfstest.Read
	listPaths = vfstest.ListPaths
)

func openDir(t testing.TB, name string) *vfs.Dir {
	t.Helper()
	d, err := vfs.OpenDir(name, vfs.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestSuite(t *testing.T) {
	for name, open := range backends {
		t.Run(name, func(t *testing.T) { vfstest.Run(t, open) })
	}
}

func TestMemoryHasALimit(t *testing.T) {
	m := vfs.NewMem(nil)
	part := make([]byte, vfs.MaxFile)
	for n := range vfs.MaxMem / vfs.MaxFile {
		if err := m.Give(fmt.Sprintf("/%d", n), part); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Write("/new/one", []byte("x")); err == nil {
		t.Error("there is room for one more byte")
	}
	if _, err := m.Stat("/new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the refused file left its folder: %v", err)
	}
	if err := m.Write("/3", part); err != nil {
		t.Errorf("a full one refuses to replace a file by one of its size: %v", err)
	}
	if err := m.Write("/3", nil); err != nil {
		t.Error(err)
	}
	if err := m.Write("/new/one", part); err != nil {
		t.Errorf("the room of a shortened file is not given back: %v", err)
	}
}

func TestThereAreOnlySoManyFiles(t *testing.T) {
	m := vfs.NewMem(nil)
	for n := range vfs.MaxFiles - 3 { // besides the root
		write(t, m, fmt.Sprintf("/%d", n), "")
	}
	before := m.Snapshot()
	for _, err := range []error{m.Write("/a/b/c", nil), m.Mkdir("/a/b/c")} {
		if err == nil || !strings.Contains(err.Error(), "20000") {
			t.Errorf("%v", err)
		}
	}
	if after := m.Snapshot(); len(after.Entries) != len(before.Entries) {
		t.Errorf("refused calls left %d entries more", len(after.Entries)-len(before.Entries))
	}
	write(t, m, "/a/b", "fits")
	if err := m.Write("/c", nil); err == nil {
		t.Error("one too many")
	}
	write(t, m, "/0", "replaced")
}

func TestTimes(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	m := vfs.NewMem(func() time.Time { return now })
	write(t, m, "/a", "1")
	first := now.UTC()
	now = now.Add(time.Hour)
	write(t, m, "/a", "22")
	if info, _ := m.Stat("/a"); info.Created != first || info.Modified != now.UTC() || info.Size != 2 {
		t.Errorf("%+v", info)
	}
}

func TestSnapshotsAreRestored(t *testing.T) {
	type saved interface {
		vfs.FS
		Snapshot() vfs.Snapshot
		Restore(vfs.Snapshot) error
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	clock := func() time.Time { at = at.Add(time.Second); return at }
	base := vfs.NewMem(nil)
	if err := base.Give("/t/template.md", []byte("given")); err != nil {
		t.Fatal(err)
	}
	over := vfs.NewOverlay(base, clock)
	for name, pair := range map[string][2]saved{
		"mem":     {vfs.NewMem(clock), vfs.NewMem(nil)},
		"overlay": {over, vfs.NewOverlay(base, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := pair[0], pair[1]
			write(t, to, "/gone.md", "x")
			write(t, from, "/t/template.md", "changed")
			write(t, from, "/a/text.md", "é \u2028 <&> \x00")
			write(t, from, "/a/bytes", "\xff\xfe")
			write(t, from, "/a/empty", "")
			if err := from.Mkdir("/empty/folder"); err != nil {
				t.Fatal(err)
			}
			first, err := json.Marshal(from.Snapshot())
			if err != nil {
				t.Fatal(err)
			}
			var s vfs.Snapshot
			if err := json.Unmarshal(first, &s); err != nil {
				t.Fatal(err)
			}
			if err := to.Restore(s); err != nil {
				t.Fatal(err)
			}
			second, err := json.Marshal(to.Snapshot())
			if err != nil || !bytes.Equal(first, second) {
				t.Errorf("%v\n%s\n%s", err, first, second)
			}
			if got := read(t, to, "/a/bytes") + listPaths(t, to, "/empty"); got != "\xff\xfe/empty/folder/" {
				t.Errorf("%q", got)
			}
			if got := vfs.Documents(to); len(got) != 4 {
				t.Errorf("the documents are %v", got)
			}
			for _, bad := range []vfs.Entry{
				{Info: vfs.Info{Path: "relative"}}, {Info: vfs.Info{Path: "/x"}, Text: "a", Base64: "YQ=="}, {Info: vfs.Info{Path: "/x"}, Base64: "?"},
				{Info: vfs.Info{Path: "/a/empty/below"}}, {Info: vfs.Info{Path: "/a"}}, {Info: vfs.Info{Path: "/"}},
			} {
				broken := vfs.Snapshot{Entries: append(slices.Clone(s.Entries), bad)}
				if err := to.Restore(broken); err == nil || !strings.Contains(err.Error(), bad.Path) {
					t.Errorf("%+v: %v", bad, err)
				}
			}
			if third, _ := json.Marshal(to.Snapshot()); !bytes.Equal(first, third) {
				t.Errorf("a refused snapshot left\n%s", third)
			}
		})
	}
}

func TestDocumentsAreTheAgentsOwn(t *testing.T) {
	m := vfs.NewMem(nil)
	for _, name := range []string{"/.bmad-core/t.md", "/docs/given.md", "/docs/changed.md"} {
		if err := m.Give(name, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	write(t, m, "/docs/changed.md", "y")
	write(t, m, "/docs/a/new.md", "z")
	write(t, m, "/docs/a.md", "z")
	var got []string
	for _, info := range vfs.Documents(brokenFolder{m, "/.bmad-core"}) {
		got = append(got, info.Path)
	}
	if want := "/docs/a.md /docs/a/new.md /docs/changed.md"; strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
}

// brokenFolder has a folder that cannot be listed.
type brokenFolder struct {
	vfs.FS
	name string
}

func (b brokenFolder) List(name string) ([]vfs.Info, error) {
	if name == b.name {
		return nil, fs.ErrPermission
	}
	return b.FS.List(name)
}
