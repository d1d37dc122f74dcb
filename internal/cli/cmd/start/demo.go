// Package start has the commands for newcomers: the demo, and the entries in the settings of hosts.
package start

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// demoStep is one call in the demo, with the cause.
type demoStep struct {
	// said are the human's words; did is an action of the assistant.
	said, did string
	// file is the sample document to write into the project, and to submit by path.
	file string
	// builds are files of the work, with a line each instead of the code.
	builds []string
	args   map[string]any
	// form has the human's input if the call shows a form.
	form map[string]any
	// place is the stage and state after the step, for example "po/generating", if the script fills in the
	// forms.
	place string
}

func demoSteps(l lang.Language) []demoStep {
	submit := func(stage, file string) map[string]any {
		return map[string]any{"action": "submit", "stage": stage, "claude_result_path": "drafts/" + file}
	}
	// Gates are decided in the form. The call that shows the form says nothing for the human.
	confirm, approve := map[string]any{"action": "confirm"}, map[string]any{"action": "approve"}
	yes := map[string]any{"decision": "approve"}
	return []demoStep{
		{said: l.Say("Use bmad-task to build a to-do list for the terminal."), place: "po/generating",
			args: map[string]any{"action": "start", "task_name": "todo", "objective": l.Say(demoObjective)}},
		{did: l.Say("writes the requirements"), file: "po-1.md", args: submit("po", "po-1.md"),
			form: map[string]any{"answer_01": l.Say("Just me, on one laptop"),
				"answer_02": l.Say("Overdue ones should stand out")}, place: "po/refining"},
		{did: l.Say("works the answers in"), file: "po-2.md", args: submit("po", "po-2.md"), place: "po/awaiting_confirmation"},
		{did: l.Say("shows the draft and calls confirm"), args: confirm, form: yes, place: "architect/generating"},
		{did: l.Say("designs the system"), file: "architect-1.md", args: submit("architect", "architect-1.md"), place: "architect/awaiting_confirmation"},
		{did: l.Say("shows the draft and calls confirm"), args: confirm, form: yes, place: "sm/generating"},
		{did: l.Say("plans the sprints"), file: "sm-1.md", args: submit("sm", "sm-1.md"), place: "sm/awaiting_approval"},
		{did: l.Say("shows the plan and calls approve"), args: approve, form: yes, place: "dev/generating"},
		{said: l.Say("Start development."), did: l.Say("writes the code and its report"), file: "dev-1.md",
			builds: []string{"cmd/todo/main.go", "internal/list/list.go", "internal/file/file.go"}, args: submit("dev", "dev-1.md"), place: "review/generating"},
		{did: l.Say("reviews it, and fails it"), file: "review-1.md", args: submit("review", "review-1.md"), place: "review/awaiting_approval"},
		{did: l.Say("shows the report and calls approve"), args: approve,
			form: map[string]any{"decision": "request_changes",
				"feedback": l.Say("Lost tasks are not acceptable.")}, place: "dev/refining"},
		{did: l.Say("fixes the findings of the review"), file: "dev-2.md", builds: []string{"internal/file/file_test.go"},
			args: submit("dev", "dev-2.md"), place: "review/generating"},
		{did: l.Say("reviews it again"), file: "review-2.md", args: submit("review", "review-2.md"), place: "qa/generating"},
		{did: l.Say("tests every criterion"), file: "qa-1.md", args: submit("qa", "qa-1.md"), place: "qa/completed"},
	}
}

