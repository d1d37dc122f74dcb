package start

import (
	"embed"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/app"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
)

//go:embed demo
var demoFiles embed.FS

const demoObjective = "Build a to-do list for the terminal"

// demoText returns a document of the demo.
func demoText(name string) ([]byte, error) {
	data, err := demoFiles.ReadFile("demo/" + name)
	if err != nil {
		return nil, fault.From(err)
	}
	return data, nil
}

func demoEnd(a *app.App, dir string) error {
	a.Say("\nThe files, all yours to look at:")
	for _, pattern := range []string{".claude/specs/*/*.md", ".bmad-task/session-*.json"} {
		paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return fault.From(err)
		}
		for _, p := range paths {
			fmt.Fprintln(a.Out, "  "+p)
		}
	}
	a.Say("\nNext:")
	if _, err := exec.LookPath("bmad-mcp"); err != nil {
		a.Say("  go install ./cmd/bmad-mcp              puts the program on your PATH (go env GOBIN, else GOPATH/bin)")
	}
	a.Say("  bmad-mcp show --cwd %s\n  claude mcp add bmad -- bmad-mcp        then, in your project: \"use bmad-task to build …\"", dir)
	return nil
}
