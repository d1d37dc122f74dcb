package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
)

// methodWays are how a document's reader reaches what it names, at a terminal.
var methodWays = library.Ways{Read: "bmad-mcp read ADDRESS", Workflow: "bmad-mcp workflows NAME", Agent: "bmad-mcp agents NAME"}

// methodCommands are those that show what is installed of the method.
func (a *app) methodCommands() []*cobra.Command {
	return []*cobra.Command{
		a.itemsCommand(catalog.Agent, "agents"), a.itemsCommand(catalog.Workflow, "workflows"), a.itemsCommand(catalog.Task, "tasks"),
		a.readCommand(), a.searchCommand(), a.sourcesCommand(),
	}
}

// shelf returns what there is of the method for the folder that the command is for. A
// repository that was never fetched is waited for: nobody else will tell that it has come.
func (a *app) shelf(ctx context.Context) (*library.Shelf, error) {
	project, err := a.project()
	if err == nil && a.cwd != "" {
		_, err = a.engine.Where(engine.Request{Cwd: project})
	}
	if err != nil {
		return nil, err
	}
	a.repositories().FetchMissing(ctx, project, func(spec gitsource.Spec, err error) {
		if err == nil {
			fmt.Fprintf(a.err, "Fetching %s …\n", spec)
			return
		}
		fmt.Fprintf(a.err, "bmad-mcp: %v\n  what to do: check the address; bmad-mcp sources update tries it again\n", err)
	})
	return a.library.At(project), nil
}

