package mcpserver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// screenColumns and screenRows are the size of the terminal that people are taken to have, tallRows
// that of one in which the chat above a form can be read too.
const screenColumns, screenRows, tallRows = 80, 24, 40

// screenPatience is how long a screen may take to show something. Nothing is measured by it.
const screenPatience = 2 * time.Minute

// screen is a host in a terminal, with a person before it.
type screen struct {
	t      *testing.T
	host   screenHost
	dir    string // the project
	home   string // the person's, with the socket of tmux
	latest string
}

// needTmux returns the path of tmux, or skips the test.
func needTmux(t *testing.T) string {
	t.Helper()
	name, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("SKIPPED: tmux is not installed, so the forms were not read off the screen of Claude Code; .ci/proof does it")
	}
	return name
}

// screenHost is a program that shows forms in a terminal.
type screenHost struct {
	// tool is what its model calls bmad-task, says what marks a line that a person types, form what a
	// form begins with, footer what its last line has, and ready what the screen has where it waits.
	tool, says, form, footer, ready string
	// done reports whether the assistant has ended its turn.
	done func(screen string) bool
	// start writes the program's files into the home, and returns its command.
	start func(s *screen, model *standIn) (program string, args, env []string)
}

// formOn returns the form that a screen shows, as much of it as there is room for.
func (h screenHost) formOn(text string) string {
	if at := strings.LastIndex(text, h.form); at >= 0 { // of one before, a part may still be drawn
		return text[at+len(h.form):]
	}
	return text
}

