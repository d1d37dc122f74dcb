package criteria

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// TestDefinedCriteria: which ids a document defines, and which it only names.
func TestDefinedCriteria(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"items":                   {"- AC-1: a\n* **AC-2** b\n1. `AC-3` c\n- [ ] AC-4 d\n- (AC-5) e", "AC-1 AC-2 AC-3 AC-4 AC-5"},
		"headings and bold lines": {"### AC-1.1 a\n\ntext\n\n**AC-1.2**: b\n\n**AC-1.3 c**", "AC-1.1 AC-1.2 AC-1.3"},
		"the first cells":         {"| Id | Text |\n|---|---|\n| AC-1 | a |\n| **AC-2** | b, see AC-9 |", "AC-1 AC-2"},
		"a story's cells":         {"| Story | Criterion | Text |\n|---|---|---|\n| US-1 | AC-1.1 | a |\n| US-2 | AC-2.1 | b |", "AC-1.1 AC-2.1"},
		"a list of all stories'":  {"## Acceptance criteria\n\n| Story | Id | Text |\n|---|---|---|\n| US-1 | AC-1 | a |\n| US-1 | AC-2 | b |\n| US-2 | AC-3 | c |", "AC-1 AC-2 AC-3"},
		"other spellings":         {"- ac 1.1 a\n- ＡＣ－1.2 b\n- AC‑1.3 c\n- AC1.4 d\n- AC_1.5 e", "AC 1.1 AC-1.2 AC-1.3 AC1.4 AC_1.5"},
		"words in ids":            {"- AC-LOGIN-1: a\n- AC-LOGIN-2: b", "AC-LOGIN-1 AC-LOGIN-2"},
		"named, not defined":      {"- see AC-1\n- AC-1, AC-2 and AC-3 are for later\n- AC-1 to AC-4\n\nAC-7 is mentioned here.", ""},
		"in code and comments":    {"```\n- AC-1 a\n```\n<!-- \n- AC-2 b\n-->\n- AC-3 c", "AC-3"},
		"what is left out":        {"- AC-1 a\n\n## Out of scope\n\n- AC-2 b\n\n## 不做\n\n- AC-3 c\n\n## Goals\n\n- AC-4 d", "AC-1 AC-4"},
		"headings of features": {
			"## Save for later\n\n- AC-1 a\n\n## Future bookings\n\n- AC-2 b\n\n## Backlog view\n\n- AC-3 c\n\n## 后续订单\n\n- AC-4 d\n\n## 未来七天天气\n\n- AC-5 e",
			"AC-1 AC-2 AC-3 AC-4 AC-5",
		},
		"headings of stories":    {"### US-7: alert on what is out of scope\n\n- AC-7.1 a\n\n### Story 8: move to the backlog\n\n- AC-8.1 b", "AC-7.1 AC-8.1"},
		"later releases":         {"- AC-1 a\n\n## 7. Later\n\n- AC-2 b\n\n## Future work\n\n- AC-3 c\n\n## 后续版本\n\n- AC-4 d\n\n## 暂不实现\n\n- AC-5 e", "AC-1"},
		"underlined headings":    {"AC-1 Sign in\n---\n\ntext\n\nAC-2 Sign out\n---", "AC-1 AC-2"},
		"all families":           {"- FR-1 a\n- FR-2 b\n- US-1 c\n- NFR-1 d", "FR-1 FR-2 US-1 NFR-1"},
		"stories alone":          {"### US-1: a\n\n### US-2: b", "US-1 US-2"},
		"once each":              {"- AC-1 a\n\n## Traceability\n\n| AC | FR |\n|---|---|\n| AC-1 | FR-1 |", "AC-1"},
		"repeated under stories": {"### US-1 sign in\n\n- AC1 a\n- AC2 b\n\n### US-2 sign out\n\n- AC1 c\n\n## List\n\n- AC1 of all", "US-1/AC1 AC2 US-2/AC1 List/AC1"},
		"letters under stories":  {"### US-1\n\n- AC1a a\n\n### US-2\n\n- AC1a b", "US-1/AC1a US-2/AC1a"},
		"stories without ids":    {"### Story 1.1: in\n\n- AC1: a\n- AC2: b\n\n### Story 1.2: out\n\n- AC1: c", "US-1.1/AC1 AC2 US-1.2/AC1"},
		"Chinese stories":        {"### 用户故事 1：登录\n\n- AC1：a\n\n### 用户故事2\n\n- AC1：b", "US-1/AC1 US-2/AC1"},
		"the second cells": {
			"| No. | Id | Text |\n|---|---|---|\n| 1 | AC-1 | a |\n| P0 | **AC-2** | b |\n| x | AC-8, AC-9 | c |\n\n| Risk | Of |\n|---|---|\n| slow | AC-7 |",
			"AC-1 AC-2",
		},
		"a dot and no space":      {"- AC1.用户可以登录\n- AC-2.Sign out", "AC1 AC-2"},
		"marks before ids":        {"> - AC-1: a\n\n- ✅ AC-2 b\n- <a id=\"x\"></a>AC-3 c", "AC-1 AC-2 AC-3"},
		"paragraphs":              {"AC-1: a\n\nAC-2 — b\n\nAC-3 is mentioned", "AC-1 AC-2"},
		"qualified":               {"- US-1/AC1: a\n- US-1 AC2: b\n- US-2/AC1: c", "US-1/AC-1 AC-2 US-2/AC-1"},
		"a section of criteria":   {"## Acceptance criteria\n\n- C1: a\n- C2: b\n\n## Notes\n\n- C3: c", "C1 C2"},
		"a Chinese section":       {"## 验收标准\n\n| 编号 | 内容 |\n|---|---|\n| YS-1 | 甲 |\n| YS-2 | 乙 |", "YS-1 YS-2"},
		"a section with comments": {"## Acceptance criteria\n\n<!--\n- C1: a\n-->\n- C2: b", "C2"},
		"numbers":                 {"## Acceptance criteria\n\n1. a\n2. b", "AC1 AC2"},
		"letters behind numbers":  {"- FR-1 a\n- FR-1a b\n- FR-2 c\n- FR-2.1a d", "FR-1 FR-1a FR-2.1a"},
		"words that begin alike":  {"- FR-1 Orders 66 days old are deleted\n- FR-2 Totals 3 decimals\n- FR-3 Android 5 is enough\n- FR-4 Everyone sees 7 of them", "FR-1 FR-2 FR-3 FR-4"},
		"prose":                   {"We sell to US 50 companies and 3 others.\n\n- us 3 of them\n- use AC power", ""},
	} {
		var got []string
		for _, c := range Read(tt.text).Owed() {
			got = append(got, c.ID)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestNextScenario: in a list of steps a condition behind a result begins the next criterion.
func TestNextScenario(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"## Acceptance criteria\n\n- When a\n- Then b\n- And c\n- When d\n- Then e": "When d",
		"## Akzeptanzkriterien\n\n- Wenn a\n- Dann b\n- Und c\n- Wenn d\n- Dann e":  "Wenn d",
		"## 验收标准\n\n- 当 甲\n- 那么 乙\n- 并且 丙\n- 当 丁\n- 那么 戊":                           "当 丁",
	} {
		if owed := Read(text).Owed(); len(owed) != 2 || owed[1].Text != want {
			t.Errorf("%q owes %+v, want the second to be %q", text, owed, want)
		}
	}
}

func TestSameIDs(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"AC-1.1", "ac 1.1"}, {"AC‑1.1", "AC_1.1"}, {"ＡＣ-1.1", "AC1.1"}, {"US-1/AC1", "US-1 AC-1"}, {"AC-01", "AC-1"}, {"R1", "r1"}, {"AC-1.1.", "AC-1.1"}} {
		if Key(pair[0]) != Key(pair[1]) {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"AC-1.1", "AC-11"}, {"AC-1", "AC-10"}, {"S1-4", "S14"}, {"US-1/AC1", "US-11/AC"}, {"AC-1.1", "FR-1.1"}, {"AC-1.0", "AC-1"}} {
		if Key(pair[0]) == Key(pair[1]) {
			t.Errorf("%q and %q are the same: %s", pair[0], pair[1], Key(pair[0]))
		}
	}
}

