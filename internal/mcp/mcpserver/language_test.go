package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang/langtest"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// Whole runs over the real binary, of which every text for people is read: in a Chinese run no
// sentence of ours is English, in an English one none is Chinese.

// spokenRun is a conversation with a server, and the sentences in it.
type spokenRun struct {
	*rpc
	ids  int
	sent []string
	// said are the texts of the replies with the request that each answers.
	said map[string]string
	// codes are those of the refusals.
	codes map[fault.Code]bool
	// session is that of the last reply, prompt the first role prompt.
	session, prompt string
}

func newSpokenRun(t *testing.T, dir string, env ...string) *spokenRun {
	t.Helper()
	return &spokenRun{rpc: startGreeted(t, dir, append([]string{"LC_ALL=C.UTF-8"}, env...)...), ids: 1, said: map[string]string{}, codes: map[fault.Code]bool{}}
}

// request sends a request and returns the result, or the error, of its answer.
func (r *spokenRun) request(method string, params object) object {
	r.t.Helper()
	r.ids++
	line, err := json.Marshal(object{"jsonrpc": "2.0", "id": r.ids, "method": method, "params": params})
	if err != nil {
		r.t.Fatal(err)
	}
	r.sent = append(r.sent, string(line))
	r.send(string(line))
	var answer struct {
		Result, Error object
	}
	if err := json.Unmarshal([]byte(r.line()), &answer); err != nil {
		r.t.Fatal(err)
	}
	if answer.Error != nil {
		r.hear(string(line), answer.Error)
	}
	return answer.Result
}

// tool calls a tool and returns the reply.
func (r *spokenRun) tool(name string, arguments object) object {
	r.t.Helper()
	result := r.request("tools/call", object{"name": name, "arguments": arguments})
	text := result["content"].([]any)[0].(object)["text"].(string)
	var reply object
	if err := json.Unmarshal([]byte(text), &reply); err != nil {
		r.t.Fatalf("%v: %s", err, text)
	}
	r.hear(fmt.Sprint(arguments), reply)
	if code, refused := reply["code"].(string); refused && reply["status"] == "failed" {
		r.codes[fault.Code(code)] = true
	}
	if id, ok := reply["session_id"].(string); ok {
		r.session = id
	}
	if prompt, ok := reply["role_prompt"].(string); ok && r.prompt == "" {
		r.prompt = prompt
	}
	return reply
}

// task calls bmad-task and expects a place, such as "po/generating", or the code of a refusal.
func (r *spokenRun) task(want string, arguments object) object {
	r.t.Helper()
	reply := r.tool(mcpserver.TaskTool, arguments)
	got := fmt.Sprint(reply["stage"], "/", reply["state"])
	if reply["status"] == "failed" {
		got = fmt.Sprint(reply["code"])
	}
	if want != "" && got != want {
		r.t.Fatalf("%v: got %s, want %s: %v", arguments, got, want, reply)
	}
	return reply
}

// unspoken are the keys of a reply whose values are for models or machines, or come from the client.
var unspoken = []string{"role_prompt", "next_call", "uri", "path", "cwd", "session_file", "command", "task_name", "terminal"}

// hear keeps the texts of a reply.
func (r *spokenRun) hear(request string, v any) {
	switch v := v.(type) {
	case string:
		r.said[v] = request
	case []any:
		for _, item := range v {
			r.hear(request, item)
		}
	case object:
		for key, item := range v {
			if !slices.Contains(unspoken, key) {
				r.hear(request, item)
			}
		}
	}
}

