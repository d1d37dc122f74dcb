package hook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts/hook"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const task, other = "mcp__plugin_bmad_bmad__bmad-task", "mcp__bmad__bmad-task"

func prompt(id, text string) hook.Event {
	return hook.Event{Name: "UserPromptSubmit", PromptID: id, Prompt: text}
}

func typed(id, command string) hook.Event {
	return hook.Event{Name: "UserPromptExpansion", PromptID: id, Command: command}
}

func submitted(id, gate string) hook.Event {
	text, _ := json.Marshal(`{"current_state":"awaiting_confirmation","gate":` + gate + `}`)
	return hook.Event{Name: "PostToolUse", PromptID: id, Tool: task, Input: json.RawMessage(`{"action":"submit","stage":"po"}`),
		Response: json.RawMessage(`[{"type":"text","text":` + string(text) + `}]`)}
}

func refusedSubmit(id string) hook.Event {
	e := submitted(id, "null")
	e.Response = json.RawMessage(`[{"type":"text","text":"{\"status\":\"failed\",\"code\":\"gate_pending\"}"}]`)
	return e
}

func decided(id string) hook.Event {
	return hook.Event{Name: "PostToolUse", PromptID: id, Tool: task, Input: json.RawMessage(`{"action":"confirm","confirmed":true}`), Response: json.RawMessage(`[]`)}
}

func asked(id, question, answer string) hook.Event {
	response, _ := json.Marshal(map[string]any{"answers": map[string]string{question: answer}})
	return hook.Event{Name: "PostToolUse", PromptID: id, Tool: "AskUserQuestion", Response: response}
}

func chosen(id, answer string) hook.Event {
	text, _ := json.Marshal(answer)
	return hook.Event{Name: "PostToolUse", PromptID: id, Tool: "AskUserQuestion", Response: json.RawMessage(`{"questions":[],"answers":{"The PRD?":` + string(text) + `}}`)}
}

func calls(id, tool, input string) hook.Event {
	return hook.Event{Name: "PreToolUse", PromptID: id, Tool: tool, Input: json.RawMessage(input)}
}

