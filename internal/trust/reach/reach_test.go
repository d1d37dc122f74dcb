package reach_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
)

// world is a home with projects and credentials, on the disk.
type world struct {
	t             *testing.T
	home, outside string
	known         []reach.Place
	remembered    []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: filepath.Join(top, "home", "ana"), outside: filepath.Join(top, "outside")}
	for _, name := range []string{"src/relay/sub", "src/Other", ".ssh", ".config/gh", ".config/nvim", ".dotfiles", "Documents"} {
		w.mkdir(filepath.Join(w.home, name))
	}
	w.mkdir(w.outside)
	return w
}

func (w *world) mkdir(name string) {
	w.t.Helper()
	if err := os.MkdirAll(name, 0o700); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(to, name string) string {
	w.t.Helper()
	if err := os.Symlink(to, name); err != nil {
		w.t.Skip(err)
	}
	return name
}

func (w *world) reach(opened ...string) *reach.Reach {
	o := reach.Options{
		Rules:      reach.NewRules([]string{w.home}, nil),
		Remembered: func() []reach.Place { return w.known },
		Remember: func(_ context.Context, folder string) error {
			w.remembered = append(w.remembered, folder)
			return nil
		},
	}
	for _, folder := range opened {
		o.Opened = append(o.Opened, reach.Place{Folder: folder})
	}
	return reach.New(o)
}

func (w *world) at(name string) string { return filepath.Join(w.home, filepath.FromSlash(name)) }

// expect checks which folders may be used.
func (w *world) expect(r *reach.Reach, want map[string]bool) {
	w.t.Helper()
	for name, may := range want {
		spot, err := r.Find(name)
		if (err == nil) != may {
			w.t.Errorf("%s: %v, want %v", name, err, may)
		}
		if err != nil && (!errors.Is(err, reach.ErrOutside) || spot != (reach.Spot{})) {
			w.t.Errorf("%s: %v, %v", name, spot, err)
		}
	}
}

func TestFind(t *testing.T) {
	w := newWorld(t)
	relay := w.at("src/relay")
	toKeys := w.link(w.at(".ssh"), filepath.Join(relay, "keys"))
	toNothing := w.link(w.at(".aws"), filepath.Join(relay, "cloud"))
	up := w.link("../..", filepath.Join(relay, "up"))
	alias := w.link(relay, filepath.Join(w.outside, "alias"))
	loop := w.link("loop", filepath.Join(relay, "loop"))
	w.expect(w.reach(relay), map[string]bool{
		relay: true, filepath.Join(relay, "sub"): true, relay + "/sub/..": true, relay + "/": true, alias: true, filepath.Join(alias, "sub"): true,
		filepath.Join(relay, "not", "there"): true, loop: true, // it is the opening that fails
		toKeys: false, toNothing: false, filepath.Join(toNothing, "x"): false, up: false, filepath.Join(up, "Documents"): false,
		w.at("src"): false, w.at("src/Other"): false, w.at("src/relay2"): false, w.home: false, w.at(".ssh"): false, w.at(".."): false,
		"/": false, "": false, ".": false, "src/relay": false, "~": false, "~/src/relay": false, relay + "\x00": false, "file://" + relay: false,
		relay + "/../../.ssh": false, relay + "/up/../../.ssh": false, "/proc/self/root" + w.at(".ssh"): false, "/proc/self/cwd/../..": false,
	})
	// Every way of writing a path that is not the project's.
	keys := w.at(".ssh")
	for _, name := range []string{
		w.home + "/", w.home + "/.", filepath.Dir(filepath.Dir(w.home)), filepath.VolumeName(w.home) + "//", "/..", "/./.",
		keys + "/", keys + "/.", keys + "/not-there", keys + "/../.ssh", "//" + strings.TrimLeft(keys, "/"), strings.ReplaceAll(keys, "/", "//"), keys + ".", keys + " ", w.at(".SSH"), strings.ToUpper(keys), w.at(".ſsh"),
		relay + "/..", relay + "/../Other", relay + "/sub/../../../Documents", toKeys + "/", toKeys + "/.", toKeys + "/../keys", filepath.Join(toKeys, "not-there"),
		"/proc/self/root", "/proc/self/cwd/keys", "/proc/1/root" + w.home, "/proc/self/fd/0", "/dev/fd", "/etc", "/proc", "/sys", "/dev", "/root", "/home", "/var/lib", os.TempDir(),
		"~ana/.ssh", "$HOME/.ssh", "${HOME}", "%USERPROFILE%", "file:" + keys, "FILE:///" + w.home, "..", "./", "../../.ssh", ".ssh", "relative",
		keys + "\x00", relay + "\x00/../../.ssh", relay + "\n" + keys, keys + "\r", "\ufeff" + keys, `\\localhost\c$`, `C:\Users\ana\.ssh`, `C:.ssh`, `\\?\` + keys,
		strings.Repeat("/..", 100) + keys, relay + strings.Repeat("/sub/..", 200) + "/keys", "/" + strings.Repeat("x", 5000),
	} {
		w.expect(w.reach(relay), map[string]bool{name: false})
	}
	w.expect(w.reach(w.home, filepath.Dir(w.home), "/", w.at(".ssh"), w.at(".config"), w.at(".config/gh"), toKeys, "relative"), map[string]bool{
		relay: false, w.home: false, w.at(".ssh"): false, w.at(".config/nvim"): false, w.at(".config/gh"): false, w.at("Documents"): false,
	})
	w.expect(w.reach(w.at(".dotfiles"), w.at(".config/nvim")), map[string]bool{w.at(".dotfiles/vim"): true, w.at(".config/nvim"): true, w.at(".config"): false})
}

// TestRoots checks that a folder counts for as long as the host has it open.
func TestRoots(t *testing.T) {
	w := newWorld(t)
	r := w.reach()
	relay := w.at("src/relay")
	w.expect(r, map[string]bool{relay: false})
	link := w.link(relay, filepath.Join(w.outside, "root"))
	r.SetRoots([]string{link, w.home, w.at(".ssh")})
	w.expect(r, map[string]bool{relay: true, link: true, w.home: false, w.at(".ssh"): false, w.at("Documents"): false})
	// A root that becomes a link elsewhere does not take the reach with it.
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	w.link(w.at("Documents"), link)
	w.expect(r, map[string]bool{relay: true, link: false})
	r.SetRoots(nil)
	w.expect(r, map[string]bool{relay: false})
}

// TestRemembered checks that recorded folders count if the rules let them, and only as the folders
// that were recorded.
func TestRemembered(t *testing.T) {
	w := newWorld(t)
	state := filepath.Join(w.outside, "state")
	link := w.link(w.at("src/Other"), filepath.Join(w.outside, "became"))
	old := w.link(w.at("src/relay"), filepath.Join(w.outside, "old"))
	w.known = []reach.Place{
		{Folder: w.home, By: reach.Known, Record: state}, {Folder: "/", By: reach.Known, Record: state}, {Folder: w.at(".ssh"), By: reach.Listed, Record: state},
		{Folder: link, By: reach.Known, Real: true, Record: state},
		{Folder: old, By: reach.Known, Record: state},
		{Folder: w.at(".dotfiles"), By: reach.Asked, Record: state},
		{Folder: w.at(".config/nvim"), By: reach.Listed, Record: state},
	}
	want := map[string]bool{
		w.home: false, w.at(".ssh"): false, w.at("Documents"): false, link: false, w.at("src/Other"): false,
		old: true, w.at("src/relay/sub"): true, w.at(".dotfiles"): false, w.at(".config/nvim"): true,
	}
	w.expect(w.reach(), want)
	// A record that an assistant may write is not the person's word.
	w.expect(w.reach(w.outside), map[string]bool{w.at("src/relay"): false, w.at(".config/nvim"): false, filepath.Join(w.outside, "x"): true})
}

// TestAllow checks that an answer is for the folder in question and all folders below it.
func TestAllow(t *testing.T) {
	w := newWorld(t)
	r := w.reach(w.at("src/relay"))
	ctx := context.Background()
	for _, name := range []string{w.home, w.at(".ssh"), w.at(".dotfiles"), w.at(".none"), "/", "/etc", "/proc/1", "relative", "", filepath.Dir(w.home), w.at("a\nb"), w.at("a\u202eb"), w.at("a\u200bb")} {
		if real, ok := r.Askable(name); ok {
			t.Errorf("the person would be asked about %q as %q", name, real)
		}
	}
	real, ok := r.Askable(filepath.Join(w.home, "src", "relay", "..", "Other"))
	if !ok || real != w.at("src/Other") {
		t.Fatalf("%q, %v", real, ok)
	}
	if counts, err := r.Allow(ctx, real); !counts || err != nil || len(w.remembered) != 1 || w.remembered[0] != real {
		t.Fatalf("%v, %v", err, w.remembered)
	}
	w.expect(r, map[string]bool{w.at("src/Other"): true, w.at("src/Other/sub"): true, w.at("src"): false, w.at("src/Another"): false, w.at("Documents"): false})
	// One that is not there, or has become a link while the form was open, is not allowed.
	for _, name := range []string{w.at("src/none"), w.link(w.at("Documents"), w.at("src/swapped"))} {
		if counts, err := r.Allow(ctx, name); counts || err != nil || len(w.remembered) != 1 {
			t.Errorf("%s: %v, %v", name, err, w.remembered)
		}
	}
	w.expect(r, map[string]bool{w.at("src/none"): false, w.at("src/swapped"): false, w.at("Documents"): false})
	r.Deny(w.at("Documents"))
	if _, ok := r.Askable(w.at("Documents")); ok {
		t.Error("the person is asked again")
	}
}

// TestRefusalTellsNothing checks that a refusal depends neither on whether a folder is there nor on
// the targets of links.
func TestRefusalTellsNothing(t *testing.T) {
	w := newWorld(t)
	r := w.reach(w.at("src/relay"))
	link := w.link(w.at(".ssh"), w.at("src/relay/keys"))
	words := func(name, as string) string {
		_, err := r.Find(name)
		if err == nil {
			t.Fatalf("%s may be used", name)
		}
		return strings.ReplaceAll(err.Error(), name, as)
	}
	for _, pair := range [][2]string{
		{w.at("Documents"), w.at("Nothing")}, {w.at(".ssh"), w.at(".ssh/not-there")},
		{link, w.at("src/none")}, {w.outside, filepath.Join(w.outside, "none")},
	} {
		if a, b := words(pair[0], "X"), words(pair[1], "X"); a != b {
			t.Errorf("%s and %s are told apart:\n%s\n%s", pair[0], pair[1], a, b)
		}
	}
}

// TestCase checks that case makes a difference only if it makes one on the disk.
func TestCase(t *testing.T) {
	w := newWorld(t)
	upper := filepath.Join(w.home, "SRC", "RELAY")
	_, err := os.Stat(upper)
	insensitive := err == nil
	if insensitive != (runtime.GOOS == "darwin" || runtime.GOOS == "windows") {
		t.Logf("case makes a difference: %v, on %s", !insensitive, runtime.GOOS)
	}
	w.expect(w.reach(w.at("src/relay")), map[string]bool{upper: insensitive, w.at(".SSH"): false, w.at(".Config/GH"): false})
}
