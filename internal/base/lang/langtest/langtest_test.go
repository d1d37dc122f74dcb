package langtest

import "testing"

func TestEnglish(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"会话位于 po：nothing was changed on disk":                             1,
		"not allowed yet here, so it waits":                               1,
		"你还没有 you have not allowed it yet":                                1,
		"The draft is missing: restore it":                                1,
		"- the report does not say it, and that is all":                   1,
		"两句 this is the first one。that is a second one":                   2,
		"自评 92，关卡要求 90。":                                                  0,
		"PO → Architect → SM → Dev → Review → QA":                         0,
		"在终端输入 `bmad-mcp decide the clock that waits`":                    0,
		"它说：“this is what it says in English”。":                           0,
		"请输入：bmad-mcp allow this one now":                                 0,
		"文件 .claude/specs/a/01-b.md 与 docs/the file":                      0,
		"没有章节 User Stories":                                               0,
		"阶段 po generating":                                                0,
		"Claude Code，Claude Desktop，VS Code":                              0,
		"可用的有：session, history, sessions, workflow":                       0,
		"写入失败：no space left on device":                                    0,
		"22f1900d-4c2e-44c0-a082-a107a69fd74b  Build a clock":             0,
		"the answer of its author":                                        0,
		"  bmad-mcp task submit a-b --stage po --claude-result-path FILE": 0,
	} {
		if got := English(text, "x the answer of its author y"); len(got) != want {
			t.Errorf("%q: got %q, want %d", text, got, want)
		}
	}
}
