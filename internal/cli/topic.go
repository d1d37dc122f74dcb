package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/docs"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
)

// newHelp returns the command help, for the help of commands and the pages of the documentation.
func newHelp(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "help [all|pages|COMMAND|PAGE]",
		Short: "Show the help of a command, or a page of the documentation",
		Long: `Show the help of a command, or a page of the documentation. Where both have the name, add
.md for the page. help all lists all commands, help pages the pages.`,
		Example: "  bmad-mcp help task submit\n  bmad-mcp help all\n  bmad-mcp help run.md",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return listTopics(cmd.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
		// Help works in spite of mistakes in the settings.
		PersistentPreRunE: func(*cobra.Command, []string) error { a.ReadSettings(); return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			name, onlyPage := strings.CutSuffix(strings.Join(args, "/"), ".md")
			page := docs.Page(name, string(a.Terminal.Lang))
			topic, rest, err := cmd.Root().Find(args)
			switch {
			case name == "all" || name == "pages":
				return showIndex(cmd.Context(), a, cmd.Root(), name == "all")
			case !onlyPage && err == nil && len(rest) == 0:
				return showCommand(cmd.Context(), a, topic, page != "")
			case page != "":
				return a.Terminal.Page(cmd.Context(), func() error { a.Terminal.Markdown(flowParagraphs(page), strings.TrimSuffix(page, "\n")); return nil })
			}
			above, last := args[:len(args)-1], args[len(args)-1]
			return fault.New(fault.NotFound, "no command and no page is called %q", strings.Join(args, " ")).
				WithHint("bmad-mcp help all lists the commands, bmad-mcp help pages the pages").Suggest(last, listTopics(cmd.Root(), above))
		},
	}
}

// pageLink matches a link between pages, with the words of the link and the name of the page.
var pageLink = pattern.New(`\[([^\]]+)\]\((?:\.\./)*([a-z][a-z/-]*)(?:\.zh)?\.md(?:#[^)]*)?\)`)

// flowParagraphs joins each paragraph of a page into one line, for the terminal to break, and names the pages
// of links.
func flowParagraphs(page string) string {
	var out []string
	fenced, open := false, false // open: the next line may continue the last one
	for line := range strings.SplitSeq(page, "\n") {
		_, _, fence := markdown.Fence(line)
		fenced = fenced != fence
		if fenced || fence {
			out, open = append(out, line), false
			continue
		}
		_, _, heading := markdown.HashHeading(line)
		_, _, item := markdown.Item(line)
		text := strings.TrimSpace(line)
		apart := heading || text == "" || strings.ContainsAny(text[:1], "|>!<")
		if open && !apart && !item {
			out[len(out)-1] += " " + text
		} else {
			out = append(out, line)
		}
		open = !apart
	}
	return pageLink.ReplaceAllStringFunc(strings.Join(out, "\n"), func(link string) string {
		m := pageLink.FindStringSubmatch(link)
		if docs.Page(m[2], "") == "" {
			return m[1]
		}
		return m[1] + " (help " + m[2] + ")"
	})
}

// showCommand prints the help of a command, with the way to the page of the same name.
func showCommand(ctx context.Context, a *app.App, command *cobra.Command, hasPage bool) error {
	command.InitDefaultHelpFlag()
	command.InitDefaultVersionFlag()
	text := newHelpPage(a, command).pageText()
	if hasPage {
		text += "\n" + a.Terminal.Lang.Say("The page of this name says more: %s", "bmad-mcp help "+command.Name()+".md") + "\n"
	}
	return a.Terminal.Page(ctx, func() error { _, err := fmt.Fprint(a.Terminal.Out, text); return err })
}

// showIndex prints the help of the program with all commands, or the list of the pages.
func showIndex(ctx context.Context, a *app.App, root *cobra.Command, commands bool) error {
	h := newHelpPage(a, root)
	text := ""
	if h.all = commands; commands {
		root.InitDefaultHelpFlag()
		root.InitDefaultVersionFlag()
		text = h.pageText()
	} else {
		text = h.listPages()
	}
	return a.Terminal.Page(ctx, func() error { _, err := fmt.Fprint(a.Terminal.Out, text); return err })
}

// listPages lists the pages of the documentation.
func (h *helpPage) listPages() string {
	var rows strings.Builder
	names := docs.Names()
	widest := slices.MaxFunc(names, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	for _, name := range names {
		title, _ := docs.Title(docs.Page(name, string(h.lang)))
		rows.WriteString(hangText(fmt.Sprintf("  %-*s  ", len(widest), name), title, h.width) + "\n")
	}
	return h.lang.Say("Pages:") + "\n" + rows.String()
}

// listTopics returns the commands below the one in the arguments; without arguments, the pages too.
func listTopics(root *cobra.Command, args []string) (out []string) {
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
		out = append(out, "all", "pages")
		out = append(out, docs.Names()...)
	}
	return out
}
