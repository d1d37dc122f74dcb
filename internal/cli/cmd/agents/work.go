package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/run"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/template"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// workOptions are the flags of commands whose result is documents.
type workOptions struct {
	*clients
	out, answers, answer string
	force, write         bool
	open                 []string
	servers              []string
	// given are the answers in the file.
	given map[string]string
	documentOptions
	// job writes the document of a template, if that is the work.
	job      *template.Job
	estimate *template.Estimate
}

func (o *workOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.out, "out", "", "the folder that the documents are written to; folders of their own, such as docs, are kept below it")
	flags.BoolVar(&o.force, "force", false, "replace files that are there")
	flags.StringVar(&o.answers, "answers", "", "a JSON file with answers, by the question's id or words; - is standard input")
	flags.BoolVar(&o.write, "write", false, "let the agent change the files of the project; without it, changes are kept aside and shown")
	run.OpenFlag(cmd, &o.open)
	run.ToolFlag(cmd, &o.servers)
}

// readAnswers reads the file of answers. It is called before anything else, so that an unreadable file leaves
// nothing behind.
func (o *workOptions) readAnswers(ctx context.Context) error {
	if o.given = map[string]string{}; o.answers == "" {
		return nil
	}
	return o.term.ReadAnswers(ctx, o.answers, o.given)
}

// openFiles returns the project's files for an agent, and a function to release them; nil outside of a
// project.
func (cs *clients) openFiles(write bool, open []string) (files vfs.FS, release func() error, err error) {
	release = func() error { return nil }
	if err := run.CheckOpen(open); err != nil {
		return nil, release, err
	}
	project, err := cs.projectFolder()
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
	return vfs.NewOverlay(dir, cs.tasks.Engine().Clock), dir.Close, nil
}

func askCommand(cs *clients) *cobra.Command {
	o := &workOptions{clients: cs}
	cmd := &cobra.Command{
		Use: "ask AGENT COMMAND…", Short: "Have an agent carry out one command, and save its documents", Args: cobra.MinimumNArgs(2),
		Long: `Has an agent carry out one command: an item of its menu, such as *create-prd, or words of
your own. It reads the project. Its changes are kept aside and shown as a diff, unless
--write lets it change the project. At a question it asks you at the terminal; elsewhere
it saves the run, prints the question and ends with code 6. With --template the document of
a template of the method is written section by section; the cost is estimated before.`,
		Example: `  bmad-mcp agent ask pm "*create-prd for a webhook relay" --out . --limit 2
  bmad-mcp agent ask pm --template prd-tmpl "a webhook relay" --out .`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.askAgent(cmd.Context(), args[0], strings.Join(args[1:], " "))
		},
	}
	o.addFlags(cmd)
	o.documentOptions.addFlags(cmd)
	return cmd
}

func (o *workOptions) askAgent(ctx context.Context, agent, words string) error {
	o.term.Speak(words)
	isForDocument := len(o.variables) > 0 || o.askNobody
	if isForDocument && o.template == "" {
		return fault.New(fault.InvalidArgument, "--set and --no-questions are for the document of a template").WithHint("add --template NAME, or leave them out")
	}
	if err := o.readAnswers(ctx); err != nil {
		return err
	}
	client, err := o.newWorkingClient(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	files, release, err := o.openFiles(o.write, o.open)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // every write was confirmed
	tools, end, err := run.Tools(ctx, o.term, o.tasks, o.servers)
	defer end()
	if err != nil {
		return err
	}
	how := sdk.SessionOptions{FS: files, PauseTimeout: -1, Tools: tools}
	if o.template != "" {
		return o.writeDocument(ctx, client, agent, words, how)
	}
	s, err := client.StartAgent(ctx, agent, words, how)
	if err != nil {
		return o.explainError(err)
	}
	return o.carryOut(ctx, s, func() error { _, err := s.Run(ctx); return err })
}

// outcome is the JSON result of an agent's work.
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
	// Document says how far the document of a template is.
	Document *template.Result   `json:"document,omitempty"`
	Estimate *template.Estimate `json:"estimate,omitempty"`
}

// outcomeOf describes the present state of a session.
func outcomeOf(s talk, text string) outcome {
	return outcome{
		ID: s.ID(), Status: s.Status(), Text: text, Questions: s.Questions(), Documents: s.Documents(), Costs: s.Costs(),
	}
}

