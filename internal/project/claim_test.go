package project_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// team is a shared store, and a person who works with it.
type team struct {
	t       *testing.T
	root    string
	state   trust.UserState
	environ []string
	known   []string
	address string // of the store, without the account; "" is the usual one
}

func newTeam(t *testing.T) *team {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &team{t: t, root: root, state: trust.UserState(filepath.Join(root, "state")), environ: []string{"BMAD_STORE=postgres://db/x"}}
}

// write writes a file of a folder, and returns the folder.
func (w *team) write(folder, name, text string) string {
	w.t.Helper()
	folder = filepath.Join(w.root, folder)
	name = filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return folder
}

// clone makes a repository with a remote.
func (w *team) clone(folder, remote string) string {
	w.t.Helper()
	w.write(folder, ".git/HEAD", "ref: refs/heads/main\n")
	w.write(folder, ".git/objects/x", "")
	w.write(folder, ".git/refs/x", "")
	return w.write(folder, ".git/config", "[remote \"origin\"]\n\turl = "+remote+"\n")
}

// open is the store of a place: a folder for each project.
func (w *team) open(place store.Place) (store.Backend, error) {
	name := filepath.Join(w.root, "store", workflow.Hash([]byte(place.Key)))
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	dir, err := durable.OpenDir(name)
	if err != nil {
		return nil, err
	}
	w.t.Cleanup(func() { _ = dir.Close() })
	return named{storetest.Files(dir), cmp.Or(w.address, "postgres://db/x")}, nil
}

// named is a store with an address.
type named struct {
	store.Backend
	address string
}

func (n named) Name() string { return strings.Replace(n.address, "//", "//ann@", 1) }

func (w *team) List() []string                        { return w.known }
func (w *team) Add(_ context.Context, f string) error { w.known = append(w.known, f); return nil }

func (w *team) finder() *project.Finder {
	return project.New(project.Options{Backend: w.open, Known: w, State: w.state, Settings: config.Source{Environ: w.environ, UserFolder: filepath.Join(w.root, "config")}})
}

// names returns the project that a folder shows, or the code of the refusal. A refused call has written nothing.
func (w *team) names(folder string) string {
	w.t.Helper()
	before := w.files()
	p, err := w.finder().Open(folder)
	if err != nil {
		if after := w.files(); !slices.Equal(after, before) {
			w.t.Errorf("%s: a refused call has written: %q, before %q", folder, after, before)
		}
		return string(fault.From(err).Code)
	}
	defer p.Close()
	return p.ID()
}

func (w *team) files() (names []string) {
	for _, pattern := range []string{"*", "*/*", "*/.bmad-task/*"} {
		found, _ := filepath.Glob(filepath.Join(w.root, pattern))
		names = append(names, found...)
	}
	return slices.DeleteFunc(names, func(name string) bool { return filepath.Base(filepath.Dir(name)) == "store" })
}

// start starts a run in a folder.
func (w *team) start(folder string) *workflow.Session {
	w.t.Helper()
	p, err := w.finder().Open(folder)
	if err != nil {
		w.t.Fatal(err)
	}
	defer p.Close()
	s := workflow.Default().NewSession(uuid.NewString(), "build", folder, "me", time.Now())
	if err := p.Backend.Create(context.Background(), s, storetest.Numbered("run")); err != nil {
		w.t.Fatal(err)
	}
	return s
}

const (
	payroll = "git@host.example:acme/payroll.git"
	refused = string(fault.NotAllowed)
)

