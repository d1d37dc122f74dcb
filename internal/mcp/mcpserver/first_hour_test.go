package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

var (
	madeHere = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	keptHere = regexp.MustCompile(`(backups/)\d+T\d+Z-.*`)
	putHere  = regexp.MustCompile(`("command": ?")[^"]*`)
)

// tells adds the form that is on the screen to a story.
func (p *personAt) tells(story *strings.Builder) {
	p.t.Helper()
	p.redraw()
	p.waitForForm("the form again", func(string) bool { return true })
	fmt.Fprintf(story, "  MCP server “bmad” %s%s\n\n", p.host.form, strings.TrimRight(p.host.formOn(p.latest), " \n"))
}

// TestFirstHour takes a person from a machine without the program to the first document that they have decided
// on, by the three commands of the documentation and a real Claude Code, and says how long each step took. The
// model is scripted, and the person answers at once: what they need to think is not in it. TEST_BMAD_FIRST_HOUR is the
// command that installs the program below HOME, as .ci/proof has it.
func TestFirstHour(t *testing.T) {
	get := os.Getenv("TEST_BMAD_FIRST_HOUR")
	if get == "" {
		t.Skip("SKIPPED: TEST_BMAD_FIRST_HOUR does not say how to install the program, so nobody has begun with it; .ci/proof does")
	}
	claude := claudeBinary(t, "nobody has begun with it")
	needTmux(t)
	began := time.Now()
	took := func(step string) {
		t.Logf("%5.1f s  %s", time.Since(began).Seconds(), step)
		began = time.Now()
	}
	var story strings.Builder
	host := claudeHost(claude, claudeEntry{tool: plainEntry.tool, set: func(s *screen) []string {
		bin := filepath.Join(s.home, "bin")
		if err := os.Remove(filepath.Join(bin, "bmad-mcp")); err != nil { // the tests' own
			t.Fatal(err)
		}
		if err := os.Symlink(claude, filepath.Join(bin, "claude")); err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		for _, command := range []string{get, "bmad-mcp install", `bmad-mcp start --name todo "Build a to-do list for the terminal"`} {
			cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
			cmd.Dir, cmd.Env = s.dir, append(s.state(), "HOME="+s.home, "CLAUDE_CONFIG_DIR="+s.home+"/claude", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
			if command == get { // how depends on the machine
				out, command = nil, "npm i -g bmad-mcp"
			}
			took(command)
			fmt.Fprintf(&story, "$ %s\n%s\n", command, strings.NewReplacer(s.dir, "/home/you/todo", s.home+"/claude/", "/home/you/", s.home+"/state/", "/home/you/.local/state/", s.home, "/home/you").Replace(string(out)))
		}
		return nil
	}})
	work := []object{{"action": "status"}}
	for _, name := range []string{"po-1.md", "po-2.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "cli", "cmd", "start", "demo", name))
		if err != nil {
			t.Fatal(err)
		}
		work = append(work, object{"action": "submit", "stage": "po", "claude_result": string(text)})
	}
	model := &obedient{tool: host.tool, work: work}
	p := &personAt{screen: openScreen(t, serveStandIn(t, model.play), host, screenRows), keys: claudeKeys}
	time.Sleep(2 * time.Second) // a person needs them, and its servers are there then
	took("Claude Code is there")
	fmt.Fprintf(&story, "$ claude\n❯ bmad\n\n")
	p.begins()
	p.waitForForm("the questions", func(form string) bool { return strings.Contains(form, "2 questions from the Product Owner") })
	p.tells(&story)
	took("the assistant has read where the run stands, and asks")
	p.press(" Just me, on one laptop", "Enter", " Overdue ones should stand out", "Enter", "Down", "Enter")
	p.waitForForm("the gate", func(form string) bool { return strings.Contains(form, "Approve the product requirements?") })
	p.tells(&story)
	took("the questions are answered, and the requirements wait for a decision")
	p.press(p.keys.approve...)
	p.idle()
	took("they are approved")
	fmt.Fprintf(&story, "%s\n", model.message())
	shown := madeHere.ReplaceAllString(story.String(), "5f6725cc-ffc7-4799-afe6-f528af74451f")
	shown = putHere.ReplaceAllString(keptHere.ReplaceAllString(shown, "$1…"), "${1}/home/you/bin/bmad-mcp")
	golden.Check(t, filepath.Join("..", "..", "..", "docs", "first-hour.txt"), shown)
	p.checkGrant(lastEntry(t, p.dir), "approve", "")
	if _, err := os.Stat(filepath.Join(p.dir, ".claude", "specs", "todo", "01-product-requirements.md")); err != nil {
		t.Error(err)
	}
	var settings struct {
		Servers map[string]struct{ Command string } `json:"mcpServers"`
	}
	text, err := os.ReadFile(filepath.Join(p.home, "claude", ".claude.json"))
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	if err != nil || !filepath.IsAbs(settings.Servers["bmad"].Command) {
		t.Errorf("the host starts %q: %v", settings.Servers["bmad"].Command, err)
	}
}