// carryOut has a session work until it is done or waits, and reports the result.
func (o *workOptions) carryOut(ctx context.Context, s talk, work func() error) error {
	t := &teller{lang: o.term.Lang, out: o.term.Out, inSteps: o.job != nil}
	if o.term.JSON {
		t.out = io.Discard
	}
	return o.reportWork(s, t.text, followTalk(ctx, s, t, s.Events(), o.newReplier(o.given), work))
}

// reportWork saves the documents, reports the state of a session, and returns the command's error.
func (o *workOptions) reportWork(s talk, text string, failed error) error {
	done := outcomeOf(s, text)
	if o.job != nil {
		done.Document, done.Estimate = o.job.Result(), o.estimate
	}
	var err error
	if done.Diff, err = changesOf(s.Files()); err == nil && o.out != "" && failed == nil && done.Status != sdk.Paused {
		done.Saved, err = saveDocuments(done.Documents, o.out, o.force)
	}
	if failed != nil {
		done.Problem = failed.Error()
	}
	if o.term.JSON {
		err = errors.Join(err, o.term.PrintJSON(done))
	} else {
		o.sayWork(done)
	}
	switch {
	case failed != nil:
		err = errors.Join(err, o.explainError(failed))
		switch {
		case errors.Is(err, terminal.ErrSpent):
			o.term.Warnf("it goes on with a higher limit: bmad-mcp agent resume %s --limit USD", done.ID)
		case done.Status == sdk.Paused, o.job != nil && errors.Is(err, terminal.ErrEngine):
			o.term.Warnf("it goes on with: bmad-mcp agent resume %s", done.ID)
		}
		return err
	case err != nil:
		return o.explainError(err)
	case done.Status == sdk.Paused && len(done.Questions) > 0:
		return terminal.ErrPending
	case done.Status == sdk.Paused:
		o.term.Warnf("it goes on with: bmad-mcp agent resume %s", done.ID)
		return terminal.ErrStopped
	}
	return nil
}

// sayWork prints the report for people.
func (cs *clients) sayWork(o outcome) {
	if o.Diff != "" {
		cs.term.Say("\nProposed changes to the project:\n")
		fmt.Fprint(cs.term.Out, o.Diff)
	}
	fmt.Fprintln(cs.term.Out)
	cs.sayDocuments(o.Documents, o.Saved)
	if o.Document != nil {
		cs.sayDocument(o.Document)
	}
	if len(o.Documents) > 0 && len(o.Saved) == 0 {
		cs.term.Say("To write the documents: bmad-mcp agent resume %s --out DIR", o.ID)
	}
	cs.term.Say("conversation %s, %s so far", o.ID, headless.Spending(cs.term.Lang, o.Costs.Spent, o.Costs.Unknown))
	waits := o.Status == sdk.Paused || o.Status == sdk.Waiting
	if len(o.Questions) == 0 || !waits {
		return
	}
	for _, q := range o.Questions {
		showQuestion(cs.term.Out, q)
	}
	cs.term.Say("  to answer: bmad-mcp agent resume %s --answer \"…\"", o.ID)
}

// sayDocuments lists documents, with the files of the saved ones.
func (cs *clients) sayDocuments(docs []sdk.Document, saved []string) {
	for _, d := range docs {
		cs.term.Say("document: %s (%d bytes)", d.Path, len(d.Content))
	}
	for _, name := range saved {
		cs.term.Say("saved: %s", name)
	}
}

func resumeCommand(cs *clients) *cobra.Command {
	o := &workOptions{clients: cs}
	cmd := &cobra.Command{
		Use: "resume [ID]", Short: "Answer an agent, have it go on, and see its documents", Args: cobra.MaximumNArgs(1),
		Long: `Has an agent go on with a saved conversation; without ID the newest that is paused. You are
asked its open questions at the terminal, or --answer answers the oldest. At the end you
see its documents; of a conversation that is over nothing else happens.`,
		Example: `  bmad-mcp agent resume --out .
  bmad-mcp agent resume 6f1c --answer PostgreSQL`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.resumeSession(cmd.Context(), args)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.answer, "answer", "", "the answer to the oldest open question; the number of an option stands for it")
	return cmd
}