// Demo returns the command that shows a run on sample documents.
func Demo(term *terminal.Terminal) *cobra.Command {
	ask, board := false, false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a whole run on sample documents",
		Long: `Run all six stages on sample documents in a temporary folder: the program starts
itself as an MCP server, talks to it over stdio as a host would, and shows each
step. The server's questions come as forms, as a host shows them; with --ask it is
you who fills them in. With --dashboard the run stops at the failed review, which you
find on the dashboard of that folder. The folder stays for you to look at. Nothing else
is touched.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), term, ask, board)
		},
	}
	cmd.Flags().BoolVar(&ask, "ask", false, "fill in the forms yourself")
	cmd.Flags().BoolVar(&board, "dashboard", false, "leave the failed review to you, on the dashboard")
	return cmd
}

func runDemo(ctx context.Context, term *terminal.Terminal, ask, board bool) error {
	dir, err := os.MkdirTemp("", "bmad-demo-")
	if err != nil {
		return fault.From(err)
	}
	self, err := os.Executable()
	if err != nil {
		return fault.From(err)
	}
	// The list of known projects is in the folder, too, and the person's settings are not read.
	state := filepath.Join(dir, ".state")
	env := []string{"BMAD_LANGUAGE=" + string(term.Lang), "XDG_STATE_HOME=" + state, "XDG_CONFIG_HOME=" + state, "CLAUDE_PROJECT_DIR=" + dir}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "BMAD_") && name != "BMAD_LANGUAGE" {
			env = append(env, name+"=") // empty variables set nothing
		}
	}
	person := &demoPerson{shown: term}
	if ask {
		if person.terminal, err = term.Person(); err != nil {
			return err
		}
	}
	client, err := mcpserver.Connect(ctx, mcpserver.Launch{Command: self, Dir: dir, Env: env, Form: person.fillForm})
	if err != nil {
		return fault.From(err)
	}
	defer func() { _ = client.Close() }()
	term.Say("A server was started, and answers over stdio, protocol %s. Its folder:\n  %s", client.Protocol(), dir)
	term.Say("🧑 is what the human says, 🤖 what the assistant does, 📋 what the server\nanswers, 📝 a form of the server.")
	steps := demoSteps(term.Lang)
	if board {
		steps = steps[:slices.IndexFunc(steps, func(s demoStep) bool { return s.form["decision"] == "request_changes" })]
	}
	for _, step := range steps {
		person.next = step.form
		over, err := person.playStep(ctx, client, dir, step)
		if err != nil {
			return err
		}
		if over {
			break
		}
	}
	if board {
		return serveDemo(ctx, term, self, dir, env)
	}
	return demoEnd(term, dir)
}

// serveDemo serves the dashboard of the demo's folder until its person ends it.
func serveDemo(ctx context.Context, term *terminal.Terminal, self, dir string, env []string) error {
	term.Say("\nThe run waits for you on the dashboard. To pair a browser by its code, set in that\nterminal: XDG_STATE_HOME=%s\n", filepath.Join(dir, ".state"))
	cmd := exec.CommandContext(ctx, self, "dashboard", "--root", dir) //nolint:gosec // this program
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.In, term.Raw, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 15 * time.Second // as long as the pages need to close
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fault.From(err)
	}
	return nil
}

// playStep plays a step of the demo, in the demo's folder. over reports whether the person has left the
// script.
func (p *demoPerson) playStep(ctx context.Context, client *mcpserver.Client, dir string, step demoStep) (over bool, err error) {
	term := p.shown
	fmt.Fprintln(term.Out)
	if step.said != "" {
		fmt.Fprintf(term.Out, "🧑 %s\n", step.said)
	}
	if step.did != "" {
		fmt.Fprintf(term.Out, "🤖 %s\n", step.did)
	}
	if step.file != "" {
		data, err := demoText(term.Lang, step.file)
		if err != nil {
			return false, err
		}
		drafts := filepath.Join(dir, "drafts")
		if err := os.MkdirAll(drafts, 0o750); err != nil {
			return false, fault.From(err)
		}
		if err := os.WriteFile(filepath.Join(drafts, step.file), data, 0o600); err != nil {
			return false, fault.From(err)
		}
	}
	for _, name := range step.builds {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750); err != nil {
			return false, fault.From(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("package "+filepath.Base(filepath.Dir(name))+"\n"), 0o600); err != nil {
			return false, fault.From(err)
		}
	}
	call, err := json.Marshal(step.args)
	if err != nil {
		return false, fault.From(err)
	}
	demoSay(term, "🤖 ", "   ", mcpserver.TaskTool+" "+strings.ReplaceAll(string(call), `,"`, `, "`))
	text, refused, err := client.Call(ctx, mcpserver.TaskTool, step.args)
	if err != nil {
		return false, fault.From(err)
	}
	if refused {
		return false, fault.New(fault.Conflict, "the server refused a step of the demo: %s", text)
	}
	var reply reply.Reply
	if err := json.Unmarshal([]byte(text), &reply); err != nil {
		return false, fault.From(err)
	}
	demoSay(term, "📋 ", "   ", terminal.Plain(reply.UserMessage))
	if len(reply.Gaps) > 0 {
		demoSay(term, "   ", "   ", term.Lang.Say("\nThe assistant gets the answers, and what the draft lacks:"))
		for _, gap := range reply.Gaps[:min(len(reply.Gaps), demoGaps)] {
			demoSay(term, "   - ", "     ", gap)
		}
	}
	if got := string(reply.Stage) + "/" + string(reply.State); got != step.place {
		if p.views {
			p.views = false
			return p.playStep(ctx, client, dir, step)
		}
		demoSay(term, "", "", term.Lang.Say("\nYou went another way than the script, which ends here at %s. The run is yours to go on with.", got))
		return true, nil
	}
	return false, nil
}

// demoGaps bounds the shown gaps of a draft: the author's own, and the worst of the audit.
const demoGaps = 5

// demoColumns is the width of the demo's output, for the narrowest of common terminals.
const demoColumns = 78

// demoSay prints a text after a mark. Further rows follow another mark of the same width.
func demoSay(term *terminal.Terminal, mark, further, text string) {
	for _, row := range visible.Wrap(text, demoColumns-visible.Columns(mark)) {
		fmt.Fprintln(term.Out, strings.TrimRight(mark+row, " "))
		mark = further
	}
}

//go:embed demo
var demoFiles embed.FS

const demoObjective = "Build a to-do list for the terminal"

// demoText returns a document of the demo, in the language if there is one, else the English one.
func demoText(l lang.Language, name string) ([]byte, error) {
	data, err := demoFiles.ReadFile("demo/" + strings.TrimSuffix(name, "md") + string(l) + ".md")
	if err != nil {
		data, err = demoFiles.ReadFile("demo/" + name)
	}
	if err != nil {
		return nil, fault.From(err)
	}
	return data, nil
}

func demoEnd(term *terminal.Terminal, dir string) error {
	term.Say("\nThe files, all yours to look at, in %s:", dir)
	for _, pattern := range []string{".claude/specs/*/*.md", ".bmad-task/session-*.json"} {
		paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return fault.From(err)
		}
		for _, p := range paths {
			fmt.Fprintln(term.Out, "  "+strings.TrimPrefix(p, dir+string(filepath.Separator)))
		}
	}
	term.Say("\nNext, in your own project:")
	if _, err := exec.LookPath("bmad-mcp"); err != nil {
		term.Say("  go install ./cmd/bmad-mcp\n                           puts the program on your PATH, from a clone of its source")
	}
	term.Say("  bmad-mcp install         registers it with Claude Code, Codex and others here")
	term.Say("  bmad-mcp start \"…\"       starts a run; or say in your host:\n                           Use bmad-task to build …")
	return nil
}
