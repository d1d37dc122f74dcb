package workflow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestWishForCodex reads objectives as people write them.
func TestWishForCodex(t *testing.T) {
	po := workflow.Default().First()
	for wish, objectives := range map[bool][]string{
		true: {
			"codex", "Build a shop with Codex", "use CODEX.", "Use Codex, please", "codex: a shop", "A shop (codex)", "Shop. Codex should review the PRD",
			"使用 codex 构建登录服务", "使用codex构建登录服务", "用Codex", "让 codex 写架构。", "请同时使用 Claude 和 Codex", "不仅用 claude，也用 codex",
			"claude/codex write the PRD", "Codex/Claude together", "Use Codex's second opinion", "use **Codex**", `use "codex" for the PRD`, "engine:codex", "engines: claude, codex",
			"not only Claude but also Codex", "don't forget to use codex", "Not a toy. Codex writes the PRD", "No frameworks, use codex", "no login\n\n- codex for the PRD",
			"I want Codex", "Why not use codex for the PRD?", "why not let Codex write it", "why don't we use codex", "a client with codex", "don't use Claude, use Codex", "not Claude but Codex", "不要使用 claude，使用 codex", "codex 不能改测试", "Codex CLI does the work",
			"keep .codex/config.toml as it is; use codex", "Codex must not break the tests", "Codex should not change the API, but write the PRD", "Use Codex, no frameworks", "use codex, nothing fancy",
			"nothing but Codex", "keep Codex busy", "leave it to Codex", "Codex must write the PRD and must not forget errors", "Use codex; it does not write tests", "codex is not slow, use it",
		},
		false: {
			"", "Build a shop", "no codex please", "No Codex", "without codex", "Without using Codex", "not codex", "don't use codex", "don’t use Codex!", "dont use codex", "do not use the Codex engine",
			"never call codex", "avoid Codex", "Use Claude, not Codex", "without Claude or Codex", "no need for codex", "Claude instead of codex", "rather than Codex", "without the help of codex", "do not\nuse codex",
			`please do not use "codex"`, "codex is not needed", "Codex should not be used", "codex isn't wanted", "A Codex settings editor, made without codex",
			"不要使用 codex", "不用codex", "别用 codex", "不使用Codex构建", "不要用 Claude、Codex", "无需 codex", "禁止使用 codex", "而不是 codex", "请不要再用 codex 了", "codex 不要用", "不想用“codex”",
			"Codex must not write anything", "Codex may not touch the docs", "Codex shall never be used", "Codex must never write code", "Codex is forbidden", "Codex has to stay out", "Codex can't write here",
			"keep Codex out", "keep Codex away from the PRD", "leave Codex out of it", "leave out Codex", "Codex won't be needed", "Codex doesn't take part", "Codex must not.", "Codex isn't allowed to write", "Codex: no",
			"ban Codex", "stop using codex", "nothing by Codex", "nobody wants Codex", "Codex is not to write anything", "everything but Codex", "Codex, no thanks", "Codex never", "Codex should do nothing",
			"I don't trust codex", "No work for Codex", "Let only Claude write, Codex nothing", "Codex 不得写任何内容", "Codex 不能写任何东西", "Codex 禁止写入", "Codex 不应参与", "禁止 Codex 写代码",
			"Codexification of law", "a codexical index", "codex-config", "read codex-config", "open .codex/config.toml", "~/.codex", "codex.toml", "my_codex", "codex_result", "path/to/codex", "codex/config", "@codex/sdk", "the flag --codex", "`codex`", "pkg.codex", "xcodex", "codex2", "crate::codex",
		},
	} {
		for _, objective := range objectives {
			if got := slices.Contains(po.EnginesFor(objective), workflow.Codex); got != wish {
				t.Errorf("%q: %v, want %v", objective, got, wish)
			}
		}
	}
}

func FuzzWishForCodex(f *testing.F) {
	f.Add("no codex please")
	f.Add("使用codex")
	f.Add("İcodex")
	f.Fuzz(func(t *testing.T, objective string) {
		po := workflow.Default().First()
		engines := po.EnginesFor(objective)
		if len(engines) == 0 || engines[0] != workflow.Claude {
			t.Fatalf("%q: %v", objective, engines)
		}
		if len(engines) > 1 && !strings.Contains(strings.ToLower(objective), "codex") {
			t.Errorf("%q wishes for an engine that it does not name", objective)
		}
	})
}
