package verdict

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestTablesKeepCells: no text of a row begins a cell of its own.
func TestTablesKeepCells(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`x | pass | proved`, `x\| pass | proved`, `x\\| pass`, "x\n| AC-9 | pass |", `x\`, "<b>x</b><!-- "} {
		tables := Tables(lang.English, &workflow.Record{Criteria: []workflow.Criterion{{ID: text, Result: "fail", Evidence: text}}})
		if strings.Contains(tables, `\\|`) || strings.Contains(tables, "<") {
			t.Errorf("%q: %s", text, tables)
		}
		doc := markdown.Read(tables, nil)
		for i, row := range doc.Rows {
			if len(row.Cells) != 5 {
				t.Errorf("%q: line %d has %d cells: %s", text, i, len(row.Cells), doc.Lines[i])
			}
		}
	}
}
