package cli

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

var reference = filepath.Join("..", "..", "docs", "reference")

// globalFlags matches the flags that a command has from the program.
var globalFlags = regexp.MustCompile(`(?s)\nGlobal Flags:\n      --cwd .*?print JSON\n`)

// TestReferenceOfCommands keeps the page with every command, its flags, examples and exit codes.
func TestReferenceOfCommands(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Commands\n\nWhat `--help` says of each command. [The terminal](../terminal.md) sorts them by their use.\n" +
		"All take the flags `--cwd` and `--json` of `bmad-mcp`, and end with its [exit codes](errors.md#exit-codes), unless they list their own.\n")
	root := newRoot(app.New(&terminal.Terminal{Lang: lang.English}))
	seen := 0
	for _, path := range append(commandPaths(root), []string{"help"}) {
		cmd, _, err := root.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		if hiddenAbove(cmd) {
			continue
		}
		seen++
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		h := helpPage{command: cmd, lang: lang.English, width: helpWidth}
		text := h.pageText()
		if cmd != root {
			text = strings.Replace(globalFlags.ReplaceAllString(text, ""), "\n"+terminal.ExitHelp+"\n", "", 1)
		}
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", cmd.CommandPath(), text)
	}
	if seen < 80 {
		t.Errorf("got %d commands, want 80 at least", seen)
	}
	golden.Check(t, filepath.Join(reference, "commands.md"), b.String())
}

// hiddenAbove reports whether a command belongs to one that help does not list.
func hiddenAbove(cmd *cobra.Command) bool {
	hidden := cmd.Hidden
	cmd.VisitParents(func(above *cobra.Command) { hidden = hidden || above.Hidden })
	return hidden
}

// TestReferenceOfErrors keeps the page with the codes of refusals and the exit codes that follow.
func TestReferenceOfErrors(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Error codes\n\nA refused call has a code for programs. In a reply of a tool and with `--json` it is the key `code`; a command ends with\n" +
		"the exit code beside it. [Troubleshooting](../troubleshooting.md) explains single messages.\n\n| Code | Meaning | Exit code |\n|---|---|---|\n")
	for _, row := range faultCodes(t) {
		fmt.Fprintf(&b, "| `%s` | %s | %d |\n", row[0], row[1], terminal.ExitCode(&fault.Error{Code: fault.Code(row[0])}))
	}
	b.WriteString("\n## Exit codes\n\nOf most commands. Those that have other codes too say so at the end of their help.\n\n| Code | Meaning | Commands |\n|---|---|---|\n")
	for _, row := range exitCodes() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	golden.Check(t, filepath.Join(reference, "errors.md"), b.String())
}

// faultCodes returns the codes of package fault with the comments that describe them.
func faultCodes(t *testing.T) (out [][2]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "base", "fault", "fault.go"), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != "Code" {
			return true
		}
		_, about, _ := strings.Cut(strings.Join(strings.Fields(spec.Doc.Text()), " "), ": ")
		value, _ := spec.Values[0].(*ast.BasicLit)
		out = append(out, [2]string{strings.Trim(value.Value, `"`), strings.TrimSuffix(about, ".")})
		return true
	})
	if len(out) < 8 {
		t.Fatalf("got the codes %q, want 8 at least", out)
	}
	return out
}

// exitCodes returns each exit code that a help names, with its meaning and the commands that have it.
func exitCodes() (out [][]string) {
	root := newRoot(app.New(&terminal.Terminal{}))
	common := map[string]bool{}
	for _, m := range codeHelp.FindAllStringSubmatch(terminal.ExitHelp, -1) {
		common[m[0]] = true
		out = append(out, []string{m[1], m[2], "most"})
	}
	found := map[string][]string{}
	for _, path := range commandPaths(root) {
		cmd, _, _ := root.Find(path)
		_, codes, ok := strings.Cut(cmd.Long, terminal.ExitTitle)
		for _, m := range codeHelp.FindAllStringSubmatch(codes, -1) {
			if ok && !common[m[0]] && !hiddenAbove(cmd) {
				found[m[1]+"\t"+m[2]] = append(found[m[1]+"\t"+m[2]], "`"+cmd.CommandPath()+"`")
			}
		}
	}
	for row, commands := range found {
		code, about, _ := strings.Cut(row, "\t")
		out = append(out, []string{code, about, strings.Join(commands, ", ")})
	}
	slices.SortFunc(out, func(a, b []string) int {
		return cmp.Or(len(a[0])-len(b[0]), cmp.Compare(a[0], b[0]), cmp.Compare(b[2], a[2]), cmp.Compare(a[1], b[1]))
	})
	return out
}
