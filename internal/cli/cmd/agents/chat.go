package agents

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/run"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// chatOptions are the flags of chat.
type chatOptions struct {
	ofProject, write bool
	open, servers    []string
}

func chatCommand(cs *clients) *cobra.Command {
	var o chatOptions
	cmd := &cobra.Command{
		Use: "chat AGENT", Short: "Talk with an agent", Args: cobra.ExactArgs(1),
		Long: `Talks with an agent, line by line. Its documents stay in memory until /save; with
--project it also reads the files of the project, and with --files it changes them.
Ctrl+C once cancels the agent's turn, twice ends. From a pipe each line is a message, or
the answer to a question.

  /cost /documents /save DIR /exit, and the agent's own menu: *help`,
		RunE: func(cmd *cobra.Command, args []string) error { return runChat(cmd.Context(), cs, o, args[0]) },
	}
	cmd.Flags().BoolVar(&o.ofProject, "project", false, "let the agent read the files of the project; its changes are kept aside")
	cmd.Flags().BoolVar(&o.write, "files", false, "let the agent change the files of the project")
	run.OpenFlag(cmd, &o.open)
	run.ToolFlag(cmd, &o.servers)
	return cmd
}

func runChat(ctx context.Context, cs *clients, o chatOptions, agent string) error {
	// Ctrl+C belongs to the turn, not to the program.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	client, err := cs.newWorkingClient(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	var files vfs.FS
	if o.ofProject || o.write {
		var release func() error
		if files, release, err = cs.openFiles(o.write, o.open); err != nil {
			return err
		}
		defer func() { _ = release() }() // every write was confirmed
	}
	tools, end, err := run.Tools(ctx, cs.term, cs.tasks, o.servers)
	defer end()
	if err != nil {
		return err
	}
	c, err := client.StartConversation(ctx, agent, sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{FS: files, PauseTimeout: -1, Tools: tools}})
	if err != nil {
		return cs.explainError(err)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	return newChat(cs, c, signals, cancel).takeLines(ctx)
}

// chat is a conversation at a terminal, or from a pipe.
type chat struct {
	p       *clients
	c       *sdk.Conversation
	t       *teller
	input   chan typed
	events  <-chan sdk.Event
	signals <-chan os.Signal
	// end cancels the context of the conversation.
	end context.CancelFunc
	// pressed counts the signals of a turn.
	pressed atomic.Int32
	// stop cancels the wait for an answer within the turn.
	stop atomic.Pointer[context.CancelFunc]
	// person reports whether a person types at a terminal, who gets prompts.
	person bool
}

// typed is a line typed by the person, or the error of reading it.
type typed struct {
	text string
	err  error
}

func newChat(cs *clients, c *sdk.Conversation, signals <-chan os.Signal, end context.CancelFunc) *chat {
	_, noTerminal := cs.term.Person()
	return &chat{
		p: cs, c: c, t: &teller{lang: cs.term.Lang, out: cs.term.Prompts()}, input: make(chan typed),
		events: c.Events(), signals: signals, end: end, person: noTerminal == nil,
	}
}

// takeLines runs the conversation until the end of the input.
func (c *chat) takeLines(ctx context.Context) error {
	if c.person {
		fmt.Fprintln(c.t.out, c.p.term.Lang.Say("%s. Ctrl+C cancels a turn, twice ends; /exit ends; *help shows the menu.", strings.TrimSpace(c.c.Agent().Name+" "+c.c.ID())))
	}
	go c.watchSignals(ctx)
	go c.readLines(ctx)
	for {
		line, err := c.promptLine(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return c.printEnd()
		case err != nil:
			return errors.Join(terminal.ErrStopped, c.printEnd())
		case line == "":
			continue
		case line == "/exit" || line == "*exit":
			_, err := c.c.End(ctx)
			return errors.Join(c.p.explainError(err), c.printEnd())
		case c.runCommand(line):
			continue
		}
		if err := c.takeTurn(ctx, line); err != nil {
			if c.person && ctx.Err() == nil && !errors.Is(err, terminal.ErrSpent) {
				if !errors.Is(err, terminal.ErrEngine) && !errors.Is(err, terminal.ErrStopped) {
					c.p.program.Fail(nil, err)
				}
				continue // only the turn has failed
			}
			return errors.Join(err, c.printEnd())
		}
	}
}

