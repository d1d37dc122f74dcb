package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/cmds/run"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// workFlags are the flags of commands that end with documents.
type workFlags struct {
	out, answers string
	force, write bool
	open         []string
}

func (f *workFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "the folder that the documents are written to")
	flags.BoolVar(&f.force, "force", false, "replace files that are there")
	flags.StringVar(&f.answers, "answers", "", "a JSON file with answers, by the question's id or words; - is standard input")
	flags.BoolVar(&f.write, "write", false, "let the agent change the files of the project; without it, changes are kept aside and shown")
	run.OpenFlag(cmd, &f.open)
}

// knownAgent refuses an agent that no installation has, in the person's language.
func knownAgent(ctx context.Context, a *app.App, id string) error {
	s, err := a.Shelf(ctx)
	if err == nil {
		_, err = s.Details(catalog.Agent, id)
	}
	return err
}

// filesOf returns the files for an agent that works on the project, and a function that releases
// them; none outside of a project.
func filesOf(a *app.App, write bool, open []string) (files vfs.FS, release func() error, err error) {
	release = func() error { return nil }
	if err := run.CheckOpen(open); err != nil {
		return nil, release, err
	}
	project, err := agentProject(a)
	if err != nil || project == "" {
		return nil, release, err
	}
	dir, err := vfs.OpenDir(project, vfs.DirOptions{ReadOnly: !write, Open: open})
	if err != nil {
		return nil, release, fault.New(fault.Storage, "the project folder cannot be opened: %w", err).WithHint("check --cwd")
	}
	if write {
		return dir, dir.Close, nil
	}
	return vfs.NewOverlay(dir, a.Engine().Clock), dir.Close, nil
}

func agentAskCommand(a *app.App, m *modelFlags) *cobra.Command {
	f := &workFlags{}
	cmd := &cobra.Command{
		Use: "ask AGENT COMMAND…", Short: "Have an agent carry out one command, and save its documents", Args: cobra.MinimumNArgs(2),
		Long: `Has an agent carry out one command: an item of its menu, such as *create-prd, or words of
your own. It reads the project. Its changes are kept aside and shown as a diff, unless
--write lets it change the project. At a question it asks you at the terminal; elsewhere
it saves the session, prints the question and ends with code 6.

` + agentExitHelp,
		Example: `  bmad-mcp agent ask pm "*create-prd for a webhook relay" --out docs --limit 2`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if err := knownAgent(ctx, a, args[0]); err != nil {
				return err
			}
			a.Speak(strings.Join(args[1:], " "))
			client, err := workingClient(a, *m)
			if err != nil {
				return err
			}
			defer client.Close()
			files, release, err := filesOf(a, f.write, f.open)
			if err != nil {
				return err
			}
			defer func() { _ = release() }() // every write was confirmed
			s, err := client.StartAgent(ctx, args[0], strings.Join(args[1:], " "), sdk.SessionOptions{FS: files, PauseTimeout: -1})
			if err != nil {
				return agentFault(a, err)
			}
			return carryOut(ctx, a, *f, s, func() error { _, err := s.Run(ctx); return err })
		},
	}
	f.add(cmd)
	return cmd
}

// outcome is the JSON of a command that had an agent work.
type outcome struct {
	ID        string         `json:"id"`
	Status    sdk.Status     `json:"status"`
	Text      string         `json:"text,omitempty"`
	Questions []sdk.Question `json:"questions,omitempty"`
	Documents []sdk.Document `json:"documents"`
	Saved     []string       `json:"saved,omitempty"`
	Diff      string         `json:"diff,omitempty"`
	Costs     price.Report   `json:"costs"`
	Problem   string         `json:"problem,omitempty"`
}

// carryOut has a session work until it is done or waits, and reports its state.
func carryOut(ctx context.Context, a *app.App, f workFlags, s talk, work func() error) error {
	answers, err := answersFile(ctx, a, f.answers)
	if err != nil {
		return err
	}
	t := &teller{a: a, out: a.Out}
	if a.JSON {
		t.out = io.Discard
	}
	err = follow(ctx, s, t, s.Events(), replies(a, answers, a.Prompts()), work)
	return reportWork(a, f, s, t.text, err)
}