// TestTurns plays turns, and asks at their end whether a call may be made.
func TestTurns(t *testing.T) {
	const yes = `{"action":"confirm","confirmed":true}`
	form := `{"ask_by_form":true}`
	for _, c := range []struct {
		name   string
		events []hook.Event
		call   hook.Event
		refuse string // words of the reason; "" is let through
	}{
		{"in the same turn", []hook.Event{prompt("1", "build a clock"), submitted("1", "null")}, calls("1", task, yes), "end your turn"},
		{"saved under its other name", []hook.Event{prompt("1", "build a clock"), submitted("1", "null")}, calls("1", other, `{"action":"confirm_save"}`), "/bmad:confirm"},
		{"without a word", []hook.Event{prompt("1", "build a clock"), submitted("1", "null")}, calls("1", task, `{"action":"confirm"}`), "Nobody has decided"},
		{"an approval", []hook.Event{prompt("1", "build a clock"), submitted("1", "null")}, calls("1", task, `{"action":"approve","approved":true}`), "/bmad:approve"},
		{"before any prompt was seen", []hook.Event{submitted("1", "null")}, calls("1", task, yes), "end your turn"},
		{"where a form would ask", []hook.Event{prompt("1", "build"), submitted("1", form)}, calls("1", task, yes), "without confirmed or approved"},
		{"an old yes to another draft", []hook.Event{prompt("1", "build"), submitted("1", "null"), chosen("1", "Approve"), submitted("1", "null")}, calls("1", task, yes), "Nobody has decided"},
		{"a no by choosing", []hook.Event{prompt("1", "build"), submitted("1", "null"), chosen("1", "Change the scope")}, calls("1", task, yes), "Nobody has decided"},
		{"a command that decides nothing", []hook.Event{typed("1", "bmad:start"), submitted("1", "null")}, calls("1", task, yes), "Nobody has decided"},
		{"one word for two gates", []hook.Event{prompt("1", "confirm"), decided("1"), submitted("1", "null")}, calls("1", task, yes), "Nobody has decided"},
		{"one command for two gates", []hook.Event{typed("1", "bmad:confirm"), decided("1"), submitted("1", "null")}, calls("1", task, yes), "Nobody has decided"},
		{"in a shell", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("1", "Bash", `{"command":"cd x && bmad-mcp task confirm build-a-clock"}`), "Nobody has decided"},
		{"in a shell, with a folder", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("1", "Bash", `{"command":"bmad-mcp --cwd /p task confirm"}`), "Nobody has decided"},
		{"in a shell, as released", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("1", "Bash", `{"command":"A=b ./bmad-mcp-linux-amd64 task --cwd=/p approve"}`), "Nobody has decided"},
		{"one word for two shells", []hook.Event{prompt("1", "confirm"), submitted("1", "null"), {Name: "PostToolUse", PromptID: "1", Tool: "Bash", Input: json.RawMessage(`{"command":"bmad-mcp confirm"}`)}, submitted("1", "null")}, calls("1", "Bash", `{"command":"bmad-mcp confirm"}`), "Nobody has decided"},
		{"yes to another question", []hook.Event{prompt("1", "build"), submitted("1", "null"), asked("1", "Postgres?", "Yes")}, calls("1", task, yes), "Nobody has decided"},
		{"in a shell, by itself", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("1", "Bash", `{"command":"/opt/bmad-mcp --cwd=x confirm --yes"}`), "Nobody has decided"},
		{"a no by command", []hook.Event{typed("1", "bmad:reject"), submitted("1", "null")}, calls("1", task, yes), "Nobody has decided"},

		{"the call that shows the form", []hook.Event{prompt("1", "build"), submitted("1", form)}, calls("1", task, `{"action":"confirm"}`), ""},
		{"the host asks about the tool itself", []hook.Event{prompt("1", "build"), submitted("1", `{"ask_by_host":true}`)}, calls("1", "mcp__bmad__bmad-confirm", `{"decision":"approve"}`), ""},
		{"yes to the question", []hook.Event{prompt("1", "build"), submitted("1", "null"), asked("1", "Approve the PRD?", "Yes")}, calls("1", task, yes), ""},
		{"the recommended choice", []hook.Event{prompt("1", "build"), submitted("1", "null"), asked("1", "The PRD", "Confirm (Recommended)")}, calls("1", task, yes), ""},
		{"a search in a shell", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("1", "Bash", `{"command":"grep -rn 'bmad-mcp confirm' docs"}`), ""},
		{"told to decide on all", []hook.Event{prompt("1", "run all stages, then approve everything"), submitted("1", "null"), decided("1"), submitted("1", "null")}, calls("1", task, yes), ""},
		{"a shell that decides nothing", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("1", "Bash", `{"command":"bmad-mcp show confirm && git commit -m 'bmad-mcp: confirm'"}`), ""},
		{"in the next turn", []hook.Event{prompt("1", "build"), submitted("1", "null"), prompt("2", "looks good")}, calls("2", task, yes), ""},
		{"the next turn's prompt was not seen", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("2", task, yes), ""},
		{"typed as a command", []hook.Event{prompt("1", "/bmad:confirm"), typed("1", "bmad:confirm"), submitted("1", "null")}, calls("1", task, yes), ""},
		{"told beforehand", []hook.Event{prompt("1", "build it, then confirm the PRD"), submitted("1", "null")}, calls("1", task, yes), ""},
		{"chosen in a question", []hook.Event{prompt("1", "build"), submitted("1", "null"), chosen("1", "Approve")}, calls("1", task, yes), ""},
		{"a no", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("1", task, `{"action":"confirm","confirmed":false,"feedback":"x"}`), ""},
		{"the submission was refused", []hook.Event{prompt("1", "looks good"), refusedSubmit("1")}, calls("1", task, yes), ""},
		{"events without ids", []hook.Event{prompt("", "build"), submitted("", "null"), prompt("", "looks good")}, calls("", task, yes), ""},
		{"nothing was submitted", []hook.Event{prompt("1", "go on")}, calls("1", task, yes), ""},
		{"a status", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("1", task, `{"action":"status"}`), ""},
		{"another server's tool", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("1", "mcp__x__confirm", yes), ""},
		{"no arguments", []hook.Event{prompt("1", "build"), submitted("1", "null")}, calls("1", task, `[]`), ""},
	} {
		var turn hook.Turn
		for _, e := range c.events {
			turn = turn.After(e)
		}
		reason := turn.Refuse(c.call)
		if (reason == "") != (c.refuse == "") || !strings.Contains(reason, c.refuse) {
			t.Errorf("%s: %q, want %q", c.name, reason, c.refuse)
		}
	}
}

