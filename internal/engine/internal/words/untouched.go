package words

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Untouched says why a pass waits although the report speaks for it. planned is true if the project is compared with
// the one at the yes to the plan, and why says why it cannot be.
func Untouched(u workflow.Untouched, planned bool, why lang.Text) lang.Text {
	switch {
	case u == workflow.NothingChanged && planned:
		return lang.T("nothing has changed in the project since the plan was approved")
	case u == workflow.NothingChanged:
		return lang.T("nothing has changed in the project since the run began")
	case why.Empty() && planned:
		return lang.T("it is unknown whether anything has changed in the project since the plan was approved")
	case why.Empty():
		return lang.T("it is unknown whether anything has changed in the project since the run began")
	case planned:
		return lang.T("it is unknown whether anything has changed in the project since the plan was approved: %s", why)
	}
	return lang.T("it is unknown whether anything has changed in the project since the run began: %s", why)
}

// maxAbsent bounds the names in one sentence.
const maxAbsent = 10

// AbsentFiles names the files of a report of a build that do not exist.
func AbsentFiles(names []string) lang.Text {
	if more := len(names) - maxAbsent; more > 0 {
		return lang.T("the report names files that do not exist: %s, and %d more", strings.Join(names[:maxAbsent], ", "), more)
	}
	return lang.T("the report names files that do not exist: %s", strings.Join(names, ", "))
}
