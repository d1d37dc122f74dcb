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
	// sectionNumber matches the number of a section in front of a name, and the progress.
	sectionNumber = `(?:\d+(?:\.\d+)*[.、)）:：]?\s+|[一二三四五六七八九十]+[、.．]\s*|[IVX]+\.\s+|[A-Z][.)]\s+)?(?:` + progress + `[^\p{L}\p{N}]+)?`
	// spanBefore matches the weeks or the phase of a sprint in front of the name.
	spanBefore = `(?:(?:weeks?|wk|phase|milestone|month|days?|stage|part|release|quarter|step|阶段|里程碑)` +
		`\s*(?:` + anyNumber + `)(?:\s*(?:[-–—~～&]|to|and|至|到)\s*(?:` + anyNumber + `))?` +
		`(?:\s*[(（][^)）]*[)）])?[\s:：\-–—|/·,，.]+` +
		`|第\s*(?:` + anyNumber + `)(?:\s*[-–—~～至到]\s*(?:` + anyNumber + `))?\s*(?:周|阶段|个?月|章|部分|步|期)[\s:：\-–—|/·,，.]*)?`
	aSprint = `(?:sprint|iteration|itération|iteración|iteração|iterazione|спринт|итерация|冲刺|迭代|スプリント|イテレーション|스프린트|이터레이션)`
	// progress matches how far a sprint is, which does not belong to the title.
	progress = `(?:(?:status\s*[:：]\s*)?(?:completed?|done|finished|shipped|delivered|in[ -]progress|wip|not started|to[ -]?do|planned|pending` +
		`|blocked|cancell?ed|deferred|abgeschlossen|erledigt|in arbeit|terminée?|en cours|completad[oa]|terminad[oa]|en curso|pendiente` +
		`|concluíd[oa]|em andamento|завершен[ао]?|готово|已完成|完成|进行中|未开始|待开始|完了|進行中|未着手|완료|진행 ?중))`
	// longNumber matches a number with the letters of a team in front, as in UI-S0, or with a part behind, as in 1.5 and 2a.
	longNumber = `(?-i:[A-Z]{1,4}(?:-?S)?[-_.]?)?\d{1,4}(?:\.\d{1,2})?(?-i:[A-Za-z])?`
	word       = `one|two|three|four|five|six|seven|eight|nine|ten`
)

// unit is a kind of part into which plans are cut. The first is the sprint; plans without sprints have the others.
type unit struct{ name, any *pattern.Pattern }

func newUnit(words, ordinal, before string) unit {
	return unit{pattern.New(`(?i)^[^\p{L}\p{N}]*` + before + `[^\p{L}\p{N}]*(?:` +
		words + `(?:\s*backlog|周期|阶段)?(?:\s*(?:#|№|no\.|nr\.|number|第))?[\s_:：\-–—]*(` + longNumber + `|` + anyNumber + `|zero|` + word + `|(?-i:[IVX]{2,5}|[A-Z]))` +
		`|第\s*(` + anyNumber + `)\s*[个轮次期]?\s*(?:` + words + ordinal + `)` +
		`|(first|second|third|fourth|fifth|sixth|\d{1,2}(?:st|nd|rd|th))\s+` + words + `)`), pattern.New(`(?i)` + words + ordinal)}
}

