package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

const (
	toolsChanged   = "notifications/tools/list_changed"
	promptsChanged = "notifications/prompts/list_changed"
)

func listedNames(m message, list string) []string {
	var out []string
	for _, v := range m.Result[list].([]any) {
		out = append(out, v.(object)["name"].(string))
	}
	return out
}

// TestMethodDefinitionsAreShort keeps what the toolset method costs a model's context below
// 5 kB.
func TestMethodDefinitionsAreShort(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-skills")
	r := startGreeted(t, dir, "BMAD_TOOLSETS=method")
	m := r.request(2, "tools/list", object{})
	if got := listedNames(m, "tools"); !slices.Equal(got, []string{"bmad-agent", "bmad-resources", "bmad-workflow"}) {
		t.Fatalf("tools: %v", got)
	}
	data, err := json.Marshal(m.Result["tools"])
	if err != nil || len(data) > 5000 {
		t.Errorf("the definitions take %d bytes, %v", len(data), err)
	}
}

// TestOperations: a list is narrowed by its arguments, an argument that an operation would ignore is refused, and no
// item says twice where it is.
func TestOperations(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-skills")
	r := startGreeted(t, dir, "BMAD_TOOLSETS=method")
	for n, tt := range []struct {
		args object
		want string
	}{
		{object{"operation": "workflows", "module": "BMM"}, `"total":2`},
		{object{"operation": "workflows", "module": "none"}, "the modules are: "},
		{object{"operation": "search", "query": "bmad", "module": "core"}, `"module":"core"`},
		{object{"operation": "workflows", "type": "all", "query": ""}, `"offered_by":["bmad-agent-analyst"]`},
		{object{"operation": "agents", "query": "x"}, "the operation agents does not take query"},
		{object{"operation": "agents", "type": "tasks"}, "does not take type"},
		{object{"operation": "list", "query": "x"}, "its arguments are: pattern, cursor"},
		{object{"operation": "list", "module": "bmm"}, "does not take module"},
		{object{"operation": "read", "uri": "bmad://_bmad/bmm/config.yaml", "cursor": "x"}, "does not take cursor"},
		{object{"operation": "modules", "module": "bmm"}, "does not take module"},
		{object{"operation": "search", "query": "x", "pattern": "y"}, "does not take pattern"},
		{object{"operation": "unknown", "query": "x"}, "there is no operation"},
	} {
		m := r.request(2+n, "tools/call", object{"name": "bmad-resources", "arguments": tt.args})
		data, err := json.Marshal(m.Result["content"])
		text := strings.ReplaceAll(string(data), `\"`, `"`)
		if err != nil || !strings.Contains(text, tt.want) || strings.Contains(text, `"path":`) || strings.Contains(text, `"phase":`) {
			t.Errorf("%v: %.400s, want %s", tt.args, text, tt.want)
		}
	}
}

// TestInstallationAppears has tools, prompts and resources appear with an installation, and
// go with it, whichever list was asked for first.
func TestInstallationAppears(t *testing.T) {
	for _, first := range []string{"tools", "prompts", "resources"} {
		t.Run(first, func(t *testing.T) { installationAppears(t, first) })
	}
}

func installationAppears(t *testing.T, first string) {
	t.Parallel()
	dir := t.TempDir()
	r := startGreeted(t, dir)
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	r.request(9, first+"/list", object{})
	if got := listedNames(r.request(2, "tools/list", object{}), "tools"); slices.Contains(got, "bmad-agent") {
		t.Fatalf("before: %v", got)
	}
	if got := listedNames(r.request(3, "prompts/list", object{}), "prompts"); slices.Contains(got, "bmad-analyst") || slices.Contains(got, "bmad-agent") {
		t.Fatalf("before: %v", got)
	}
	r.request(4, "resources/list", object{})

	unpack(t, dir, "v6-skills")
	r.until(toolsChanged, "")
	r.until(promptsChanged, "")
	r.until(listChanged, "")
	if got := listedNames(r.request(5, "tools/list", object{}), "tools"); !slices.Contains(got, "bmad-agent") || !slices.Contains(got, "bmad-task") {
		t.Errorf("after: %v", got)
	}
	// The files come one after the other: the first of them has changed the lists.
	wanted := []string{"bmad", "bmad-stage", "bmad-agent", "bmad-workflow", "bmad-analyst", "bmad-dev", "bmad-tea", "bmad-my-own"}
	var prompts []string
	for i := range 100 {
		prompts = listedNames(r.request(100+i, "prompts/list", object{}), "prompts")
		if !slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(prompts, name) }) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, want := range wanted {
		if !slices.Contains(prompts, want) {
			t.Errorf("no prompt %s in %v", want, prompts)
		}
	}
	// An agent that goes takes its prompt along.
	if err := os.RemoveAll(filepath.Join(dir, ".claude", "skills", "bmad-tea")); err != nil {
		t.Fatal(err)
	}
	r.until(promptsChanged, "")
	// The next look is due only a second after the last.
	for slices.Contains(prompts, "bmad-tea") {
		prompts = listedNames(r.request(7, "prompts/list", object{}), "prompts")
	}
}

