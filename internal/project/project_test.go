package project_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// world is a folder of projects on the disk.
type world struct {
	t     *testing.T
	top   string
	known project.Known
	ids   int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, top: top, known: project.Known{Folder: filepath.Join(top, "state")}}
}

// at returns a path in the world.
func (w *world) at(name string) string { return filepath.Join(w.top, filepath.FromSlash(name)) }

// dir makes folders, write a file, link a symbolic link.
func (w *world) dir(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(w.at(name), 0o700); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	w.dir(filepath.Dir(name))
	if err := os.WriteFile(w.at(name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) link(to, name string) {
	w.t.Helper()
	if err := os.Symlink(w.at(to), w.at(name)); err != nil {
		w.t.Skip(err)
	}
}

// finder returns one with the world's known projects, confined as o says.
func (w *world) finder(o project.Options) *project.Finder {
	o.Known = w.known
	o.Backend = storetest.At
	return project.New(o)
}

// start starts a session in a folder and returns its id.
func (w *world) start(folder, task string) string {
	w.t.Helper()
	w.dir(folder)
	f := w.finder(project.Options{})
	p, err := f.Open(w.at(folder))
	if err != nil {
		w.t.Fatal(err)
	}
	defer p.Close()
	w.ids++
	id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", w.ids)
	s := workflow.Default().NewSession(id, task, p.Dir.Path(), "a test", time.Unix(int64(w.ids), 0))
	names := store.Names{Candidate: func(int) string { return task }, Taken: func(string) bool { return false }}
	if err := p.Backend.Create(w.t.Context(), s, names); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Remember(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	return id
}

// TestFind finds the run of a call by its folder, its places and the known projects.
func TestFind(t *testing.T) {
	w := newWorld(t)
	relay, clock, twin := w.start("a", "relay"), w.start("b", "clock"), w.start("c", "relay")
	w.dir("empty", "many")
	w.link("a", "alias")
	for n := range 12 {
		w.start("many", fmt.Sprintf("task-%02d", n))
	}
	w.write("broken/.claude/bmad-task.yaml", "nonsense: 1\n")
	broken := w.start("late", "late")
	w.write("late/.claude/bmad-task.yaml", "nonsense: 1\n")
	a, b, c := w.at("a"), w.at("b"), w.at("c")
	for name, tt := range map[string]struct {
		at      project.Address
		in, id  string
		code    fault.Code
		message string // a part of error and hint
	}{
		"by folder and name":           {at: project.Address{Cwd: a, Session: "relay"}, in: a, id: relay},
		"by folder and id":             {at: project.Address{Cwd: c, Session: twin}, in: c, id: twin},
		"by folder, of another":        {at: project.Address{Cwd: a, Session: "clock"}, code: fault.NotFound, message: "clock"},
		"by place":                     {at: project.Address{Places: []string{w.at("gone"), "relative", b, a}, Session: "relay"}, in: a, id: relay},
		"the likeliest place wins":     {at: project.Address{Places: []string{c, a}, Session: "relay"}, in: c, id: twin},
		"known by name":                {at: project.Address{Session: "clock"}, in: b, id: clock},
		"known by id":                  {at: project.Address{Places: []string{w.at("empty")}, Session: relay}, in: a, id: relay},
		"known twice":                  {at: project.Address{Session: "relay"}, code: fault.Conflict, message: c + " and " + a},
		"known, with invalid settings": {at: project.Address{Session: broken}, code: fault.InvalidArgument, message: "nonsense"},
		"nowhere":                      {at: project.Address{Places: []string{a}, Session: "cloc"}, code: fault.NotFound, message: "status without a run lists"},
		"the only active":              {at: project.Address{Cwd: b}, in: b, id: clock},
		"the first place that exists":  {at: project.Address{Places: []string{w.at("gone"), b, a}}, in: b, id: clock},
		"through a link":               {at: project.Address{Cwd: w.at("alias")}, in: w.at("alias"), id: relay},
		"none active":                  {at: project.Address{Cwd: w.at("empty")}, code: fault.NotFound, message: "has no active run"},
		"none active, and none needed": {at: project.Address{Cwd: w.at("empty"), Optional: true}, in: w.at("empty")},
		"several active":               {at: project.Address{Cwd: w.at("many")}, code: fault.Conflict, message: "has 12 active runs: pass session_id; the task names are: task-02, task-03, task-04, task-05, task-06, task-07, task-08, task-09, task-10, task-11, …"},
		"several, and none needed":     {at: project.Address{Cwd: w.at("many"), Optional: true}, in: w.at("many")},
		"no folder at all":             {at: project.Address{Places: []string{w.at("gone")}}, code: fault.InvalidArgument, message: "it is not clear which project"},
		"a missing folder":             {at: project.Address{Cwd: w.at("gone")}, code: fault.InvalidArgument, message: "does not exist"},
		"a file":                       {at: project.Address{Cwd: w.at("late/.claude/bmad-task.yaml")}, code: fault.InvalidArgument, message: "is not a folder"},
		"a relative folder":            {at: project.Address{Cwd: "a"}, code: fault.InvalidArgument, message: "not an absolute path"},
	} {
		p, id, err := w.finder(project.Options{}).Find(t.Context(), tt.at)
		if tt.code != "" {
			if text := fmt.Sprintf("%v: %s", err, hint(err)); !fault.Is(err, tt.code) || !strings.Contains(text, tt.message) || p != nil {
				t.Errorf("%s: got %s, want %s with %q", name, text, tt.code, tt.message)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Dir.Path() != tt.in || id != tt.id {
			t.Errorf("%s: got %q in %s, want %q in %s", name, id, p.Dir.Path(), tt.id, tt.in)
		}
		p.Close()
	}
}

func hint(err error) string {
	if err == nil {
		return ""
	}
	return fault.From(err).Hint
}

// TestFindOneUnderTwoPaths: a project that is known by two paths is one project.
func TestFindOneUnderTwoPaths(t *testing.T) {
	w := newWorld(t)
	id := w.start("a", "relay")
	w.link("a", "alias")
	list := fmt.Sprintf(`{"projects":[%q,%q,%q]}`, w.at("gone"), w.at("alias"), w.at("a"))
	w.write("state/projects.json", list)
	p, found, err := w.finder(project.Options{}).Find(t.Context(), project.Address{Session: "relay"})
	if err != nil || found != id {
		t.Fatalf("got %q, %v; want %q", found, err, id)
	}
	p.Close()
}

// TestConfined opens folders through finders that serve only some.
func TestConfined(t *testing.T) {
	w := newWorld(t)
	w.dir("srv/one/sub", "outside")
	w.link("outside", "srv/out")
	w.link("srv/one", "in")
	roots := w.finder(project.Options{Within: []string{w.at("srv")}})
	reached := w.finder(project.Options{Reach: reach.New(reach.Options{
		Rules: reach.NewRules([]string{w.at("home")}, nil), Opened: []reach.Place{{Folder: w.at("srv")}},
	})})
	for name, want := range map[string]bool{
		"srv": true, "srv/one": true, "srv/one/sub": true, "in": true, "srv/gone": false,
		"srv/out": false, "outside": false, "outside/gone": false, "srv/../outside": false, "srv2": false,
	} {
		for kind, f := range map[string]*project.Finder{"roots": roots, "reach": reached} {
			if got := f.Serves(w.at(name)); got != want {
				t.Errorf("%s: %s is served: got %v, want %v", kind, name, got, want)
			}
			p, err := f.Open(w.at(name))
			if (err == nil) != want {
				t.Errorf("%s: open %s: got %v, want it opened: %v", kind, name, err, want)
			}
			if err == nil {
				p.Close()
			}
		}
	}
	// A refusal does not tell whether the folder exists.
	for kind, f := range map[string]*project.Finder{"roots": roots, "reach": reached} {
		text := func(name string) string {
			_, err := f.Open(w.at(name))
			if !fault.Is(err, fault.NotAllowed) {
				t.Errorf("%s: %s: got %v, want it refused", kind, name, err)
			}
			return strings.ReplaceAll(fmt.Sprint(err, hint(err)), w.at(name), "DIR")
		}
		if there, gone := text("outside"), text("nowhere"); there != gone {
			t.Errorf("%s: got %q for an existing folder and %q for a missing one", kind, there, gone)
		}
	}
}

// TestServedProjects lists the projects of a server with roots.
func TestServedProjects(t *testing.T) {
	w := newWorld(t)
	w.start("srv/deep/er/known", "one")
	w.start("elsewhere", "two")
	for n := range 10 {
		w.dir(fmt.Sprintf("srv/p%d/.git", n))
	}
	w.dir("srv/p1/nested/.git", "srv/.hidden/.git", "srv/node_modules/.git", "srv/deep/er/too/deep/.git")
	f := w.finder(project.Options{Within: []string{w.at("srv")}})
	if got, want := strings.Join(f.List(), " "), w.at("srv")+" "+w.at("srv/deep/er/known"); got != want {
		t.Errorf("listed: got %s, want %s", got, want)
	}
	want := []string{w.at("srv/deep/er/known")}
	for n := range 7 {
		want = append(want, w.at(fmt.Sprintf("srv/p%d", n)))
	}
	if got := f.Some(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("some: got %v, want %v", got, want)
	}
	if _, err := f.Where(project.Address{}); !strings.Contains(hint(err), "in "+w.at("srv")+"; projects there: "+want[0]) {
		t.Errorf("got %v (%s), want the projects named", err, hint(err))
	}
	if got := strings.Join(w.finder(project.Options{}).List(), " "); got != w.at("elsewhere")+" "+w.at("srv/deep/er/known") {
		t.Errorf("without roots: got %s, want all known projects", got)
	}
}

// TestDetect tells projects from folders of projects.
func TestDetect(t *testing.T) {
	w := newWorld(t)
	w.dir("repo/.git", "repo/lib/.git", "all/x/.git", "all/y", "mixed/.bmad-task", "mixed/x/.git", "run/.bmad-task/names", "run/sub/deep", "plain",
		"big/.bmad-task", "big/nested/.git", "big/own/.bmad-task", "big/own/sub", "big/worktree/sub", "big/module/sub", "big/pkg")
	w.write("module/go.mod", "module x\n")
	w.write("big/pkg/package.json", "{}")
	w.write("big/worktree/.git", "gitdir: /x/.git/worktrees/worktree\n")
	w.write("big/module/.git", "gitdir: ../.git/modules/module\n")
	w.write("big/file", "x")
	for name, want := range map[string]struct {
		is, holds bool
		nearest   string
	}{
		"repo":         {true, false, "repo"},
		"module":       {true, false, "module"},
		"all":          {false, true, "all"},
		"mixed":        {false, false, "mixed"},
		"run":          {true, false, "run"},
		"run/sub/deep": {false, false, "run"},
		"big/nested":   {true, false, "big"}, "big/pkg": {true, false, "big"}, "big/module/sub": {false, false, "big"},
		"big/own": {true, false, "big/own"}, "big/own/sub": {false, false, "big/own"},
		"big/worktree": {true, false, "big/worktree"}, "big/worktree/sub": {false, false, "big/worktree/sub"},
		"big/gone": {false, false, "big/gone"}, "big/file": {false, false, "big/file"},
		"plain": {false, false, "plain"},
		"gone":  {false, false, "gone"},
	} {
		at := w.at(name)
		if is, holds, nearest := project.Is(at), project.Holds(at), project.Nearest(at); is != want.is || holds != want.holds || nearest != w.at(want.nearest) {
			t.Errorf("%s: got %v, %v, %s; want %+v", name, is, holds, nearest, want)
		}
	}
}

// TestNearestHasBorders looks for a project above a folder up to the home folder and the one for temporary files.
func TestNearestHasBorders(t *testing.T) {
	w := newWorld(t)
	w.dir("all/.bmad-task", "all/home/.bmad-task", "all/home/src/a", "all/tmp/.bmad-task", "all/tmp/b", "all/home/app/.bmad-task", "all/home/app/c", "all/home/clone/svc")
	w.write("all/home/clone/.claude/bmad-task.yaml", "gate: strict\n") // as cloned, without sessions
	t.Setenv("HOME", w.at("all/home"))
	t.Setenv("TMPDIR", w.at("all/tmp"))
	for folder, want := range map[string]string{
		"all/home/src/a": "all/home/src/a", "all/home": "all/home", "all/tmp/b": "all/tmp/b", "all/home/app/c": "all/home/app", "all": "all",
		"all/home/clone/svc": "all/home/clone",
	} {
		if got := project.Nearest(w.at(folder)); got != w.at(want) && runtime.GOOS != "windows" {
			t.Errorf("%s: %s, want %s", folder, got, want)
		}
	}
}

// TestFolderInAProject opens the project above a folder for every kind of address, within the roots of a server, and only
// if it may be used.
func TestFolderInAProject(t *testing.T) {
	w := newWorld(t)
	w.dir("p/.bmad-task", "p/apps/web")
	web := w.at("p/apps/web")
	for name, tt := range map[string]struct {
		options project.Options
		at      project.Address
		want    string
	}{
		"cwd":            {project.Options{}, project.Address{Cwd: web}, "p"},
		"a place":        {project.Options{}, project.Address{Places: []string{web}}, "p"},
		"served whole":   {project.Options{Within: []string{w.at("p")}}, project.Address{Cwd: web}, "p"},
		"served by part": {project.Options{Within: []string{w.at("p/apps")}}, project.Address{Cwd: web}, "p/apps/web"},
		"reached":        {project.Options{Reach: reach.New(reach.Options{Opened: []reach.Place{{Folder: w.at("p")}}})}, project.Address{Places: []string{web}}, "p"},
		"out of reach":   {project.Options{Reach: reach.New(reach.Options{Opened: []reach.Place{{Folder: web}}})}, project.Address{Places: []string{web}}, ""},
	} {
		got := ""
		p, err := w.finder(tt.options).At(tt.at)
		if err == nil {
			got = p.Dir.Path()
			p.Close()
		}
		if tt.want == "" {
			if !fault.Is(err, fault.NotAllowed) || !strings.Contains(hint(err), "projects add "+w.at("p")) {
				t.Errorf("%s: %s, %v (%s)", name, got, err, hint(err))
			}
		} else if got != w.at(tt.want) || err != nil {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
		}
	}
}

// TestForeignPaths refuses paths that no folder of this machine can have, and makes none.
func TestForeignPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("they are paths of Windows")
	}
	w := newWorld(t)
	for cwd, want := range map[string]string{
		`C:\Users\me\proj`: "/mnt/c/Users/me/proj", "c:/Users/me": "/mnt/c/Users/me", "D:": "/mnt/d/", "C:proj": "/mnt/c/proj", "/C:/x": "/mnt/c/x",
		"file:///C:/x": "/mnt/c/x", "file:///c%3A/x": "/mnt/c/x", `\\wsl$\Ubuntu\home\me`: "is /home/me", `\\wsl.localhost\Debian\srv`: "is /srv",
		"//wsl$/Ubuntu/home/me": "is /home/me", `\\wsl$\Ubuntu`: "leave cwd out", `\\server\share`: "leave cwd out", `\home\me`: "leave cwd out", `%USERPROFILE%\x`: "leave cwd out", `a\b`: "leave cwd out",
		"apps/web": "leave cwd out", ".": "leave cwd out", "..": "leave cwd out", "$HOME/x": "leave cwd out", "${workspaceFolder}": "leave cwd out", "~x": "leave cwd out",
	} {
		_, err := w.finder(project.Options{}).Open(cwd)
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(hint(err), want) {
			t.Errorf("%s: %v (%s), want %s", cwd, err, hint(err), want)
		}
	}
	if made, _ := os.ReadDir(w.top); len(made) > 0 {
		t.Errorf("made: %v", made)
	}
}

// TestReadDocument takes documents from regular files of the project only.
func TestReadDocument(t *testing.T) {
	w := newWorld(t)
	w.write("p/docs/prd.md", "# PRD")
	w.write("p/big.md", strings.Repeat("x", project.MaxDocument+1))
	w.write("secret.md", "SECRET")
	w.link("secret.md", "p/link.md")
	w.link("p/docs", "p/folder")
	w.link("p", "alias")
	p, err := w.finder(project.Options{}).Open(w.at("p"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for name, tt := range map[string]struct{ given, local, want string }{
		"relative":               {"docs/prd.md", "docs/prd.md", ""},
		"unclean":                {"./docs/../docs/prd.md", "docs/prd.md", ""},
		"absolute":               {w.at("p/docs/prd.md"), "docs/prd.md", ""},
		"by another path":        {w.at("alias/docs/prd.md"), "docs/prd.md", ""},
		"missing":                {"docs/none.md", "docs/none.md", "does not exist"},
		"a folder":               {"docs", "docs", "is not a regular file"},
		"the project":            {".", ".", "is not a regular file"},
		"a link":                 {"link.md", "link.md", "leads through the symbolic link link.md"},
		"in a linked folder":     {"folder/prd.md", "folder/prd.md", "leads through the symbolic link folder"},
		"above":                  {"../secret.md", "../secret.md", "is not inside the project"},
		"elsewhere":              {w.at("secret.md"), "../secret.md", "is not inside the project"},
		"elsewhere, and missing": {w.at("none/none.md"), filepath.ToSlash(w.at("none/none.md")), "is not inside the project"},
		"too large":              {"big.md", "big.md", "has 5242881 bytes; at most 5242880 are accepted"},
	} {
		if got := p.Local(tt.given); got != tt.local {
			t.Errorf("%s: local path: got %q, want %q", name, got, tt.local)
		}
		text, err := p.ReadDocument("claude_result_path", tt.given)
		if tt.want == "" && (err != nil || text != "# PRD") || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || hint(err) == "") {
			t.Errorf("%s: got %q, %v; want %q", name, text, err, tt.want)
		}
	}
}

// TestFingerprint changes with the work, and with nothing else.
func TestFingerprint(t *testing.T) {
	w := newWorld(t)
	w.write("p/main.go", "package main")
	p, err := w.finder(project.Options{}).Open(w.at("p"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	report := time.Unix(2_000_000_000, 0)
	documents := map[string]time.Time{}
	before, same := p.Fingerprint(documents, report)
	if before == "" || same != before {
		t.Fatalf("got %q and %q, want one fingerprint", before, same)
	}
	for _, name := range []string{".bmad-task/x", ".git/index", "node_modules/a/b.js", "web/dist/out.js", "lib/__pycache__/a.pyc"} {
		w.write("p/"+name, "tool")
		if now, _ := p.Fingerprint(documents, report); now != before {
			t.Errorf("%s changed the fingerprint", name)
		}
	}
	// A report that is handed in for the first time was work to the fingerprint before.
	w.write("p/report.md", "done")
	written := report.Add(-time.Hour)
	if err := os.Chtimes(w.at("p/report.md"), written, written); err != nil {
		t.Fatal(err)
	}
	atReport, _ := p.Fingerprint(documents, report)
	if atReport == before {
		t.Error("a new file did not change the fingerprint")
	}
	documents["report.md"] = report.Add(time.Hour)
	if now, same := p.Fingerprint(documents, report); now != before || same != atReport {
		t.Errorf("got %q and %q, want %q without the report and %q as it was", now, same, before, atReport)
	}
	documents["report.md"] = report.Add(-time.Minute)
	if _, same := p.Fingerprint(documents, report); same != before {
		t.Error("a report that had been handed in before counted as work")
	}
	w.write("p/main.go", "package main // changed")
	if now, _ := p.Fingerprint(documents, report); now == before {
		t.Error("a changed file did not change the fingerprint")
	}
}

// TestOwnFolders reads a project's prompts and rubrics.
func TestOwnFolders(t *testing.T) {
	w := newWorld(t)
	w.dir("p")
	f := w.finder(project.Options{})
	ready := func() error { return f.Ready(project.Address{Cwd: w.at("p")}) }
	rubric := func() *project.Rubric {
		t.Helper()
		p, err := f.Open(w.at("p"))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		own, err := p.Rubric(workflow.Default().First())
		if err != nil {
			t.Fatal(err)
		}
		return own
	}
	if own := rubric(); own != nil {
		t.Errorf("without a folder: got %+v, want none", own)
	}
	if err := ready(); err != nil {
		t.Errorf("without own files: %v", err)
	}
	w.write("p/.claude/bmad-rubrics/po.yaml", "not: [a rubric")
	own := rubric()
	if own == nil || own.Path != w.at("p/.claude/bmad-rubrics/po.yaml") {
		t.Fatalf("got %+v", own)
	}
	if _, err := own.Parse(workflow.Default()); err == nil {
		t.Error("an invalid rubric was parsed")
	}
	if err := ready(); err == nil || !strings.Contains(err.Error(), "po.yaml") {
		t.Errorf("got %v, want the rubric named", err)
	}
	w.write("p/.claude/bmad-prompts/dev.md", "---\nstage: qa\ntitle: Dev\n---\nx\n")
	if err := ready(); err == nil || !strings.Contains(err.Error(), "dev.md") && !strings.Contains(err.Error(), "po.yaml") {
		t.Errorf("got %v, want the prompt file named", err)
	}
}
