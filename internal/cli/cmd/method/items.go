package method

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

func itemsCommand(term *terminal.Terminal, lib library, kind catalog.Kind, name string) *cobra.Command {
	var module, category string
	var table bool
	cmd := &cobra.Command{
		Use:   name + " [NAME]",
		Short: fmt.Sprintf("List the %s of the installed BMAD method, or show one", name),
		Long: fmt.Sprintf(`Lists the %s of the BMAD method that is installed in the project, in your home, or in
the git repositories that you have added. With a name, id, code or alias it prints what
an assistant gets to act on it: persona, instructions and configuration, resolved.

The list is a table on a terminal, and JSON elsewhere or with --json.

`, name) + terminal.ExitHelp,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := lib.Shelf(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return showItem(term, s, kind, args[0])
			}
			items, err := s.All(kind, category, module)
			if err != nil {
				return err
			}
			return term.List(!table && !term.ForPeople(), map[string]any{name: items, "total": len(items)}, noneMatch[kind],
				term.Header("NAME\tMODULE\tCODE\tFROM\tTITLE\tWHAT IT IS"), itemRows(items))
		},
		ValidArgsFunction: func(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if len(given) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			if s, err := lib.Shelf(cmd.Context()); err == nil {
				for _, i := range s.Catalog.Items(kind) {
					names = append(names, i.Name)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVar(&module, "module", "", "only those of this module")
	cmd.Flags().BoolVar(&table, "table", false, "print the table also where the output is not a terminal")
	if kind == catalog.Workflow {
		cmd.Flags().StringVar(&category, "phase", "", "only those of this phase: analysis, planning, solutioning, implementation, anytime")
	}
	return cmd
}

func showItem(term *terminal.Terminal, s *method.Snapshot, kind catalog.Kind, name string) error {
	if term.JSON {
		details, err := s.Details(kind, name)
		if err != nil {
			return err
		}
		return term.PrintJSON(details)
	}
	show := map[catalog.Kind]func(string, string, method.ToolNames) (string, error){catalog.Agent: s.Agent, catalog.Workflow: s.Workflow, catalog.Task: s.Task}[kind]
	text, err := show(name, "", methodWays)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(term.Out, strings.TrimRight(text, "\n"))
	return err
}

// noneMatch has the sentences to print if there are no items of a kind.
var noneMatch = map[catalog.Kind]lang.Text{
	catalog.Agent: lang.T("No agents match."), catalog.Workflow: lang.T("No workflows match."), catalog.Task: lang.T("No tasks match."),
}

// itemRows returns the rows of a table of items.
func itemRows(items []catalog.Item) (rows [][]string) {
	for _, i := range items {
		title := i.Title
		if i.DisplayName != "" {
			title = strings.TrimSuffix(i.DisplayName+", "+i.Title, ", ")
		}
		rows = append(rows, []string{i.Name, i.Module, strings.Join(i.Codes, " "), i.Source, title, terminal.OneLine(i.Description)})
	}
	return rows
}

// methodWays are the commands by which the reader of a document at a terminal reaches its items.
var methodWays = method.ToolNames{Read: "bmad-mcp method read ADDRESS", Workflow: "bmad-mcp method workflows NAME", Agent: "bmad-mcp method agents NAME"}

func searchCommand(term *terminal.Terminal, lib library) *cobra.Command {
	var table bool
	cmd := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find agents, workflows and tasks of the installed BMAD method",
		Long: `Finds agents, workflows and tasks by the words of their names, titles and descriptions,
the best first. The list is a table on a terminal, and JSON elsewhere or with --json.

` + terminal.ExitHelp,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := lib.Shelf(cmd.Context())
			if err != nil {
				return err
			}
			page, err := s.Search(strings.Join(args, " "), "")
			if err != nil {
				return err
			}
			var rows [][]string
			for _, h := range page.Results {
				rows = append(rows, []string{string(h.Kind), h.Full(), h.Title, terminal.OneLine(h.Description)})
			}
			none := lang.T("Nothing has these words. Try fewer, or list: bmad-mcp method agents, bmad-mcp method workflows.")
			return term.List(!table && !term.ForPeople(), page, none, term.Header("KIND\tNAME\tTITLE\tWHAT IT IS"), rows)
		},
	}
	cmd.Flags().BoolVar(&table, "table", false, "print the table also where the output is not a terminal")
	return cmd
}
