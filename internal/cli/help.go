package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// speakHelp makes the help of a command and of those below it speak the person's language.
func (a *app) speakHelp(root *cobra.Command) {
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if a.lang == "" { // help does not set up the rest
			a.readSettings()
		}
		if a.lang == lang.English {
			usual(cmd, args)
			return
		}
		for _, c := range append(cmd.Commands(), cmd) {
			c.Short, c.Long = a.lang.Word(c.Short), paragraphs(c.Long, a.lang.Word)
		}
		fmt.Fprintf(a.out, "%s\n\n%s", strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), a.usage(cmd))
	})
}

// paragraphs translates a text paragraph by paragraph, since texts share some.
func paragraphs(text string, word func(string) string) string {
	parts := strings.Split(strings.TrimRight(text, "\n"), "\n\n")
	for i, part := range parts {
		parts[i] = word(part)
	}
	return strings.Join(parts, "\n\n")
}

// usageWords are the words of the library that prints the usage of a command.
var usageWords = []lang.Text{
	lang.T("Usage:"), lang.T("Aliases:"), lang.T("Examples:"), lang.T("Available Commands:"), lang.T("Flags:"), lang.T("Global Flags:"),
}

// flagLine matches the line of a flag: its name, and the text after that.
var flagLine = pattern.New(`^(?:  -\w, |      )--([\w-]+)(?: \w+)?   +(.*)$`)

// usage is the usage of a command in the person's language.
func (a *app) usage(cmd *cobra.Command) string {
	lines := strings.Split(cmd.UsageString(), "\n")
	for i, line := range lines {
		for _, w := range usageWords {
			if line == w.String() {
				lines[i] = w.In(a.lang)
			}
		}
		if m := flagLine.FindStringSubmatch(line); m != nil {
			lines[i] = strings.TrimSuffix(line, m[2]) + a.flagUsage(cmd, m[1], m[2])
		}
		if strings.HasPrefix(line, `Use "`) {
			lines[i] = a.lang.Say(`Use "%s [command] --help" for more information about a command.`, cmd.CommandPath())
		}
	}
	return strings.Join(lines, "\n")
}

// flagUsage is the text of a flag in the person's language, with its default value.
func (a *app) flagUsage(cmd *cobra.Command, name, text string) string {
	usage := cmd.Flag(name).Usage
	value, hasDefault := strings.CutPrefix(text, usage+" (default ")
	switch name {
	case "help":
		usage = a.lang.Say("help for %s", cmd.Name())
	case "version":
		usage = a.lang.Say("version for %s", cmd.Name())
	default:
		usage = a.lang.Word(usage)
	}
	if hasDefault {
		usage = a.lang.Say("%s (default %s)", usage, strings.TrimSuffix(value, ")"))
	}
	return usage
}
