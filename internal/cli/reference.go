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
	writeReference(&b, newRoot(app.New(&terminal.Terminal{Lang: lang.English})))
	_, err := io.WriteString(w, b.String())
	return err
}

// writeReference writes the help of a command and of the commands below it; hidden ones are left out.
func writeReference(b *strings.Builder, cmd *cobra.Command) {
	if cmd.Hidden {
		return
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	h := helpPage{command: cmd, lang: lang.English, width: helpWidth, all: true}
	text := h.pageText()
	if cmd.HasParent() {
		text = globalFlags.ReplaceAllString(text, "")
	}
	fmt.Fprintf(b, "\n## %s\n\n```text\n%s```\n", cmd.CommandPath(), text)
	for _, below := range cmd.Commands() {
		writeReference(b, below)
	}
}