// TestWords tells orders to decide from texts that only speak of deciding.
func TestWords(t *testing.T) {
	for text, want := range map[string]bool{
		"confirm":                                 true,
		"Yes, confirm.":                           true,
		"ok approve the plan":                     true,
		"write the PRD, then confirm it":          true,
		"run all stages, then approve everything": true,
		"accept the risk":                         true,
		"confirm all of it without asking me":     true,
		"go through the gates without asking me":  true,
		"don't ask me, just build it":             true,
		"decide on my behalf":                     true,
		"确认":                                      true,
		"直接确认就行":                                  true,
		"写完全部批准":                                  true,
		"looks good, confirm":                     true,
		"Yes! Confirm":                            true,
		"✅ confirm":                               true,
		"go ahead and confirm":                    true,
		"confirm PRD":                             true,
		"Build an expenses tool where employees file a report and managers review and approve it.": false,
		"managers open the request, approve the plan, and export it.":                              false,
		"Build a dialog where you can confirm it with Enter":                                       false,
		"confirm that you understand the requirements, then write the PRD":                         false,
		"Confirm this works on Windows":                                                            false,
		"Admins can reject them and approve them in bulk":                                          false,
		"Don't ask me about colours, choose them yourself":                                         false,
		"Do not ask me questions about the tech stack":                                             false,
		"no need to wait for me with the research":                                                 false,
		"Users continue without asking.":                                                           false,
		"approve all":                                                                              true,
		"Build an app where managers approve all requests":                                         false,
		"Accept payments by card in my shop":                                                       false,
		"a CLI that deletes temp files without asking":                                             false,
		"build it, but don't ask users for a phone number":                                         false,
		"Confirm dialog for deleting todos":                                                        false,
		"通过爬虫抓取天气数据":                                                                               false,
		"做一个自动通过邮件发送日报的工具":                                                                         false,
		"I confirm":                                      true,
		"Write the PRD; I will confirm it later":         false,
		"Write it. I want to confirm it myself.":         false,
		"Is it me who has to confirm it?":                false,
		"nobody should confirm it but me":                false,
		"我来确认":                                           false,
		"Write a PRD for a form where people approve it": false,
		"build an approval service":                      false,
		"managers approve requests by e-mail":            false,
		"build a form where users confirm mails":         false,
		"do not confirm it before I have read it":        false,
		"don't approve the plan":                         false,
		"ask me before you confirm it":                   false,
		"let me review the draft, then confirm it":       false,
		"not sure I can accept this":                     false,
		"先别确认":                                           false,
		"等我看完再确认":                                        false,
		"looks good":                                     false,
		"":                                               false,
	} {
		turn := hook.Turn{}.After(prompt("1", text))
		if got := turn.Said || turn.Always; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// FuzzEvent looks for an event that breaks the rules' reading of it.
func FuzzEvent(f *testing.F) {
	f.Add("PostToolUse", task, `{"action":"submit"}`, `[{"type":"text","text":"{}"}]`, "build")
	f.Add("PreToolUse", task, `{"action":"confirm"}`, `null`, "")
	f.Fuzz(func(t *testing.T, name, tool, input, response, text string) {
		e := hook.Event{Name: name, PromptID: "1", Tool: tool, Input: json.RawMessage(input), Response: json.RawMessage(response), Prompt: text}
		turn := hook.Turn{}.After(e)
		if reason := turn.Refuse(e); reason != "" && name != "PreToolUse" {
			t.Errorf("%s is refused: %s", name, reason)
		}
		if _, err := hook.Answer(text); err != nil {
			t.Error(err)
		}
	})
}

// FuzzCall looks for arguments that the hook reads in another way than the server.
func FuzzCall(f *testing.F) {
	for _, input := range readings {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input string) {
		q, err := request.Parse([]byte(input))
		confirms := q.Action == workflow.ActionConfirm && (q.Yes == nil || *q.Yes)
		approves := q.Action == workflow.ActionApprove && (q.Yes == nil || *q.Yes)
		if opens := err == nil && (confirms || approves); opens != (handedIn().Refuse(calls("1", task, input)) != "") {
			t.Errorf("%s: the server takes it as a yes: %v, and the hook does not agree", input, opens)
		}
	})
}

// readings are arguments in the shapes in which hosts and models send them.
var readings = []string{
	`{"action":"confirm","confirmed":"true"}`, `{"action":"approve","approved":"true"}`, `{"action":"confirm_save","confirmed":true}`, `{"action":"confirm","confirmed":"false"}`,
	`"{\"action\":\"confirm\",\"confirmed\":\"true\"}"`, `{"action":"confirm","confirmed":false,"confirmed":true}`, `{"action":"confirm","confirmed":true,"confirmed":false}`,
	`{"action":"status","action":"confirm"}`, `{"action":"confirm","Confirmed":false}`, `{"Action":"confirm"}`, `{"action":"confirm","confirmed":1}`, `{"action":"confirm","confirmed":[true]}`,
	`{"action":"confirm","confirmed":null}`, `{"action":"confirm","approved":true}`, `{"action":"confirm","revision":"4"}`, `{"action":"confirm","x":1}`, `["confirm"]`, `{"action":["confirm"]}`, `{"action":"\u0063onfirm"}`, ``,
}

// TestShellTools checks that every tool that runs commands is judged, by the shell that it has.
func TestShellTools(t *testing.T) {
	for _, c := range []struct {
		tool, command string
		want          bool
	}{
		{"Monitor", `bmad-mcp confirm`, true},
		{"Monitor", `tail -f server.log | grep --line-buffered approve`, false},
		{"PowerShell", `bmad-mcp.exe confirm`, true},
		{"PowerShell", `& 'bmad-mcp' task approve`, true},
		{"PowerShell", `if ($true) { bmad-mcp confirm }`, true},
		{"PowerShell", `Start-Process bmad-mcp -ArgumentList confirm`, true},
		{"PowerShell", `bmad-mcp task status`, false},
		{"PowerShell", `Get-ChildItem -Recurse *.cs | Select-String 'approve'`, false},
		{"PowerShell", `dotnet test --filter Confirm; if ($LASTEXITCODE -ne 0) { exit 1 }`, false},
		{"PowerShell", `$env:PATH -split ';' | Sort-Object`, false},
		{"Read", `bmad-mcp confirm`, false},
	} {
		e := bash(c.command)
		e.Tool = c.tool
		if got := handedIn().Refuse(e) != ""; got != c.want {
			t.Errorf("%s %s: held up %v", c.tool, c.command, got)
		}
	}
}

// FuzzShell looks for a command that the judgement does not end on.
func FuzzShell(f *testing.F) {
	for _, list := range [][]string{deciding, free, ordinary, laterFree} {
		for _, command := range list {
			f.Add(command)
		}
	}
	f.Fuzz(func(t *testing.T, command string) {
		e := bash(command)
		turn := handedIn()
		if held := turn.Refuse(e) != ""; !held && strings.TrimSpace(command) == "bmad-mcp confirm" {
			t.Error("a plain decision is let through")
		}
		e.Name = "PostToolUse"
		turn.After(e)
	})
}
