package agents

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

func listCommand(cs *clients) *cobra.Command {
	return terminal.Subcommand("list", "List the agents that can be asked, and the saved conversations with them", cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return cs.list(ctx) })
}

func (cs *clients) list(ctx context.Context) error {
	client, err := cs.newClient(nil, nil, 0)
	if err != nil {
		return err
	}
	defer client.Close()
	agents, err := client.Agents(ctx)
	if err != nil {
		return cs.explainError(err)
	}
	sessions, err := client.Sessions(ctx)
	if err != nil {
		return cs.explainError(err)
	}
	project, _ := cs.projectFolder() // the client was made with it
	folders, addresses := cs.program.Copies(project)
	rows := [][]string{}
	for _, g := range agents {
		from := g.Source
		if n := slices.IndexFunc(folders, func(folder string) bool { return filepath.Base(folder) == from }); n >= 0 {
			from = addresses[n]
		}
		rows = append(rows, []string{g.ID, g.Name, g.Title, from, terminal.OneLine(g.WhenToUse)})
	}
	none := lang.T("There are no agents here. Install the BMAD method in the project, or add a repository that has it: bmad-mcp method sources add")
	v := map[string]any{"agents": agents, "sessions": sessions}
	if err := cs.term.List(cs.term.JSON, v, none, cs.term.Header("ID\tNAME\tTITLE\tFROM\tFOR"), rows); err != nil || cs.term.JSON || len(sessions) == 0 {
		return err
	}
	fmt.Fprintln(cs.term.Out)
	rows = [][]string{}
	for _, s := range sessions {
		asks, status := "", string(s.Status)
		if s.Failed != "" {
			status = "failed"
		}
		if len(s.Questions) > 0 {
			asks = s.Questions[0].Question
		}
		rows = append(rows, []string{
			s.ID, s.Agent, status, s.Updated.Local().Format("2006-01-02 15:04"), s.Spent.Short(),
			visible.Line(cmp.Or(s.Problem, s.Title)), visible.Line(asks),
		})
	}
	return cs.term.Table(cs.term.Header("SESSION\tAGENT\tSTATUS\tCHANGED\tSPENT\tTITLE\tASKS"), rows)
}
