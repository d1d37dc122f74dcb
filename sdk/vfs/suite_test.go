package vfs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
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

func onAll(t *testing.T, test func(t *testing.T, fsys vfs.FS)) {
	t.Helper()
	for name, open := range backends {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func write(t testing.TB, fsys vfs.FS, name, text string) {
	t.Helper()
	if err := fsys.Write(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, fsys vfs.FS, name string) string {
	t.Helper()
	data, err := fsys.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// listPaths returns the paths in a folder; those of folders end in a slash.
func listPaths(t testing.TB, fsys vfs.FS, name string) string {
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

func TestFilesAreReadAsWritten(t *testing.T) {
	onAll(t, func(t *testing.T, fsys vfs.FS) {
		for _, data := range []string{"", "a", "é\n", "\x00\xff", strings.Repeat("x", vfs.MaxFile)} {
			write(t, fsys, "/a/b/c.md", data)
			if got := read(t, fsys, "/a/b/c.md"); got != data {
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
		if text := read(t, fsys, "/own.md"); text != "mine" {
			t.Errorf("a caller's bytes changed the file to %q", text)
		}
	})
}

func TestFoldersAreListed(t *testing.T) {
	onAll(t, func(t *testing.T, fsys vfs.FS) {
		if got := listPaths(t, fsys, "/"); got != "" {
			t.Fatalf("a new one has %q", got)
		}
		for _, name := range []string{"/b.md", "/a/x.md", "/a.md", "/a/sub/y.md", "/.hidden"} {
			write(t, fsys, name, "x")
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
			if got := listPaths(t, fsys, dir); got != want {
				t.Errorf("%s: %q, want %q", dir, got, want)
			}
		}
		for _, dir := range []string{"/", "/a", "/empty/deep"} {
			if info, err := fsys.Stat(dir); err != nil || !info.Dir || info.Path != dir || info.Size != 0 {
				t.Errorf("%s: %+v, %v", dir, info, err)
			}
		}
	})
}

func TestWhatIsNotThere(t *testing.T) {
	onAll(t, func(t *testing.T, fsys vfs.FS) {
		write(t, fsys, "/a.md", "x")
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
	})
}

func TestFilesAndFoldersDoNotReplaceEachOther(t *testing.T) {
	onAll(t, func(t *testing.T, fsys vfs.FS) {
		write(t, fsys, "/d/f.md", "x")
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
		if got := listPaths(t, fsys, "/") + listPaths(t, fsys, "/d") + read(t, fsys, "/d/f.md"); got != "/d//d/f.mdx" {
			t.Errorf("refused calls left %q", got)
		}
	})
}

func TestPathsAreInsideHoweverWritten(t *testing.T) {
	for name, want := range map[string]string{
		"/": "/", "//": "/", "/a/../b": "/b", "//x": "/x", "/../etc/x": "/etc/x", "/a/./b/": "/a/b", "/../../..": "/", "/...": "/...", "/a b": "/a b", "/é": "/é",
	} {
		if got, err := vfs.Clean(name); err != nil || got != want {
			t.Errorf("Clean(%q) = %q, %v", name, got, err)
		}
	}
	long := "/" + strings.Repeat("é/", 1000)
	onAll(t, func(t *testing.T, fsys vfs.FS) {
		write(t, fsys, "/x/../../etc/p", "inside")
		if got := read(t, fsys, "//etc//./p"); got != "inside" {
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
		if got := listPaths(t, fsys, "/"); got != "/etc/" {
			t.Errorf("refused calls left %q", got)
		}
	})
}

func TestAFileHasALimit(t *testing.T) {
	large := make([]byte, vfs.MaxFile+1)
	onAll(t, func(t *testing.T, fsys vfs.FS) {
		if err := fsys.Write("/new/large", large); err == nil || !strings.Contains(err.Error(), "4194304") {
			t.Errorf("%v", err)
		}
		if got := listPaths(t, fsys, "/"); got != "" {
			t.Errorf("it left %q", got)
		}
	})
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

func TestCallsAtTheSameTime(t *testing.T) {
	onAll(t, func(t *testing.T, fsys vfs.FS) {
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
		if got := listPaths(t, fsys, "/"); got != "/d0/ /d1/ /d2/ /d3/ /made/ /shared.md" {
			t.Errorf("%q", got)
		}
	})
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
