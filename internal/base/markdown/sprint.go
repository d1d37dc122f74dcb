package markdown

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

const (
	anyNumber = `\d{1,4}|[零一二三四五六七八九十]{1,3}`
	// beforeSprint matches the words in front: the number of a section, a week or a phase.
	beforeSprint = `(?:\d+(?:\.\d+)*[.、)）:：]?\s+|[一二三四五六七八九十]+[、.．]\s*|[IVX]+\.\s+|[A-Z][.)]\s+)?` +
		`(?:(?:weeks?|wk|phase|milestone|month|days?|stage|part|release|quarter|step|阶段|里程碑)` +
		`\s*(?:` + anyNumber + `)(?:\s*(?:[-–—~～&]|to|and|至|到)\s*(?:` + anyNumber + `))?` +
		`(?:\s*[(（][^)）]*[)）])?[\s:：\-–—|/·,，.]+` +
		`|第\s*(?:` + anyNumber + `)(?:\s*[-–—~～至到]\s*(?:` + anyNumber + `))?\s*(?:周|阶段|个?月|章|部分|步|期)[\s:：\-–—|/·,，.]*)?`
	aSprint = `(?:sprint|iteration|冲刺|迭代)`
)

var (
	sprintName = pattern.New(`(?i)^[^\p{L}\p{N}]*` + beforeSprint + `[^\p{L}\p{N}]*(?:` +
		aSprint + `(?:周期|阶段)?(?:\s*(?:#|№|no\.|nr\.|number|第))?[\s_:：\-–—]*(` + anyNumber + `|(?-i:[IVX]{1,5})|one|two|three|four|five|six|seven|eight|nine|ten)` +
		`|第\s*(` + anyNumber + `)\s*[个轮次期]?\s*` + aSprint +
		`|(first|second|third|fourth|fifth|sixth|\d{1,2}(?:st|nd|rd|th))\s+` + aSprint + `)`)
	// sprintRange matches the rest of a heading about several sprints, up to the last number.
	sprintRange  = pattern.New(`(?i)^\s*(?:[-–—~～&+,，、]|to|through|and|至|到|和|与|及)\s*(?:and\s+)?` + aSprint + `?\s*#?(` + anyNumber + `)`)
	sprintUnit   = pattern.New(`(?i)^[\s-]*(?:weeks?|wks?|days?|d|w|h|hours?|points?|pts|sp|stor(?:y|ies)|个?(?:周|天|日|工作日|星期|月|点|人|小时|故事)|次|轮)(?:\P{L}|$|[^\x00-\x7f])`)
	anySprint    = pattern.New(`(?i)` + aSprint)
	sprintOf     = pattern.New(`(?i)^\s*(?:of|/|／)\s*\d{1,3}\b`)
	sprintAside  = pattern.New(`^\s*(?:[(（][^)）]*[)）]|[\[【][^\]】]*[\]】])`)
	linked       = pattern.New(`!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])`)
	checkbox     = pattern.New(`^\s*\[[ xX]\]\s+`)
	cellNumber   = pattern.New(`(?i)^\W*s?#?(` + anyNumber + `)$`)
	sprintColumn = map[string]bool{
		"sprint": true, "sprints": true, "iteration": true, "iterations": true,
		"sprint no": true, "sprint number": true, "sprint id": true, "sprint name": true,
		"冲刺": true, "冲刺编号": true, "冲刺序号": true, "冲刺名称": true, "所属冲刺": true,
		"迭代": true, "迭代编号": true, "迭代序号": true, "迭代名称": true, "所属迭代": true,
	}
	numberWords = []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
		"eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"}
	ordinalWords = []string{"", "first", "second", "third", "fourth", "fifth", "sixth"}
	romanDigits  = []string{"", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV"}
	hanDigits    = []string{"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"}
	halfWidth    = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9")
)

// readSprint reads "Sprint 1: title" as people vary it; n is -1 for anything else.
func readSprint(text string) (n int, title string, roman bool) {
	if len(text) > 2000 || !anySprint.MatchString(text) || strings.HasPrefix(text, "~~") {
		return -1, "", false
	}
	text = checkbox.ReplaceAllString(linked.ReplaceAllString(halfWidth.Replace(text), "$1"), "")
	at := sprintName.FindStringSubmatchIndex(text)
	if at == nil {
		return -1, "", false
	}
	group := 2
	for at[group] < 0 {
		group += 2
	}
	number, rest := text[at[group]:at[group+1]], text[at[1]:]
	n = Number(number)
	roman = group == 2 && strings.Trim(number, "IVX") == ""
	if n < 0 || !endsNumber(number, rest, roman || group == 6) || severalSprints(n, rest) {
		return -1, "", false
	}
	return n, sprintTitle(rest), roman
}