// walk takes the main road with a detour at every gate, and each kind of refusal.
func (r *spokenRun) walk(objective string) {
	r.t.Helper()
	submit := func(stage string, document any) object {
		if _, text := document.(string); !text {
			document = jsonText(document)
		}
		return object{"action": "submit", "stage": stage, "claude_result": document}
	}
	r.task("invalid_argument", object{"action": "start", "objective": objective, "workflow": "七步"})
	r.task("po/generating", object{"action": "start", "objective": objective})
	r.task("invalid_argument", object{"action": "start", "objective": " "})
	// The face's own refusals.
	for _, arguments := range []object{
		{}, {"action": "做"}, {"action": "status", "颜色": "蓝"}, {"action": "confirm", "confirmed": "是"}, {"action": "status", "objective": "钟"},
		{"action": "submit", "stage": "po", "claude_result": object{"a": 1}}, {"action": "submit", "stage": "po", "sprints": "一"}, {"action": "submit", "revision": "二"},
		{"action": "answer", "answers": []int{1}}, {"action": 7}, {"action": "status", "cwd": "钟"}, {"action": "status", "cwd": "/不存在"}, {"action": "status", "view": "天气"},
	} {
		r.task("", arguments)
	}
	r.task("not_found", object{"action": "status", "session_id": "无此任务"})
	r.task("wrong_stage", submit("architect", "# 架构"))
	r.task("invalid_argument", submit("七", "# 架构"))
	r.task("not_allowed", object{"action": "approve", "approved": true})
	r.task("not_allowed", object{"action": "answer", "answers": object{"q1": "我们"}})
	r.task("not_found", object{"action": "submit", "stage": "po", "claude_result_path": "没有.md"})
	r.task("invalid_argument", object{"action": "submit", "stage": "po", "claude_result_path": "../外.md"})
	r.task("invalid_argument", object{"action": "submit", "stage": "po", "claude_result_path": ".bmad-task"})
	r.task("invalid_argument", submit("po", ""))
	// Clarification, another round, and the gate.
	r.task("po/clarifying", submit("po", object{"prd_draft": "# 需求", "quality_score": 70, "gaps": []string{"没有数字"}, "questions": []object{{"id": "q1", "question": "谁使用？", "context": "决定范围"}, {"id": "q2", "question": "何时？"}}}))
	r.task("invalid_argument", object{"action": "answer", "answers": object{"q9": "我们"}})
	r.task("", object{"action": "confirm"})
	r.task("po/refining", object{"action": "answer", "answers": object{"q1": "我们"}})
	r.task("po/refining", submit("po", object{"prd_updated": "# 需求二", "quality_score": 80, "gaps": []string{"没有数字"}}))
	r.task("po/awaiting_confirmation", submit("po", object{"prd_updated": "# 需求三\n\n每天 40 次。", "quality_score": 95}))
	r.task("", object{"action": "status"})
	r.task("", object{"action": "resume"})
	r.task("conflict", object{"action": "confirm", "confirmed": true, "revision": 1})
	r.task("po/refining", object{"action": "confirm", "confirmed": false, "feedback": "补充数字"})
	r.task("po/awaiting_confirmation", submit("po", object{"prd_updated": "# 需求四\n\n每天 50 次。", "quality_score": 96}))
	r.task("architect/generating", object{"action": "confirm", "confirmed": true})
	r.task("architect/refining", submit("architect", "# 架构")) // its score is an estimate
	r.task("architect/awaiting_confirmation", submit("architect", "# 架构\n\nQuality Score: 93/100"))
	r.task("sm/generating", object{"action": "confirm", "confirmed": true})
	r.task("sm/awaiting_approval", submit("sm", "## Sprint 1: 时钟\n\n- 显示时间\n\n## Sprint 2: 闹钟\n\n- 响铃"))
	r.task("gate_pending", object{"action": "confirm", "confirmed": true})
	r.task("sm/refining", object{"action": "approve", "approved": false, "feedback": "合并"})
	r.task("sm/awaiting_approval", submit("sm", "## Sprint 1: 时钟\n\n- 显示时间\n\n## Sprint 2: 闹钟\n\n- 响铃"))
	r.task("dev/generating", object{"action": "approve", "approved": true})
	r.task("invalid_argument", object{"action": "submit", "stage": "dev", "claude_result": "# 报告", "sprints": []int{9}})
	r.task("review/generating", object{"action": "submit", "stage": "dev", "claude_result": "# 报告\n\n已完成。", "sprints": []int{1}})
	// A failed review, rework, a report that says two things, and a stated pass.
	failed := object{"status": "fail", "findings": []object{{"id": "R1", "severity": "critical", "location": "clock.go:3", "problem": "时间错误", "fix": "使用时区"}}}
	r.task("review/awaiting_approval", submit("review", "# 评审\n\n```json\n"+jsonText(failed)+"\n```"))
	r.task("dev/refining", object{"action": "approve", "approved": false, "feedback": "修复 R1"})
	r.task("", object{"action": "resume"})
	r.task("review/generating", object{"action": "submit", "stage": "dev", "claude_result": "# 报告二\n\n已使用时区。", "sprints": []int{1}})
	r.task("review/refining", submit("review", "# 评审\n\n状态：通过\n\n仍有严重问题：R1 未修复，必须修复。"))
	open := object{"verdict": "pass", "checks": []object{{"id": "C1", "command": "go test ./...", "exit": 1}}, "findings": []object{{"id": "R1", "severity": "critical", "location": "clock.go:3", "problem": "时间错误", "fix": "使用时区", "status": "open"}}}
	r.task("review/awaiting_approval", submit("review", "# 评审\n\n```json\n"+jsonText(open)+"\n```"))
	r.task("", object{"action": "status"})
	r.task("qa/generating", object{"action": "approve", "approved": true, "feedback": "接受"})
	r.task("qa/refining", submit("qa", "# 测试")) // without its block
	tested := func(result object) object {
		return object{"action": "submit", "stage": "qa", "codex_result": "# 测试\n\n```json\n" + jsonText(result) + "\n```"}
	}
	r.task("qa/awaiting_approval", tested(object{"verdict": "blocked", "needs": []string{"测试账号"}}))
	r.task("", object{"action": "status"})
	r.task("qa/refining", object{"action": "approve", "approved": false, "feedback": "账号在保险库"})
	r.task("qa/completed", tested(object{"checks": []object{{"id": "C1", "command": "go test ./...", "exit": 0}}, "criteria": []object{{"id": "响铃", "result": "通过", "check": "C1"}}}))
	r.task("qa/completed", object{"action": "status", "session_id": r.session})
	r.task("", object{"action": "submit", "session_id": r.session, "stage": "qa", "claude_result": "# 测试"})
	r.task("dev/refining", object{"action": "reopen", "session_id": r.session, "stage": "dev", "feedback": "加上闹钟"})
	r.task("", object{"action": "status", "view": "history"})
	r.task("", object{"action": "cancel", "feedback": "不再需要"})
	r.task("", object{"action": "cancel", "session_id": r.session})
	r.ask()
}