// TestSourceAppears checks that the lists have the items of a repository as soon as the person adds
// it, and say so; nobody has to start the server again.
func TestSourceAppears(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Parallel()
	dir, repo, state := t.TempDir(), t.TempDir(), t.TempDir()
	env := []string{"HOME=" + state, "XDG_STATE_HOME=" + filepath.Join(state, "state"), "XDG_CONFIG_HOME=" + filepath.Join(state, "config"), "XDG_CACHE_HOME=" + filepath.Join(state, "cache"), "GIT_CONFIG_NOSYSTEM=1"}
	run := func(dir, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, isolatedEnv(t, env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	unpack(t, repo, "source-module")
	run(repo, "git", "init", "-q")
	run(repo, "git", "add", "-A")
	run(repo, "git", "-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-qm", "one")
	if err := os.MkdirAll(filepath.Join(state, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := startGreeted(t, dir, env...)
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if got := listedNames(r.request(2, "tools/list", object{}), "tools"); slices.Contains(got, "bmad-agent") {
		t.Fatalf("before: %v", got)
	}
	r.request(3, "prompts/list", object{})
	run(dir, binary, "method", "sources", "add", "git+file://"+(&url.URL{Path: filepath.ToSlash(repo)}).EscapedPath())
	r.until(toolsChanged, "")
	r.until(promptsChanged, "")
	if got := listedNames(r.request(4, "prompts/list", object{}), "prompts"); !slices.Contains(got, "bmad-baker") {
		t.Errorf("after: %v", got)
	}
}

// TestSettingsThatCannotBeUsed checks that the method is served also if a setting is wrong; what
// goes by the settings says so.
func TestSettingsThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-skills")
	if err := os.WriteFile(filepath.Join(dir, ".claude", "bmad-task.yaml"), []byte("gate: nope\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startGreeted(t, dir)
	for n, cwd := range []string{"", dir} {
		args := object{"agent": "analyst"}
		if cwd != "" {
			args["cwd"] = cwd
		}
		m := r.request(10+n, "tools/call", object{"name": "bmad-agent", "arguments": args})
		if text := fmt.Sprint(m.Result["content"]); m.Result["isError"] == true || !strings.Contains(text, "bmm/bmad-agent-analyst`, from the project") {
			t.Errorf("with cwd %q: %s", cwd, text)
		} else if with := fmt.Sprintf("cwd: %q}", dir); strings.Contains(text, with) != (cwd != "") {
			t.Errorf("with cwd %q, the next calls:\n%s", cwd, text)
		}
	}
	m := r.request(20, "tools/call", object{"name": "bmad-resources", "arguments": object{"operation": "modules"}})
	if text := fmt.Sprint(m.Result["content"]); !strings.Contains(text, `gate \"nope\" is not one of`) {
		t.Errorf("the modules do not say what is wrong: %s", text)
	}
	m = r.request(21, "tools/call", object{"name": "bmad-task", "arguments": object{"action": "status"}})
	if text := fmt.Sprint(m.Result["content"]); m.Result["isError"] != true || !strings.Contains(text, ".claude/bmad-task.yaml, line 1") {
		t.Errorf("bmad-task: %s", text)
	}
}

// TestLongWords checks that a prompt has all that the person has typed, however long; a tool, whose
// caller has it, says how much it repeats.
func TestLongWords(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-skills")
	r := startGreeted(t, dir)
	words := strings.Repeat("需求 and more. ", 2000) + "The end."
	m := r.request(2, "prompts/get", object{"name": "bmad-analyst", "arguments": object{"message": words}})
	if text := fmt.Sprint(m.Result["messages"]); !strings.Contains(text, words) || !strings.Contains(text, "# Mary") {
		t.Errorf("the prompt has not all of it: …%s", text[max(0, len(text)-300):])
	}
	m = r.request(3, "tools/call", object{"name": "bmad-agent", "arguments": object{"agent": "analyst", "message": words}})
	text := fmt.Sprint(m.Result["content"])
	if want := fmt.Sprintf("of %d bytes: go by all that was said", len(words)); !strings.Contains(text, want) || len(text) > 20_000 {
		t.Errorf("the tool answers %d bytes: …%s", len(text), text[max(0, len(text)-300):])
	}
}

// TestLongAddress checks that an address without end makes no answer without end.
func TestLongAddress(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-skills")
	r := startGreeted(t, dir)
	for n, scheme := range []string{"bmad://", "bmad-task://sessions/", "x"} {
		r.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%q}}`, 10+n, scheme+strings.Repeat("x", 50_000)))
		if answer := r.line(); len(answer) > 2000 || !strings.Contains(answer, `"error"`) {
			t.Errorf("%s: %d bytes: %.300s", scheme, len(answer), answer)
		}
	}
}

// TestSharedNames qualifies the prompts of agents that share a name, and of those named like
// a prompt of ours, by their modules.
func TestSharedNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unpack(t, dir, "v4")
	unpack(t, dir, "v6-files")
	name := filepath.Join(dir, "_bmad", "bmm", "agents", "next.md")
	if err := os.WriteFile(name, []byte("---\nname: next\n---\n<agent id=\"next\" name=\"Nell\" title=\"Next\">\n<persona><role>R</role></persona></agent>\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startGreeted(t, dir)
	prompts := listedNames(r.request(2, "prompts/list", object{}), "prompts")
	for _, want := range []string{"bmad-next", "bmad-bmm-next", "bmad-bmm-analyst", "bmad-core-analyst", "bmad-pm", "bmad-tech-writer"} {
		if !slices.Contains(prompts, want) {
			t.Errorf("no %s in %v", want, prompts)
		}
	}
	if slices.Contains(prompts, "bmad-analyst") {
		t.Errorf("bmad-analyst could be two agents: %v", prompts)
	}
	sorted := slices.Clone(prompts)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(prompts) {
		t.Errorf("a name stands twice: %v", prompts)
	}
	for prompt, who := range map[string]string{"bmad-bmm-next": "# Nell, Next", "bmad-bmm-analyst": "`bmm/analyst`", "bmad-core-analyst": "`bmad-core/analyst`"} {
		m := r.request(3, "prompts/get", object{"name": prompt})
		if text := fmt.Sprint(m.Result["messages"]); !strings.Contains(text, who) {
			t.Errorf("%s: %.200s", prompt, text)
		}
	}
}

// TestLargeLists goes through the lists of an installation of two hundred agents page by page.
func TestLargeLists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const agentsInAll = 200
	agents := filepath.Join(dir, "_bmad", "bmm", "agents")
	for _, d := range []string{agents, filepath.Join(dir, "_bmad", "_config")} {
		if err := os.MkdirAll(d, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "_bmad", "_config", "manifest.yaml"), []byte("installation: {version: 6.0.1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for n := range agentsInAll {
		text := fmt.Sprintf("<agent id=\"a\" name=\"Person %d\" title=\"Title\" capabilities=\"%s\">\n</agent>\n", n, strings.Repeat("many things, ", 20))
		if err := os.WriteFile(filepath.Join(agents, fmt.Sprintf("agent-%03d.md", n)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := startGreeted(t, dir, "BMAD_TOOLSETS=task,agents")
	id := 2
	for _, list := range []string{"tools", "prompts", "resources"} {
		seen := map[string]bool{}
		pages := 0
		for cursor := ""; ; pages++ {
			params := object{}
			if cursor != "" {
				params["cursor"] = cursor
			}
			m := r.request(id, list+"/list", params)
			id++
			data, err := json.Marshal(m.Result)
			if err != nil || len(data) > 20_000 {
				t.Fatalf("%s: a page has %d bytes, %v", list, len(data), err)
			}
			for _, name := range listedNames(m, list) {
				if seen[name] {
					t.Errorf("%s: %s stands on two pages", list, name)
				}
				seen[name] = true
			}
			cursor, _ = m.Result["nextCursor"].(string)
			if cursor == "" {
				break
			}
		}
		if len(seen) < agentsInAll || pages < 2 {
			t.Errorf("%s: %d on %d pages", list, len(seen), pages+1)
		}
	}
}

// TestHTTPMethod serves the method of each project to whoever names it.
func TestHTTPMethod(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	unpack(t, filepath.Join(root, "a"), "v6-files")
	unpack(t, filepath.Join(root, "b"), "v4")
	if err := os.MkdirAll(filepath.Join(root, "b", "sub"), 0o750); err != nil {
		t.Fatal(err)
	}
	s := serve(t, root, nil, "--root", filepath.Join(root, "a"), "--root", filepath.Join(root, "b"))
	for _, protocol := range []string{"2025-06-18", ""} {
		c := s.connect(protocol, nil)
		ask := func(args object) (string, bool) {
			t.Helper()
			var req mcp.CallToolRequest
			req.Params.Name, req.Params.Arguments = "bmad-agent", args
			res, err := c.CallTool(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := mcp.AsTextContent(res.Content[0])
			return text.Text, res.IsError
		}
		tools, err := c.ListTools(context.Background(), mcp.ListToolsRequest{})
		if err != nil || !slices.ContainsFunc(tools.Tools, func(tool mcp.Tool) bool { return tool.Name == "bmad-agent" }) {
			t.Errorf("of several projects, a call may have one with BMAD: %v, %v", tools, err)
		}
		if text, refused := ask(object{"agent": "analyst", "cwd": filepath.Join(root, "a")}); refused || !strings.Contains(text, "`bmm/analyst`") {
			t.Errorf("a: %.200s", text)
		}
		for _, cwd := range []string{filepath.Join(root, "b"), filepath.Join(root, "b", "sub")} {
			if text, refused := ask(object{"agent": "analyst", "cwd": cwd}); refused || !strings.Contains(text, "`bmad-core/analyst`") {
				t.Errorf("%s: %.200s", cwd, text)
			}
		}
		if text, refused := ask(object{"agent": "analyst"}); !refused || !strings.Contains(text, "not_found") {
			t.Errorf("without a project: %.200s", text)
		}
		var read mcp.ReadResourceRequest
		read.Params.URI = "bmad://bmm/config.yaml?cwd=" + strings.ReplaceAll(filepath.Join(root, "a"), "/", "%2F")
		if res, err := c.ReadResource(context.Background(), read); err != nil || len(res.Contents) != 1 {
			t.Errorf("a resource: %v, %v", res, err)
		}
	}
}

// TestInstallationAppearsToListeners tells those who listen since protocol 2026-07-28, and
// only of what they asked for.
func TestInstallationAppearsToListeners(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := raw(t, dir)
	meta := object{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         object{"name": "raw", "version": "0"},
		"io.modelcontextprotocol/clientCapabilities": object{},
	}
	listen, err := json.Marshal(object{"jsonrpc": "2.0", "id": "stream", "method": "subscriptions/listen", "params": object{
		"_meta": meta, "notifications": object{"toolsListChanged": true, "promptsListChanged": true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.send(string(listen))
	if m := r.message(); m.Method != "notifications/subscriptions/acknowledged" {
		t.Fatalf("%+v", m)
	}
	unpack(t, dir, "v6-skills")
	r.until(toolsChanged, "")
	r.until(promptsChanged, "")
	if got := listedNames(r.request(2, "tools/list", object{"_meta": meta}), "tools"); !slices.Contains(got, "bmad-agent") {
		t.Errorf("after: %v", got)
	}
	for _, m := range r.inbox {
		if m.Method == listChanged {
			t.Errorf("told of what it did not ask for: %+v", m)
		}
	}
}

// TestMethodTakesTexts checks that the tools of the method read an object that comes as text like
// the object.
func TestMethodTakesTexts(t *testing.T) {
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	c, err := mcpserver.Connect(context.Background(), mcpserver.Launch{Command: binary, Dir: dir, Env: isolatedEnv(t, "BMAD_TOOLSETS=method,method-classic,agents")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ask := func(tool string, args any) string {
		text, refused, err := c.Call(context.Background(), tool, args)
		if err != nil || refused {
			t.Fatalf("%s %v: %v, %s", tool, args, err, text)
		}
		return text
	}
	for tool, item := range map[string]string{"execute_workflow": "workflow_name", "bmad-workflow": "workflow"} {
		words := map[string]string{"execute_workflow": "params", "bmad-workflow": "context"}[tool]
		as := func(v any) string { return ask(tool, object{item: "dev-story", words: v}) }
		if want := as(object{"story": "1.2"}); as(`{"story":"1.2"}`) != want || !strings.Contains(want, `{"story":"1.2"}`) {
			t.Errorf("%s reads an object in another way than its text:\n%s", tool, want)
		}
	}
	if got := ask("execute_workflow", object{"workflow_name": "dev-story", "params": "story 1.2"}); !strings.Contains(got, "story 1.2") {
		t.Errorf("words are not taken as they are:\n%s", got)
	}
	if got := ask("bmm-analyst", `{"message": "half an idea"}`); !strings.Contains(got, "half an idea") {
		t.Error(got)
	}
	if got := ask("list_workflows", `{"module": "cis"}`); !strings.Contains(got, "cis") {
		t.Error(got)
	}
}
