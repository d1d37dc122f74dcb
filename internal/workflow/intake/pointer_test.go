package intake_test

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// TestFileIn: a text that names a file is no document.
func TestFileIn(t *testing.T) {
	for text, want := range map[string]string{
		"docs/prd.md": "docs/prd.md", "./docs/prd.md\n": "./docs/prd.md", "`docs/prd.md`": "docs/prd.md", "@docs/prd.md": "docs/prd.md",
		"\"docs/prd.md\"": "docs/prd.md", "/home/ann/shop/docs/prd.md": "/home/ann/shop/docs/prd.md", `C:\shop\prd.md`: `C:\shop\prd.md`,
		"file:///home/ann/prd.md": "file:///home/ann/prd.md", "~/prd.md": "~/prd.md", ".bmad-task/work/shop/po.md": ".bmad-task/work/shop/po.md",
		"[the PRD](docs/prd.md)": "docs/prd.md", "prd.md": "prd.md", "docs/my plan.md": "plan.md", "文档/需求.md": "文档/需求.md", "docs/prd": "docs/prd",
		"See docs/prd.md.": "docs/prd.md", "The PRD is in `docs/prd.md`": "docs/prd.md", "claude_result_path: docs/prd.md": "docs/prd.md",
		"文档在 docs/prd.md 中": "docs/prd.md", "- docs/prd.md\n- docs/api.md": "docs/prd.md", "src/main.go": "src/main.go",

		"": "", "d": "", "# PRD": "", "# docs/prd.md\n\nIt sells.": "", "Built.": "", "It is built; all 3 tests pass.": "", "Built: api/main.go.": "", "v1.2 is out": "",
		"See docs/prd.md.\n\nIt sells tea to guests.":             "",
		strings.Repeat("It sells tea. ", 20) + "See docs/prd.md.": "",
	} {
		if got := intake.FileIn(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