// watchSignals cancels the turn at the first signal, and ends the conversation at the second.
func (c *chat) watchSignals(ctx context.Context) {
	for {
		select {
		case s := <-c.signals:
			if s != os.Interrupt || c.pressed.Add(1) > 1 {
				c.end()
				return
			}
			if stop := c.stop.Load(); stop != nil {
				c.c.Cancel()
				(*stop)()
				continue
			}
			fmt.Fprintln(c.p.term.Err, c.p.term.Lang.Say("\n(Ctrl+C once more ends; the conversation is saved)"))
		case <-ctx.Done():
			return
		}
	}
}

// readLines reads the person's lines, and passes each to the question or prompt waiting at the time, so that
// a cancelled one takes none.
func (c *chat) readLines(ctx context.Context) {
	in := bufio.NewReader(c.p.term.In)
	for {
		text, err := in.ReadString('\n')
		if text != "" {
			err = nil
		}
		select {
		case c.input <- typed{strings.TrimSpace(text), err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (c *chat) promptLine(ctx context.Context) (string, error) {
	if c.person {
		fmt.Fprint(c.t.out, "> ")
	}
	select {
	case line := <-c.input:
		c.pressed.Store(0)
		return line.text, line.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// takeTurn sends a message to the agent, and shows its work.
func (c *chat) takeTurn(ctx context.Context, words string) error {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	c.stop.Store(&stop)
	defer c.stop.Store(nil)
	if err := c.c.Send(ctx, words); err != nil {
		return c.p.explainError(err)
	}
	return c.p.explainError(followTalk(waiting, c.c, c.t, c.events, c.answerQuestion, func() error {
		_, err := c.c.Wait(ctx)
		return err
	}))
}

// answerQuestion returns the next line as the answer to a question.
func (c *chat) answerQuestion(ctx context.Context, q sdk.Question) (string, bool, error) {
	return putQuestion(c.t.out, q, func() (string, error) { return c.promptLine(ctx) })
}

// runCommand carries out a command of the chat, and returns false for a line to the agent.
func (c *chat) runCommand(line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "/cost":
		costs := c.c.Costs()
		c.p.term.Say("%s so far", headless.Spending(c.p.term.Lang, costs.Spent, costs.Unknown))
	case "/documents":
		docs := c.c.Documents()
		c.p.sayDocuments(docs, nil)
		if len(docs) == 0 {
			c.p.term.Say("There are no documents yet.")
		}
	case "/save":
		if rest = strings.TrimSpace(rest); rest == "" {
			c.p.term.Say("Name a folder: /save DIR")
			return true
		}
		saved, err := saveDocuments(c.c.Documents(), rest, false)
		if err != nil {
			c.p.program.Fail(nil, err)
		}
		c.p.sayDocuments(nil, saved)
	default:
		return false
	}
	return true
}

// printEnd prints the id and state of the conversation, as JSON with --json.
func (c *chat) printEnd() error {
	if c.c.Status() == sdk.Idle && len(c.c.History()) == 0 {
		return nil // nobody has spoken
	}
	o := outcomeOf(c.c, c.t.text)
	if c.p.term.JSON {
		return c.p.term.PrintJSON(o)
	}
	c.p.term.Say("conversation %s, %s so far", o.ID, headless.Spending(c.p.term.Lang, o.Costs.Spent, o.Costs.Unknown))
	if o.Status == sdk.Paused || o.Status == sdk.Waiting {
		c.p.term.Say("It waits: bmad-mcp agent resume %s", o.ID)
	}
	return nil
}