// ask calls what is beside the tool of the workflow: the method, of which there is no installation,
// the prompts and the resources.
func (r *spokenRun) ask() {
	r.t.Helper()
	for _, c := range []struct {
		tool      string
		arguments object
	}{
		{"bmad-resources", object{}}, {"bmad-resources", object{"operation": "飞"}}, {"bmad-resources", object{"operation": "agents"}}, {"bmad-resources", object{"operation": "read"}},
		{"bmad-resources", object{"operation": "read", "uri": "bmad://x/../y"}}, {"bmad-agent", object{"agent": "甲"}}, {"bmad-workflow", object{}}, {"get_knowledge", object{"domain": 3}},
	} {
		r.tool(c.tool, c.arguments)
	}
	for _, uri := range []string{"bmad-task://nothing", "bmad-task://sessions/none", "bmad://x/y", "bmad-task://tasks/none/artifacts/po"} {
		r.request("resources/read", object{"uri": uri})
	}
	for _, name := range []string{"bmad-status", "bmad-stage-po"} { // a prompt is for the model; the server's words in it are quoted
		result := r.request("prompts/get", object{"name": name, "arguments": object{"task": "无此任务"}})
		text := result["messages"].([]any)[0].(object)["content"].(object)["text"].(string)
		for line := range strings.Lines(text) {
			if _, said, ok := strings.Cut(line, ": "); ok {
				r.hear(name, strings.TrimSpace(said))
			}
		}
	}
}

