package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

// globalFlags matches the flags that every command inherits.
var globalFlags = pattern.New(`(?s)\nGlobal Flags:\n      --color .*?print JSON\n`)

// WriteCommandReference writes a page in Markdown with the help of each command, for the site.
func WriteCommandReference(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Commands\n\nWhat `--help` says of each command. [The terminal](../terminal.md) sorts them by their use.\n" +
		"All take the flags `--color`, `--cwd` and `--json` of `bmad-mcp`.\n")
	root := newRoot(app.New(&terminal.Terminal{Lang: lang.English}))
	for _, path := range append(commandPaths(root), []string{"help"}) {
		cmd, _, err := root.Find(path)
		if err != nil {
			return err
		}
		if hiddenAbove(cmd) {
			continue
		}
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		h := helpPage{command: cmd, lang: lang.English, width: helpWidth, all: true}
		text := h.pageText()
		if cmd != root {
			text = globalFlags.ReplaceAllString(text, "")
		}
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", cmd.CommandPath(), text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// hiddenAbove reports whether a command is below a hidden one.
func hiddenAbove(cmd *cobra.Command) bool {
	hidden := cmd.Hidden
	cmd.VisitParents(func(above *cobra.Command) { hidden = hidden || above.Hidden })
	return hidden
}

// commandPaths returns the arguments that call each command.
func commandPaths(root *cobra.Command) [][]string {
	root.InitDefaultHelpCmd()
	out := [][]string{{}}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			if below.Name() != "help" {
				out = append(out, strings.Fields(below.CommandPath())[1:])
				walk(below)
			}
		}
	}
	walk(root)
	return out
}
