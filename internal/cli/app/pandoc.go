package app

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/sdk/pandoc"
)

// FindPandoc returns pandoc for a project.
func FindPandoc(project string) (pandoc.Program, error) {
	program, err := pandoc.Find(project)
	if err != nil {
		err = fault.New(fault.NotFound, "pandoc is not installed outside of the project, so nothing can be converted").
			WithHint("install it (apt-get install pandoc, brew install pandoc, or https://pandoc.org/installing.html), and try again")
	}
	return program, err
}