// endsNumber reports whether the number of a sprint ends before the rest and counts sprints, unlike
// for example "1.5", "1a", "3 days" and "Sprint 1's". A word for a number has to stand apart.
func endsNumber(number, rest string, apart bool) bool {
	next, size := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "":
		return true
	case next == '.' || next == '-' || next == '–' || next == '_':
		after, _ := utf8.DecodeRuneInString(rest[size:])
		return !unicode.IsDigit(after)
	case next == '\'' || next == '’':
		return false
	case unicode.Is(unicode.Han, next):
		if severalMark(next) {
			return true
		}
		return !apart && isDigits(number) && !sprintUnit.MatchString(rest)
	case unicode.IsLetter(next) || unicode.IsDigit(next):
		return false
	case apart && next == ' ':
		rest = strings.TrimSpace(rest)
		return strings.ContainsRune(":：-–—|([（【·", firstRune(rest))
	case apart:
		return strings.ContainsRune(":：.|)]）】*_、", next)
	}
	return !unicode.IsSpace(next) || !unicode.Is(unicode.Han, firstRune(strings.TrimSpace(rest))) || !sprintUnit.MatchString(rest)
}

func severalMark(r rune) bool { return strings.ContainsRune("至到和与及", r) }

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// severalSprints reports whether a heading goes on to a later sprint, unlike for example
// "Sprint 1 – 2 weeks" and "Sprint 1 - 2FA".
func severalSprints(n int, rest string) bool {
	at := sprintRange.FindStringSubmatchIndex(rest)
	if at == nil {
		return false
	}
	after := rest[at[1]:]
	switch r := firstRune(after); {
	case unicode.Is(unicode.Han, r):
	case unicode.IsLetter(r), unicode.IsDigit(r):
		return false
	}
	return !sprintUnit.MatchString(after) && Number(rest[at[2]:at[3]]) > n
}

func sprintTitle(rest string) string {
	const marks = "*_ :：-–—·|→~"
	rest = strings.TrimLeft(strings.TrimLeft(rest, "*_`])】）」》"), " ")
	if of := sprintOf.FindString(rest); of != "" {
		rest = rest[len(of):]
	}
	title := strings.Trim(rest, marks)
	if aside := sprintAside.FindString(rest); aside != "" {
		title = strings.Trim(rest[len(aside):], marks)
	}
	title = strings.TrimPrefix(strings.TrimPrefix(title, ". "), "、")
	if opens, closes := strings.Count(title, "["), strings.Count(title, "]"); opens < closes {
		title = strings.Replace(title, "]", "", closes-opens)
	}
	return strings.Trim(strings.NewReplacer("**", "", "__", "").Replace(title), marks+".,，。")
}

// readSprintCell reads a cell of a column of sprints; n is -1 if it names none or several.
func readSprintCell(cell string) (n int, title string) {
	cell = halfWidth.Replace(linked.ReplaceAllString(cell, "$1"))
	if n, title, roman := readSprint(cell); n >= 0 && !roman {
		return n, title
	}
	bare := strings.TrimSpace(cell)
	if i := strings.IndexAny(bare, ":：(（"); i > 0 {
		bare, title = bare[:i], strings.Trim(bare[i:], ":： ")
	}
	m := cellNumber.FindStringSubmatch(strings.Trim(bare, "*_` "))
	if m == nil {
		return -1, ""
	}
	if strings.HasPrefix(title, "(") || strings.HasPrefix(title, "（") {
		title = ""
	}
	return Number(m[1]), title
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// Number reads a number in digits, words, Roman or Chinese numerals; -1 if it is none.
func Number(s string) int {
	if n, err := strconv.Atoi(strings.TrimRight(s, "stndrhSTNDRH")); err == nil {
		return n
	}
	for _, list := range [][]string{numberWords, ordinalWords, romanDigits} {
		if i := slices.IndexFunc(list, func(word string) bool { return word != "" && strings.EqualFold(word, s) }); i > 0 {
			return i
		}
	}
	tens, ones, ten := strings.Cut(strings.ReplaceAll(s, "两", "二"), "十")
	if !ten {
		return slices.Index(hanDigits, tens)
	}
	n := 1
	if tens != "" {
		n = slices.Index(hanDigits, tens)
	}
	if ones == "" {
		ones = hanDigits[0]
	}
	if i := slices.Index(hanDigits, ones); n > 0 && i >= 0 {
		return n*10 + i
	}
	return -1
}
