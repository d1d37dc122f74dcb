package intake_test

import (
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// TestFilesOfAReport reads the files that a report says were made or changed, and nothing that only looks like one.
func TestFilesOfAReport(t *testing.T) {
	t.Parallel()
	build, _ := workflow.Default().Stage(workflow.Dev)
	for name, tt := range map[string]struct {
		report string
		want   []string
	}{
		"the block": {"# Report\n\nAll done.\n\n```json\n{\"sprints\": [1], \"files\": [\"cmd/todo/main.go\", \"./web/app.tsx:12\", \"old.go (removed)\", \"*.go\", \"https://example.com/a.js\"]}\n```\n",
			[]string{"cmd/todo/main.go", "web/app.tsx"}},
		"a block of files alone":        {"# Report\n\nAll done.\n\n```json\n{\"files\": [{\"path\": \"src/a.go\"}, \"src/b.go\"]}\n```\n", []string{"src/b.go", "src/a.go"}},
		"a block with one that is gone": {"# Report\n\n`legacy/a.py` was deleted.\n\n```json\n{\"sprints\": [1], \"files\": [\"legacy/a.py\", \"app/b.py\"]}\n```\n", []string{"app/b.py"}},
		"a table": {"## Stories\n\n| Story | Built | Files | Tests |\n|---|---|---|---|\n| S1 | `todo add` | `cmd/todo/main.go`, `internal/file/file.go` | 6 |\n",
			[]string{"cmd/todo/main.go", "internal/file/file.go"}},
		"a list": {"## Files changed\n\n- src/index.ts – the entry\n- `src/api/users.controller.ts`\n- Makefile\n\n## Known limits\n\n- `src/later.ts`\n",
			[]string{"src/index.ts", "src/api/users.controller.ts"}},
		"sentences":   {"I created `app/models/user.rb` and updated `config/routes.rb`. The page is at https://example.com/app/x.js.\n", []string{"app/models/user.rb", "config/routes.rb"}},
		"to come":     {"`src/export.py` will be added in sprint 2.\nNext, I would create `src/import.py`.\n", nil},
		"gone":        {"Removed `old/a.go`.\nRenamed `a/x.go` to `a/y.go`.\n", nil},
		"packages":    {"Added `lodash`, `@scope/pkg/file.js`, `github.com/spf13/cobra/doc.go`, `Node.js` and `internal/list.Sort`; created `fmt.Errorf` calls.\n", nil},
		"patterns":    {"Changed `src/**/*.ts`, `app/{a,b}.go`, `$HOME/x.sh`, `/etc/hosts.conf`, `../other/a.go` and `~/x.py`.\n", nil},
		"only spoken": {"The handler in `internal/api/handler.go` calls `internal/db/db.go`.\n", nil},
		"a command":   {"## Changes\n\n```sh\ntouch made/up.go\n```\nImplemented; run `go test ./...` and `python -m app.main`.\n", nil},
		"Chinese":     {"## 改动的文件\n\n- `src/预约.py`\n- `src/seat.py`：新增\n- `src/old.py`：已删除\n", []string{"src/预约.py", "src/seat.py"}},
		"figures":     {"Changed: 3/4.5 of v1.2/3 pass, `1.5/2.go` and `application/json`.\n", nil},
	} {
		if got := intake.Read(build, tt.report).Files; !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
