package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// looks are the commands that only read, each with lines of arguments.
var looks = map[string][]string{
	"status":             {"", "relay", "--all", "--json", "--all --json"},
	"decide":             {"", "relay", "--json"},
	"show":               {"", "relay", "relay --json"},
	"log":                {"", "relay --verbose", "relay --verify", "relay --json"},
	"report":             {"", "relay --html", "relay --graph", "relay --json"},
	"doctor":             {"", "--json"},
	"settings":           {"", "--json"},
	"help":               {"", "all", "pages", "decide", "tour"},
	"diff":               {"relay po 1 saved"},
	"check":              {"--base main", "--base main --json"},
	"audit":              {"draft.md --stage architect", "draft.md --stage po --json"},
	"method":             {"", "--json"},
	"method list":        {"", "--json"},
	"method show":        {"help"},
	"method search":      {"review"},
	"method sources":     {"", "--json"},
	"memory":             {"", "--all", "--json"},
	"memory list":        {"", "--type decisions"},
	"memory show":        {"0"},
	"memory search":      {"tokens", "tokens --json"},
	"workflow":           {"", "--json"},
	"workflow list":      {""},
	"workflow show":      {"bmad", "quick"},
	"workflow check":     {""},
	"task":               {""},
	"task status":        {"", "relay", "relay --json", "relay --view po", "relay --view history", "--view sessions"},
	"task resume":        {"relay", "relay --json"},
	"hook":               {"claude-code"},
	"allow":              {"--list"},
	"projects":           {"", "--json"},
	"store":              {"", "--check"},
	"completion":         {"bash", "zsh"},
	"run":                {"--dry-run --engine api anything", "--prices"},
	"agent":              {""},
	"agent list":         {"", "--json"},
	"queue":              {"", "--json", "--state waiting"},
	"queue show":         {"relay", "relay --json"},
	"queue workers":      {"", "--json"},
	"queue limits":       {"", "--json"},
	"install":            {"codex --dry-run --command bmad-mcp", "vscode --print --command bmad-mcp"},
	"uninstall":          {"--dry-run"},
	"store export":       {""},
	"dashboard passkeys": {""},
	"__complete":         {"show ", "log rel", "diff relay po ", "memory show ", "method show ", "agent ask "},
}

// writers maps each command that writes to the data that it writes. A command of readers with a flag that writes is in both.
var writers = map[string]string{
	"demo": "a folder of its own", "start": "a run", "sync": "documents", "adopt": "an entry of the history", "reopen": "a run", "cancel": "a run",
	"signer": "the key, if there is none", "serve": "what its calls do", "dashboard": "what is decided there; TestPages looks at its pages",
	"dashboard pair": "the pairing", "dashboard passkeys remove": "the list", "agent chat": "a conversation", "agent ask": "a conversation", "agent resume": "a conversation",
	"agent serve": "conversations", "method sources add": "a copy", "method sources update": "a copy", "method sources remove": "the list", "memory add": "a note",
	"memory forget": "a note", "task start": "a run", "task submit": "a run", "task answer": "a run", "task confirm": "a run", "task approve": "a run",
	"task reopen": "a run", "task cancel": "a run", "projects add": "the list", "projects remove": "the list", "store migrate": "tables", "store import": "runs", "store move": "runs",
	"queue cancel": "the queue", "queue retry": "the queue", "queue limits": "the limits, by its flags", "worker": "runs",
}

// actions says of each action of the tool whether it only reads.
var actions = map[workflow.Action]bool{
	workflow.ActionStatus: true, workflow.ActionResume: true, workflow.ActionStart: false, workflow.ActionSubmit: false, workflow.ActionAnswer: false,
	workflow.ActionConfirm: false, workflow.ActionApprove: false, workflow.ActionReopen: false, workflow.ActionCancel: false,
}

// pages is a home and a project with a run at its second gate, notes, and an installed method.
type pages struct {
	*testing.T
	root, project string
}

