package intake

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// claim is a submission's score for itself.
type claim struct {
	text  string // as it is written
	value float64
	valid bool // a number from 0 to 100
}

// claims are the scores stated in a text, and the scores named otherwise: as a target, a condition,
// an example.
type claims struct {
	made    []claim
	ignored []string
}

// Limits of the statements considered; no honest text comes near them.
const (
	maxClaims = 1000
	maxCells  = 20 // of a row
)

// claimedScore returns the score that a submission states for itself: the lowest if it states
// several, whether in fields, in the document or around it. note says so, or why a stated value is
// not a score.
func claimedScore(e envelope, text, around string) (score *float64, note lang.Text) {
	var c claims
	for _, value := range e.scores {
		c.addField(value)
	}
	c.readText(around)
	if e.object != nil {
		text, _ = unwrapText(strings.Join(partsAround(text, e.places), "\n\n"))
	}
	c.readText(text)
	if e.object != nil && !e.inText {
		c.readText(e.document)
	}
	return c.lowestScore()
}

// addField adds the claim of a field of JSON.
func (c *claims) addField(value string) {
	value = narrow().Replace(strings.TrimSpace(value))
	if value == "" {
		return
	}
	m := fieldValue.FindStringSubmatch(value)
	if m == nil {
		c.made = append(c.made, claim{text: strconv.Quote(visible.Fit(value, 40))})
		return
	}
	c.addUnqualified(strings.TrimSpace(m[0]), m[1], m[2], value[len(m[0]):])
}

var fieldValue = pattern.New(`^([-−]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?:(?:/|／|out of)\s*(\d+)|%)?`)

// addClaim adds a claim.
func (c *claims) addClaim(text, number, denominator string) {
	n, err := strconv.ParseFloat(number, 64)
	// In this form NaN is refused too.
	ofHundred := denominator == "" || denominator == "100"
	valid := err == nil && n >= 0 && n <= 100 && ofHundred
	c.made = append(c.made, claim{text: text, value: n, valid: valid})
}

// addUnqualified adds a claim unless the text behind it makes it a target, a condition or an
// example.
func (c *claims) addUnqualified(text, number, denominator, rest string) {
	if isQualified(rest) {
		c.ignored = append(c.ignored, text)
		return
	}
	c.addClaim(text, number, denominator)
}

var (
	// keyword begins a statement.
	keyword = pattern.New(`(?i)quality[ \t_-]*score|质量评分|质量得分`)
	// value matches the text behind a keyword: the number, then the denominator if any.
	value = pattern.New(`(?i)^[*_"'\x60 \t]*(?:[(（][^)）\n]{0,80}[)）][*_ \t]*)?(?:(?:[:：=|—–]+|-+)[*_"'\x60 \t]*` +
		`|is[ \t]+(?:now[ \t]+|currently[ \t]+)?|of[ \t]+|为[ \t]*` +
		`|是[ \t]*)[*_\x60]*([-−]?\d+(?:\.\d+)?)(?:[ \t*_]*(?:/|／|out of)[ \t*_]*(\d+)|[ \t]?%)?`)
	// otherScore matches words before a statement that make it one of another time or kind.
	otherScore = pattern.New(`(?i)(?:previous|earlier|last|was|from|old|initial|target|goal|gate|minimum|required?` +
		`|needs?|at least|example|e\.g\.|template|format|if|would|should|could|expected?|aim|once|when|such as|上次|之前` +
		`|目标|门槛|示例|例如|比如|如果|若|应|期望|要求|模板)[^.;。；|]{0,30}$`)
	// conditional matches words right behind a number that make it one for later.
	conditional = pattern.New(`(?i)^[*_ \t]*(?:points?|分)?[*_ \t]*[(（\[,，—–-]*[ \t]*(?:but |and |也|但)?(?:only |just ` +
		`|仅|只)?(?:if|once|when|provided|assuming|as soon as|after|unless|subject to|should|would|could|如果|若|前提|待|当` +
		`|以后|之后)`)
	// aimed matches a word behind a number that makes it no claim, unless another number follows.
	aimed = pattern.New(`(?i)^[*_ \t]*(?:points?|分)?[*_ \t]*[(（\[,，—–-]*[ \t]*(?:as |is |the |our |a |this is |为` +
		`|是)*(?:target|goal|aim|gate|example|sample|template|placeholder|wanted|desired|planned|expected|estimate` +
		`|tbd|to be|目标|门槛|示例|例子|模板|预期|期望|计划|待定)`)
	// denied matches words behind a number that deny it.
	denied = pattern.New(`(?i)^[*_ \t]*(?:points?|分)?[*_ \t]*(?:(?:is|was|are|has|have|had|would)(?:[ \t]+(?:still` +
		`|yet))?(?:n't|n’t|[ \t]+(?:not|never))\b|(?:not|never)[ \t]+(?:yet[ \t]+)?(?:reached|met|achieved|attained` +
		`|justified|earned)\b|尚未|还没|还未|并未|未达|没有达到|没达到)`)
	// cameTo matches the text behind the first of two scores: "78 → 92".
	cameTo = pattern.New(`^[ \t*_]*(?:→|->|=>)[ \t*_]*(\d+(?:\.\d+)?)`)
	// cellScore matches a further cell of a row about the score.
	cellScore = pattern.New(`^([*_ \t]*([-−]?\d+(?:\.\d+)?)[ \t]*(?:(?:/|／)[ \t]*(\d+)|%)?[*_ \t]*)(?:$|[(（,，—–;；])`)
	// notAScore matches the text behind the first number of a version, a range, a sum or a minimum.
	notAScore = pattern.New(`^(?:\.\d|\s*[-–~]\s*\d|\s*\+)`)
	// total matches a line with nothing but a score and a denominator.
	total = pattern.New(`^[ \t>#*_-]*总[评得]?分[*_ \t]*[:：][*_ \t]*([-−]?\d+(?:\.\d+)?)[ \t]*分?[ \t]*[/／][ \t]*(\d+)[ \t]*分?[*_ \t。.]*$`)
	// below is a score in the line below a heading.
	below = pattern.New(`^[*_ \t]*([-−]?\d+(?:\.\d+)?)[ \t]*(?:(?:/|／)[ \t]*(\d+)\b)?[*_ \t.]*(?:$|[(（,，—–-])`)
)

