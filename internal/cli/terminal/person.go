package terminal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Person is the person at the terminal, as a channel of the engine.
type Person struct {
	// Reject reports whether the decision is a no already; Words has the words of it, if any.
	Reject bool
	Words  string
	// Edited reports whether the decision is to take the edited draft.
	Edited bool
	// Out is the output for questions.
	Out io.Writer
	t   *Terminal
	// editor reads the lines at a terminal with a cursor, lines all others.
	editor *lineEditor
	lines  *bufio.Reader
}

// Ask implements request.Channel.
func (p *Person) Ask(ctx context.Context, q gate.Question) (gate.Response, error) {
	began := p.t.Now()
	fmt.Fprintf(p.Out, "%s · %s\n", q.TaskName, q.Title)
	if q.Draft != "" {
		fmt.Fprintln(p.Out, Indent(q.DraftLine()))
	}
	for _, text := range []string{q.Lead, q.Worst, q.Text} {
		if text != "" {
			fmt.Fprintln(p.Out, Indent(text))
		}
	}
	fmt.Fprintln(p.Out)
	ask := p.askDecision
	if len(q.Questions) > 0 {
		ask = p.askAnswers
	}
	answer, err := ask(ctx, q)
	if err != nil {
		return gate.Response{}, err
	}
	answer.Channel = workflow.ChannelTerminal
	answer.Took = max(p.t.Now().Sub(began), time.Millisecond)
	return answer, nil
}

func (p *Person) askDecision(ctx context.Context, q gate.Question) (gate.Response, error) {
	var choice gate.Choice
	for _, offered := range q.Choices {
		if offered.Decision == workflow.DecisionChanges {
			choice = offered
		}
	}
	if p.Edited {
		yes := slices.IndexFunc(q.Choices, func(c gate.Choice) bool { return c.Decision != workflow.DecisionChanges })
		if yes < 0 && q.Barred != nil {
			return gate.Response{}, q.Barred
		}
		if !q.Edited || yes < 0 {
			return Silent(lang.T("the draft was not changed since it was scored")), nil
		}
		choice = q.Choices[yes]
	} else if !p.Reject {
		var err error
		if choice, err = p.askChoice(ctx, q); err != nil {
			return AnswerAtEnd(ctx, err)
		}
		if choice.Decision == "" {
			return Silent(lang.T("not now")), nil
		}
	}
	answer := gate.Response{Decision: choice.Decision, Offer: choice.Offer, Feedback: p.Words}
	if p.Words != "" || choice.Words == "" {
		return answer, nil
	}
	words, err := p.Line(ctx, choice.Words+" ")
	if err != nil {
		return AnswerAtEnd(ctx, err)
	}
	if words == "" {
		return Silent(lang.T("no words were given")), nil
	}
	answer.Feedback = words
	return answer, nil
}

// askChoice asks for one of the choices; the zero value means "not now".
func (p *Person) askChoice(ctx context.Context, q gate.Question) (gate.Choice, error) {
	offered, view, legend := "", "", ""
	for _, choice := range q.Choices {
		key := choiceKey(choice)
		offered += key
		legend += fmt.Sprintf("  %s  %s\n", key, choice.Label)
	}
	if q.Draft != "" {
		view = "v"
		legend += fmt.Sprintf("  v  %s\n", q.Language.Say("View the draft"))
	}
	legend += fmt.Sprintf("  n  %s\n", q.Language.Say("Not now: leave it as it is"))
	for {
		fmt.Fprintln(p.Out, legend) // again after the document, and after a key that is none of them
		line, err := p.Line(ctx, q.Language.Say("Your decision [%s]: ", offered+view+"n"))
		if err != nil {
			return gate.Choice{}, err
		}
		line = strings.ToLower(line)
		switch i := strings.Index(offered, line); {
		case line == "n":
			return gate.Choice{}, nil
		case line == "v" && view != "":
			p.showDocument(ctx, q)
		case len(line) == 1 && i >= 0:
			return q.Choices[i], nil
		}
	}
}

// choiceKey returns the key of a choice: one key has one meaning at every gate.
func choiceKey(c gate.Choice) string {
	switch {
	case c.Offer != nil:
		return "r" // approve, and run
	case c.Decision == workflow.DecisionChanges && c.Reason:
		return "d" // done: it can go on
	case c.Decision == workflow.DecisionChanges:
		return "c" // change it
	case c.Decision == workflow.DecisionOverride || c.Reason:
		return "o" // override: go on against the report
	case c.Decision == workflow.DecisionApprove:
		return "a"
	}
	return "y" // leave the stage
}

// Silent returns the response of a person who has not decided.
func Silent(why lang.Text) gate.Response {
	return gate.Response{Silence: gate.Silence{Why: why}}
}

func (p *Person) askAnswers(ctx context.Context, q gate.Question) (gate.Response, error) {
	answer := gate.Response{Answers: map[string]string{}}
	fmt.Fprintln(p.Out, q.Language.Say("An empty line leaves a question open, “skip” skips it; the end of the input (Ctrl-D) leaves the rest."))
	for _, question := range q.Questions {
		fmt.Fprintf(p.Out, "\n%s  %s\n", question.ID, OneLine(question.Question))
		for _, option := range question.Options {
			fmt.Fprintf(p.Out, "    - %s\n", OneLine(option))
		}
		if question.Context != "" {
			fmt.Fprintf(p.Out, "    (%s)\n", OneLine(question.Context))
		}
		line, err := p.Line(ctx, "> ")
		if err == io.EOF && len(answer.Answers) > 0 { //nolint:errorlint // readers return it as it is
			break
		}
		if err != nil {
			return AnswerAtEnd(ctx, err)
		}
		answer.Answers[question.ID] = line
	}
	answer.Silence.Why = lang.T("every question was left open")
	return answer, nil
}