// store is the address of a database, "" for files.
func newPages(t *testing.T, store string) pages {
	t.Helper()
	root := t.TempDir()
	p := pages{t, root, filepath.Join(root, "project")}
	for name, below := range map[string]string{"HOME": "home", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache"} {
		t.Setenv(name, filepath.Join(root, below))
	}
	t.Setenv("CLAUDE_PROJECT_DIR", "")
	t.Setenv("BMAD_STORE", store)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("ANTHROPIC_API_KEY", "none")
	for _, name := range []string{"home", "project"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(p.project)
	method, err := txtar.ParseFile(filepath.Join(sources(t), "..", "method", "catalog", "testdata", "layouts", "v6-files.txtar"))
	if err = errors.Join(err, txtar.Write(method, p.project)); err != nil {
		t.Fatal(err)
	}
	p.git("init", "-q", "-b", "main")
	p.git("commit", "-q", "--allow-empty", "-m", "begin")
	p.write("draft.md", "# A\n\nQuality Score: 95\n")
	if store != "" {
		p.git("remote", "add", "origin", "https://git.example.com/team/relay")
		p.must("store", "migrate")
	}
	p.must("memory", "add", "--type", "decisions", "--agent", "dev", "We sign in with tokens.")
	p.must("start", "--name", "relay", "Build a relay")
	p.must("task", "submit", "relay", "--stage", "po", "--claude-result", "# P\n\nQuality Score: 95")
	p.must("task", "confirm", "relay")
	p.must("task", "submit", "relay", "--stage", "architect", "--claude-result-path", "draft.md")
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "documents")
	return p
}

// sources returns the folder of this package: tests leave it.
func sources(t *testing.T) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	return filepath.Dir(here)
}

