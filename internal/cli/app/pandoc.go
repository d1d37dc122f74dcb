package app

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/sdk/pandoc"
)

// FindPandoc returns the path of pandoc.
func FindPandoc() (string, error) {
	file, err := pandoc.Find()
	if err != nil {
		err = fault.New(fault.NotFound, "pandoc is not installed, so nothing can be converted").
			WithHint("install it (apt-get install pandoc, brew install pandoc, or https://pandoc.org/installing.html), and try again")
	}
	return file, err
}
