package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// marker stands in every file that no caller may see.
const marker = "SECRET-7f3a"

// account is a person's home with projects, keys and an installation of the BMAD method where
// none may be read, on the disk.
type account struct {
	t *testing.T
	// top holds all of it, home is the person's, project the folder that their host has open.
	top, home, project string
}

// keptPrivate are the folders of an account that nobody may be let into.
var keptPrivate = []string{".", ".ssh", ".aws", ".gnupg", ".config/gh", ".config", "Private", "Private/deep", ".hidden", "../../elsewhere"}

// newAccount makes an account. Whatever a caller could ask for is in its private folders, which
// are those of keptPrivate by default: sessions with documents, and agents.
func newAccount(t *testing.T, private ...string) *account {
	t.Helper()
	top, err := filepath.EvalSymlinks(scratch.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	a := &account{t: t, top: top, home: filepath.Join(top, "home", "ana")}
	a.project = a.at("src/relay")
	for _, name := range []string{"src/relay/sub", "src/Other", "src/gone", ".config/nvim", ".dotfiles", "empty", "Private", ".ssh"} {
		a.mkdir(a.at(name))
	}
	if len(private) == 0 {
		private = keptPrivate
	}
	for _, name := range private {
		a.private(a.at(name))
	}
	a.write(a.at(".netrc"), marker)
	a.link(a.at(".ssh"), filepath.Join(a.project, "keys"))
	a.link(a.at(".azure"), filepath.Join(a.project, "absent"))
	a.link("../../Private", filepath.Join(a.project, "up"))
	a.link(a.home, filepath.Join(a.project, "home"))
	a.link(a.at(".ssh"), a.at("src/Became"))
	return a
}

// private is the task of the runs that nobody may see.
const privateTask = "private-task-secret-7f3a"

// privateRun is a folder with a session that has a saved document, made once.
var madeRun struct {
	once sync.Once
	dir  string
	err  error
}

func privateRun(t *testing.T) string {
	t.Helper()
	madeRun.once.Do(func() {
		if madeRun.dir, madeRun.err = os.MkdirTemp(filepath.Dir(binary), "private"); madeRun.err != nil { //nolint:usetesting // it outlives the test that makes it
			return
		}
		for _, args := range [][]string{
			{"start", "Private task", marker},
			{"submit", "--stage", "po", "--claude-result", "# " + marker + "\n\nQuality Score: 95/100\n"},
			{"confirm"},
		} {
			cmd := exec.Command(binary, append([]string{"task", "--cwd", madeRun.dir}, args...)...)
			cmd.Env = []string{"HOME=" + filepath.Join(filepath.Dir(binary), "nobody"), "PATH=" + os.Getenv("PATH")}
			if out, err := cmd.CombinedOutput(); err != nil {
				madeRun.err = fmt.Errorf("%v: %w: %s", args, err, out)
				return
			}
		}
	})
	if madeRun.err != nil {
		t.Fatal(madeRun.err)
	}
	return madeRun.dir
}

// private makes a folder that has everything a call could return.
func (a *account) private(dir string) {
	a.t.Helper()
	if err := os.CopyFS(dir, os.DirFS(privateRun(a.t))); err != nil {
		a.t.Fatal(err)
	}
	a.write(filepath.Join(dir, ".bmad-core", "agents", "keeper.md"), "# keeper\n\n```yaml\nagent:\n  name: "+marker+"\n  id: keeper\n```\n")
	a.write(filepath.Join(dir, ".bmad-core", "core-config.yaml"), "secret: "+marker+"\n")
	for _, kind := range []string{"decisions", "agent-learnings", "failures"} {
		a.write(filepath.Join(dir, ".claude", "bmad-memory", "structured", kind+".jsonl"), `{"v":1,"id":"f70d1396-77e8-5fd8-bdf8-added10a239d","type":"`+kind+`","agent":"dev","text":"`+marker+`","tags":[],"created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}`+"\n")
	}
	a.write(filepath.Join(dir, "secret.md"), "# "+marker+"\nQuality Score: 95/100\n")
}

func (a *account) at(name string) string { return filepath.Join(a.home, filepath.FromSlash(name)) }

func (a *account) mkdir(name string) {
	a.t.Helper()
	if err := os.MkdirAll(name, 0o700); err != nil {
		a.t.Fatal(err)
	}
}

func (a *account) write(name, text string) {
	a.t.Helper()
	a.mkdir(filepath.Dir(name))
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

func (a *account) link(to, name string) {
	a.t.Helper()
	if err := os.Symlink(to, name); err != nil {
		a.t.Skip(err)
	}
}

// snapshot describes everything below the account's folder but the program's own state.
func (a *account) snapshot() string {
	a.t.Helper()
	return a.describe(a.top, filepath.Join(a.top, "state"))
}

// describe lists what is below a folder, but for one folder.
func (a *account) describe(dir, but string) string {
	a.t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path == but {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&out, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return out.String()
}

// allDoors are settings by which a server has each door.
var allDoors = []string{alwaysAsks, "BMAD_TOOLSETS=task,method,method-classic,agents,memory"}

// env returns the environment of a server for the person.
func (a *account) env(more ...string) []string {
	env, _ := ownFile(a.t, append(append([]string{
		"HOME=" + a.home, "USERPROFILE=" + a.home, "XDG_STATE_HOME=" + filepath.Join(a.top, "state"), "XDG_CONFIG_HOME=" + filepath.Join(a.top, "config"), "XDG_CACHE_HOME=" + filepath.Join(a.top, "state"),
		"CLAUDE_PROJECT_DIR=", "PATH=" + os.Getenv("PATH"),
	}, append(allDoors, watching()...)...), more...))
	return env
}

// listKnown puts folders on the list of known projects, as an older server has it.
func (a *account) listKnown(folders ...string) {
	a.t.Helper()
	data, err := json.Marshal(object{"projects": folders})
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(filepath.Join(a.top, "state", "bmad-mcp", "projects.json"), string(data))
}

// host is a client that says which folders it has open and shows no forms.
type host struct {
	*rpc
	roots []string
	id    int
}

func (a *account) host(dir string, roots []string, args []string, env ...string) *host {
	a.t.Helper()
	h := &host{rpc: startRPC(a.t, dir, env, args...), roots: roots, id: 100}
	capabilities := `{}`
	if roots != nil {
		capabilities = `{"roots":{}}`
	}
	h.send(strings.Replace(hello, `"capabilities":{}`, `"capabilities":`+capabilities, 1))
	h.line()
	return h
}

// ask sends a request and returns its answer, as it came.
func (h *host) ask(method string, params object) string {
	h.t.Helper()
	h.id++
	data, err := json.Marshal(object{"jsonrpc": "2.0", "id": h.id, "method": method, "params": params})
	if err != nil {
		h.t.Fatal(err)
	}
	h.send(string(data))
	for {
		line := h.line()
		var m struct {
			ID     any
			Method string
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			h.t.Fatal(err)
		}
		switch m.Method {
		case "roots/list":
			roots := []object{}
			for _, root := range h.roots {
				uri := root
				if !strings.Contains(root, "://") {
					uri = (&url.URL{Scheme: "file", Path: filepath.ToSlash(root)}).String()
				}
				roots = append(roots, object{"uri": uri})
			}
			answer, err := json.Marshal(object{"jsonrpc": "2.0", "id": m.ID, "result": object{"roots": roots}})
			if err != nil {
				h.t.Fatal(err)
			}
			h.send(string(answer))
		case "": // not a notification
			return line
		}
	}
}

func (h *host) tool(name string, args object) string {
	h.t.Helper()
	return h.ask("tools/call", object{"name": name, "arguments": args})
}

// asker sends a request and returns its answer, as it came.
type asker func(method string, params object) string

// door is a way by which a caller names a folder.
type door struct {
	name string
	// open goes through it to a folder.
	open func(ask asker, cwd string) string
	// quiet is true if a refusal is an empty answer.
	quiet bool
}

func doors() []door {
	// in returns arguments with the folder.
	in := func(args object, cwd string) object {
		out := object{"cwd": cwd}
		maps.Copy(out, args)
		return out
	}
	tool := func(name string, args object) func(asker, string) string {
		return func(ask asker, cwd string) string {
			return ask("tools/call", object{"name": name, "arguments": in(args, cwd)})
		}
	}
	task := func(args object) func(asker, string) string { return tool("bmad-task", args) }
	prompt := func(name string, args object) func(asker, string) string {
		return func(ask asker, cwd string) string {
			return ask("prompts/get", object{"name": name, "arguments": in(args, cwd)})
		}
	}
	uri := func(method, uri string) func(asker, string) string {
		return func(ask asker, cwd string) string {
			return ask(method, object{"uri": uri + "?cwd=" + url.PathEscape(cwd)})
		}
	}
	resource := func(name string) func(asker, string) string { return uri("resources/read", name) }
	complete := func(ref object, argument string) func(asker, string) string {
		return func(ask asker, cwd string) string {
			return ask("completion/complete", object{"ref": ref, "argument": object{"name": argument, "value": ""}, "context": object{"arguments": object{"cwd": cwd, "task": privateTask}}})
		}
	}
	template := func(uri string) object { return object{"type": "ref/resource", "uri": uri} }
	return []door{
		{name: "start", open: task(object{"action": "start", "objective": "x"})},
		{name: "submit a path", open: task(object{"action": "submit", "stage": "po", "session_id": privateTask, "claude_result_path": "secret.md"})},
		{name: "status", open: task(object{"action": "status"})},
		{name: "view sessions", open: task(object{"action": "status", "view": "sessions"})},
		{name: "view session", open: task(object{"action": "status", "session_id": privateTask, "view": "session"})},
		{name: "view artifact", open: task(object{"action": "status", "session_id": privateTask, "view": "po"})},
		{name: "resume", open: task(object{"action": "resume", "session_id": privateTask})},
		{name: "cancel", open: task(object{"action": "cancel", "session_id": privateTask})},
		{name: "confirm", open: tool("bmad-confirm", object{"session_id": privateTask, "stage": "po", "decision": "approve", "sha256": strings.Repeat("0", 64)})},
		{name: "agent", open: tool("bmad-agent", object{"agent": "keeper"})},
		{name: "workflow", open: tool("bmad-workflow", object{"workflow": "private"})},
		{name: "agents", open: tool("bmad-resources", object{"operation": "agents"})},
		{name: "read", open: tool("bmad-resources", object{"operation": "read", "uri": "bmad://.bmad-core/core-config.yaml"})},
		{name: "list", open: tool("bmad-resources", object{"operation": "list", "pattern": "**"})},
		{name: "knowledge", open: tool("get_knowledge", object{"domain": "bmad://.bmad-core/core-config.yaml"})},
		{name: "context", open: tool("get_project_context", nil)},
		{name: "agent's memory", open: tool("get_agent_memory", object{"agent": "dev"})},
		{name: "contract", open: tool("run_completion_contract", nil)},
		{name: "run", open: tool("get_workflow_status", nil)},
		{name: "runs", open: tool("list_sessions", nil)},
		{name: "museum", open: tool("get_failure_museum", nil)},
		{name: "task", open: tool("spawn_subagent_task", object{"agent": "qa", "task": "x", "output_key": "k", "context_files": []string{"secret.md"}})},
		{name: "remember", open: tool("remember_structured", object{"type": "decisions", "agent": "dev", "text": "x"})},
		{name: "recall", open: tool("recall_structured", object{"query": marker})},
		{name: "delegate", open: tool("delegate_to_agent", object{"agent_id": "keeper", "task": "x"})},
		{name: "resource museum", open: resource("bmad://memory/museum")},
		{name: "resource notes", open: resource("bmad://memory/notes/decisions")},
		{name: "resource sessions", open: resource("bmad-task://sessions")},
		{name: "resource session", open: resource("bmad-task://sessions/" + privateTask)},
		{name: "resource history", open: resource("bmad-task://sessions/" + privateTask + "/history")},
		{name: "resource artifact", open: resource("bmad-task://tasks/" + privateTask + "/artifacts/po")},
		{name: "resource of the method", open: resource("bmad://.bmad-core/core-config.yaml")},
		{name: "prompt bmad", open: prompt("bmad", object{"objective": "x y"})},
		{name: "prompt status", open: prompt("bmad-status", object{"task": privateTask})},
		{name: "prompt stage", open: prompt("bmad-stage-po", object{"task": privateTask})},
		{name: "prompt agent", open: prompt("bmad-agent", object{"agent": "keeper"})},
		{name: "complete id", quiet: true, open: complete(template("bmad-task://sessions/{id}{?cwd}"), "id")},
		{name: "complete name", quiet: true, open: complete(template("bmad-task://tasks/{task}/artifacts/{name}{?cwd}"), "name")},
		{name: "complete path", quiet: true, open: complete(template("bmad://{+path}"), "path")},
		{name: "complete agent", quiet: true, open: complete(object{"type": "ref/prompt", "name": "bmad-agent"}, "agent")},
		{name: "subscribe", quiet: true, open: uri("resources/subscribe", "bmad-task://sessions/"+privateTask)},
	}
}

// someDoors are those that the n-th folder of a table is named to: all in .ci/run, which sets
// TEST_BMAD_EVERY_CUT, and otherwise each seventh, so that each door is shown some of the folders.
func someDoors(n int) []door {
	all := doors()
	if os.Getenv("TEST_BMAD_EVERY_CUT") != "" {
		return all
	}
	var some []door
	for at := n % 7; at < len(all); at += 7 {
		some = append(some, all[at])
	}
	return some
}

// refusesAt checks that none of some doors leads to a folder, nor leaves anything on the disk.
func (a *account) refusesAt(ask asker, some []door, cwd string) {
	a.t.Helper()
	before := a.snapshot()
	for _, d := range some {
		answer := d.open(ask, cwd)
		if strings.Contains(answer, marker) || strings.Contains(answer, "keeper.md") || strings.Contains(answer, " has started") {
			a.t.Errorf("%s of %q: %s", d.name, cwd, answer)
		}
		refused := strings.Contains(answer, "not_allowed") || strings.Contains(answer, "invalid_argument") || strings.Contains(answer, "The BMAD server could not do that") || strings.Contains(answer, `"error":{`)
		if !d.quiet && !refused {
			a.t.Errorf("%s of %q is not refused: %s", d.name, cwd, answer)
		}
	}
	if after := a.snapshot(); after != before {
		a.t.Errorf("%q: the disk has changed:\n%s", cwd, newLines(before, after))
	}
}

func newLines(before, after string) string {
	var out []string
	for line := range strings.Lines(after) {
		if !strings.Contains(before, line) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// TestReachKeepsOut names folders that nobody has opened to each door of the server that a host starts in a project.
// reach.TestFind has every way in which their paths can be written.
func TestReachKeepsOut(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.listKnown(a.home, "/", filepath.Dir(a.home), a.at(".ssh"), a.at(".config/gh"), a.at("src/Became"), a.at("src/gone"))
	h := a.host(a.project, nil, nil, a.env()...)
	for n, cwd := range []string{
		a.home, a.at(".ssh"), a.at(".config/gh"), a.at("Private"), a.at("Private/not-there"), a.at("src"), filepath.Join(a.top, "elsewhere"), filepath.Join(a.top, "state", "bmad-mcp"),
		filepath.Join(a.project, "keys"), a.project + "/keys/not-there", a.project + "/up/deep", a.project + "/home/.ssh", a.at("src/Became"), // out of the project, or known once and another folder now
		"/proc/self/root" + a.at(".ssh"), "/proc/self/cwd/keys", "~/.ssh", "file://" + a.at(".ssh"), "../../.ssh", a.project + "\x00/../../.ssh",
	} {
		a.refusesAt(h.ask, someDoors(n), cwd)
	}
	// Nor by the name of a session alone, though its folder is on the list of known ones.
	before := a.snapshot()
	for _, args := range []object{{"action": "status", "view": "session"}, {"action": "status", "view": "po"}, {"action": "resume"}, {"action": "cancel"}, {"action": "submit", "stage": "architect", "claude_result_path": "secret.md"}} {
		args["session_id"] = privateTask
		if answer := h.tool("bmad-task", args); !strings.Contains(answer, "not_found") || strings.Contains(answer, marker) {
			t.Errorf("%v: %s", args, answer)
		}
	}
	if answer := h.ask("resources/read", object{"uri": "bmad-task://sessions/" + privateTask}); strings.Contains(answer, marker) {
		t.Error(answer)
	}
	if after := a.snapshot(); after != before {
		t.Errorf("the disk has changed:\n%s", newLines(before, after))
	}
}

// TestReachOfOddPlaces starts the server where no project is: a start lands nowhere, and some folders stay out of reach.
func TestReachOfOddPlaces(t *testing.T) {
	t.Parallel()
	a := newAccount(t, ".", ".ssh", "Private")
	for n, dir := range []string{".", "..", ".ssh", ".config"} {
		h := a.host(a.at(dir), nil, nil, a.env()...)
		before := a.snapshot()
		if answer := h.tool("bmad-task", object{"action": "start", "objective": "x"}); !strings.Contains(answer, "it is not clear which project") || !strings.Contains(answer, "pass cwd") || a.snapshot() != before {
			t.Errorf("started in %s: %s", dir, answer)
		}
		for m, cwd := range []string{".", ".ssh", "Private", ".config"} {
			a.refusesAt(h.ask, someDoors(n+m), a.at(cwd))
		}
	}
}

// TestReachOfOddHosts checks that some folders are out of reach whatever a host, a call, the person's settings and the
// records say, beside folders that may be used. Each of these only adds folders, so that one server has all at once.
func TestReachOfOddHosts(t *testing.T) {
	t.Parallel()
	a := newAccount(t, ".", ".ssh", ".aws", ".config/gh", ".hidden", "Private")
	honest := []string{"root", "variable", "named", "recorded", "known", "listed"}
	for _, name := range honest {
		a.mkdir(a.at("src/" + name))
	}
	records := object{"folders": []object{{"folder": a.home}, {"folder": a.at(".ssh")}, {"folder": "/"}, {"folder": a.at("src/Became")}, {"folder": a.at(".hidden"), "by": "form"}, {"folder": a.at("src/recorded"), "by": "terminal"}}}
	a.write(filepath.Join(a.top, "state", "bmad-mcp", "folders.json"), jsonText(records))
	a.listKnown(a.home, "/", a.at(".ssh"), a.at("src/known"))
	a.write(filepath.Join(a.top, "config", "bmad-mcp", "config.yaml"), "projects: [~/.ssh, ~/.config, ~/, /, ~/src/listed]\n")
	odd := []string{a.home, filepath.Dir(a.home), "/", a.at(".ssh"), a.at(".aws"), a.at("src/relay/keys"), a.at("src/relay/home")}
	h := a.host(a.at("empty"),
		append([]string{"file://evil.example/", "http://x/", "file:", "file:///%00", "file:///~", "file://~/", a.at("src/root")}, odd...),
		append([]string{"serve", "${user_config.folders}", a.at("src/named")}, odd...),
		a.env("CLAUDE_PROJECT_DIR="+a.at("src/relay/home"), "BMAD_PROJECT_DIR="+a.home, "BMAD_PROJECT_ROOT="+a.at(".ssh"), "BMAD_PROJECTS="+strings.Join(append([]string{a.at("src/variable")}, odd...), string(os.PathListSeparator)))...)
	for n, name := range []string{".", "..", ".ssh", ".ssh/x", ".aws", ".config", ".config/gh", ".config/nvim", ".hidden", "Private", "src/Other", "src/Became", "src/relay/keys", "src/relay/home"} {
		a.refusesAt(h.ask, someDoors(n), a.at(name))
	}
	for _, name := range honest {
		if answer := h.tool("bmad-task", object{"action": "start", "objective": name, "cwd": a.at("src/" + name)}); !strings.Contains(answer, " has started") {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

// TestReachOfTheProject checks that neither a project nor an environment with another home makes folders usable: a file
// that an assistant can write is not the person's word. Records that are broken make none usable either.
func TestReachOfTheProject(t *testing.T) {
	t.Parallel()
	a := newAccount(t, ".", ".ssh", "Private")
	own := filepath.Join(a.project, ".state")
	a.write(filepath.Join(own, "bmad-mcp", "projects.json"), jsonText(object{"projects": []string{a.at("Private")}}))
	a.write(filepath.Join(own, "bmad-mcp", "folders.json"), jsonText(object{"folders": []object{{"folder": a.at("Private"), "by": "terminal"}}}))
	a.write(filepath.Join(own, "bmad-mcp", "config.yaml"), "projects: ["+a.at("Private")+"]\n")
	a.write(filepath.Join(a.project, ".claude", "bmad-task.yaml"), "projects: ["+a.at("Private")+"]\n")
	a.write(filepath.Join(a.top, "state", "bmad-mcp", "projects.json"), `{"projects":`)
	a.write(filepath.Join(a.top, "state", "bmad-mcp", "folders.json"), `[]`)
	for _, env := range [][]string{nil, {"XDG_STATE_HOME=" + own, "XDG_CONFIG_HOME=" + own}, {"HOME=" + a.at("empty")}} {
		h := a.host(a.project, nil, nil, a.env(env...)...)
		for n, name := range []string{"Private", ".ssh", "src/relay/.state/bmad-mcp", "empty"} {
			if name != "src/relay/.state/bmad-mcp" || len(env) == 2 {
				a.refusesAt(h.ask, someDoors(n), a.at(name))
			}
		}
	}
}

// TestReachOfTheAccount checks that the home of the account is out of reach if the environment
// names another.
func TestReachOfTheAccount(t *testing.T) {
	t.Parallel()
	me, err := user.Current()
	if err != nil || !filepath.IsAbs(me.HomeDir) || me.HomeDir == filepath.Dir(me.HomeDir) {
		t.Skip("this account has no home: ", err)
	}
	a := newAccount(t, "Private")
	h := a.host(a.project, []string{me.HomeDir}, nil, a.env("BMAD_PROJECTS="+me.HomeDir)...)
	for _, cwd := range []string{me.HomeDir, filepath.Join(me.HomeDir, ".ssh"), filepath.Dir(me.HomeDir)} {
		for _, d := range doors()[:2] {
			if answer := d.open(h.ask, cwd); !strings.Contains(answer, "not_allowed") {
				t.Errorf("%s of %s: %s", d.name, cwd, answer)
			}
		}
	}
}

// TestReachDoorsLead checks that the doors of the tests above do lead somewhere, if that is
// allowed; what is refused there is not refused for another reason.
func TestReachDoorsLead(t *testing.T) {
	t.Parallel()
	a := newAccount(t, "Private")
	a.leads(a.host(a.at("Private"), nil, nil, a.env()...).ask, a.at("Private"))
}

// leads checks that each door shows a private folder, or does not refuse it.
func (a *account) leads(ask asker, cwd string) {
	a.t.Helper()
	blind := []string{"confirm", "cancel", "submit a path", "workflow", "complete id", "subscribe", "start", "prompt bmad", "prompt stage", "resource history", "contract", "runs", "task", "remember"}
	for _, d := range doors() {
		answer := d.open(ask, cwd)
		if strings.Contains(answer, "not_allowed") && d.name != "confirm" {
			a.t.Errorf("%s is refused: %s", d.name, answer)
		}
		shows := slices.ContainsFunc([]string{marker, privateTask, "keeper", "01-product"}, func(words string) bool { return strings.Contains(answer, words) })
		if !shows && !slices.Contains(blind, d.name) {
			a.t.Errorf("%s shows nothing: %s", d.name, answer)
		}
	}
}

// TestReachLetsIn is how people work: none of it is asked about or refused. Which paths lead into a folder that is
// open is reach.TestFind's to say.
func TestReachLetsIn(t *testing.T) {
	t.Parallel()
	for name, honest := range map[string]struct {
		dir         string
		roots, args []string
		env         []string
		setUp       func(a *account)
		// cwd is the folder that the call names, if any, and lands that of the run.
		cwd, lands string
	}{
		"the project, by its path":        {dir: "src/relay", cwd: "src/relay", lands: "src/relay"},
		"Claude Code":                     {dir: "src/relay", env: []string{"CLAUDE_PROJECT_DIR=HOME/src/relay"}, roots: []string{"HOME/src/relay"}, lands: "src/relay"},
		"Claude Code, elsewhere":          {dir: "empty", env: []string{"CLAUDE_PROJECT_DIR=HOME/src/relay"}, lands: "src/relay"},
		"Claude Code with a second root":  {dir: "src/relay", env: []string{"CLAUDE_PROJECT_DIR=HOME/src/relay"}, roots: []string{"HOME/src/relay", "HOME/Private"}, cwd: "Private", lands: "Private"},
		"a host that names both":          {dir: "src/relay", env: []string{"CLAUDE_PROJECT_DIR=HOME/src/relay", "BMAD_PROJECT_DIR=HOME/src/Other"}, cwd: "src/Other", lands: "src/Other"},
		"settings of another server":      {dir: "empty", env: []string{"BMAD_PROJECT_ROOT=HOME/src/relay"}, lands: "src/relay"},
		"its own name comes first":        {dir: "empty", env: []string{"BMAD_PROJECT_DIR=HOME/src/relay", "BMAD_PROJECT_ROOT=HOME/src/Other"}, lands: "src/relay"},
		"a host with a placeholder":       {dir: "src/relay", env: []string{"BMAD_PROJECT_DIR=${user_config.project_dir}", "BMAD_PROJECTS=${user_config.folders}"}, lands: "src/relay"},
		"roots, started in /":             {dir: "/", roots: []string{"HOME/src/relay"}, lands: "src/relay"},
		"roots, started in the home":      {dir: ".", roots: []string{"HOME/src/relay"}, lands: "src/relay"},
		"one of two roots":                {dir: "/", roots: []string{"HOME/src/relay", "HOME/src/Other"}, cwd: "src/Other", lands: "src/Other"},
		"a root with odd characters":      {dir: "/", roots: []string{"HOME/src/Ünï cödé"}, cwd: "src/Ünï cödé/中文", lands: "src/Ünï cödé/中文", setUp: func(a *account) { a.mkdir(a.at("src/Ünï cödé/中文")) }},
		"a worktree in a hidden folder":   {dir: "/", roots: []string{"HOME/.cursor/worktrees/relay"}, lands: ".cursor/worktrees/relay", setUp: func(a *account) { a.mkdir(a.at(".cursor/worktrees/relay")) }},
		"Claude Desktop, known by a link": {dir: "/", cwd: "src/alias", lands: "src/relay", setUp: func(a *account) { a.link(a.project, a.at("src/alias")); a.listKnown(a.at("src/alias")) }},
		"Claude Desktop, listed in settings": {dir: "/", cwd: "src/relay", lands: "src/relay", setUp: func(a *account) {
			a.write(filepath.Join(a.top, "config", "bmad-mcp", "config.yaml"), "projects: [~/src]\n")
		}},
		"Claude Desktop, by a variable":  {dir: "/", cwd: "src/Other", lands: "src/Other", env: []string{"BMAD_PROJECTS=HOME/docs" + string(os.PathListSeparator) + "HOME/src"}},
		"Claude Desktop, by the bundle":  {dir: "/", args: []string{"serve", "HOME/docs", "HOME/src"}, cwd: "src/relay", lands: "src/relay"},
		"the bundle with one folder":     {dir: "/", args: []string{"serve", "HOME/.dotfiles"}, lands: ".dotfiles"},
		"added at a terminal":            {dir: "/", cwd: "src/relay", lands: "src/relay", setUp: func(a *account) { a.terminal("projects", "add", a.at("src")) }},
		"started at a terminal before":   {dir: "/", cwd: "src/relay", lands: "src/relay", setUp: func(a *account) { a.terminal("task", "start", "--cwd", a.project, "earlier") }},
		"a folder of the temporary ones": {dir: "../../elsewhere", lands: "../../elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAccount(t, "Private", "../../elsewhere")
			if honest.setUp != nil {
				honest.setUp(a)
			}
			fill := func(list []string) (out []string) {
				for _, text := range list {
					out = append(out, strings.ReplaceAll(text, "HOME/", a.home+"/"))
				}
				return out
			}
			dir := a.at(honest.dir)
			if honest.dir == "/" {
				dir = string(filepath.Separator)
			}
			h := a.host(dir, fill(honest.roots), fill(honest.args), a.env(fill(honest.env)...)...)
			args := object{"action": "start", "objective": "an honest task"}
			if honest.cwd != "" {
				args["cwd"] = a.home + "/" + honest.cwd
			}
			if answer := h.tool("bmad-task", args); !strings.Contains(answer, " has started") {
				t.Fatal(answer)
			}
			lands := filepath.Join(a.at(honest.lands), ".bmad-task", "names", "an-honest-task")
			if _, err := os.Stat(lands); err != nil {
				t.Errorf("the run is elsewhere: %v", err)
			}
			// It goes on by the same name, and is known from elsewhere.
			args["action"], args["session_id"] = "status", "an-honest-task"
			delete(args, "objective")
			if answer := h.tool("bmad-task", args); !strings.Contains(answer, `po\",\"current_stage`) {
				t.Error(answer)
			}
			if name != "Claude Code" {
				return
			}
			other := a.host(string(filepath.Separator), nil, nil, a.env()...)
			if answer := other.tool("bmad-task", object{"action": "status", "session_id": "an-honest-task"}); !strings.Contains(answer, `po\",\"current_stage`) {
				t.Errorf("not known from elsewhere: %s", answer)
			}
		})
	}
}

// terminal runs the program as the person does.
func (a *account) terminal(args ...string) {
	a.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = a.home, a.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		a.t.Fatalf("%v: %v: %s", args, err, out)
	}
}

// TestReachOfPrompts checks that prompts which a link in the project leads to are not read, and that the refusal does not
// tell whether they are there.
func TestReachOfPrompts(t *testing.T) {
	t.Parallel()
	a := newAccount(t, "Private")
	a.write(a.at("Private/prompts/po.md"), "---\nstage: po\ntitle: Product Owner\n---\n"+marker+"\n")
	a.mkdir(filepath.Join(a.project, ".claude"))
	h := a.host(a.project, nil, nil, a.env()...)
	folder, words := filepath.Join(a.project, ".claude", "bmad-prompts"), map[string]string{}
	for _, to := range []string{"Private/prompts", "Private/none"} {
		a.link(a.at(to), folder)
		answer := h.tool("bmad-task", object{"action": "start", "objective": "x"})
		if !strings.Contains(answer, `"isError":true`) || strings.Contains(answer, marker) {
			t.Errorf("%s: %s", to, answer)
		}
		_, words[to], _ = strings.Cut(answer, `"result"`)
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
	}
	if words["Private/prompts"] != words["Private/none"] {
		t.Errorf("the refusals differ:\n%v", words)
	}
}

// TestReachOfTheMethod checks that an installation above the project is served as it always was,
// but not one of the home's own folder or of what is out of reach.
func TestReachOfTheMethod(t *testing.T) {
	t.Parallel()
	a := newAccount(t, ".", "Private/deep")
	read := func(h *host) string { return h.tool("bmad-agent", object{"agent": "keeper"}) }
	for _, name := range []string{"src/relay/sub", "Private/deep/further"} {
		a.mkdir(a.at(name))
	}
	// Above this one lies Private/deep, which has one.
	if answer := read(a.host(a.at("Private/deep/further"), nil, nil, a.env()...)); !strings.Contains(answer, marker) {
		t.Errorf("above the project: %s", answer)
	}
	if answer := read(a.host(a.at("src/relay/sub"), nil, nil, a.env()...)); strings.Contains(answer, marker) {
		t.Errorf("of the home: %s", answer)
	}
}

// TestReachWhileLinksMove has a folder in the project and the project's parent swapped for
// links to the keys, and back, while calls come in.
func TestReachWhileLinksMove(t *testing.T) {
	t.Parallel()
	scratch.NeedsTime(t, "hundreds of calls race with links that move")
	a := newAccount(t, ".ssh")
	h := a.host(a.project, nil, nil, a.env()...)
	moving, aside := filepath.Join(a.project, "moving"), filepath.Join(a.top, "aside")
	a.mkdir(moving)
	before := a.describe(a.at(".ssh"), "")
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
			}
			// Each may fail if the other name is taken just then.
			_ = os.Rename(moving, aside)
			_ = os.Symlink(a.at(".ssh"), moving)
			_ = os.Remove(moving)
			_ = os.Rename(aside, moving)
		}
	}()
	for n := range 400 {
		d := doors()[n%9]
		if answer := d.open(h.ask, moving); strings.Contains(answer, marker) {
			t.Errorf("%s: %s", d.name, answer)
		}
	}
	close(done)
	<-stopped
	if after := a.describe(a.at(".ssh"), ""); after != before {
		t.Errorf("the keys have changed:\n%s", newLines(before, after))
	}
}
