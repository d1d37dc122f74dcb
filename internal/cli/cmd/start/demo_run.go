package start

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/run"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// demoScenes are the works that the demo's engine plays, in order: the file with the answer, and the
// acts before it.
var demoScenes = []struct {
	file string
	does []string
}{
	{"po-1.md", []string{"Read README.md"}},
	{"po-2.md", []string{"Read po.md"}},
	{"architect-1.md", []string{"Read 01-product-requirements.md", "Glob **/*.go"}},
	{"architect-2.md", []string{"Read architect.md"}},
	{"sm-1.md", []string{"Read 02-system-architecture.md"}},
	{"dev-1.md", []string{"Read 03-sprint-plan.md", "Write internal/list/list_test.go", "Bash go test ./...", "Write internal/list/list.go", "Bash go test ./..."}},
	{"review-1.md", []string{"Read internal/file/file.go", "Grep os.WriteFile"}},
	{"dev-2.md", []string{"Edit internal/file/file.go", "Bash go test ./..."}},
	{"review-2.md", []string{"Read internal/file/file.go"}},
	{"qa-1.md", []string{"Bash go test ./...", "Bash go run ./cmd/todo list"}},
}

// demoEngine plays the work of an engine of a name. played counts the scenes of all.
type demoEngine struct {
	name   string
	lang   lang.Language
	pace   time.Duration
	played *int
}

// Name implements runner.Worker.
func (d demoEngine) Name() string { return d.name }

// Work implements runner.Worker.
func (d demoEngine) Work(ctx context.Context, job hostcli.Job) (*hostcli.Outcome, error) {
	if *d.played >= len(demoScenes) {
		return nil, &hostcli.Failure{Engine: d.Name(), Why: "the script of the demo is over", Final: true}
	}
	scene := demoScenes[*d.played]
	*d.played++
	for _, text := range scene.does {
		job.Tell(hostcli.Activity{Kind: hostcli.UsesTool, Text: text})
		select {
		case <-time.After(d.pace):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	text, err := demoText(d.lang, scene.file)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(scene.file, "dev-") {
		if err := os.WriteFile(filepath.Join(job.Dir, "list.go"), fmt.Appendf(nil, "package list // as %s\n", scene.file), 0o600); err != nil {
			return nil, fault.From(err)
		}
	}
	usage := provider.Usage{Input: int64(len(job.Prompt) / 4), Output: int64(len(text) / 4), Estimated: true}
	return &hostcli.Outcome{Text: string(text), Session: "demo", Usage: map[string]provider.Usage{"claude-sonnet-5-5": usage}}, nil
}

// demoDecider plays the person. Its decisions are recorded as a script's.
type demoDecider struct {
	term *terminal.Terminal
	pace time.Duration
	said []gate.Response
}

func newDemoDecider(term *terminal.Terminal, pace time.Duration) *demoDecider {
	l, yes := term.Lang, gate.Response{Decision: workflow.DecisionApprove}
	no := func(words string) gate.Response {
		return gate.Response{Decision: workflow.DecisionChanges, Feedback: words}
	}
	return &demoDecider{term, pace, []gate.Response{
		{Answers: map[string]string{"q1": l.Say("Just me, on one laptop"), "q2": l.Say("Overdue ones should stand out")}},
		yes, no(l.Say("Two terminals must not lose each other's tasks.")), yes, yes, no(l.Say("Lost tasks are not acceptable.")),
	}}
}

// Ask implements request.Channel.
func (d *demoDecider) Ask(ctx context.Context, q gate.Question) (gate.Response, error) {
	if len(d.said) == 0 {
		return terminal.Silent(lang.T("the script of the demo is over")), nil
	}
	next := d.said[0]
	d.said = d.said[1:]
	next.Channel = workflow.ChannelScript
	fmt.Fprintf(d.term.Out, "\n📝 %s\n", q.Title)
	for _, text := range []string{q.Lead, q.Worst} {
		if text != "" {
			fmt.Fprintln(d.term.Out, terminal.Indent(text))
		}
	}
	select {
	case <-time.After(d.pace):
	case <-ctx.Done():
		return gate.Response{}, ctx.Err()
	}
	for _, question := range q.Questions {
		fmt.Fprintf(d.term.Out, "   %s\n🧑 %s\n", terminal.OneLine(question.Question), next.Answers[question.ID])
	}
	if next.Decision != "" {
		for _, choice := range q.Choices {
			if choice.Decision == next.Decision {
				demoSay(d.term, "🧑 ", "   ", strings.TrimRight(choice.Label+": "+next.Feedback, ": "))
			}
		}
	}
	fmt.Fprintln(d.term.Out)
	return next, nil
}

// demoPace is the duration of an act of the demo if someone watches.
const demoPace = 700 * time.Millisecond

// demoOfRun shows a run without a host, in a folder of its own.
func demoOfRun(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, p program) error {
	dir, err := os.MkdirTemp("", "bmad-demo-")
	if err != nil {
		return fault.From(err)
	}
	// The person's own settings, state and variables stay out.
	state := filepath.Join(dir, ".state")
	spoken := string(term.Lang)
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "BMAD_") || name == "CLAUDE_PROJECT_DIR" {
			_ = os.Unsetenv(name) // it is there
		}
	}
	for name, value := range map[string]string{"XDG_STATE_HOME": state, "XDG_CONFIG_HOME": state, "BMAD_LANGUAGE": spoken} {
		if err := os.Setenv(name, value); err != nil {
			return fault.From(err)
		}
	}
	tasks.Cwd = dir
	if err := p.SetUp(); err != nil {
		return err
	}
	p.UseAudits()
	pace := time.Duration(0)
	if terminal.IsTerminal(term.Raw) {
		pace = demoPace
	}
	demoSay(term, "", "", term.Lang.Say("A run without a host, in %s. The workers, their figures and the person (🧑) are played: no model is called, and your own gates stay yours.\n", dir))
	played := new(int)
	options := headless.Options{
		Engine: tasks.Engine(), Workers: []headless.Worker{demoEngine{"claude", term.Lang, pace, played},
			demoEngine{"codex", term.Lang, pace, played}}, Person: newDemoDecider(term, pace), Gates: headless.Ask,
		Flags: headless.Flags{Dirty: true}, Folder: dir, By: "bmad-mcp demo", Log: tasks.Log,
	}
	out, _, err := run.Show(term, options, "", func(r *headless.Runner) (*headless.Result, error) {
		return r.Start(ctx, term.Lang.Say(demoObjective), "todo")
	})
	if err != nil {
		return err
	}
	if out.Reason != headless.Done {
		return fault.New(fault.Conflict, "the demo has ended early: %s", out.Why)
	}
	return demoEnd(term, dir)
}
