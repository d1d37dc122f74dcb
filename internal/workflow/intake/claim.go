package intake

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// claim is a submission's score for itself.
type claim struct {
	text  string // as it is written
	value float64
	valid bool // a number from 0 to 100
	ofTen bool // a number that may be of ten or of one
}

// claims are the scores stated in a text, and the scores named otherwise: as a target, a condition,
// an example.
type claims struct {
	made    []claim
	ignored []string
}

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
	// They may be examples, and may not raise a document without a score to one with it.
	if len(c.made) == 0 {
		c.ignored = append(c.ignored, e.remarks...)
		e.remarks = nil
	}
	for _, value := range e.remarks {
		c.addField(value)
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

// addClaim adds a claim. A small number may be of ten or of one, unless it is written as one of 100.
func (c *claims) addClaim(text, number, denominator string) {
	n, err := strconv.ParseFloat(number, 64)
	// In this form NaN is refused too.
	valid := err == nil && n >= 0 && n <= 100 && (denominator == "" || denominator == "100")
	ofTen := valid && n > 0 && n < 10 && denominator == "" && !strings.HasSuffix(text, "%")
	c.made = append(c.made, claim{text: text, value: n, valid: valid && !ofTen, ofTen: ofTen})
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
	// conditional matches words right behind a number that make it one for later.
	conditional = pattern.New(`(?i)^[*_ \t]*(?:points?|分)?[*_ \t]*[(（\[,，—–-]*[ \t]*(?:but |and |也|但)?(?:only |just ` +
		`|仅|只)?(?:if|once|when|provided|assuming|as soon as|after[^)）.;\n]{0,60}\b(?:is|are|was|were|has|have|get|gets|approv|clos)|unless` +
		`|subject to|should|would|could|如果|若|前提|待|当` +
		`|以后|之后)`)
	// aimed matches a word behind a number that makes it no claim, unless another number follows.
	aimed = pattern.New(`(?i)^[*_ \t]*(?:points?|分)?[*_ \t]*[(（\[,，—–-]*[ \t]*(?:as |is |the |our |a |this is |为` +
		`|是)*(?:target|goal|aim|gate|example|sample|template|placeholder|wanted|desired|planned|expected|estimate` +
		`|tbd|to be|目标|门槛|示例|例子|模板|预期|期望|计划|待定)`)
	// denied matches words behind a number that deny it.
	denied = pattern.New(`(?i)^[*_ \t]*(?:points?|分)?[*_ \t]*(?:(?:is|was|are|has|have|had|would)(?:[ \t]+(?:still` +
		`|yet))?(?:n't|n’t|[ \t]+(?:not|never))\b|(?:not|never)[ \t]+(?:yet[ \t]+)?(?:reached|met|achieved|attained` +
		`|justified|earned)\b|尚未|还没|还未|并未|未达|没有达到|没达到)`)
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

// lowestScore returns the score that counts, and a note about it.
func (c claims) lowestScore() (score *float64, note lang.Text) {
	var valid, wrong, small []string
	for _, s := range c.made {
		text := strconv.FormatFloat(s.value, 'f', -1, 64)
		switch {
		case s.ofTen:
			small = append(small, s.text)
			continue
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
	if len(small) > 0 {
		notes = append(notes, lang.T("%s looks like a score of 10 or of 1 and does not count; state it from 0 to 100", small[0]))
	}
	if score == nil && len(notes) == 0 && len(c.ignored) > 0 {
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
