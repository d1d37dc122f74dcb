package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

var reference = filepath.Join("..", "..", "docs", "reference")

// TestCommandReference: the page of the site with every command that help lists has the help of each one once.
func TestCommandReference(t *testing.T) {
	var page strings.Builder
	if err := WriteCommandReference(&page); err != nil {
		t.Fatal(err)
	}
	root := newRoot(app.New(&terminal.Terminal{}))
	for _, path := range commandPaths(root) {
		cmd, _, err := root.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if hiddenAbove(cmd) {
			want = 0
		}
		if n := strings.Count(page.String(), "\n## "+cmd.CommandPath()+"\n"); n != want {
			t.Errorf("got %d sections of %s, want %d", n, cmd.CommandPath(), want)
		}
	}
}

// TestReferenceOfErrors keeps the page with the codes of refusals and the exit codes that follow.
func TestReferenceOfErrors(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Error codes\n\nA refused call has a code for programs. In a reply of a tool and with `--json` it is the key `code`; a command ends with\n" +
		"the [exit code](../exit-codes.md) beside it. [Troubleshooting](../troubleshooting.md) explains single messages.\n\n| Code | Meaning | Exit code |\n|---|---|---|\n")
	for _, row := range faultCodes(t) {
		fmt.Fprintf(&b, "| `%s` | %s | %d |\n", row[0], row[1], terminal.ExitCode(&fault.Error{Code: fault.Code(row[0])}))
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
			out = append(out, strings.Fields(below.CommandPath())[1:])
			walk(below)
		}
	}
	walk(root)
	return out
}