// resumeSession continues a saved session, with the model and the kind of files of its beginning.
func (o *workOptions) resumeSession(ctx context.Context, id []string) error {
	if o.answer != "" && len(id) == 0 {
		return fault.New(fault.InvalidArgument, "--answer could reach the question of another conversation").
			WithHint("name the conversation: bmad-mcp agent resume ID --answer …")
	}
	if err := o.readAnswers(ctx); err != nil {
		return err
	}
	was, err := o.findSession(ctx, id)
	switch {
	case err != nil:
		return err
	case was.Problem != "":
		return o.explainError(&sdk.StateError{ID: was.ID, Why: was.Problem})
	case o.provider == "" && o.model == "":
		o.provider, o.model = was.Provider, was.Model
	}
	client, err := o.workingClient()
	if err != nil {
		return err
	}
	defer client.Close()
	var limit price.Money
	if o.limit != "" {
		settings, _ := o.modelSettings(o.tasks.Workspace) // workingClient has refused wrong flags
		limit = settings.CostLimit
	}
	tools, end, err := run.Tools(ctx, o.term, o.tasks, o.servers)
	defer end()
	if err != nil {
		return err
	}
	c, release, err := o.openSaved(ctx, client, was, sdk.OpenOptions{CostLimit: limit, Tools: tools})
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // every write was confirmed
	if spent := c.Costs().Spent; limit > 0 && spent >= limit {
		return fault.New(fault.InvalidArgument, "the conversation has spent %s, so that --limit %s leaves nothing",
			spent.Short(), o.limit).WithHint("name a higher --limit: it counts from the beginning of the conversation")
	}
	return o.goOn(ctx, c)
}

// openSaved opens a session with its files. Changes kept aside are visible only through an overlay, so an
// overlay is opened first to look for them.
func (o *workOptions) openSaved(ctx context.Context, client *sdk.Client, was sdk.Summary, how sdk.OpenOptions) (
	c *sdk.Conversation, release func() error, err error,
) {
	release = func() error { return nil }
	if was.FilesOf != "" {
		if how.FS, release, err = o.openFiles(false, o.open); err != nil {
			return nil, release, err
		}
	}
	c, err = client.OpenWith(ctx, was.ID, how)
	if over, ok := how.FS.(*vfs.Overlay); ok && err == nil && o.write {
		var changes []vfs.Change
		if changes, err = over.Changes(); err == nil && len(changes) > 0 {
			err = fault.New(fault.NotAllowed, "the conversation keeps its changes aside, so that it cannot go on in the project's own files").
				WithHint("leave out --write; bmad-mcp agent resume %s --out DIR writes the documents", was.ID)
		}
		if err == nil {
			_ = release() // nothing was written
			if how.FS, release, err = o.openFiles(true, o.open); err == nil {
				c, err = client.OpenWith(ctx, was.ID, how)
			}
		}
	}
	if err != nil {
		return nil, release, errors.Join(o.explainError(err), release())
	}
	return c, release, nil
}

// goOn has the open questions of a session answered, and resumes unfinished work.
func (o *workOptions) goOn(ctx context.Context, c *sdk.Conversation) error {
	open := c.Questions()
	job, err := template.Open(c)
	if err != nil {
		return o.explainError(err)
	}
	switch o.job = job; {
	case o.answer != "" && len(open) == 0:
		return o.explainError(sdk.ErrNoQuestion)
	case o.answer != "":
		o.given[open[0].ID] = chooseOption(open[0], o.answer)
	}
	reply := o.newReplier(o.given)
	for _, q := range open {
		text, ok, err := reply(ctx, q)
		if err == nil && ok {
			err = c.Answer(ctx, q.ID, text)
		}
		if err != nil {
			return o.explainError(err)
		}
		if !ok {
			return o.reportWork(c, "", nil)
		}
	}
	if job != nil {
		return o.carryOutDocument(ctx, job)
	}
	return o.carryOut(ctx, c, func() error {
		// After the last answer, the session may be at work already.
		if err := c.Resume(ctx); err != nil && !errors.Is(err, sdk.ErrBusy) && !errors.Is(err, sdk.ErrNotPaused) {
			return err
		}
		_, err := c.Wait(ctx)
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), c.Pause(context.WithoutCancel(ctx)))
		}
		return err
	})
}