// claudeHost returns a Claude Code with bmad-mcp set up in a way.
func claudeHost(program string, entry claudeEntry) screenHost {
	return screenHost{
		tool: entry.tool, says: "❯ ", form: "requests your input", footer: "Esc to cancel", ready: "shortcuts",
		done: func(text string) bool { // the last line of the chat says so
			chat, below, _ := strings.Cut(text, "\n───")
			chat = strings.TrimSpace(chat)
			return strings.Contains(below, "shortcuts") && claudeDone.MatchString(chat[strings.LastIndexByte(chat, '\n')+1:])
		},
		start: func(s *screen, model *standIn) (string, []string, []string) {
			s.write("claude/.claude.json", object{
				"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": object{"approved": []string{"stand-in"}},
				"projects": object{s.dir: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
			})
			return program, append([]string{"--permission-mode", "default", "--allowedTools", entry.tool}, entry.set(s)...), standInEnv(model, s.home)
		},
	}
}

// claudeDone is the line with which Claude Code ends a turn, by its version.
var claudeDone = regexp.MustCompile(` · done |^✻ \pL+ for \d`)

// claudeEntry is how bmad-mcp is set up in Claude Code.
type claudeEntry struct {
	// tool is Claude Code's name for bmad-task then.
	tool string
	// set writes its files into the home, and returns arguments for the program.
	set func(s *screen) []string
}

// plainEntry is an entry of the server on stdio, as "claude mcp add" makes it.
var plainEntry = claudeEntry{
	tool: "mcp__bmad__" + mcpserver.TaskTool,
	set: func(s *screen) []string {
		s.write("mcp.json", object{"mcpServers": object{"bmad": object{"type": "stdio", "command": "bmad-mcp", "args": []string{}}}})
		return []string{"--mcp-config", filepath.Join(s.home, "mcp.json"), "--strict-mcp-config"}
	},
}

// pluginEntry is the plugin: the server, the commands, and the hooks that see what is typed.
var pluginEntry = claudeEntry{
	tool: "mcp__plugin_bmad_bmad__" + mcpserver.TaskTool,
	set: func(s *screen) []string {
		folder, err := filepath.Abs(filepath.Join("..", "..", "..", "packaging", "claude-plugin"))
		if err != nil {
			s.t.Fatal(err)
		}
		return []string{"--plugin-dir", folder}
	},
}

// codexHost returns a Codex with bmad-mcp as "bmad-mcp install" sets it up. It runs without its daemon,
// which would outlive the test.
func codexHost(program string) screenHost {
	return screenHost{
		tool: "bmad_task", says: "› ", form: "  Field ", footer: "esc to cancel", ready: "Ask Codex to do anything",
		done: func(text string) bool {
			return strings.Contains(text, "Ask Codex to do anything") && !strings.Contains(text, "esc to ")
		},
		start: func(s *screen, model *standIn) (string, []string, []string) {
			s.write(".codex/config.toml", fmt.Sprintf(`
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[features]
daemon_auto_start = false
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
[model_providers.scripted]
name = "scripted"
base_url = %q
env_key = "SCRIPTED_KEY"
wire_api = "responses"
[mcp_servers.bmad]
command = %q
env_vars = ["XDG_STATE_HOME", "XDG_CONFIG_HOME"]
default_tools_approval_mode = "approve"
[projects.%q]
trust_level = "trusted"
`, model.URL+"/v1", binary, s.dir))
			return program, nil, append(standInEnv(model, s.home), "SCRIPTED_KEY=stand-in")
		},
	}
}

// openScreen starts a host in a project of its own, with bmad-mcp and a model, in a terminal of so
// many rows.
func openScreen(t *testing.T, model *standIn, host screenHost, rows int) *screen {
	t.Helper()
	tmux := needTmux(t)
	s := &screen{t: t, host: host, dir: filepath.Join(t.TempDir(), "project")}
	var err error
	if s.home, err = os.MkdirTemp("", "bmad-screen-"); err != nil { //nolint:usetesting // that of the test is too long for a socket
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close(tmux) })
	bin := filepath.Join(s.home, "bin")
	for _, folder := range []string{s.dir, bin} {
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(binary, filepath.Join(bin, "bmad-mcp")); err != nil {
		t.Fatal(err)
	}
	program, own, env := host.start(s, model)
	args := []string{"new-session", "-d", "-x", fmt.Sprint(screenColumns), "-y", fmt.Sprint(rows), "-c", s.dir, "env", "-i"}
	args = append(args, env...)
	args = append(args, s.state()...)
	args = append(args, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", program)
	if out, err := s.command(tmux, append(args, own...)...).CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	s.until("a prompt", func(text string) bool {
		return strings.Contains(text, strings.TrimSpace(host.says)) && strings.Contains(text, host.ready)
	})
	return s
}

// state returns the folder for the files of the person that belong to no project.
func (s *screen) state() []string {
	return []string{"XDG_STATE_HOME=" + s.home + "/state", "XDG_CONFIG_HOME=" + s.home + "/config"}
}

// close ends everything that was started, and removes the home when nobody writes there any more.
func (s *screen) close(tmux string) {
	s.t.Helper()
	out, _ := s.command(tmux, "display-message", "-p", "#{pane_pid}").Output() // empty if it never began
	_ = s.command(tmux, "kill-server").Run()
	pid, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	for end := time.Now().Add(screenPatience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if program, err := os.FindProcess(pid); pid > 0 && err == nil && program.Signal(syscall.Signal(0)) == nil && time.Now().Before(end.Add(-screenPatience/2)) {
			continue
		}
		if os.RemoveAll(s.home) == nil {
			return
		}
	}
	s.t.Errorf("%s cannot be removed", s.home)
}

// write makes a file of the home: a text as it is, anything else as JSON.
func (s *screen) write(name string, v any) {
	s.t.Helper()
	text, plain := v.(string)
	if !plain {
		data, err := json.MarshalIndent(v, "", "  ") // as hosts write it
		if err != nil {
			s.t.Fatal(err)
		}
		text = string(data)
	}
	name = filepath.Join(s.home, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o750), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

// command returns a call of the tmux that only this test has.
func (s *screen) command(tmux string, args ...string) *exec.Cmd {
	return exec.Command(tmux, append([]string{"-S", filepath.Join(s.home, "tmux"), "-f", os.DevNull, "-u"}, args...)...)
}

func (s *screen) ask(args ...string) string {
	s.t.Helper()
	out, err := s.command("tmux", args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v\n%s\nThe screen was last\n%s", args, err, out, s.latest)
	}
	return string(out)
}

// text returns the text on the screen.
func (s *screen) text() string {
	s.t.Helper()
	s.latest = strings.ReplaceAll(s.ask("capture-pane", "-p"), "\u00a0", " ")
	return s.latest
}

// until waits for a screen, and returns it.
func (s *screen) until(what string, shown func(string) bool) string {
	s.t.Helper()
	for end := time.Now().Add(screenPatience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if text := s.text(); shown(text) {
			return text
		}
	}
	s.t.Fatalf("the screen does not show %s:\n%s", what, s.latest)
	return ""
}

// key presses a key in a form, and returns the screen on which the form has changed. What is
// above the form changes by itself.
func (s *screen) key(name string) string {
	s.t.Helper()
	before := s.host.formOn(s.text())
	s.ask("send-keys", name)
	return s.waitForForm("the effect of "+name, func(form string) bool { return form != before })
}

// waitForForm waits for a form as wanted, and returns the screen once two looks at the form are the
// same: one look can fall into the middle of drawing it.
func (s *screen) waitForForm(what string, wanted func(form string) bool) string {
	s.t.Helper()
	last := ""
	return s.until(what, func(text string) bool {
		form := s.host.formOn(text)
		same := form == last
		last = form
		return same && strings.Contains(form, s.host.footer) && wanted(form) // its last line
	})
}

// says types the words of a person, and sends them.
func (s *screen) says(text string) {
	s.t.Helper()
	s.ask("send-keys", "-l", text)
	s.until("what was typed", func(shown string) bool {
		at := strings.LastIndex(shown, s.host.says)
		return at >= 0 && strings.HasPrefix(shown[at:], s.host.says+text)
	})
	s.ask("send-keys", "Enter")
}

// begins has the assistant go to work. Claude Code takes a first line before its servers are there.
func (s *screen) begins() {
	s.t.Helper()
	for tries := 1; ; tries++ {
		s.says("bmad")
		text := s.until("an answer", func(text string) bool {
			return strings.Contains(text, s.host.form) || strings.Count(text, noTaskTool) == tries && s.host.done(text)
		})
		if strings.Contains(text, s.host.form) {
			return
		}
		if tries == 5 {
			s.t.Fatalf("the server does not come:\n%s", text)
		}
		time.Sleep(time.Second)
	}
}

// noTaskTool is the answer of a model that is not offered the tool.
const noTaskTool = "bmad-task is not there."

// escape closes a form.
func (s *screen) escape() {
	s.t.Helper()
	time.Sleep(person)
	s.ask("send-keys", "Escape")
	s.waitForEnd()
}

func (s *screen) waitForEnd() {
	s.t.Helper()
	s.until("that the form is gone", func(text string) bool { return !strings.Contains(text, s.host.footer) })
}

// idle waits until the assistant has ended its turn, and returns the screen. A host can look so for a
// moment before its model is asked again, so that the screen has to stay as it is.
func (s *screen) idle() string {
	s.t.Helper()
	last, since := "", time.Now()
	return s.until("the end of the turn", func(text string) bool {
		if text != last {
			last, since = text, time.Now()
		}
		return s.host.done(text) && time.Since(since) > time.Second
	})
}

// obedient is a model that follows the texts of the tool, and nothing else: it
// prints user_message as it is, then waits for the person or makes next_call. What it
// submits is written down beforehand.
type obedient struct {
	tool string   // the host's name for bmad-task
	work []object // the calls that are its own work, in order

	mu   sync.Mutex
	next object // the latest next_call
	said string // the latest user_message
}

// message returns the last text that the model has printed.
func (o *obedient) message() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.said
}

// play returns the model's next move.
func (o *obedient) play(turn standInTurn) standInMove {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !turn.offers(o.tool) {
		return standInMove{say: noTaskTool}
	}
	if len(turn.results) == 0 {
		if turn.person == "decide" {
			return o.call("", o.next)
		}
		return o.goOn("", true)
	}
	reply := toolReply(turn.results[len(turn.results)-1])
	if reply == nil {
		return standInMove{say: "This cannot be read: " + turn.results[0]}
	}
	say, _ := reply["user_message"].(string)
	if say == "" {
		say = jsonText(reply)
	}
	o.said = say
	o.next, _ = reply["next_call"].(object)
	if gate, _ := reply["gate"].(object); gate["ask_by_form"] == true {
		return o.call(say, o.next)
	}
	if reply["requires_user_confirmation"] == false {
		return o.goOn(say, false)
	}
	return standInMove{say: say}
}

// goOn makes the next call of its own work, if the person asks for it or the stage is that of the work.
func (o *obedient) goOn(say string, asked bool) standInMove {
	if len(o.work) == 0 || !asked && o.next["stage"] != o.work[0]["stage"] {
		return standInMove{say: say}
	}
	work := o.work[0]
	o.work = o.work[1:]
	return o.call(say, work)
}

func (o *obedient) call(say string, args object) standInMove {
	return standInMove{say: say, call: &standInCall{o.tool, args}}
}

// toolReply reads the reply out of a tool's result: a text, or blocks of text.
func toolReply(result string) (reply object) {
	var blocks []struct{ Text string }
	text := result
	if json.Unmarshal([]byte(result), &blocks) == nil && len(blocks) > 0 {
		text = blocks[0].Text
	} else {
		_ = json.Unmarshal([]byte(result), &text)
	}
	_ = json.Unmarshal([]byte(text), &reply) // nil if it is none
	return reply
}