// trouble plays calls that need a project of their own: a strict gate, broken settings or session.
func trouble(t *testing.T, objective string, env ...string) *spokenRun {
	t.Helper()
	dir := t.TempDir()
	settings := filepath.Join(dir, ".claude", "bmad-task.yaml")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(settings, "gate: strict\nscoring: audited\nverify: \"true\"\n")
	r := newSpokenRun(t, dir, env...)
	r.task("po/generating", object{"action": "start", "objective": objective})
	r.task("", object{"action": "submit", "stage": "po", "claude_result": "# 需求\n\nQuality Score: 95/100"})
	r.task("", object{"action": "confirm", "confirmed": true})
	r.task("", object{"action": "status"})
	for _, broken := range []string{"gate: 松\n", "颜色: 蓝\n", "stages: {po: 7}\n", "max_rework: 0\n", "prompts: 没有\n", "form_timeout: 久\n", "verify: {a: b}\n"} {
		write(settings, broken)
		r.task("invalid_argument", object{"action": "status"})
	}
	write(settings, "")
	names, err := filepath.Glob(filepath.Join(dir, ".bmad-task", "session-*.json"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	whole, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range []string{"", "{", "{}", `{"session_id": 7}`, strings.Replace(string(whole), `"current_stage": "po"`, `"current_stage": "七"`, 1)} {
		write(names[0], broken)
		r.task("storage", object{"action": "status", "session_id": r.session})
	}
	write(names[0], string(whole))
	return r
}

// chineseDocument is the sentence of a role prompt about the language of a document.
const chineseDocument = "\n\nWrite the document in Chinese (zh); keep ids, code, file names, JSON keys and enumeration values in English. Its sections may have Chinese titles."

// TestChineseRun checks that with a Chinese objective, and with the setting alone, no sentence of
// ours is English.
func TestChineseRun(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]struct{ objective, setting, prompt string }{
		"auto": {"做一个时钟服务", "auto", chineseDocument + " Speak Chinese with the human."},
		"zh":   {"Ship clocks", "zh", "]}]}\n```\n\nSpeak Chinese with the human."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := append(sixStages(t), "BMAD_TOOLSETS=task,method,method-classic", "BMAD_LANGUAGE="+run.setting)
			r := newSpokenRun(t, t.TempDir(), env...)
			if run.setting != lang.Auto { // else only the objective shows the language
				r.task("not_found", object{"action": "resume"})
			}
			r.walk(run.objective)
			if !strings.HasSuffix(r.prompt, run.prompt) {
				t.Errorf("the role prompt ends with %q, want %q", r.prompt[max(0, len(r.prompt)-len(run.prompt)):], run.prompt)
			}
			codes := []fault.Code{fault.InvalidArgument, fault.NotFound, fault.Conflict, fault.WrongStage, fault.NotAllowed, fault.GatePending}
			if run.setting != lang.Auto { // if nothing can be read, nothing shows the language
				other := trouble(t, run.objective, env...)
				maps.Copy(r.codes, other.codes)
				maps.Copy(r.said, other.said)
				codes = append(codes, fault.Storage)
			}
			for _, code := range codes {
				if !r.codes[code] {
					t.Errorf("no call was refused as %s", code)
				}
			}
			for text, request := range r.said {
				if found := langtest.English(text); len(found) > 0 {
					t.Errorf("%.200s: %q of %q", request, found, text)
				}
			}
			if len(r.said) < 200 {
				t.Errorf("only %d texts were read", len(r.said))
			}
		})
	}
}

// TestEnglishRun checks that with the setting, a run about a Chinese objective is English but for
// the client's words.
func TestEnglishRun(t *testing.T) {
	t.Parallel()
	env := append(sixStages(t), "BMAD_TOOLSETS=task,method,method-classic", "BMAD_LANGUAGE=en")
	r := newSpokenRun(t, t.TempDir(), env...)
	r.walk("做一个时钟服务")
	other := trouble(t, "做一个时钟服务", env...)
	maps.Copy(r.said, other.said)
	want := chineseDocument + " Speak English with the human."
	if !strings.HasSuffix(r.prompt, want) {
		t.Errorf("the role prompt ends with %q, want %q", r.prompt[max(0, len(r.prompt)-len(want)):], want)
	}
	sent := strings.Join(append(r.sent, other.sent...), "\n")
	for text, request := range r.said {
		for _, found := range strings.FieldsFunc(text, func(c rune) bool { return !unicode.Is(unicode.Han, c) }) {
			if !strings.Contains(sent, found) && !strings.Contains("gate: 松\n颜色: 蓝\nprompts: 没有\nform_timeout: 久\n", found) {
				t.Errorf("%.200s: %q of %q", request, found, text)
			}
		}
	}
}

