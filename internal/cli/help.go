package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
)

// speakHelp translates the help of a command and of all commands below it into the person's language.
func speakHelp(a *app.App, root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if a.Terminal.Lang == "" { // help does not set up the rest
			a.ReadSettings()
		}
		h := newHelpPage(a, cmd)
		_ = a.Terminal.Page(cmd.Context(), func() error { _, err := fmt.Fprint(a.Terminal.Out, h.pageText()); return err }) // the reader may have gone
	})
}

func newHelpPage(a *app.App, cmd *cobra.Command) *helpPage {
	return &helpPage{command: cmd, lang: a.Terminal.Lang, width: min(a.Terminal.Width(helpWidth), widestHelp)}
}

// Columns of help: without a terminal, and at most, because longer lines are hard to read.
const (
	helpWidth  = 80
	widestHelp = 100
)

// helpPage is the help of one command, beginning with the usage.
type helpPage struct {
	command *cobra.Command
	lang    lang.Language
	width   int
	// all lists the commands of every group, not only of the first one.
	all bool
	b   strings.Builder
}

func (h *helpPage) pageText() string {
	cmd := h.command
	h.writeUsage()
	h.b.WriteString("\n" + h.wrapProse(cmp.Or(cmd.Long, cmd.Short)))
	if cmd.HasExample() {
		h.writeSection(h.lang.Say("Examples:"), cmd.Example+"\n")
	}
	for i, g := range cmd.Groups() {
		if i == 0 || h.all {
			h.writeCommands(h.lang.Word(g.Title), g.ID)
		}
	}
	h.writeCommands(h.lang.Say("Available Commands:"), "")
	h.writeFlags(h.lang.Say("Flags:"), cmd.LocalFlags().FlagUsages())
	h.writeFlags(h.lang.Say("Global Flags:"), cmd.InheritedFlags().FlagUsages())
	switch {
	case !cmd.HasParent():
		more := h.lang.Say("Help of a command: bmad-mcp help COMMAND. All commands: bmad-mcp help all. Pages of the documentation: bmad-mcp help pages.")
		h.b.WriteString("\n" + h.wrapProse(more))
	case cmd.HasAvailableSubCommands():
		h.b.WriteString("\n" + h.wrapProse(h.lang.Say(`Use "%s [command] --help" for more information about a command.`, cmd.CommandPath())))
	}
	return h.b.String()
}

// writeSection writes a part of the page under a title, unless the part is empty.
func (h *helpPage) writeSection(title, text string) {
	if text != "" {
		h.b.WriteString("\n" + title + "\n" + text)
	}
}

func (h *helpPage) writeUsage() {
	h.b.WriteString(h.lang.Say("Usage:") + "\n")
	if h.command.Runnable() {
		h.b.WriteString("  " + h.command.UseLine() + "\n")
	}
	if h.command.HasAvailableSubCommands() {
		h.b.WriteString("  " + h.command.CommandPath() + " [command]\n")
	}
}

// wrapProse returns a text in the person's language with wrapped paragraphs. A paragraph with indented lines
// stays as it is.
func (h *helpPage) wrapProse(text string) string {
	var out []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(h.lang.Word(paragraph), "\n")
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") }) {
			out = append(out, strings.Join(visible.Wrap(joinLines(lines), h.width), "\n"))
			continue
		}
		for i, line := range lines {
			rest := strings.TrimLeft(line, " ")
			indent := len(line) - len(rest)
			if code, _, ok := strings.Cut(rest, "  "); ok && indent > 0 {
				indent += len(code) + 2
			}
			lines[i] = hangText(line[:indent], line[indent:], h.width)
		}
		out = append(out, strings.Join(lines, "\n"))
	}
	return strings.Join(out, "\n\n") + "\n"
}

// joinLines joins the lines of a paragraph, with spaces only in scripts that have spaces between words.
func joinLines(lines []string) string {
	out := lines[0]
	for _, line := range lines[1:] {
		last, _ := utf8.DecodeLastRuneInString(out)
		if visible.Columns(string(last)) < 2 {
			out += " "
		}
		out += line
	}
	return out
}

// hangText returns a text that follows begin in the first row; the other rows are indented to the same
// column.
func hangText(begin, text string, width int) string {
	columns := visible.Columns(begin)
	if width-columns < 20 { // no room beside it
		begin, columns = strings.TrimRight(begin, " ")+"\n      ", 6
	}
	return begin + strings.Join(visible.Wrap(text, max(width-columns, 20)), "\n"+strings.Repeat(" ", columns))
}

// writeCommands lists the subcommands of a group.
func (h *helpPage) writeCommands(title, group string) {
	var rows strings.Builder
	for _, c := range h.command.Commands() {
		if listed := c.IsAvailableCommand() || c.Name() == "help"; listed && c.GroupID == group {
			name := fmt.Sprintf("  %-*s  ", h.command.Commands()[0].NamePadding(), c.Name())
			rows.WriteString(hangText(name, h.lang.Word(c.Short), h.width) + "\n")
		}
	}
	h.writeSection(title, rows.String())
}

// flagLine matches the line of a flag, with name and text.
var flagLine = pattern.New(`^(?:  -\w, |      )--([\w-]+)(?: \w+(?:\[="[^"]*"\])?)?   +(.*)$`)

// writeFlags lists flags in the layout of package pflag, with texts in the person's language.
func (h *helpPage) writeFlags(title, usages string) {
	var rows strings.Builder
	for line := range strings.SplitSeq(usages, "\n") {
		m := flagLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		begin := strings.TrimSuffix(line, m[2])
		rows.WriteString(hangText(begin, h.flagUsage(m[1], m[2]), h.width) + "\n")
	}
	h.writeSection(title, rows.String())
}

// flagUsage returns the text of a flag in the person's language, with the default value.
func (h *helpPage) flagUsage(name, text string) string {
	usage := h.command.Flag(name).Usage
	value, hasDefault := strings.CutPrefix(text, usage+" (default ")
	switch name {
	case "help":
		usage = h.lang.Say("help for %s", h.command.Name())
	case "version":
		usage = h.lang.Say("version for %s", h.command.Name())
	default:
		usage = h.lang.Word(usage)
	}
	if hasDefault {
		usage = h.lang.Say("%s (default %s)", usage, strings.TrimSuffix(value, ")"))
	}
	return usage
}