func isQualified(rest string) bool {
	rest = rest[:min(len(rest), 200)]
	if conditional.MatchString(rest) || denied.MatchString(rest) {
		return true
	}
	at := aimed.FindStringIndex(rest)
	if at == nil {
		return false
	}
	own := rest[at[1]:]
	if end := strings.IndexAny(own, ";,.)；，。）"); end >= 0 {
		own = own[:end]
	}
	return !strings.ContainsAny(own, "0123456789")
}

// former matches a heading about an earlier round.
var former = pattern.New(`(?i)\b(?:previous|earlier|prior|former|last)\s+(?:round|version|draft|iteration|score` +
	`|submission)|\bround\s+1\b|\bchange\s?log\b|\bhistory\b|上一轮|上轮|第一轮|之前|历史|变更记录`)

// readText takes the statements of a text. Code, comments and quotations are none, nor is anything
// about an earlier round.
func (c *claims) readText(text string) {
	if !keyword.MatchString(text) && !strings.Contains(text, "分") {
		return
	}
	doc := markdown.Read(narrow().Replace(text), nil)
	until := 0
	for _, h := range doc.Heads {
		if h.Line >= until && former.MatchString(h.Text) {
			until = h.End
			for i := h.Line; i < h.End; i++ {
				doc.Code[i] = true
			}
		}
	}
	for i, said := range doc.Said {
		if len(c.made)+len(c.ignored) > maxClaims {
			return
		}
		c.readLine(doc, i, said)
	}
}

// readLine takes the statements of a line of a document.
func (c *claims) readLine(doc *markdown.Document, i int, said string) {
	line := doc.Lines[i]
	spoken := !doc.Code[i] && said != "" && !strings.HasPrefix(strings.TrimSpace(said), ">")
	if m := total.FindStringSubmatch(said); spoken && m != nil {
		c.addUnqualified(m[1]+"/"+m[2], m[1], m[2], "")
	}
	found := keyword.FindAllStringIndex(line, maxClaims-min(maxClaims, len(c.made)))
	for k, at := range found {
		tail := line[at[1]:]
		m := value.FindStringSubmatchIndex(tail[:min(len(tail), 300)])
		if m == nil {
			if _, _, heading := markdown.HashHeading(line); heading && spoken && strings.Trim(tail, "*_ :：#") == "" {
				c.belowHeading(doc, i)
			}
			continue
		}
		text, rest := strings.TrimSpace(tail[m[2]:m[1]]), tail[m[1]:]
		if k+1 < len(found) {
			rest = rest[:min(len(rest), found[k+1][0]-at[1]-m[1])]
		}
		switch {
		case m[4] < 0 && !strings.HasSuffix(text, "%") && notAScore.MatchString(rest[:min(len(rest), 16)]):
		case !spoken, quotedAt(line, at[0], at[1]+m[2]):
			c.ignored = append(c.ignored, text)
		case otherScore.MatchString(line[max(0, at[0]-60):at[0]]):
			c.ignored = append(c.ignored, text)
		case cameTo.MatchString(rest):
			came := cameTo.FindStringSubmatch(rest)[1]
			c.addClaim(came, came, "")
		default:
			c.addUnqualified(text, matchGroup(tail, m, 1), matchGroup(tail, m, 2), rest)
			for _, cell := range strings.SplitN(rest, "|", maxCells)[1:] {
				if m := cellScore.FindStringSubmatch(cell); m != nil {
					c.addUnqualified(strings.Trim(m[1], "*_ \t"), m[2], m[3], cell[len(m[1]):])
				}
			}
		}
	}
}