var (
	units = []unit{
		newUnit(aSprint, ``, sectionNumber+spanBefore),
		newUnit(`(?:phase|fase|étape|этап|фаза|阶段|フェーズ|단계)`, ``, sectionNumber),
		{pattern.New(`^[^\p{L}\p{N}]*((?:[A-Z]{1,4}-)?S\d{1,3})(?:$|[*_]*[:：]|[*_]*\s+[-–—|])`), pattern.New(`S\d`)},
		newUnit(`(?:milestone|meilenstein|hito|jalon|marco|里程碑|マイルストーン|마일스톤)`, ``, sectionNumber),
		newUnit(`(?:chunk|increment|cycle|wave|batch|inkrement)`, ``, sectionNumber),
		newUnit(`(?:week|woche|semana|semaine|неделя)`, `|[周週]`, sectionNumber),
	}
	// sprintRange matches the rest of a heading about several sprints, up to the last number.
	sprintRange = pattern.New(`(?i)^\s*(?:[-–—~～&+,，、]|to|through|and|至|到|和|与|及)\s*(?:and\s+)?(?:` + aSprint + `|phase|week` +
		`|milestone)?\s*#?(` + longNumber + `|` + anyNumber + `|(?-i:[A-Z]))`)
	sprintUnit  = pattern.New(`(?i)^[\s-]*(?:weeks?|wks?|days?|d|w|h|hours?|points?|pts|sp|stor(?:y|ies)|个?(?:周|天|日|工作日|星期|月|点|人|小时|故事)|次|轮)(?:\P{L}|$|[^\x00-\x7f])`)
	sprintOf    = pattern.New(`(?i)^\s*(?:of|/|／)\s*\d{1,3}\b`)
	sprintAside = pattern.New(`^\s*(?:[(（][^)）]*[)）]|[\[【][^\]】]*[\]】])`)
	nameParts   = pattern.New(`^(.*?)(\d+)(\.\d+|[A-Za-z])?$`)
	linked      = pattern.New(`!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])`)
	checkbox    = pattern.New(`^\s*\[[ xX]\]\s+`)
	cellNumber  = pattern.New(`(?i)^\W*s?#?(` + longNumber + `|` + anyNumber + `|(?-i:[A-Z]))$`)
	// cellTitle begins the title in a cell.
	cellTitle = pattern.New(`[:：(（]|\s[–—-]\s`)
	// progressEnds matches the progress at the end of a title, progressOpens at the beginning.
	progressEnds = pattern.New(`(?i)(?:(?:^|[:：|·–—(（\[【` + ticks + `]|\s-)[^\p{L}\p{N}]*(?:` + progress + `|\d{1,3}\s*%)` +
		`|\s+(?-i:DONE|COMPLETED?|FINISHED|WIP|IN PROGRESS|TODO))(?:[^\p{L}\p{N}]*|[^\p{L}\p{N}]*[(（:：].*|[^\p{L}]+|\s+(?:on|am|le|el)\s.{0,30})$|\s*\[[xX ]\]$`)
	progressOpens = pattern.New(`(?i)^[^\p{L}\p{N}]*` + progress + `\s*[\])）】]?\s*[:：|–—-]\s*`)
	sprintColumn  = map[string]bool{
		"sprint": true, "sprints": true, "iteration": true, "iterations": true,
		"sprint no": true, "sprint number": true, "sprint id": true, "sprint name": true,
		"冲刺": true, "冲刺编号": true, "冲刺序号": true, "冲刺名称": true, "所属冲刺": true,
		"迭代": true, "迭代编号": true, "迭代序号": true, "迭代名称": true, "所属迭代": true,
		"спринт": true, "スプリント": true, "스프린트": true, "itération": true, "iteración": true, "iteração": true,
	}
	phaseColumn = map[string]bool{"phase": true, "phases": true, "fase": true, "étape": true, "阶段": true, "フェーズ": true, "단계": true, "этап": true}
	numberWords = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
		"eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"}
	ordinalWords = []string{"", "first", "second", "third", "fourth", "fifth", "sixth"}
	romanDigits  = []string{"", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV"}
	hanDigits    = []string{"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"}
	halfWidth    = strings.NewReplacer("０", "0", "１", "1", "２", "2", "３", "3", "４", "4", "５", "5", "６", "6", "７", "7", "８", "8", "９", "9")
)

// spoken is the name of a sprint as a line has it.
type spoken struct {
	// prefix, number and suffix are the parts of UI-S0, 1.5 and 2a. number is -1 for a letter, which is the suffix.
	prefix string
	number int
	suffix string
	title  string
}

// key is the same for all names of one sprint.
func (s spoken) key() string {
	if s.number < 0 {
		return s.suffix
	}
	return strings.ToUpper(s.prefix) + strconv.Itoa(s.number) + strings.ToLower(s.suffix)
}

// name is the name as the plan has it.
func (s spoken) name() string {
	if s.number < 0 {
		return s.suffix
	}
	return s.prefix + strconv.Itoa(s.number) + s.suffix
}