// TestNamedRanges: which ids a text names, alone, in lists and in ranges.
func TestNamedRanges(t *testing.T) {
	for text, ids := range map[string][2]string{
		"FR-1":                   {"FR-1", "FR-2"},
		"FR-1 to FR-4":           {"FR-1 FR-2 FR-3 FR-4", "FR-5"},
		"FR-1–FR-4":              {"FR-3", "FR-5"},
		"FR-1..4":                {"FR-4", "FR-5"},
		"FR-1, 2 and 3":          {"FR-2 FR-3", "FR-4"},
		"FR-1、2、5":               {"FR-2 FR-5", "FR-3"},
		"FR-1 至 FR-3":            {"FR-2", "FR-4"},
		"FR-2/3":                 {"FR-2 FR-3", "FR-1"},
		"**FR-1** to **FR-3**":   {"FR-2", "FR-4"},
		"AC-1.1 to AC-1.4":       {"AC-1.3", "AC-2.1"},
		"AC-1.1 to 4":            {"AC-1.4", "AC-1.5"},
		"AC-1.1 to AC-9.3":       {"AC-4.7 AC-9.3", "AC-9.4"},
		"AC-2.x":                 {"AC-2.1 AC-2.9", "AC-1.1"},
		"AC-2":                   {"AC-2.1", "AC-3.1"},
		"FR1 and FR_2":           {"FR-1 FR-2", "FR-3"},
		"功能需求 3、需求4":             {"FR-3 FR-4", "FR-1"},
		"`FR-7`)":                {"FR-7", "FR-1"},
		"NFR-1, XFR-2, FRED-3":   {"NFR-1", "FR-1 FR-2 FR-3"},
		"FR-10":                  {"FR-10", "FR-1"},
		"FR-1 (200 ms), FR-3":    {"FR-1 FR-3", "FR-2 FR-200"},
		"the year 2026 and 3, 4": {"", "FR-3 FR-4"},
	} {
		for i, want := range []bool{true, false} {
			for id := range strings.FieldsSeq(ids[i]) {
				d := Read("- " + id + ": it rings\n")
				if len(d.Nodes) != 1 {
					t.Fatalf("%s is no id: %+v", id, d.Nodes)
				}
				if got := d.Named(markdown.Read(text, nil), []int{0})[0]; got != want {
					t.Errorf("%q names %s: %v, want %v", text, id, got, want)
				}
			}
		}
	}
}