// reportWork saves the documents, reports the state of a session, and returns the command's error.
func reportWork(a *app.App, f workFlags, s talk, text string, failed error) error {
	o := outcome{ID: s.ID(), Status: s.Status(), Text: text, Questions: s.Questions(), Documents: s.Documents(), Costs: s.Costs()}
	var err error
	if o.Diff, err = changesOf(s.Files()); err == nil && f.out != "" && failed == nil && o.Status != sdk.Paused {
		o.Saved, err = saveDocuments(o.Documents, f.out, f.force)
	}
	if failed != nil {
		o.Problem = failed.Error()
	}
	if a.JSON {
		err = errors.Join(err, a.PrintJSON(o))
	} else {
		sayWork(a, o)
	}
	switch {
	case failed != nil:
		err = errors.Join(err, agentFault(a, failed))
		switch {
		case errors.Is(err, terminal.ErrSpent):
			a.Warnf("it goes on with a higher limit: bmad-mcp agent resume %s --limit USD", o.ID)
		case o.Status == sdk.Paused:
			a.Warnf("it goes on with: bmad-mcp agent resume %s", o.ID)
		}
		return err
	case err != nil:
		return agentFault(a, err)
	case o.Status == sdk.Paused && len(o.Questions) > 0:
		return terminal.ErrPending
	case o.Status == sdk.Paused:
		a.Warnf("it goes on with: bmad-mcp agent resume %s", o.ID)
		return terminal.ErrStopped
	}
	return nil
}

// sayWork prints the report for people.
func sayWork(a *app.App, o outcome) {
	if o.Diff != "" {
		a.Say("\nProposed changes to the project:\n")
		fmt.Fprint(a.Out, o.Diff)
	}
	fmt.Fprintln(a.Out)
	for _, d := range o.Documents {
		a.Say("document: %s (%d bytes)", d.Path, len(d.Content))
	}
	for _, name := range o.Saved {
		a.Say("saved: %s", name)
	}
	if len(o.Documents) > 0 && len(o.Saved) == 0 {
		a.Say("To write the documents: bmad-mcp agent show %s --out DIR", o.ID)
	}
	a.Say("session %s, %s so far", o.ID, spentText(a, o.Costs))
	if o.Status != sdk.Paused {
		return
	}
	for _, q := range o.Questions {
		showQuestion(a.Out, q)
		a.Say("  to answer: bmad-mcp agent answer %s --question %s \"…\"", o.ID, terminal.ShellWord(q.ID))
	}
}

// spentText returns the cost of a session.
func spentText(a *app.App, r price.Report) string {
	if r.Unknown {
		return a.Lang.Say("%s and calls without a known price", r.Spent.Short())
	}
	return r.Spent.Short()
}

// reopenSession opens a saved session with the model and the kind of files that it began with.
func reopenSession(ctx context.Context, a *app.App, m modelFlags, f *workFlags, id string, work func(s talk, resume func() error) error) error {
	list, err := agentSessions(ctx, a)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(s sdk.Summary) bool { return s.ID == id })
	if at < 0 {
		return agentFault(a, sdk.ErrNotFound)
	}
	was := list[at]
	if was.Problem != "" {
		return agentFault(a, &sdk.StateError{ID: id, Why: was.Problem})
	}
	if m.provider == "" && m.model == "" {
		m.provider, m.model = was.Provider, was.Model
	}
	client, err := workingClient(a, m)
	if err != nil {
		return err
	}
	defer client.Close()
	var limit price.Money
	if m.limit != "" {
		settings, _ := m.over(a.Config.Model) // workingClient has refused wrong flags
		limit = settings.CostLimit
	}
	s, resume, release, err := openTalk(ctx, a, client, was, limit, f)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // every write was confirmed
	if spent := s.Costs().Spent; limit > 0 && spent >= limit {
		return fault.New(fault.InvalidArgument, "the session has spent %s, so that --limit %s leaves nothing",
			spent.Short(), m.limit).WithHint("name a higher --limit: it counts from the beginning of the session")
	}
	return work(s, resume)
}

