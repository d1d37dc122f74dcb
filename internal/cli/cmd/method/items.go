package method

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// kindNames are the names of the kinds in commands and as keys of JSON.
var kindNames = map[catalog.Kind]string{catalog.Agent: "agents", catalog.Workflow: "workflows", catalog.Task: "tasks"}

// kinds are the kinds of items, in the order of lists and searches.
var kinds = []catalog.Kind{catalog.Agent, catalog.Workflow, catalog.Task}

// listOptions are the flags of list.
type listOptions struct {
	module, phase string
	table         bool
}

func listCommand(term *terminal.Terminal, lib library) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list [agents|workflows|tasks]",
		Short: "List the agents, workflows and tasks of the installed BMAD method",
		Long: `Lists the agents, workflows and tasks of the BMAD method that is installed in the project,
in your home, or in the git repositories that you have added, or those of one kind.

The list is a table on a terminal, and JSON elsewhere or with --json.`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"agents", "workflows", "tasks"},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := lib.Shelf(cmd.Context())
			if err != nil {
				return err
			}
			return o.list(term, s, args)
		},
	}
	cmd.Flags().StringVar(&o.module, "module", "", "only those of this module")
	cmd.Flags().StringVar(&o.phase, "phase", "", "only those of this phase: analysis, planning, solutioning, implementation, anytime")
	cmd.Flags().BoolVar(&o.table, "table", false, "print the table also where the output is not a terminal")
	return cmd
}

func (o *listOptions) list(term *terminal.Terminal, s *method.Snapshot, args []string) error {
	listed := slices.DeleteFunc(slices.Clone(kinds), func(k catalog.Kind) bool { return len(args) == 1 && args[0] != kindNames[k] })
	out, total, rows := map[string]any{}, 0, [][]string(nil)
	for _, kind := range listed {
		items, err := s.All(kind, o.phase, o.module)
		if err != nil {
			return err
		}
		out[kindNames[kind]] = items
		total += len(items)
		rows = append(rows, itemRows(items)...)
	}
	out["total"] = total
	return term.List(!o.table && !term.ForPeople(), out, lang.T("None match."), term.Header("KIND\tNAME\tMODULE\tCODE\tFROM\tTITLE\tWHAT IT IS"), rows)
}

// itemRows returns the rows of a table of items.
func itemRows(items []catalog.Item) (rows [][]string) {
	for _, i := range items {
		title := i.Title
		if i.DisplayName != "" {
			title = strings.TrimSuffix(i.DisplayName+", "+i.Title, ", ")
		}
		rows = append(rows, []string{string(i.Kind), i.Name, i.Module, strings.Join(i.Codes, " "), i.Source, title, terminal.OneLine(i.Description)})
	}
	return rows
}

func searchCommand(term *terminal.Terminal, lib library) *cobra.Command {
	var table bool
	cmd := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find agents, workflows and tasks of the installed BMAD method",
		Long: `Finds agents, workflows and tasks by the words of their names, titles and descriptions,
the best first. The list is a table on a terminal, and JSON elsewhere or with --json.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := lib.Shelf(cmd.Context())
			if err != nil {
				return err
			}
			page, err := s.Search(strings.Join(args, " "), "", "")
			if err != nil {
				return err
			}
			var rows [][]string
			for _, h := range page.Results {
				rows = append(rows, []string{string(h.Kind), h.Full(), h.Title, terminal.OneLine(h.Description)})
			}
			none := lang.T("Nothing has these words. Try fewer, or list: bmad-mcp method list")
			return term.List(!table && !term.ForPeople(), page, none, term.Header("KIND\tNAME\tTITLE\tWHAT IT IS"), rows)
		},
	}
	cmd.Flags().BoolVar(&table, "table", false, "print the table also where the output is not a terminal")
	return cmd
}
