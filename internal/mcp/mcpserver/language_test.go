package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang/langtest"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// forPeople are the keys of answers whose texts are for people, or tell a model what went wrong.
var forPeople = []string{"problem", "hint", "error", "message", "notes", "user_message", "show_first", "pending_user_actions", "stage_description", "statusMessage", "ask_by_form", "gate", "summary"}

// ofParsers are the words of parsers and of the protocol's library, which stay as they are.
var ofParsers = regexp.MustCompile(`(?:invalid character|unexpected|yaml:|json:|toml:).*|(?:第 \d+ 列|TOML)：.*`)

// texts returns the texts for people in an answer, of whose parts one that is JSON is read too.
func texts(key string, v any) (out []string) {
	switch v := v.(type) {
	case string:
		var inner any
		if key == "text" && json.Unmarshal([]byte(v), &inner) == nil {
			return texts("", inner)
		}
		if slices.Contains(forPeople, key) {
			out = append(out, v)
		}
	case []any:
		for _, item := range v {
			out = append(out, texts(key, item)...)
		}
	case object:
		for key, item := range v {
			out = append(out, texts(key, item)...)
		}
	}
	return out
}

// speaksChinese fails if one of the texts for people in an answer has an English sentence that is not in theirs.
func speaksChinese(t *testing.T, request string, answer object, theirs string) (read int) {
	t.Helper()
	if answer["error"] != nil && !strings.Contains(request, `"resources/read"`) && !strings.Contains(request, `"prompts/get"`) {
		return 0 // of the protocol, for programs
	}
	all := texts("", answer)
	for _, text := range all {
		if found := langtest.English(ofParsers.ReplaceAllString(text, "…"), theirs); len(found) > 0 {
			t.Errorf("%.200s: %q of %q", request, found, text)
		}
	}
	return len(all)
}

// TestTranscriptsInChinese plays the transcripts for a person who reads Chinese: no sentence of the server is English
// but those for models. The engine's own refusals and replies are looked at in its tests (refusedInChinese).
func TestTranscriptsInChinese(t *testing.T) {
	t.Parallel()
	read := 0
	for _, file := range transcripts(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		r := raw(t, dir, append(append(sixStages(t), directives(t, dir, string(data))...), "BMAD_LANGUAGE=zh", "LC_ALL=C.UTF-8")...)
		task := ""
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") {
				writes(t, dir, line)
				continue
			}
			r.send(strings.ReplaceAll(line, "<task>", task))
			if !strings.Contains(line, `"id"`) && strings.HasPrefix(line, "{") {
				continue
			}
			answer := r.line()
			if m := taskID.FindStringSubmatch(answer); m != nil {
				task = m[1]
			}
			var m object
			if err := json.Unmarshal([]byte(answer), &m); err != nil {
				t.Fatal(err)
			}
			read += speaksChinese(t, filepath.Base(file)+": "+line, m, string(data))
		}
	}
	t.Log(read, "texts")
	if read < 300 {
		t.Errorf("only %d texts were read", read)
	}
}

// chineseDocument is the sentence of a role prompt about the language of a document.
const chineseDocument = "\n\nWrite the document in Chinese (zh); keep ids, code, file names, JSON keys and enumeration values in English. Its sections may have Chinese titles."

// TestLanguageOfARun checks that replies and refusals speak the language of the objective, or that of the settings,
// and role prompts say in which to speak.
func TestLanguageOfARun(t *testing.T) {
	for setting, want := range map[string]struct {
		objective, prompt string
		chinese           bool
	}{
		"auto": {"做一个时钟服务", chineseDocument + " Speak Chinese with the human.", true},
		"zh":   {"Ship clocks", "]}]}\n```\n\nSpeak Chinese with the human.", true},
		"en":   {"做一个时钟服务", chineseDocument + " Speak English with the human.", false},
	} {
		dir := t.TempDir()
		c := launch(t, dir, mcpserver.Launch{}, "BMAD_LANGUAGE="+setting)
		reply, _ := call(t, c, object{"action": "start", "objective": want.objective, "task_name": "clock"})
		if prompt := fmt.Sprint(reply["role_prompt"]); !strings.HasSuffix(prompt, want.prompt) {
			t.Errorf("%s: the role prompt ends with %q", setting, prompt[max(0, len(prompt)-200):])
		}
		refusal, _ := call(t, c, object{"action": "approve", "approved": true})
		mistake, _ := call(t, c, object{"action": "confirm", "confirmed": "maybe"})
		said := []any{reply["user_message"], refusal["error"], refusal["hint"], mistake["error"], mistake["hint"]}
		for _, broken := range []string{"{", `{"session_id": 7}`} {
			if files, err := filepath.Glob(filepath.Join(dir, ".bmad-task", "session-*.json")); err != nil || os.WriteFile(files[0], []byte(broken), 0o600) != nil {
				t.Fatal(files, err)
			}
			unread, _ := call(t, c, object{"action": "status", "session_id": reply["session_id"]})
			if unread["code"] != "storage" {
				t.Errorf("%s: %v", setting, unread)
			}
			if setting != "auto" { // what cannot be read shows no language
				said = append(said, unread["error"], unread["hint"])
			}
		}
		for _, text := range said {
			text := fmt.Sprint(text)
			if chinese := strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }); chinese != want.chinese || chinese && len(langtest.English(text)) > 0 {
				t.Errorf("%s: %q", setting, text)
			}
		}
	}
}

// TestChineseMethod checks that the problems of a broken installation are told in Chinese.
func TestChineseMethod(t *testing.T) {
	for layout, files := range map[string]map[string]string{
		"broken":    nil,
		"v6-skills": {"_bmad/custom/config.toml": "[m\n", "_bmad/custom/bmad-agent-analyst.toml": "[agent]\nrole = 'x\n", "_bmad/custom/bmad-nobody.toml": "[agent]\nrole = 'x'\n"},
		"v6-files":  {"_bmad/_config/agents/bmm-analyst.customize.yaml": "memories: [a]\nmenu: tides\n"},
	} {
		dir := t.TempDir()
		unpack(t, dir, layout)
		for name, text := range files {
			writes(t, dir, "# write "+name+" "+strings.ReplaceAll(text, "\n", `\n`))
		}
		r := startGreeted(t, dir, "BMAD_TOOLSETS=method,method-classic", "BMAD_LANGUAGE=zh", "LC_ALL=C.UTF-8")
		read := 0
		for n, c := range []struct {
			tool      string
			arguments object
		}{
			{"bmad-resources", object{"operation": "modules"}}, {"bmad-agent", object{"agent": "analyst"}}, {"bmad-agent", object{"agent": "无"}}, {"bmad-workflow", object{"workflow": "analyst"}},
			{"bmad-resources", object{"operation": "search", "query": "无此物"}}, {"bmad-resources", object{"operation": "read", "uri": "bmad://nirgends.md"}}, {"list_workflows", object{"category": "无"}},
		} {
			m := r.request(10+n, "tools/call", object{"name": c.tool, "arguments": c.arguments})
			read += speaksChinese(t, fmt.Sprint(layout, c), m.Result, "")
		}
		if read < 10 {
			t.Errorf("%s: only %d texts were read", layout, read)
		}
	}
}

// TestChineseFolderForm checks that the question about a folder, and the refusals of folders, speak
// the language of the objective.
func TestChineseFolderForm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount(t, "Private")
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