// forPeople reports whether a list is shown to a person: a terminal gets a table, everything
// else JSON.
func (a *app) forPeople() bool {
	return !a.asJSON && isTerminal(a.raw)
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (a *app) itemsCommand(kind catalog.Kind, name string) *cobra.Command {
	var module, category string
	var table bool
	cmd := &cobra.Command{
		Use:   name + " [NAME]",
		Short: fmt.Sprintf("List the %s of the installed BMAD method, or show one", name),
		Long: fmt.Sprintf(`Lists the %s of the BMAD method that is installed in the project, in your home, or in
the git repositories that you have added. With a name, id, code or alias it prints what
an assistant gets to act on it: persona, instructions and configuration, resolved.

The list is a table on a terminal, and JSON elsewhere or with --json.

`, name) + exitHelp,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.shelf(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return a.showItem(s, kind, args[0])
			}
			items, err := s.All(kind, category, module)
			if err != nil {
				return err
			}
			if !table && !a.forPeople() {
				return a.printJSON(map[string]any{name: items, "total": len(items)})
			}
			return a.itemTable(items, "No "+name+" match.")
		},
		ValidArgsFunction: func(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if len(given) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			if s, err := a.shelf(cmd.Context()); err == nil {
				for _, i := range s.Catalog.Items(kind) {
					names = append(names, i.Name)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVar(&module, "module", "", "only those of this module")
	cmd.Flags().BoolVar(&table, "table", false, "print the table also where the output is no terminal")
	if kind == catalog.Workflow {
		cmd.Flags().StringVar(&category, "phase", "", "only those of this phase: analysis, planning, solutioning, implementation, anytime")
	}
	return cmd
}

func (a *app) showItem(s *library.Shelf, kind catalog.Kind, name string) error {
	if a.asJSON {
		details, err := s.Details(kind, name)
		if err != nil {
			return err
		}
		return a.printJSON(details)
	}
	show := map[catalog.Kind]func(string, string, library.Ways) (string, error){catalog.Agent: s.Agent, catalog.Workflow: s.Workflow, catalog.Task: s.Task}[kind]
	text, err := show(name, "", methodWays)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, strings.TrimRight(text, "\n"))
	return err
}

// itemTable prints items, as wide as the terminal.
func (a *app) itemTable(items []catalog.Item, none string) error {
	if len(items) == 0 {
		fmt.Fprintln(a.out, none)
		return nil
	}
	rows := make([][]string, 0, len(items))
	for _, i := range items {
		title := i.Title
		if i.DisplayName != "" {
			title = strings.TrimSuffix(i.DisplayName+", "+i.Title, ", ")
		}
		rows = append(rows, []string{i.Name, i.Module, strings.Join(i.Codes, " "), i.Source, title, oneLine(i.Description)})
	}
	return a.table([]string{"NAME", "MODULE", "CODE", "FROM", "TITLE", "WHAT IT IS"}, rows)
}

// widestLine is how wide a table may be where the terminal does not say.
const widestLine = 160

// table prints rows whose last column is cut to the width of the terminal.
func (a *app) table(header []string, rows [][]string) error {
	width := widestLine
	if f, ok := a.raw.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 40 {
			width = w
		}
	}
	last := len(header) - 1
	used := 0
	for column := range last {
		widest := len([]rune(header[column]))
		for _, row := range rows {
			row[column] = clipRunes(row[column], 44)
			widest = max(widest, len([]rune(row[column])))
		}
		used += widest + 2
	}
	t := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(header, "\t"))
	for _, row := range rows {
		row[last] = clipRunes(row[last], max(width-used-1, 20))
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// clipRunes cuts a text to a number of characters.
func clipRunes(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

func (a *app) readCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "read ADDRESS",
		Short: "Print a file of the installed BMAD method",
		Long: `Prints a file of an installation as it is, byte for byte, by its address: as lists and
replies give it (bmad://_bmad/bmm/config.yaml), or as the path in the project or in the
installation. ?view=resolved after it gives the text with its placeholders filled in.
bmad://config/current is the configuration, bmad://manifests/agents the agents.

` + exitHelp,
		Example: `  bmad-mcp read bmad://config/current
  bmad-mcp read '.claude/skills/bmad-prd/SKILL.md?view=resolved'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if ref, err := catalog.ParseRef(args[0]); err == nil && ref.Cwd != "" {
				a.cwd = ref.Cwd // the address names the project itself
			}
			s, err := a.shelf(cmd.Context())
			if err != nil {
				return err
			}
			r, err := s.Read(args[0], 0)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(map[string]any{"uri": r.URI, "mime_type": r.MIMEType, "size": len(r.Data), "text": string(r.Data)})
			}
			out := a.raw
			if isTerminal(a.raw) {
				out = a.out // what a repository wrote must not move the cursor
			}
			_, err = out.Write(r.Data)
			return err
		},
	}
}

func (a *app) searchCommand() *cobra.Command {
	var table bool
	cmd := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find agents, workflows and tasks of the installed BMAD method",
		Long: `Finds agents, workflows and tasks by the words of their names, titles and descriptions,
the best first. The list is a table on a terminal, and JSON elsewhere or with --json.

` + exitHelp,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.shelf(cmd.Context())
			if err != nil {
				return err
			}
			page, err := s.Search(strings.Join(args, " "), "")
			if err != nil {
				return err
			}
			if !table && !a.forPeople() {
				return a.printJSON(page)
			}
			if len(page.Results) == 0 {
				fmt.Fprintln(a.out, "Nothing has these words. Try fewer, or list: bmad-mcp agents, bmad-mcp workflows.")
				return nil
			}
			var rows [][]string
			for _, h := range page.Results {
				rows = append(rows, []string{string(h.Kind), h.Full(), h.Title, oneLine(h.Description)})
			}
			return a.table([]string{"KIND", "NAME", "TITLE", "WHAT IT IS"}, rows)
		},
	}
	cmd.Flags().BoolVar(&table, "table", false, "print the table also where the output is no terminal")
	return cmd
}

func (a *app) sourcesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sources",
		Short: "Where the BMAD method is taken from: list, add, update or remove git repositories",
		Long: `The BMAD method is looked for in the project, then in your home (~/.bmad, the skill
folders of your assistants), then in git repositories: those you add here, those of the
setting sources, and those that the project's settings name and you have allowed
(bmad-mcp allow). BMAD_ROOT, the folder of an installation, goes in the project's place.

A repository is an address with, if need be, a branch, tag or commit and a folder in it:

  git+https://github.com/org/repo.git#v6:/src
  git+ssh://git@host/org/repo.git
  git+file:///srv/git/repo.git#main

Its copy is kept in $XDG_CACHE_HOME/bmad-mcp/git, compared with the repository once a day
in the background, and served as it is while the network is away. Private repositories
need the credentials that git has for them (credential helper, ssh agent).

` + exitHelp,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listSources(cmd.Context()) },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "Show where the method is looked for, and what was found", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.listSources(cmd.Context()) },
		},
		&cobra.Command{
			Use: "add ADDRESS", Short: "Add a git repository, for all your projects", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return a.addSource(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "update [NAME|ADDRESS]", Short: "Ask the repositories, or one, for something new now", Args: cobra.MaximumNArgs(1), ValidArgsFunction: a.completeSources,
			RunE: func(cmd *cobra.Command, args []string) error { return a.updateSources(cmd.Context(), args) },
		},
		&cobra.Command{
			Use: "remove NAME|ADDRESS", Short: "Remove a git repository that you have added, and its copy", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeSources,
			RunE: func(cmd *cobra.Command, args []string) error { return a.removeSource(cmd.Context(), args[0]) },
		},
	)
	return cmd
}

// since tells people when something was.
func since(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Local().Format("2006-01-02 15:04")
}

// describeCopy tells people of a copy.
func describeCopy(c gitsource.Copy) string {
	commit := c.Commit
	if len(commit) > 12 {
		commit = commit[:12]
	}
	return fmt.Sprintf("commit %s, checked %s", commit, since(c.CheckedAt))
}
