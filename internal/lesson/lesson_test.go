package lesson

import (
	"fmt"
	"testing"
)

func TestDecided(t *testing.T) {
	for i, c := range []struct{ document, want string }{
		{"# A\n\n## Decisions\n- one\n- two\n  goes on\n- three\n  - and why\n", "[one two goes on three - and why]"},
		{"# A\n\n**Decisions**\n1. one\n2. two\n", "[one two]"},
		{"# A\n\n## 4. Key decisions (ADRs)\n\n### ADR-1: Use SQLite\n\nIt is enough.\n\n#### Decision\nOne file.\n\n## 5. Risks\n- no\n", "[ADR-1: Use SQLite It is enough. One file.]"},
		{"# 架构\n\n## 关键决策\n- 使用 PostgreSQL\n- 时间用 UTC\n", "[使用 PostgreSQL 时间用 UTC]"},
		{"# A\n## Decisions\n```\n- code\n```\n| What | Why |\n|---|---|\n| a | b |\n", "[a — b]"},
		{"# Decisions\n- the title is not a section\n", "[]"},
		{"# A\n## Decisions\n", "[]"},
		{"", "[]"},
	} {
		if got := fmt.Sprint(decided(c.document)); got != c.want {
			t.Errorf("%d: got %s, want %s", i, got, c.want)
		}
	}
}
