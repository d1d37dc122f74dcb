package cli

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
