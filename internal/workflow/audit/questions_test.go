package audit

import (
	"strings"
	"testing"
)

// TestOpenQuestions counts the questions that a section leaves open: not those with an answer, in whatever form.
func TestOpenQuestions(t *testing.T) {
	for body, want := range map[string]int{
		"## Open Questions\n\n- Who pays?\n- When is the shop closed?\n- Who keeps the answers: the clerk?\n":                                  3,
		"## Open Questions\n\n1. Who pays?\n2. A limit for guests\n":                                                                           2,
		"## Open Questions\n\n1. Who pays?\n   - **Decision:** the club.\n\n2. When?\n   - **Decision**: in May.\n":                            0,
		"## Open Questions\n\n1. Who pays?\n\n   **Answer:** the club.\n\n2. When?\n":                                                          1,
		"## Open Questions\n\n- Who pays? **Resolved:** the club.\n- When? (decided: in May)\n- Where? → Bern\n- ~~How?~~\n":                   0,
		"## Open Questions\n\n- [x] Who pays?\n- [ ] When?\n":                                                                                  1,
		"## Open Questions\n\n- Who pays?\n  - The club, or\n  - the member?\n":                                                                1,
		"## Open Questions\n\n- Is it free?\n  - Yes, for members.\n- Is it open?\n  - No.\n":                                                  0,
		"## Open Questions\n\n### Q1: Who pays?\n\nThe club or the member.\n\n**Decision:** the club.\n\n### Q2: When?\n\nIn May or June.\n":   1,
		"## Open Questions\n\n**Q1:** Who pays?\n**A1:** The club.\n\n**Q2:** When?\n":                                                         1,
		"## Open Questions\n\nQ: Who pays?\nA: The club.\n\nQ: When?\nA: In May.\n":                                                            0,
		"## Open Questions\n\n- Who pays?\n\n### Resolved\n\n- Where?\n- When?\n":                                                              1,
		"## Open Questions\n\n- Who pays?\n\n### Appendix: sources\n\n- The report of May.\n- The report of June.\n":                           1,
		"## Risks & Open Questions\n\n- The bank may close.\n- Mail is slow.\n- Who pays?\n":                                                   1,
		"## Risks & Open Questions\n\n### Risks\n\n- Mail is slow.\n\n### Open Questions\n\n- Who pays\n":                                      1,
		"## Open Questions\n\n| # | Question | Answer |\n|---|---|---|\n| 1 | Who pays? | The club |\n| 2 | When? | |\n| 3 | Where? | TBD |\n": 2,
		"## Open Questions\n\n| Question | Owner | Status |\n|---|---|---|\n| Who pays? | Ann | Resolved |\n| When? | Bob | Open |\n":          1,
		"## Open Questions\n\nNone.\n":                                 0,
		"## Open Questions (all resolved)\n\n- Who pays?\n":            0,
		"## Open Questions\n\n- ✅ Who pays? The club.\n":               0,
		"## Open Questions\n\n- Undecided: who pays?\n":                1,
		"## Open Questions\n\n- Who pays? To be decided.\n":            1,
		"## 待确认问题\n\n- 谁付款？\n- 何时上线？\n":                                2,
		"## 待确认问题\n\n1. 谁付款？\n   - 结论：俱乐部。\n2. 何时上线？\n   **答：** 五月。\n": 0,
		"## 待确认问题\n\n- 谁付款？（已确认：俱乐部）\n- 是否免费？\n  - 是。\n":               0,
	} {
		r := 0
		for _, f := range auditOf(t, "# Title\n\n"+body).Findings {
			if f.ID == "OPEN-QUESTIONS" {
				r = int(f.Points / 2.5)
			}
		}
		if r != want {
			t.Errorf("%q: %d open, want %d", strings.ReplaceAll(body, "\n", "⏎"), r, want)
		}
	}
}
