package audit

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/criteria"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// claim is "the 5 user stories below", "all 14 criteria", "共 6 个用户故事".
var (
	claim = pattern.New(`(?i)\b(?:the|and|all|following|total of|contains|has|have|lists?|defines|describes` +
		`|covers?|includes|into|with|are|comprises)\s+(?:the\s+|all\s+|following\s+)?(\d{1,3}|two|three|four|five` +
		`|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|eighteen` +
		`|twenty)\s+(?:[a-z-]+\s+)??(user stories|functional requirements|acceptance criteria|criteria|sprints` +
		`|stories|requirements)\b`)
	claimHan = pattern.New(`(?:共有?|共计|总计|总共|包含|包括|以下|下列|全部|分为|分成)\s*(\d{1,3}|[二两三四五六七八九十])\s*(?:个|条|项|则)\s*(用户故事|功能需求|验收标准|冲刺|迭代|故事)(?:[^。；|]{0,12})`)
	// partOf matches the words that make a number the number of a part: "5 stories in sprint 1",
	// "14 criteria of US-2".
	partOf = pattern.New(`(?i)^\s*(?:of|in sprint|per|each|for sprint|from|out|above|that|which|with|marked` +
		`|remain|left|not|failed?|were added)|^[^.;|]{0,20}(?:US-?\d|S\d-\d|FR-?\d)`)
	notTotal = pattern.New(`(?i)(?:at least|at most|up to|about|around|nearly|more than|fewer than|first|last|next` +
		`|other|remaining|additional|new|must|should|could|average)\s*$|至少|至多|约|前|后|其他|其余|新增|剩余`)
)

// findWrongCounts finds totals that the document itself contradicts.
func findWrongCounts(_ check, s *document) *miss {
	var out miss
	add := func(i int, claimed int, noun string) {
		if have := s.countOf(noun); have > 0 && have != claimed {
			out.addItem(i, lang.T("line %d says %d %s, there are %d", i+1, claimed, noun, have))
		}
	}
	for i, l := range s.Said {
		if len(l) > 4000 || strings.TrimSpace(l) == "" {
			continue
		}
		for _, m := range claim.FindAllStringSubmatchIndex(l, 5) {
			if partOf.MatchString(l[m[1]:runeBoundary(l, m[1]+24)]) ||
				notTotal.MatchString(l[runeBoundary(l, m[2]-14):m[2]]) ||
				strings.Contains(strings.ToLower(l[m[3]:m[4]]), "first") || hasID(l[:m[0]]) {
				continue
			}
			// "the 5 open criteria": an adjective makes it a part, if it says anything.
			if between := strings.TrimSpace(l[m[3]:m[4]]); between != "" &&
				!slices.Contains([]string{"prioritised", "prioritized", "following", "detailed", "complete",
					"small"}, between) {
				continue
			}
			add(i, markdown.Number(l[m[2]:m[3]]), strings.ToLower(l[m[4]:m[5]]))
		}
		for _, m := range claimHan.FindAllStringSubmatchIndex(l, 5) {
			if !hasID(l[m[0]:m[1]]) && !notTotal.MatchString(l[runeBoundary(l, m[0]-9):m[0]]) {
				add(i, markdown.Number(l[m[2]:m[3]]), l[m[4]:m[5]])
			}
		}
	}
	return out.orNil()
}

// countOf counts the things that a claim is about; 0 if unknown.
func (s *document) countOf(noun string) int {
	switch noun {
	case "user stories", "用户故事":
		return len(s.distinctStories())
	case "stories", "故事":
		if sprints := s.planned(); len(sprints) > 0 {
			n := 0
			for _, sp := range sprints {
				n += len(s.sprintStories(sp))
			}
			return n
		}
		return len(s.distinctStories())
	case "functional requirements", "功能需求":
		return countIDs(s.nodesOf("FR"))
	case "requirements":
		return 0 // of an unnamed kind
	case "acceptance criteria", "criteria", "验收标准":
		return countIDs(s.nodesOf("AC"))
	}
	return len(s.planned())
}

// countIDs counts the ids of nodes, each once.
func countIDs(nodes []criteria.Node) int {
	ids := map[string]bool{}
	for _, n := range nodes {
		ids[n.Family+criteria.FormatNumber(n.Number)] = true
	}
	return len(ids)
}

// distinctStories returns the stories with an id, each once: if there are no ids, the number is a guess.
func (s *document) distinctStories() []string {
	var out []string
	for _, st := range s.userStories() {
		if st.node >= 0 {
			out = append(out, st.id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var (
	allPass = pattern.New(`(?i)\ball (?:of the |the )?(?:\d+ |automated |unit |our )*tests? (?:now |are |have ` +
		`|still |also )*(?:pass|green)|\beverything passes\b|\b100 ?% (?:of (?:the )?tests )?pass` +
		`|\bno (?:test )?failures\b|全部(?:测试|用例)?(?:均|都)?(?:已)?通过|测试(?:已)?(?:全部|均|都)(?:已)?通过|所有(?:测试|用例)(?:均|都` +
		`|全部)?(?:已)?通过`)
	// otherTime matches the words of a figure from another time, or of a wanted failure.
	otherTime = pattern.New(`(?i)before|earlier|previous|first (?:run|round)|round 1|baseline|without|revert|undone` +
		`|undo|old code|on main|as expected|as (?:they|it) should|was |were |had |used to|until|login|sign-in` +
		`|attempt|request|deliver|payment|→|之前|此前|第一轮|撤销|原来|预期|修复前|登录|连续|次失败`)
)

// findContradictedTests finds "all tests pass" beside the output of a test runner that says otherwise. Of several
// outputs the last one counts: earlier ones may show a failure that was repaired.
func findContradictedTests(_ check, s *document) *miss {
	said, failed, from := -1, -1, -1
	words := ""
	for i := range len(s.Lines) + 1 {
		inside := i < len(s.Lines) && s.Code[i]
		switch {
		case inside && from < 0:
			from = i
		case !inside && from >= 0:
			fence := strings.Join(s.Lines[from:i], "\n")
			if totals := verdict.FailedTotals(fence); len(totals) > 0 {
				failed = from + max(0, slices.IndexFunc(s.Lines[from:i], func(l string) bool { return strings.Contains(l, totals[0].Line) }))
			} else if passed.MatchString(fence) {
				failed = -1
			}
			from = -1
		}
		if !inside && i < len(s.Lines) && said < 0 && len(s.Said[i]) <= 4000 {
			if m, ok := sentenceWith(allPass, s.Said[i]); ok {
				said, words = i, m
			}
		}
	}
	if said < 0 || failed < 0 {
		return nil
	}
	return &miss{line: said, name: words, items: []lang.Text{lang.T("line %d: %s", failed+1, strings.TrimSpace(s.Lines[failed]))}}
}

// sentenceWith returns the pattern's match in a sentence about the present.
func sentenceWith(re *pattern.Pattern, l string) (string, bool) {
	if !re.MatchString(l) {
		return "", false
	}
	for _, sentence := range sentenceEnd.Split(l, -1) {
		if m := re.FindString(sentence); m != "" && !otherTime.MatchString(sentence) && !strings.Contains(strings.ToLower(sentence), "not all") {
			return m, true
		}
	}
	return "", false
}

// sentenceEnd matches the mark at the end of a sentence, and the space behind it.
var sentenceEnd = pattern.New(`[.!?]\s+|[。！？；]`)

// passed matches the output of a test runner if nothing failed.
var passed = pattern.New(`(?im)^ok\s|\bpass(?:ed|ing)?\b|\b0 fail`)