// TestChineseForms checks that the forms of a Chinese run are Chinese.
func TestChineseForms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []mcpserver.Form
		c := launch(t, t.TempDir(), mcpserver.Launch{Protocol: "2025-11-25", Form: forms(&seen)})
		for _, arguments := range []object{
			{"action": "start", "objective": "做一个时钟服务"},
			{"action": "submit", "stage": "po", "claude_result": jsonText(object{"prd_draft": "# 需求", "quality_score": 80, "questions": []object{{"id": "q1", "question": "谁使用？", "context": "决定范围", "options": []string{"我们"}}}})},
			{"action": "answer", "answers": object{"q1": "我们"}},
			{"action": "submit", "stage": "po", "claude_result": jsonText(object{"prd_updated": "# 需求二", "quality_score": 95})},
			{"action": "confirm"},
		} {
			if reply, refused := call(t, c, arguments); refused {
				t.Fatalf("%v: %v", arguments, reply)
			}
		}
		if len(seen) != 2 {
			t.Fatalf("%d forms", len(seen))
		}
		for _, form := range seen {
			if !strings.Contains(form.Message, "任务“") {
				t.Errorf("the form does not name the task: %s", form.Message)
			}
			shown := spokenRun{said: map[string]string{}}
			shown.hear("form", form.Message)
			shown.hear("schema", form.Schema)
			for text, part := range shown.said {
				if found := langtest.English(text); len(found) > 0 {
					t.Errorf("%s: %q of %s", part, found, text)
				}
			}
		}
	})
}

// TestChineseMethod checks that the sentences of the method's own tools, in their problems, hints
// and refusals, is Chinese; the method's own texts stay as they are.
func TestChineseMethod(t *testing.T) {
	t.Parallel()
	ofParsers := regexp.MustCompile(`yaml: .*|toml: .*|(?:第 \d+ 列|TOML)：.*`)
	for layout, files := range map[string]map[string]string{
		"broken":    nil,
		"v6-skills": {"_bmad/custom/config.toml": "[m\n", "_bmad/custom/bmad-agent-analyst.toml": "[agent]\nrole = 'x\n", "_bmad/custom/bmad-nobody.toml": "[agent]\nrole = 'x'\n"},
		"v6-files":  {"_bmad/_config/agents/bmm-analyst.customize.yaml": "memories: [a]\nmenu: tides\n"},
	} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			unpack(t, dir, layout)
			for name, text := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := newSpokenRun(t, dir, "BMAD_TOOLSETS=method,method-classic", "BMAD_LANGUAGE=zh")
			var said []string
			var collect func(v any)
			collect = func(v any) {
				switch v := v.(type) {
				case []any:
					for _, item := range v {
						collect(item)
					}
				case object:
					for key, item := range v {
						if text, ok := item.(string); ok && slices.Contains([]string{"problem", "hint", "error"}, key) {
							said = append(said, text)
						}
						collect(item)
					}
				}
			}
			for _, c := range []struct {
				tool      string
				arguments object
			}{
				{"bmad-resources", object{"operation": "modules"}}, {"bmad-resources", object{"operation": "list", "pattern": "[x"}}, {"bmad-resources", object{"operation": "list", "pattern": "无/*"}},
				{"bmad-resources", object{"operation": "agents", "cursor": "?"}}, {"bmad-resources", object{"operation": "search", "query": "无此物"}}, {"bmad-resources", object{"operation": "search"}},
				{"bmad-resources", object{"operation": "search", "query": "x", "type": "鱼"}}, {"bmad-resources", object{"operation": "read", "uri": "bmad://nirgends.md"}}, {"bmad-resources", object{"operation": "read", "uri": "http://x"}},
				{"bmad-resources", object{"operation": "read", "uri": "bmad://_bmad"}}, {"bmad-resources", object{"operation": "read", "uri": "bmad://manifests/fish"}}, {"bmad-resources", object{"operation": "read", "uri": "bmad://source:x/y"}},
				{"bmad-agent", object{"agent": "无"}}, {"bmad-agent", object{"agent": "analist"}}, {"bmad-agent", object{"agent": "analyst"}}, {"bmad-agent", object{"agent": " "}}, {"bmad-workflow", object{"workflow": "analyst"}},
				{"list_workflows", object{"category": "无"}}, {"get_knowledge", object{}}, {"get_knowledge", object{"domain": "无"}}, {"execute_task", object{"task_name": "无"}}, {"get_workflow_details", object{"workflow_name": "无"}},
			} {
				text := r.request("tools/call", object{"name": c.tool, "arguments": c.arguments})["content"].([]any)[0].(object)["text"].(string)
				var reply any
				if json.Unmarshal([]byte(text), &reply) == nil { // else it is a document of the method
					collect(reply)
				}
			}
			for _, text := range said {
				if found := langtest.English(ofParsers.ReplaceAllString(text, "…")); len(found) > 0 {
					t.Errorf("%q of %q", found, text)
				}
			}
			if len(said) < 20 {
				t.Errorf("only %d texts were read: %q", len(said), said)
			}
		})
	}
}