// openTalk opens a session for work, within a limit, or within its own if that is 0; resume goes on
// with its turn and waits for the end.
func openTalk(ctx context.Context, a *app.App, client *sdk.Client, was sdk.Summary, limit price.Money, f *workFlags) (s talk, resume func() error, release func() error, err error) {
	release = func() error { return nil }
	var c *sdk.Conversation
	if was.FilesOf == "" {
		c, err = client.OpenWith(ctx, was.ID, sdk.OpenOptions{CostLimit: limit})
	} else {
		var files vfs.FS
		if files, release, err = filesOf(a, false, f.open); err != nil {
			return nil, nil, release, err
		}
		c, err = client.OpenWith(ctx, was.ID, sdk.OpenOptions{FS: files, CostLimit: limit})
		if over, ok := files.(*vfs.Overlay); ok && err == nil && f.write {
			changes, problem := over.Changes()
			if err = problem; err == nil && len(changes) > 0 {
				err = fault.New(fault.NotAllowed, "the session keeps its changes aside, so that it cannot go on in the project's own files").
					WithHint("leave out --write; bmad-mcp agent show %s --out DIR writes the documents", was.ID)
			}
			if err = errors.Join(err, release()); err == nil {
				if files, release, err = filesOf(a, true, f.open); err == nil {
					c, err = client.OpenWith(ctx, was.ID, sdk.OpenOptions{FS: files, CostLimit: limit})
				}
			}
		}
	}
	if err != nil {
		return nil, nil, release, errors.Join(agentFault(a, err), release())
	}
	return c, func() error {
		if err := c.Resume(ctx); err != nil && !errors.Is(err, sdk.ErrBusy) { // the last answer has set it to work
			return err
		}
		_, err := c.Wait(ctx)
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), c.Pause(context.WithoutCancel(ctx)))
		}
		return err
	}, release, nil
}

func agentAnswerCommand(a *app.App, m *modelFlags) *cobra.Command {
	f, question := &workFlags{}, ""
	cmd := &cobra.Command{
		Use: "answer ID [TEXT]", Short: "Answer a question of a saved session, and have the agent go on", Args: cobra.MinimumNArgs(1),
		Long: `Answers the oldest open question, or the one of --question. Without TEXT it asks you at
the terminal. Once every question is answered, the agent goes on.

` + agentExitHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return reopenSession(ctx, a, *m, f, args[0], func(s talk, resume func() error) error {
				q, err := askedFor(s, question)
				if err != nil {
					return agentFault(a, err)
				}
				text := strings.Join(args[1:], " ")
				if text == "" {
					var ok bool
					if text, ok, err = replies(a, nil, a.Prompts())(ctx, q); err != nil || !ok {
						return errors.Join(err, fault.New(fault.GatePending, "the question has no answer: %q",
							q.Question).WithHint("bmad-mcp agent answer %s --question %s \"…\"", s.ID(),
							terminal.ShellWord(q.ID)))
					}
				}
				if err := s.Answer(ctx, q.ID, chooseOption(q, text)); err != nil {
					return agentFault(a, err)
				}
				if len(s.Questions()) > 0 {
					return reportWork(a, *f, s, "", nil)
				}
				return carryOut(ctx, a, *f, s, resume)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&question, "question", "", "the id of the question")
	return cmd
}

// askedFor returns an open question: the one of an id, else the oldest.
func askedFor(s talk, id string) (sdk.Question, error) {
	for _, q := range s.Questions() {
		if id == "" || q.ID == id {
			return q, nil
		}
	}
	return sdk.Question{}, sdk.ErrNoQuestion
}

func agentResumeCommand(a *app.App, m *modelFlags) *cobra.Command {
	f := &workFlags{}
	cmd := &cobra.Command{
		Use: "resume ID", Short: "Have an agent go on with work that was interrupted", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return reopenSession(cmd.Context(), a, *m, f, args[0], func(s talk, resume func() error) error {
				reply := replies(a, nil, a.Prompts())
				for _, q := range s.Questions() {
					text, ok, err := reply(cmd.Context(), q)
					if err == nil && ok {
						err = s.Answer(cmd.Context(), q.ID, text)
					}
					if err != nil {
						return agentFault(a, err)
					}
					if !ok {
						return reportWork(a, *f, s, "", nil)
					}
				}
				return carryOut(cmd.Context(), a, *f, s, resume)
			})
		},
	}
	f.add(cmd)
	return cmd
}