// TestBeginnings: which beginnings of lines define an id.
func TestBeginnings(t *testing.T) {
	for text, want := range map[string]string{
		"- **FR-1** (Must) It rings":              "FR-1",
		"- FR-1: It rings":                        "FR-1",
		"- **FR-1**, must: it rings":              "FR-1",
		"### FR-1 Ringing":                        "FR-1",
		"### Ringing [US-1] – Must":               "US-1",
		"- Ringing (US-1)":                        "",
		"### 3.1 FR-1: Ringing":                   "FR-1",
		"**FR-1** It rings":                       "FR-1",
		"FR-1: It rings":                          "FR-1",
		"- [ ] AC-1.1 `/metrics` is there":        "AC-1.1",
		"- **AC-7.1** `/metrics` exposes":         "AC-7.1",
		"1. FR-1 It rings":                        "FR-1",
		"| Id | x |\n|---|---|\n| FR-1 | y |":     "FR-1",
		"| # | x |\n|---|---|\n| 1 | FR-1 y |":    "FR-1",
		"| a | b |\n|---|---|\n| AC-1.1 | US-1 |": "",
		"- FR-1, FR-2":                            "",
		"- FR-1 to FR-4: done":                    "",
		"- FR-1":                                  "",
		"FR-1 is met by the relay":                "",
		"Stories US-1 and US-2":                   "",
		"```\n- FR-1: x\n```":                     "",
	} {
		var got []string
		for _, d := range Read(text).Owed() {
			got = append(got, d.Written)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
