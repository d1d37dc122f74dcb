package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/docs"
	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

// newHelp returns the command that shows the help of a command, or a page of the documentation.
func newHelp(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|PAGE]",
		Short: "Show the help of a command, or a page of the documentation",
		Long: `Show the help of a command, or a page of the documentation; without an
argument, list both. Where both have the name, add .md for the page.`,
		Example: "  bmad-mcp help task submit\n  bmad-mcp help decide\n  bmad-mcp help run.md",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return topics(cmd.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
		// A mistake in the settings does not keep help away.
		PersistentPreRunE: func(*cobra.Command, []string) error { a.ReadSettings(); return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			name, onlyPage := strings.CutSuffix(strings.Join(args, "/"), ".md")
			page := docs.Page(name, string(a.Lang))
			topic, rest, err := cmd.Root().Find(args)
			switch {
			case !onlyPage && err == nil && len(rest) == 0:
				return showCommand(a, topic, name, page != "")
			case page != "":
				showPage(a, page)
				return nil
			}
			above, last := args[:len(args)-1], args[len(args)-1]
			return fault.New(fault.NotFound, "no command and no page is called %q", strings.Join(args, " ")).
				WithHint("bmad-mcp help lists them").Suggest(last, topics(cmd.Root(), above))
		},
	}
}

// showCommand prints the help of a command, then the pages, or the way to the page of the same name.
func showCommand(a *app.App, command *cobra.Command, name string, hasPage bool) error {
	command.InitDefaultHelpFlag()
	command.InitDefaultVersionFlag()
	if err := command.Help(); err != nil {
		return err
	}
	switch {
	case name == "":
		h := helpPage{lang: a.Lang, width: min(a.Width(helpWidth), widestHelp)}
		fmt.Fprint(a.Out, h.pages())
	case hasPage:
		fmt.Fprintln(a.Out)
		a.Say("The page of this name says more: %s", "bmad-mcp help "+name+".md")
	}
	return nil
}

// pages lists the pages of the documentation.
func (h *helpPage) pages() string {
	var rows strings.Builder
	names := docs.Names()
	widest := slices.MaxFunc(names, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	for _, name := range names {
		title, _ := docs.Title(docs.Page(name, string(h.lang)))
		rows.WriteString(hang(fmt.Sprintf("  %-*s  ", len(widest), name), title, h.width) + "\n")
	}
	return "\n" + h.lang.Say("Pages:") + "\n" + rows.String()
}

// showPage prints a page.
func showPage(a *app.App, text string) { fmt.Fprint(a.Out, text) }

// topics lists the commands below the one that the arguments lead to; without any, the pages too.
func topics(root *cobra.Command, args []string) (out []string) {
	above, _, err := root.Find(args)
	if err != nil {
		return nil
	}
	for _, c := range above.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, c.Name())
		}
	}
	if above == root {
		out = append(out, docs.Names()...)
	}
	return out
}