func (p pages) git(args ...string) {
	p.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir = p.project
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (p pages) write(name, text string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.project, name), []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

// remove removes what matches a pattern.
func (p pages) remove(pattern string) {
	p.Helper()
	found, err := filepath.Glob(filepath.Join(p.root, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		p.Fatalf("%s: %v, %v", pattern, found, err)
	}
	for _, path := range found {
		if err := os.RemoveAll(path); err != nil {
			p.Fatal(err)
		}
	}
}

func (p pages) run(stdin string, args ...string) (out string, code int) {
	var b bytes.Buffer
	code = Main(append([]string{"--cwd", p.project}, args...), strings.NewReader(stdin), &b, &b)
	return b.String(), code
}

func (p pages) must(args ...string) {
	p.Helper()
	if out, code := p.run("", args...); code != 0 {
		p.Fatalf("bmad-mcp %q: %d\n%s", args, code, out)
	}
}

// still checks that a look changes nothing in the project and in the person's folders.
func (p pages) still(about string, look func()) {
	p.Helper()
	before := scratch.Look(p, p.root)
	look()
	if wrote := before.Changes(scratch.Look(p, p.root)); len(wrote) > 0 {
		p.Errorf("%s wrote: %q", about, wrote)
	}
}

// TestALookChangesNothing runs each command, tool, prompt and resource that reads, in projects that tempt it to write:
// a document or draft is gone, or was never written, or the person's folder has nothing yet. A new command, action or
// tool has to be sorted.
func TestALookChangesNothing(t *testing.T) {
	const document = "project/.claude/specs/relay/01-product-requirements.md"
	for name, harm := range map[string]func(pages){
		"as it is":                 func(pages) {},
		"document gone":            func(p pages) { p.remove(document) },
		"folder in its place":      func(p pages) { p.remove(document); p.ok(os.Mkdir(filepath.Join(p.root, document), 0o700)) },
		"never written":            func(p pages) { p.remove(document); p.remove("project/.bmad-task/work/*/.written-*") },
		"another branch":           func(p pages) { p.git("checkout", "-q", "HEAD~1") },
		"no drafts, no own folder": func(p pages) { p.remove("project/.bmad-task/work"); p.remove("state") },
		"no locks, times changed": func(p pages) {
			p.remove("project/.bmad-task/locks")
			p.remove("project/.bmad-task/names")
			p.ok(os.Chtimes(filepath.Join(p.project, "draft.md"), time.Unix(1, 0), time.Unix(1, 0)))
		},
		"second clone": func(p pages) { p.remove("project/.bmad-task"); p.remove("project/.claude/specs") },
		"no runs":      func(p pages) { p.remove("project/.bmad-task"); p.remove("state") },
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			store := ""
			if name == "second clone" {
				var err error
				if store, err = pgtest.Fresh(); err != nil {
					t.Skip(err)
				}
			}
			p := newPages(t, store)
			harm(p)
			for command, lines := range looks {
				for _, line := range lines {
					args := append(strings.Fields(command), strings.Split(line, " ")...)
					args = slices.DeleteFunc(args[:len(args)-1], func(s string) bool { return s == "" })
					if last := line[strings.LastIndex(line, " ")+1:]; last != "" || command == cobra.ShellCompRequestCmd {
						args = append(args, last)
					}
					p.still("bmad-mcp "+strings.Join(args, " "), func() {
						out, code := p.run(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"session_id":"s"}`, args...)
						if name == "as it is" && command != "store" && code == terminal.ExitCode(&fault.Error{Code: fault.InvalidArgument}) {
							p.Errorf("bmad-mcp %q: %d\n%s", args, code, out)
						}
					})
				}
			}
			p.still("the tools", func() { p.serve() })
		})
	}
}

func (p pages) ok(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// TestCommandsAreSorted: each command and action either only looks or is named with what it writes.
func TestCommandsAreSorted(t *testing.T) {
	known := map[string]bool{"__complete": true}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		known[name] = true
		if name != "" && !c.Hidden {
			if looks[name] == nil && writers[name] == "" {
				t.Errorf("%q is in neither table", name)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(app.New(terminal.New(strings.NewReader(""), io.Discard, io.Discard))))
	for _, name := range slices.Concat(slices.Collect(maps.Keys(looks)), slices.Collect(maps.Keys(writers))) {
		if !known[name] {
			t.Errorf("the command %q does not exist", name)
		}
	}
	for _, action := range workflow.Actions() {
		if _, ok := actions[action]; !ok {
			t.Errorf("action %q is in no table", action)
		}
	}
}

// ask sends requests to the server, and returns the results by their numbers.
func (p pages) ask(requests ...[2]string) []json.RawMessage {
	p.Helper()
	in := `{"jsonrpc":"2.0","id":-1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	for i, r := range requests {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", i, r[0], r[1])
	}
	text, code := p.run(in, "--toolsets", "task,method,method-classic,agents,memory")
	if code != 0 {
		p.Fatalf("the server: %d\n%s", code, text)
	}
	out, answered := make([]json.RawMessage, len(requests)), 0
	for line := range strings.Lines(text) {
		var answer struct {
			ID            *int
			Result, Error json.RawMessage
		}
		if json.Unmarshal([]byte(line), &answer) == nil && answer.ID != nil && *answer.ID >= 0 {
			out[*answer.ID] = answer.Result
			answered++
		}
	}
	if answered != len(requests) {
		p.Fatalf("%d of %d requests are answered\n%s", answered, len(requests), text)
	}
	return out
}

// serve has the server list what it has, and read all of it.
func (p pages) serve() {
	lists := p.ask([2]string{"tools/list", "{}"}, [2]string{"resources/list", "{}"}, [2]string{"prompts/list", "{}"}, [2]string{"resources/templates/list", "{}"})
	type argument struct{ Name string }
	var list struct {
		Tools []struct {
			Name        string
			Annotations struct{ ReadOnlyHint bool }
			InputSchema struct {
				Properties map[string]struct{ Type string }
			}
		}
		Resources []struct{ URI string }
		Prompts   []struct {
			Name      string
			Arguments []argument
		}
	}
	for _, part := range lists[:3] {
		p.ok(json.Unmarshal(part, &list))
	}
	var reads [][2]string
	add := func(method string, params map[string]any) {
		data, err := json.Marshal(params)
		p.ok(err)
		reads = append(reads, [2]string{method, string(data)})
	}
	for action, isLook := range actions {
		for _, view := range []string{"", "session", "history", "sessions", "workflow", "po"} {
			if isLook {
				add("tools/call", map[string]any{"name": "bmad-task", "arguments": map[string]any{"action": action, "session_id": "relay", "view": view}})
			}
		}
	}
	for _, tool := range list.Tools {
		if !tool.Annotations.ReadOnlyHint {
			continue
		}
		filled := map[string]any{}
		for name, is := range tool.InputSchema.Properties {
			if is.Type == "string" && name != "cwd" && name != "cursor" {
				filled[name] = "pm"
			}
		}
		add("tools/call", map[string]any{"name": tool.Name, "arguments": map[string]any{}})
		add("tools/call", map[string]any{"name": tool.Name, "arguments": filled})
	}
	for _, r := range list.Resources {
		add("resources/read", map[string]any{"uri": r.URI})
		add("resources/subscribe", map[string]any{"uri": r.URI})
	}
	for _, prompt := range list.Prompts {
		given := map[string]string{}
		for _, a := range prompt.Arguments {
			given[a.Name] = "relay"
			add("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": prompt.Name}, "argument": map[string]any{"name": a.Name, "value": ""}})
		}
		add("prompts/get", map[string]any{"name": prompt.Name})
		add("prompts/get", map[string]any{"name": prompt.Name, "arguments": given})
	}
	if len(reads) < 40 {
		p.Errorf("only %d reads", len(reads))
	}
	p.ask(reads...)
}

// TestAChangeIsToldEverywhere: an approved text that was edited or deleted, and a changed history, is named by each
// command, tool and resource about the run or that lists runs, and by the decision on top of it.
func TestAChangeIsToldEverywhere(t *testing.T) {
	const document = ".claude/specs/relay/01-product-requirements.md"
	approved := regexp.MustCompile(`(?i)not as (you )?approved|"altered\\?"`)
	for name, tt := range map[string]struct {
		harm func(pages)
		told *regexp.Regexp
	}{
		"edited": {func(p pages) { p.write(document, "# Other\n") }, approved},
		"gone":   {func(p pages) { p.remove("project/" + document) }, approved},
		"history": {func(p pages) {
			found, err := filepath.Glob(filepath.Join(p.project, ".bmad-task", "session-*.json"))
			p.ok(err)
			data, err := os.ReadFile(found[0])
			p.ok(err)
			p.ok(os.WriteFile(found[0], bytes.Replace(data, []byte(`"at": "20`), []byte(`"at": "19`), 1), 0o600))
		}, regexp.MustCompile(`(?i)by other hands|does not hold|"integrity\\?"`)},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPages(t, "")
			tt.harm(p)
			for _, line := range []string{
				"status", "status --json", "status relay", "status --all", "status --all --json", "show relay", "show relay --json", "log relay", "log relay --json",
				"log relay --verify", "report relay", "report relay --html", "report relay --graph", "task status", "task status relay --json", "task resume relay", "doctor", "doctor --json",
			} {
				if out, _ := p.run("", strings.Fields(line)...); !tt.told.MatchString(out) {
					t.Errorf("%s does not tell it:\n%s", line, out)
				}
			}
			call := func(tool, arguments string) [2]string {
				return [2]string{"tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments)}
			}
			asked := [][2]string{
				call("bmad-task", `{"action":"status"}`), call("bmad-task", `{"action":"status","session_id":"relay"}`), call("bmad-task", `{"action":"resume","session_id":"relay"}`),
				call("list_sessions", `{}`), call("get_workflow_status", `{}`), {"resources/read", `{"uri":"bmad-task://sessions"}`},
				{"resources/read", `{"uri":"bmad-task://sessions/relay/history"}`}, {"prompts/get", `{"name":"bmad-status"}`}, call("bmad-task", `{"action":"confirm","session_id":"relay","confirmed":true}`),
			}
			for i, answer := range p.ask(asked...) {
				if !tt.told.Match(answer) {
					t.Errorf("%s %s does not tell it:\n%s", asked[i][0], asked[i][1], answer)
				}
			}
		})
	}
}