// AnswerAtEnd returns the answer for an error of reading. The end of the input means that the person went
// away.
func AnswerAtEnd(ctx context.Context, err error) (gate.Response, error) {
	if ctx.Err() != nil {
		return gate.Response{}, ctx.Err()
	}
	if err != io.EOF { //nolint:errorlint // readers return it as it is
		return gate.Response{}, err
	}
	return Silent(lang.T("the input ended")), nil
}

// showDocument shows the document in a question, even if the file has changed since.
func (p *Person) showDocument(ctx context.Context, q gate.Question) {
	switch {
	case q.Document == "":
		fmt.Fprintln(p.Out, Indent(q.TextGone()))
	case !p.t.Pretty():
		fmt.Fprintln(p.Out, strings.TrimRight(q.Document, "\n"))
	default:
		_ = p.t.Page(ctx, func() error { p.t.Markdown(q.Document, ""); return nil }) // it only shows
	}
}

// Line asks for one line.
func (p *Person) Line(ctx context.Context, prompt string) (string, error) {
	if p.editor != nil {
		last := strings.LastIndexByte(prompt, '\n') + 1
		fmt.Fprint(p.Out, prompt[:last])
		text, err := p.editor.ReadLine(ctx, visible.Text(prompt[last:]))
		return visible.Trim(text), err
	}
	fmt.Fprint(p.Out, prompt)
	text, err := awaitRead(ctx, func() (string, error) { return p.lines.ReadString('\n') })
	if err == io.EOF && text != "" { //nolint:errorlint // readers return it as it is
		err = nil
	}
	return visible.Trim(text), err
}

// Agrees asks a question, and reports whether the person says yes.
func (p *Person) Agrees(ctx context.Context, question string) (bool, error) {
	line, err := p.Line(ctx, question)
	if err != nil {
		_, err = AnswerAtEnd(ctx, err)
		return false, err
	}
	return strings.EqualFold(line, "y") || strings.EqualFold(line, "yes"), nil
}

// assistantsTerminal has the variables that assistants set for the commands they run, some with the beginning of the
// value, but none that a person's own shell in an editor has too (CURSOR_TRACE_ID, ZED_TERM), and no settings. Sources:
// agentsmd/agents.md issue 136, vercel detect-agent, ascorbic/am-i-vibing, aws-cdk-cli, and the assistants themselves.
var assistantsTerminal = []string{
	"AGENT", "AI_AGENT", // by agreement; AGENT is set by Amp, Goose, Kilo Code, OpenCode and others
	"AMP_CURRENT_THREAD_ID", "ANTIGRAVITY_AGENT", "AUGMENT_AGENT", "AWS_EXECUTION_ENV=AmazonQ", "CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION",
	"CLINE_ACTIVE", "CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "COPILOT_AGENT", "COPILOT_AGENT_SESSION_ID",
	"COPILOT_CLI", "CRUSH", "CURSOR_AGENT", "GEMINI_CLI", "GOOSE_TERMINAL", "GROK_AGENT=1", "IFLOW_CLI", "OPENCLAW_SHELL", "OPENCODE",
	"PI_CODING_AGENT", "QWEN_CODE", "ROO_ACTIVE", "ROO_CLI_RUNTIME", "TRAE_AI_SHELL_ID", "WINDSURF_CASCADE_TERMINAL=1",
}

// Person returns the person at this terminal, if there is one.
func (t *Terminal) Person() (*Person, error) {
	in, ok := t.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, noPerson(lang.T("standard input is not a terminal"))
	}
	if name := AssistantHere(); name != "" {
		return nil, noPerson(lang.T("this terminal is an assistant's (%s is set)", name))
	}
	person := &Person{t: t, Out: t.Prompts(), lines: bufio.NewReader(t.In)}
	if t.Pretty() {
		person.editor = newLineEditor(in, t.Raw)
	}
	return person, nil
}

// AskPerson asks the person at this terminal for a yes. yes answers for a script of theirs. An
// assistant's terminal is refused even if yes is true.
func (t *Terminal) AskPerson(ctx context.Context, yes bool, question string) (bool, error) {
	if name := AssistantHere(); name != "" {
		return false, noPerson(lang.T("this terminal is an assistant's (%s is set)", name))
	}
	if yes {
		return true, nil
	}
	person, err := t.Person()
	if err != nil {
		return false, err
	}
	return person.Agrees(ctx, question)
}

// AssistantHere returns the variable by which an assistant shows at this terminal, "" if none does.
func AssistantHere() string {
	for _, sign := range assistantsTerminal {
		name, value, _ := strings.Cut(sign, "=")
		if set := os.Getenv(name); set != "" && strings.HasPrefix(set, value) {
			return name
		}
	}
	return ""
}

func noPerson(why lang.Text) error {
	return fault.New(fault.GatePending, "%s, so no person can decide here", why).
		WithHint("run it in a terminal of your own")
}