// TestFolderShowsWhatItHasShown has the ways by which the files of a folder name the project of others.
func TestFolderShowsWhatItHasShown(t *testing.T) {
	for name, c := range map[string]struct {
		toy  func(w *team) string
		want string // "" is an id of its own
	}{
		"its file names it":                   {func(w *team) string { return w.write("toy", ".bmad-task/project", "host.example/acme/payroll\n") }, refused},
		"its file names one that is not here": {func(w *team) string { return w.write("toy", ".bmad-task/project", "host.example/acme/secret\n") }, refused},
		"its file, cut":                       {func(w *team) string { return w.write("toy", ".bmad-task/project", "host.example/acme/payroll") }, ""},
		"its file has the id of another": {func(w *team) string {
			return w.write("toy", ".bmad-task/project", w.names(w.write("alone", "x", ""))+"\n")
		}, refused},
		"its remote names it": {func(w *team) string { return w.clone("toy", payroll) }, refused},
		"in another form":     {func(w *team) string { return w.clone("toy", "https://me:s3cret@HOST.example:8443/acme/payroll") }, refused},
		"a folder of it":      {func(w *team) string { return w.write("toy/inside", "x", w.clone("toy", payroll)) }, refused},
		"a file for git names its repository": {func(w *team) string {
			return w.write("toy", ".git", "gitdir: "+filepath.Join(w.root, "pay", ".git")+"\n")
		}, refused},
		"its settings name it": {func(w *team) string {
			return w.write("toy", ".claude/bmad-task.yaml", "project: host.example/acme/payroll\n")
		}, ""},
		"a variable names it": {func(w *team) string {
			w.environ = append(w.environ, "BMAD_PROJECT=host.example/acme/payroll")
			return w.write("toy", "x", "")
		}, refused},
		"the person names it": {func(w *team) string {
			w.write("config", config.UserFile, "project: host.example/acme/payroll\n")
			return w.write("toy", "x", "")
		}, "host.example/acme/payroll"},
		"a variable has its runs in another store": {func(w *team) string {
			toy := w.clone("toy", "git@host.example:acme/toy.git")
			w.names(toy)
			w.address = "postgres://mallory/x"
			return toy
		}, refused},
		"its remote is that of nobody": {func(w *team) string { return w.clone("toy", "git@host.example:acme/toy.git") }, "host.example/acme/toy"},
		"settings that git would include": {func(w *team) string {
			w.write("toy", "more", "[remote \"origin\"]\n\turl = "+payroll+"\n")
			return w.clone("toy", "/srv/toy\n[include]\n\tpath = ../more\n[includeIf \"gitdir:/\"]\n\tpath = ../more\n[url \""+payroll+"\"]\n\tinsteadOf = /srv/toy")
		}, ""},
		"it was another": {func(w *team) string {
			toy := w.clone("toy", "git@host.example:acme/toy.git")
			w.names(toy)
			return w.clone("toy", "git@host.example:acme/more.git")
		}, refused},
		"it was one of its own": {func(w *team) string {
			toy := w.write("toy", "x", "")
			w.names(toy)
			return w.clone("toy", "git@host.example:acme/more.git")
		}, refused},
		"it is a repository no more": {func(w *team) string {
			toy := w.clone("toy", "git@host.example:acme/toy.git")
			w.names(toy)
			return w.clone("toy", "/srv/toy")
		}, refused},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeam(t)
			pay := w.clone("pay", payroll)
			if got := w.names(pay); got != "host.example/acme/payroll" {
				t.Fatal(got)
			}
			w.start(pay)
			toy := c.toy(w)
			got := w.names(toy)
			if c.want != "" && got != c.want || c.want == "" && (len(got) != 42 || w.names(toy) != got) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			w.environ, w.address = w.environ[:1], ""
			if got := w.names(pay); got != "host.example/acme/payroll" {
				t.Errorf("then payroll itself shows %q", got)
			}
		})
	}
}

// TestOwnIDs has folders without a remote, which have ids of their own.
func TestOwnIDs(t *testing.T) {
	w := newTeam(t)
	one := w.write("one", "x", "")
	id := w.names(one)
	w.start(one)
	two := w.write("two", ".bmad-task/project", id+"\n")
	if w.names(two) != refused {
		t.Error("a copied id shows the runs of another folder")
	}
	if err := os.RemoveAll(filepath.Join(one, ".bmad-task")); err != nil {
		t.Fatal(err)
	}
	if got := w.names(one); got != id {
		t.Errorf("once its file is gone, the folder shows %q, and %q before", got, id)
	}
	w.state = trust.UserState(filepath.Join(w.root, "other"))
	if w.names(two) != refused || w.names(one) != refused {
		t.Error("a machine that remembers nothing shows the runs of an id")
	}
	if got := w.names(w.write("new", ".bmad-task/project", "local:fresh\n")); got != "local:fresh" {
		t.Errorf("an id without runs: %q", got)
	}
	w.state = ""
	if w.names(two) != refused {
		t.Error("without a state folder the runs of an id are shown")
	}
	if got := w.names(w.clone("clone", payroll)); got != "host.example/acme/payroll" {
		t.Errorf("without a state folder, a remote: %q", got)
	}
	w.environ = nil
	if got := w.names(w.write("files", ".bmad-task/project", "host.example/acme/payroll\n")); got != "host.example/acme/payroll" {
		t.Errorf("in a store of files, as an older program has written it: %q", got)
	}
}

// TestSearchLeavesOutOthers: a folder that names the project of others keeps no run of a known folder from being found, and
// shows none.
func TestSearchLeavesOutOthers(t *testing.T) {
	w := newTeam(t)
	pay, toy := w.clone("pay", payroll), w.clone("toy", "git@host.example:acme/toy.git")
	s := w.start(pay)
	w.names(toy)
	w.clone("toy", payroll)
	w.known = []string{toy, pay}
	for _, at := range []project.Address{{Session: s.SessionID}, {Session: "run"}, {Places: []string{toy, pay}, Session: "run"}} {
		p, id, err := w.finder().Find(context.Background(), at)
		if err != nil || id != s.SessionID || p.Dir.Path() != pay {
			t.Errorf("%+v: got %q, %v", at, id, err)
			continue
		}
		p.Close()
	}
	if _, _, err := w.finder().Find(context.Background(), project.Address{Session: "nothing"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a run that there is not: %v", err)
	}
	for _, at := range []project.Address{{Cwd: toy}, {Cwd: toy, Session: "run"}, {Places: []string{toy}, Session: "run"}, {Places: []string{toy}}} {
		if _, _, err := w.finder().Find(context.Background(), at); !fault.Is(err, fault.NotAllowed) {
			t.Errorf("%+v: %v", at, err)
		}
	}
}