// belowHeading takes the score in the first line below a heading that names it.
func (c *claims) belowHeading(doc *markdown.Document, i int) {
	for i++; i < len(doc.Said) && strings.TrimSpace(doc.Said[i]) == ""; i++ {
	}
	if i == len(doc.Said) || doc.Code[i] {
		return
	}
	text := doc.Said[i]
	if m := below.FindStringSubmatch(text); m != nil {
		c.addUnqualified(strings.TrimSpace(strings.Trim(m[0], "*_ .(（,，—–-")), m[1], m[2], text[len(m[0]):])
	}
}

// quotedAt reports whether a statement that begins at from, with the number at to, stands in
// quotation marks or in inline code.
func quotedAt(text string, from, to int) bool {
	if skip := from - 300; skip > 0 {
		text, from, to = text[skip:], from-skip, to-skip
	}
	text = text[:min(len(text), to+300)]
	for _, mark := range []string{`"`, "`", "'"} {
		if mark == "'" && !strings.Contains(text[:from], " '") && !strings.HasPrefix(text, "'") {
			continue // an apostrophe
		}
		if strings.Count(text[:from], mark)%2 == 1 && !strings.Contains(text[from:to], mark) && strings.Contains(text[to:], mark) {
			return true
		}
	}
	for _, pair := range [][2]string{{"“", "”"}, {"「", "」"}, {"『", "』"}, {"«", "»"}} {
		open := strings.LastIndex(text[:from], pair[0])
		if open >= 0 && !strings.Contains(text[open:to], pair[1]) && strings.Contains(text[to:], pair[1]) {
			return true
		}
	}
	return false
}

// matchGroup returns a group of a match; "" if it has none.
func matchGroup(s string, match []int, n int) string {
	if match[2*n] < 0 {
		return ""
	}
	return s[match[2*n]:match[2*n+1]]
}

// lowestScore returns the score that counts, and a note about it.
func (c claims) lowestScore() (score *float64, note lang.Text) {
	var valid, wrong []string
	for _, s := range c.made {
		text := strconv.FormatFloat(s.value, 'f', -1, 64)
		switch {
		case !s.valid:
			if !slices.Contains(wrong, s.text) && len(wrong) < 5 {
				wrong = append(wrong, s.text)
			}
			continue
		case !slices.Contains(valid, text):
			valid = append(valid, text)
		}
		if score == nil || s.value < *score {
			score = &s.value
		}
	}
	var notes []lang.Text
	if len(valid) > 1 {
		notes = append(notes, lang.T("several scores are stated (%s); the lowest, %s, counts", joinFirst(valid), strconv.FormatFloat(*score, 'f', -1, 64)))
	}
	switch {
	case len(wrong) == 1:
		notes = append(notes, lang.T("%s is not a score from 0 to 100", wrong[0]))
	case len(wrong) > 1:
		notes = append(notes, lang.T("%s are not scores from 0 to 100", strings.Join(wrong, ", ")))
	}
	if score == nil && len(wrong) == 0 && len(c.ignored) > 0 {
		notes = append(notes, lang.T("%s stands in a quotation or an example, or as a target or under a condition, and is not the stated score", c.ignored[0]))
	}
	return score, lang.Join(notes, "; ")
}

// joinFirst joins the first of several texts.
func joinFirst(list []string) string {
	if len(list) > 5 {
		list = append(slices.Clone(list[:5]), "…")
	}
	return strings.Join(list, ", ")
}

// narrow writes full-width characters as the ASCII ones, but for punctuation.
var narrow = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for r := '！'; r <= '～'; r++ {
		if !strings.ContainsRune("！（），：；？｜＜＞", r) {
			pairs = append(pairs, string(r), string(r-0xfee0))
		}
	}
	return strings.NewReplacer(pairs...)
})