func (s spoken) isNumber() bool { return s.number >= 0 && s.prefix == "" && s.suffix == "" }

// readName reads "Sprint 1: title" as people vary it; ok is false for anything else.
func (u unit) readName(text string) (out spoken, ok bool) {
	if len(text) > 2000 || !u.any.MatchString(text) || strings.HasPrefix(text, "~~") {
		return out, false
	}
	text = checkbox.ReplaceAllString(linked.ReplaceAllString(halfWidth.Replace(text), "$1"), "")
	at := u.name.FindStringSubmatchIndex(text)
	if at == nil {
		return out, false
	}
	group := 2
	for at[group] < 0 {
		group += 2
	}
	number, rest := text[at[group]:at[group+1]], text[at[1]:]
	if out, ok = splitName(number); !ok {
		return out, false
	}
	apart := out.number < 0 || group == 6
	if group == 2 && len(at) == 4 { // the mark behind S1 belongs to the name
		rest = text[at[3]:]
	}
	if !endsNumber(number, rest, apart) || out.isSpan(rest) {
		return out, false
	}
	out.title = sprintTitle(rest)
	return out, true
}

// splitName splits the number of a sprint into the parts. Roman numerals are read as letters.
func splitName(number string) (out spoken, ok bool) {
	if strings.Trim(number, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return spoken{number: -1, suffix: number}, true
	}
	if m := nameParts.FindStringSubmatch(number); m != nil {
		out = spoken{prefix: m[1], number: Number(m[2]), suffix: m[3]}
		return out, m[3] == "" || !strings.Contains("dwhDWH", m[3])
	}
	out.number = Number(number)
	return out, out.number >= 0
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

// isSpan reports whether a heading goes on to a later sprint, unlike for example
// "Sprint 1 – 2 weeks" and "Sprint 1 - 2FA".
func (s spoken) isSpan(rest string) bool {
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
	last, ok := splitName(rest[at[2]:at[3]])
	isLater := last.number > s.number
	if s.number < 0 {
		isLater = last.number < 0 && last.suffix > s.suffix
	}
	return ok && !sprintUnit.MatchString(after) && last.prefix == s.prefix && (last.number < 0) == (s.number < 0) && isLater
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
	title = progressOpens.ReplaceAllString(strings.NewReplacer("**", "", "__", "").Replace(title), "")
	title = progressEnds.ReplaceAllString(title, "")
	title = strings.TrimFunc(title, func(r rune) bool { return strings.ContainsRune(ticks, r) || unicode.IsSpace(r) })
	return strings.Trim(title, marks+".,，。")
}

// ticks are the signs with which people tick off a sprint.
const ticks = "✅☑✓✔❌✗✘⏳⌛🔄🚧🟢🟡🔴⚪⬜🔲🏁\ufe0f"

// readCell reads a cell of a column of sprints; ok is false if it names none or several.
func (u unit) readCell(cell string) (out spoken, ok bool) {
	cell = halfWidth.Replace(linked.ReplaceAllString(cell, "$1"))
	if out, ok := u.readName(cell); ok {
		return out, true
	}
	bare, rest := strings.TrimSpace(cell), ""
	if at := cellTitle.FindStringIndex(bare); at != nil {
		bare, rest = bare[:at[0]], bare[at[0]:]
	}
	m := cellNumber.FindStringSubmatch(strings.Trim(bare, "*_` "+ticks))
	if m == nil {
		return out, false
	}
	if out, ok = splitName(m[1]); !ok || out.isSpan(rest) {
		return out, false
	}
	out.title = sprintTitle(rest)
	return out, true
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// Number reads a number in digits, words, Roman or Chinese numerals; -1 if it is none.
func Number(s string) int {
	if n, err := strconv.Atoi(strings.TrimRight(s, "stndrhSTNDRH")); err == nil {
		return n
	}
	for _, list := range [][]string{numberWords, ordinalWords, romanDigits} {
		if i := slices.IndexFunc(list, func(word string) bool { return word != "" && strings.EqualFold(word, s) }); i >= 0 {
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
