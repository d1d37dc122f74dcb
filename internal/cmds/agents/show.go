package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
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

func agentListCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the agents that can be asked", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := agentClient(a, nil, nil, 0)
			if err != nil {
				return err
			}
			defer client.Close()
			agents, err := client.Agents(cmd.Context())
			if err != nil {
				return agentFault(a, err)
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"agents": agents})
			}
			if len(agents) == 0 {
				a.Say("There are no agents here. Install the BMAD method in the project, or add a repository that has it: bmad-mcp method sources add")
				return nil
			}
			rows := [][]string{}
			for _, g := range agents {
				rows = append(rows, []string{g.ID, g.Name, g.Title, g.Source, terminal.OneLine(g.WhenToUse)})
			}
			return a.Table(a.Header("ID\tNAME\tTITLE\tFROM\tFOR"), rows)
		},
	}
}

func agentSessionsCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "sessions", Short: "List the saved sessions with agents, the one changed last first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := agentSessions(cmd.Context(), a)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"sessions": list})
			}
			if len(list) == 0 {
				a.Say("There are no sessions with agents here. Begin one: bmad-mcp agent chat AGENT")
				return nil
			}
			rows := [][]string{}
			for _, s := range list {
				title := s.Title
				if s.Problem != "" {
					title = s.Problem
				}
				rows = append(rows, []string{s.ID, s.Agent, string(s.Status), s.Updated.Local().Format("2006-01-02 15:04"), s.Spent.Short(), visible.Line(title)})
			}
			return a.Table(a.Header("ID\tAGENT\tSTATUS\tCHANGED\tSPENT\tTITLE"), rows)
		},
	}
}

func agentShowCommand(a *app.App) *cobra.Command {
	f := &workFlags{}
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a saved session: where it stands, its documents and open questions", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := agentSessions(cmd.Context(), a)
			if err != nil {
				return err
			}
			at := slices.IndexFunc(list, func(s sdk.Summary) bool { return s.ID == args[0] })
			if at < 0 {
				return agentFault(a, sdk.ErrNotFound)
			}
			client, err := agentClient(a, reader{Provider: list[at].Provider, Model: list[at].Model}, nil, 0)
			if err != nil {
				return err
			}
			defer client.Close()
			s, _, release, err := openTalk(cmd.Context(), a, client, list[at], 0, &workFlags{})
			if err != nil {
				return err
			}
			defer func() { _ = release() }() // nothing was written
			o := outcome{ID: s.ID(), Status: list[at].Status, Questions: s.Questions(), Documents: s.Documents(), Costs: s.Costs()}
			if f.out != "" {
				o.Saved, err = saveDocuments(o.Documents, f.out, f.force)
			}
			if a.JSON {
				return errors.Join(err, a.PrintJSON(o))
			}
			a.Say("%s with %s (%s), %s", list[at].Kind, list[at].Agent, list[at].Model, list[at].Status)
			sayWork(a, o)
			return err
		},
	}
	cmd.Flags().StringVar(&f.out, "out", "", "the folder that the documents are written to")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace files that are there")
	return cmd
}

func agentTranscriptCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "transcript ID", Short: "Print a session as Markdown, or its events with --json", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := agentClient(a, nil, nil, 0)
			if err != nil {
				return err
			}
			defer client.Close()
			events, err := client.Transcript(cmd.Context(), args[0])
			if err != nil {
				return agentFault(a, err)
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"id": args[0], "events": events})
			}
			fmt.Fprint(a.Out, transcript(a, args[0], events))
			return nil
		},
	}
}

// transcript writes events as Markdown. It quotes the words of others, so that they cannot pass for a
// part of the document.
func transcript(a *app.App, id string, events []sdk.Event) string {
	var b strings.Builder
	quote := func(text string) {
		fmt.Fprintf(&b, "\n> %s\n", strings.ReplaceAll(visible.Text(strings.TrimSpace(text)), "\n", "\n> "))
	}
	line := func(text string) { fmt.Fprintf(&b, "\n%s\n", text) }
	fmt.Fprintf(&b, "# %s\n", a.Lang.Say("Session %s", id))
	var spent int64
	for _, e := range events {
		switch e.Type {
		case sdk.EventStarted:
			line(a.Lang.Say("Agent %s, model %s, begun %s", visible.Line(e.Agent), visible.Line(e.Text), e.At.UTC().Format("2006-01-02 15:04 UTC")))
		case sdk.EventTurnStarted:
			fmt.Fprintf(&b, "\n## %s\n", a.Lang.Say("Turn %d", e.Turn))
			line(a.Lang.Say("**Person:**"))
			quote(e.Text)
		case sdk.EventToolFinished:
			failed := ""
			if e.Tool.Failed {
				failed = a.Lang.Say(" (failed)")
			}
			line(a.Lang.Say("- tool %s%s: %s → %s", code(e.Tool.Name), failed, code(visible.Cut(e.Tool.Input, 120, "…")), code(visible.Cut(e.Tool.Result, 120, "…"))))
		case sdk.EventQuestion:
			line(a.Lang.Say("**The agent asks:**"))
			quote(strings.Join(append([]string{e.Question.Question}, e.Question.Options...), "\n- "))
		case sdk.EventAnswered:
			line(a.Lang.Say("**The person answers:**"))
			quote(e.Text)
		case sdk.EventTurnCompleted:
			line(a.Lang.Say("**Agent:**"))
			quote(e.Text)
		case sdk.EventFailed:
			line(a.Lang.Say("**Ended early:** %s", visible.Line(e.Text)))
		case sdk.EventCost:
			spent = e.Cost.Spent
		}
	}
	line(a.Lang.Say("Spent: %s", price.Money(spent).Short()))
	return b.String()
}

// code returns a text as code in a line of Markdown.
func code(text string) string {
	return "`" + strings.ReplaceAll(visible.Line(text), "`", "'") + "`"
}

func agentDeleteCommand(a *app.App) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "delete ID", Short: "Delete a saved session for good, yourself", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := agentSessions(cmd.Context(), a)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(list, func(s sdk.Summary) bool { return s.ID == args[0] }) {
				return agentFault(a, sdk.ErrNotFound)
			}
			ok, err := a.AskPerson(cmd.Context(), yes, a.Lang.Say("Delete the session %s with its documents? [y/N] ", args[0]))
			if err != nil {
				return err
			}
			if !ok {
				return fault.New(fault.GatePending, "nothing was deleted").WithHint("answer y, or add --yes")
			}
			client, err := agentClient(a, nil, nil, 0)
			if err != nil {
				return err
			}
			defer client.Close()
			if err := client.Delete(cmd.Context(), args[0]); err != nil {
				return agentFault(a, err)
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"id": args[0], "deleted": true})
			}
			a.Say("Deleted: %s", args[0])
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
