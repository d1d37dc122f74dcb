package engine

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/words"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// DescribePipeline returns the stages of a session in one line, each with a mark for the status.
func DescribePipeline(w *workflow.Definition, s *workflow.Session) string {
	return words.Pipeline(w, s)
}

// DescribeRows counts the rows of a report in words; "" if it has none.
func DescribeRows(l lang.Language, rows []workflow.Criterion) string { return words.Rows(l, rows) }
