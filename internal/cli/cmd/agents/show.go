package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// reader stands for the model of a session that is only looked at.
type reader provider.Info

// Info implements provider.Provider.
func (r reader) Info() provider.Info { return provider.Info(r) }

// Send implements provider.Provider: a look calls no model.
func (r reader) Send(context.Context, provider.Request, func(provider.Delta)) (*provider.Response, error) {
	return nil, errors.New("the session was opened to be read")
}

func listCommand(cs *clients) *cobra.Command {
	return terminal.Subcommand("list", "List the agents that can be asked", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		agents, err := askClient(cs, func(c *sdk.Client) ([]sdk.AgentInfo, error) { return c.Agents(ctx) })
		if err != nil {
			return err
		}
		rows := [][]string{}
		for _, g := range agents {
			rows = append(rows, []string{g.ID, g.Name, g.Title, g.Source, terminal.OneLine(g.WhenToUse)})
		}
		none := lang.T("There are no agents here. Install the BMAD method in the project, or add a repository that has it: bmad-mcp method sources add")
		return cs.term.List(cs.term.JSON, map[string]any{"agents": agents}, none, cs.term.Header("ID\tNAME\tTITLE\tFROM\tFOR"), rows)
	})
}

func sessionsCommand(cs *clients) *cobra.Command {
	return terminal.Subcommand("sessions", "List the saved sessions with agents, the one changed last first", cobra.NoArgs,
		func(ctx context.Context, _ []string) error {
			list, err := cs.listSessions(ctx)
			if err != nil {
				return err
			}
			rows := [][]string{}
			for _, s := range list {
				title := visible.Line(cmp.Or(s.Problem, s.Title))
				rows = append(rows, []string{s.ID, s.Agent, string(s.Status), s.Updated.Local().Format("2006-01-02 15:04"), s.Spent.Short(), title})
			}
			none := lang.T("There are no sessions with agents here. Begin one: bmad-mcp agent chat AGENT")
			return cs.term.List(cs.term.JSON, map[string]any{"sessions": list}, none, cs.term.Header("ID\tAGENT\tSTATUS\tCHANGED\tSPENT\tTITLE"), rows)
		})
}

func showCommand(cs *clients) *cobra.Command {
	o := &workOptions{clients: cs}
	cmd := terminal.Subcommand("show ID", "Show a saved session: where it stands, its documents and open questions", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error { return o.showSession(ctx, args[0]) })
	cmd.Flags().StringVar(&o.out, "out", "", "the folder that the documents are written to")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace files that are there")
	return cmd
}

func (o *workOptions) showSession(ctx context.Context, id string) error {
	was, err := o.findSession(ctx, id)
	if err != nil {
		return err
	}
	client, err := o.newClient(reader{Provider: was.Provider, Model: was.Model}, nil, 0)
	if err != nil {
		return err
	}
	defer client.Close()
	s, release, err := o.openSaved(ctx, client, was, sdk.OpenOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // nothing was written
	out := outcomeOf(s, "")
	out.Status = was.Status
	if o.out != "" {
		out.Saved, err = saveDocuments(out.Documents, o.out, o.force)
	}
	if o.term.JSON {
		return errors.Join(err, o.term.PrintJSON(out))
	}
	o.term.Say("%s with %s (%s), %s", was.Kind, was.Agent, was.Model, was.Status)
	o.sayWork(out)
	if out.Status == sdk.Paused && len(out.Questions) == 0 {
		o.term.Say("It waits: bmad-mcp agent resume %s", id)
	}
	return err
}

func transcriptCommand(cs *clients) *cobra.Command {
	return terminal.Subcommand("transcript ID", "Print a session as Markdown, or its events with --json", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			events, err := askClient(cs, func(c *sdk.Client) ([]sdk.Event, error) { return c.Transcript(ctx, args[0]) })
			if err != nil {
				return err
			}
			if cs.term.JSON {
				return cs.term.PrintJSON(map[string]any{"id": args[0], "events": events})
			}
			fmt.Fprint(cs.term.Out, writeTranscript(cs.term.Lang, args[0], events))
			return nil
		})
}

// writeTranscript writes events as Markdown. It quotes the words of others, so that they cannot pass for a
// part of the document.
func writeTranscript(l lang.Language, id string, events []sdk.Event) string {
	var b strings.Builder
	quote := func(text string) {
		fmt.Fprintf(&b, "\n> %s\n", strings.ReplaceAll(visible.Text(strings.TrimSpace(text)), "\n", "\n> "))
	}
	line := func(text string) { fmt.Fprintf(&b, "\n%s\n", text) }
	fmt.Fprintf(&b, "# %s\n", l.Say("Session %s", id))
	var spent int64
	for _, e := range events {
		switch e.Type {
		case sdk.EventStarted:
			line(l.Say("Agent %s, model %s, begun %s", visible.Line(e.Agent), visible.Line(e.Text), e.At.UTC().Format("2006-01-02 15:04 UTC")))
		case sdk.EventTurnStarted:
			fmt.Fprintf(&b, "\n## %s\n", l.Say("Turn %d", e.Turn))
			line(l.Say("**Person:**"))
			quote(e.Text)
		case sdk.EventToolFinished:
			failed := ""
			if e.Tool.Failed {
				failed = l.Say(" (failed)")
			}
			line(l.Say("- tool %s%s: %s → %s", quoteCode(e.Tool.Name), failed, quoteCode(visible.Cut(e.Tool.Input, 120, "…")), quoteCode(visible.Cut(e.Tool.Result, 120, "…"))))
		case sdk.EventQuestion:
			line(l.Say("**The agent asks:**"))
			quote(strings.Join(append([]string{e.Question.Question}, e.Question.Options...), "\n- "))
		case sdk.EventAnswered:
			line(l.Say("**The person answers:**"))
			quote(e.Text)
		case sdk.EventTurnCompleted:
			line(l.Say("**Agent:**"))
			quote(e.Text)
		case sdk.EventFailed:
			line(l.Say("**Ended early:** %s", visible.Line(e.Text)))
		case sdk.EventCost:
			spent = e.Cost.Spent
		}
	}
	line(l.Say("Spent: %s", price.Money(spent).Short()))
	return b.String()
}

// quoteCode returns a text as code in a line of Markdown.
func quoteCode(text string) string {
	return "`" + strings.ReplaceAll(visible.Line(text), "`", "'") + "`"
}

func deleteCommand(cs *clients) *cobra.Command {
	yes := false
	cmd := terminal.Subcommand("delete ID", "Delete a saved session for good, yourself", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			if _, err := cs.findSession(ctx, args[0]); err != nil {
				return err
			}
			ok, err := cs.term.AskPerson(ctx, yes, cs.term.Lang.Say("Delete the session %s with its documents? [y/N] ", args[0]))
			if err != nil {
				return err
			}
			if !ok {
				return fault.New(fault.GatePending, "nothing was deleted").WithHint("answer y, or add --yes")
			}
			_, err = askClient(cs, func(c *sdk.Client) (any, error) { return nil, c.Delete(ctx, args[0]) })
			if err != nil {
				return err
			}
			return cs.term.Conclude(map[string]any{"id": args[0], "deleted": true}, "Deleted: %s", args[0])
		})
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
