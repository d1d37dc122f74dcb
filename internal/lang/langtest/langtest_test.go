package langtest

import (
	"slices"
	"testing"
)

func TestEnglish(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"自评 92，关卡要求 90。", nil},
		{"在终端输入 `bmad-mcp confirm the clock that waits`", nil},
		{"它说：“this is what it says in English”。", nil},
		{"请输入：bmad-mcp allow this one now", nil},
		{"PO → Architect → SM → Dev → Review → QA", nil},
		{"文件 .claude/specs/a/01-b.md 与 docs/the file", nil},
		{"你还没有 you have not allowed it yet", []string{"you have not allowed it yet"}},
		{"The draft is missing: restore it", []string{"The draft is missing: restore it"}},
		{"没有章节 User Stories", nil},
	} {
		if got := English(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}
