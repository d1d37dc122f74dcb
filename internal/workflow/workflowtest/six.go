// Package workflowtest has the workflow that tests of other packages walk through.
package workflowtest

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Six returns a workflow of six stages, independent of the built-in ones. It panics if the file in testdata/person
// cannot be read.
func Six() *workflow.Definition {
	_, here, _, _ := runtime.Caller(0)
	text, err := durable.ReadPath(filepath.Join(filepath.Dir(here), "..", "..", "..", "testdata", "person", "bmad-mcp", "workflows", "six.yaml"), 1<<16)
	if err != nil {
		panic(err)
	}
	d, problems := workflow.Read("six", text)
	if len(problems) > 0 {
		panic(fmt.Sprint(problems))
	}
	return d
}
