package audit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// claim is "the 5 user stories below", "all 14 criteria", "共 6 个用户故事".
var (
	claim    = pattern.New(`(?i)\b(?:the|and|all|these|following|total of|contains|has|have|lists?|defines|describes|covers?|includes|into|with|are|comprises)\s+(?:the\s+|all\s+|following\s+)?(\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|eighteen|twenty)\s+(?:[a-z-]+\s+)??(user stories|functional requirements|acceptance criteria|criteria|sprints|stories|requirements)\b`)
	claimHan = pattern.New(`(?:共有?|共计|总计|总共|包含|包括|以下|下列|全部|分为|分成)\s*(\d{1,3}|[二两三四五六七八九十])\s*(?:个|条|项|则)\s*(用户故事|功能需求|验收标准|冲刺|迭代|故事)(?:[^。；|]{0,12})`)
	// partOf is what makes a number one of a part: "5 stories in sprint 1", "14 criteria of US-2".
	partOf    = pattern.New(`(?i)^\s*(?:of|in sprint|per|each|for sprint|from|out|above|that|which|with|marked|remain|left|not|failed?|were added)|^[^.;|]{0,20}(?:US-?\d|S\d-\d|FR-?\d)`)
	notTotal  = pattern.New(`(?i)(?:at least|at most|up to|about|around|nearly|more than|fewer than|first|last|next|other|remaining|additional|new|must|should|could|average)\s*$|至少|至多|约|前|后|其他|其余|新增|剩余`)
	oneNumber = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"}
	hanNumber = []string{"零", "一", "二", "三", "四", "五", "六", "七", "八", "九", "十"}
)

// findWrongCounts finds totals that the document itself contradicts.
func findWrongCounts(_ check, s *document) []miss {
	var found miss
	add := func(i int, claimed int, noun string) {
		if have := s.countOf(noun); have > 0 && have != claimed {
			if len(found.items) == 0 {
				found.line = i
			}
			found.items = append(found.items, lang.T("line %d says %d %s, there are %d", i+1, claimed, noun, have))
		}
	}
	for i, l := range s.Said {
		if len(l) > 4000 || strings.TrimSpace(l) == "" {
			continue
		}
		for _, m := range claim.FindAllStringSubmatchIndex(l, 5) {
			if partOf.MatchString(l[m[1]:boundary(l, m[1]+24)]) || notTotal.MatchString(l[max(0, boundaryBack(l, m[2]-14)):m[2]]) || strings.Contains(strings.ToLower(l[m[3]:m[4]]), "first") || anyID.MatchString(l[:m[0]]) {
				continue
			}
			// "the 5 open criteria": an adjective makes it a part, unless it says nothing.
			if between := strings.TrimSpace(l[m[3]:m[4]]); between != "" && !slices.Contains([]string{"prioritised", "prioritized", "following", "detailed", "complete", "small"}, between) {
				continue
			}
			add(i, numberOf(l[m[2]:m[3]]), strings.ToLower(l[m[4]:m[5]]))
		}
		for _, m := range claimHan.FindAllStringSubmatchIndex(l, 5) {
			if !anyID.MatchString(l[m[0]:m[1]]) && !notTotal.MatchString(l[max(0, boundaryBack(l, m[0]-9)):m[0]]) {
				add(i, numberOf(l[m[2]:m[3]]), l[m[4]:m[5]])
			}
		}
	}
	if len(found.items) == 0 {
		return nil
	}
	return []miss{found}
}

func numberOf(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	if i := slices.Index(oneNumber, strings.ToLower(s)); i >= 0 {
		return i
	}
	if s == "两" {
		return 2
	}
	return slices.Index(hanNumber, s)
}

// countOf counts what a claim is about; 0 if unknown.
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
		return len(distinct(s.promised([]string{"FR"})))
	case "requirements":
		return 0 // of which kind is not said
	case "acceptance criteria", "criteria", "验收标准":
		return len(distinct(s.definitions("AC")))
	}
	return len(s.planned())
}

// distinctStories are the stories with an id, each once: without ids the number is a guess.
func (s *document) distinctStories() []string {
	var out []string
	for _, st := range s.userStories() {
		if st.form != 'l' || len(st.number) > 0 {
			out = append(out, st.id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var (
	allPass     = pattern.New(`(?i)\ball (?:of the |the )?(?:\d+ |automated |unit |our )*tests? (?:now |are |have |still |also )*(?:pass|green)|\beverything passes\b|\b100 ?% (?:of (?:the )?tests )?pass|\bno (?:test )?failures\b|全部(?:测试|用例)?(?:均|都)?(?:已)?通过|测试(?:已)?(?:全部|均|都)(?:已)?通过|所有(?:测试|用例)(?:均|都|全部)?(?:已)?通过`)
	failedTests = pattern.New(`(?i)\b([1-9]\d*) (?:tests? |specs? |cases? )?(?:fail(?:ed|ing|ures?)?|errors?)\b|\bfail(?:ed|ures)?\s*[:：|]\s*\**([1-9]\d*)\b|([1-9]\d*)\s*(?:项|个|条)(?:测试|用例)?(?:未通过|失败)|失败\s*[:：]?\s*([1-9]\d*)`)
	// otherTime is what makes a figure one of another time or of a wanted failure.
	otherTime = pattern.New(`(?i)before|earlier|previous|first (?:run|round)|round 1|baseline|without|revert|undone|undo|old code|on main|as expected|as (?:they|it) should|was |were |had |used to|until|login|sign-in|attempt|request|deliver|payment|→|之前|此前|第一轮|撤销|原来|预期|修复前|登录|连续|次失败`)
)

// findContradictedTests finds "all tests pass" beside a figure of failures.
func findContradictedTests(_ check, s *document) []miss {
	said, failed := -1, -1
	var words, figure string
	for i, l := range s.Lines {
		if len(l) > 4000 {
			continue
		}
		if m, ok := sentenceWith(allPass, s.Said[i]); ok && said < 0 {
			said, words = i, m
		}
		if !strings.ContainsAny(l, "123456789") {
			continue
		}
		if s.Code[i] {
			// Of what a test program printed, the last run counts.
			if summaryOfRun.MatchString(l) {
				if m := failedTests.FindString(l); m != "" {
					failed, figure = i, m
				} else if failed >= 0 && s.Code[failed] {
					failed = -1
				}
			}
			continue
		}
		if m, ok := sentenceWith(failedTests, l); ok && (failed < 0 || s.Code[failed]) && (strings.Contains(strings.ToLower(l), "pass") || strings.Contains(l, "通过")) {
			failed, figure = i, m
		}
	}
	if said < 0 || failed < 0 {
		return nil
	}
	return []miss{{line: said, name: words, items: []lang.Text{lang.T("line %d: %s", failed+1, strings.TrimSpace(figure))}}}
}

// sentenceWith returns the pattern's match in a sentence that is about now.
func sentenceWith(re *pattern.Pattern, l string) (string, bool) {
	if !re.MatchString(l) {
		return "", false
	}
	for sentence := range sentencesOf(l) {
		if m := re.FindString(sentence); m != "" && !otherTime.MatchString(sentence) && !strings.Contains(strings.ToLower(sentence), "not all") {
			return m, true
		}
	}
	return "", false
}

// summaryOfRun is a line that sums up a run of tests.
var summaryOfRun = pattern.New(`(?i)\d+ (?:tests? )?passed|\d+ passing|tests?:\s+\d+|\bpass(?:ed)?\s*[:：]\s*\d+`)