// TestChineseFolderForm checks that the question about a folder, and the refusals of folders, speak
// the language of the objective.
func TestChineseFolderForm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount(t)
		var seen []mcpserver.Form
		c := a.inside().connect(t, mcpserver.Launch{Protocol: "2025-11-25", Form: forms(&seen)})
		for _, name := range []string{"src/Other", ".ssh", ".", ".config/nvim"} {
			reply, refused := call(t, c, object{"action": "start", "objective": "做一个时钟服务", "cwd": a.at(name)})
			if !refused {
				t.Fatalf("%s: %v", name, reply)
			}
			for _, key := range []string{"error", "hint"} {
				if text := reply[key].(string); len(langtest.English(text)) > 0 || !strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
					t.Errorf("%s: %s is %q", name, key, text)
				}
			}
		}
		if len(seen) != 1 {
			t.Fatalf("%d forms", len(seen))
		}
		lines := strings.Split(seen[0].Message, "\n")
		if !strings.Contains(seen[0].Message, "允许 bmad-mcp") || len(langtest.English(seen[0].Message)) > 0 || visible.Columns(lines[0]) > formWidth {
			t.Errorf("the form is %q", seen[0].Message)
		}
		if got := jsonText(seen[0].Schema); !strings.Contains(got, "你的决定") || !strings.Contains(got, "是，并记住") {
			t.Errorf("its choices are %s", got)
		}
	})
}

// TestChineseOverHTTP checks that a request that is not let in is refused in the language of the
// settings.
func TestChineseOverHTTP(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), []string{"LC_ALL=zh_CN.UTF-8"})
	for name, tt := range map[string]struct {
		change func(*http.Request)
		status int
		want   string
	}{
		"no session":   {func(*http.Request) {}, http.StatusNotFound, "没有这个会话"},
		"another host": {func(r *http.Request) { r.Host = "evil.example" }, http.StatusForbidden, "不是这台机器"},
		"a page":       {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden, "--allow-origin"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		tt.change(r)
		var answer struct{ Error struct{ Message string } }
		status := answerTo(t, r, &answer)
		if text := answer.Error.Message; status != tt.status || !strings.Contains(text, tt.want) || len(langtest.English(text)) > 0 {
			t.Errorf("%s: got %d %q, want %d with %q", name, status, text, tt.status, tt.want)
		}
	}
}

// answerTo sends a request and reads the JSON of its response.
func answerTo(t *testing.T, r *http.Request, into any) (status int) {
	t.Helper()
	w, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	if err := json.NewDecoder(w.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
	return w.StatusCode
}
