package intake

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Limits of the statements considered; no honest text comes near them.
const (
	maxClaims = 1000
	maxCells  = 20 // of a row
)

const (
	// kinds are the words before a score that leave it the document's own.
	kinds = `(?:(?:final|overall|total|current|combined|weighted|average|quality|estimated|document|draft|prd|architecture|plan|self|my|our|the|this|new` +
		`|updated|revised|最终|综合|总体|整体|当前|质量|本?文档|自我|本稿)[ \t_-]*){0,4}`
	// names name the document's score where a line says nothing else.
	names = `(?:score|rating|grade|assessment|total|overall|quality|评分|得分|总分|总评分?|总得分|自评得?分?|打分|评估|评价|质量分)`
	// ofHundred matches a number of 100.
	ofHundred = `(\d+(?:\.\d+)?)[ \t]*(?:分?[ \t]*[/／]|out of)[ \t]*(100)\b`
)

var (
	// keyword begins a statement anywhere in a line.
	keyword = pattern.New(`(?i)quality[ \t_-]*(?:score|rating)|质量(?:评分|得分)`)
	// named begins a statement at the beginning of a line, and label is one in a cell or heading of its own.
	named = pattern.New(`(?i)^[^\p{L}\p{N}<]*(?:\d{1,2}[.)、][^\p{L}\p{N}]*|<[a-z]{1,6}>[^\p{L}\p{N}]*)?(` + kinds + names + `)`)
	label = pattern.New(`(?i)^[^\p{L}\p{N}]*` + kinds + names + `[^\p{L}\p{N}]*(?:[(（].*)?$`)
	// rating matches a label that is about nothing but scores, decided one of a score that needs no maximum.
	rating  = pattern.New(`(?i)score|rating|assessment|评|得分`)
	decided = pattern.New(`(?i)(?:final|overall|self)[ \t_-]*(?:score|rating|grade|assessment)|评分|自评|(?:最终|综合|总体)得分`)
	// rated and ratedInChinese match sentences that rate the document.
	rated = pattern.New(`(?i)(?:\b(?:I|we)(?:['’]d| would| have|['’]ve)?[ \t]+(?:self-)?(?:score|rate|grade|give|assess|put)d?\b` +
		`|\b(?:this|the|my|our)[ \t]+(?:\w+[ \t]+)?(?:draft|document|doc|prd|version|plan|architecture|text|submission|design)[ \t]+(?:(?:now|currently)[ \t]+)?` +
		`(?:scores?|is|gets|rates|earns|receives|deserves|reaches|stands)\b|\bself-?(?:assess(?:ed|ment)|scored?|rat(?:ed|ing)))([^.;。；|\d\n]{0,60}?)` + ofHundred)
	ratedInChinese = pattern.New(`(?:(?:本|这份|这版|该|此)(?:文档|稿|草稿|需求|方案|计划|架构|版)|我)([^。；|\d\n]{0,20}(?:得|打|评|为|给)[^。；|\d\n]{0,8}?)` +
		`(\d+(?:\.\d+)?)[ \t]*(?:分?[ \t]*[/／][ \t]*(100)|分)`)
	// value matches the text behind a name: whose score it is, a separator, the number, and the maximum if any.
	value = pattern.New(`(?i)^(?:</?\w{1,6}>)?[*_"'\x60 \t]*((?:of|for|on)[ \t]+(?:this|the|my|our|that|its)\b[^.;:：|\d\n]{0,60}?)?(?:[(（][^)）\n]{0,80}[)）][*_ \t]*)?` +
		`((?:(?:[:：=|—–→]+|-+)[*_"'\x60 \t]*(?:</?\w{1,6}>)?|(?:is|stands|remains|at|reaches|comes to|equals)[ \t]+(?:(?:now|currently|still|at|about)[ \t]+){0,2}|of[ \t]+|现?[为是][ \t]*)?)` +
		`[*_\x60~≈约 \t]*(?:about[ \t]+)?([-−]?\d+(?:\.\d+)?)(?:[ \t*_]*(?:points?|分)?[ \t]*(?:/|／|(?:out )?of)[ \t*_]*(\d+)|[ \t]?%)?`)
	// alone matches the text behind a score of a line with nothing else, valueless the text behind a name without one.
	alone     = pattern.New(`^(?:</?\w{1,6}>)?[*_ \t]*(?:points?|分)?[^\p{L}\p{N}(（,，;；.。—–→-]*(?:</\w{1,6}>|$|[(（,，;；.。—–→-])`)
	valueless = pattern.New(`^[*_ \t:：#]*(?:[(（][^)）\n]*[)）])?[*_ \t:：#]*$`)
	// otherScore matches words before a statement that make it one of another time or kind.
	otherScore = pattern.New(`(?i)(?:previous|earlier|last|was|from|old|initial|target|goal|gate|minimum|required?` +
		`|needs?|at least|example|e\.g\.|template|format|if|would|should|could|expected?|aim|once|when|such as|上次|之前` +
		`|目标|门槛|示例|例如|比如|如果|若|应|期望|要求|模板)[^.;。；|]{0,30}$`)
	// cameTo matches the text behind the first of two scores: "78 → 92".
	cameTo = pattern.New(`^[ \t*_]*(?:→|->|=>)[ \t*_]*(\d+(?:\.\d+)?)`)
	// cellScore matches a further cell of a row about the score.
	cellScore = pattern.New(`^([*_ \t]*([-−]?\d+(?:\.\d+)?)[ \t]*(?:(?:/|／)[ \t]*(\d+)|%)?[*_ \t]*)(?:$|[(（,，—–;；])`)
	// notAScore matches the text behind the first number of a version, a range, a sum or a minimum.
	notAScore = pattern.New(`^(?:\.\d|\s*[-–~]\s*\d|\s*\+)`)
	// below is a score in the line below a heading.
	below = pattern.New(`^[*_ \t]*([-−]?\d+(?:\.\d+)?)[ \t]*(?:(?:/|／)[ \t]*(\d+)\b)?[*_ \t.]*(?:$|[(（,，—–-])`)
)

// former matches a heading about an earlier round, changeLog one of a list of changes.
var (
	former = pattern.New(`(?i)\b(?:previous|earlier|prior|former|last)\s+(?:round|version|draft|iteration|score` +
		`|submission)|\bround\s+1\b|\bchange\s?log\b|\bhistory\b|上一轮|上轮|第一轮|之前|历史|变更记录`)
	changeLog = pattern.New(`(?i)\bchange\s?log\b|\bhistory\b|历史|变更记录`)
)

// yamlField matches a field of YAML at the first level.
var yamlField = pattern.New(`^["']?(\p{L}[\p{L}\d_ -]*)["']?\s*:`)

// reader reads the statements of a document.
type reader struct {
	*markdown.Document
	// scored marks the lines of sections about the score: there a total needs no maximum.
	scored []bool
	claims *claims
}

// readText takes the statements of a text. Code, comments and quotations are none, nor is anything
// about an earlier round.
func (c *claims) readText(text string) {
	r := reader{Document: markdown.Read(narrow().Replace(text), nil), claims: c}
	r.scored = make([]bool, len(r.Lines))
	r.markSections()
	r.openFacts()
	for i := range r.Lines {
		if len(c.made)+len(c.ignored) > maxClaims {
			return
		}
		r.readLine(i)
	}
}

// markSections finds the sections and tables about the score, and hides those about earlier rounds. A score below
// a last list of changes is about the document.
func (r *reader) markSections() {
	until := 0
	for n, h := range r.Heads {
		if text := markdown.Unnumbered(h.Text); label.MatchString(text) && rating.MatchString(text) {
			for i := h.Line; i < h.End && !r.scored[i]; i++ {
				r.scored[i] = true
			}
		}
		if h.Line < until || !former.MatchString(h.Text) {
			continue
		}
		until = h.End
		isLast := n == len(r.Heads)-1 && changeLog.MatchString(h.Text)
		for i := h.Line; i < h.End; i++ {
			line := r.Lines[i]
			_, _, isItem := markdown.Item(line)
			if !isLast || isItem || strings.Contains(line, "|") || !named.MatchString(line) {
				r.Code[i] = true
			}
		}
	}
	for _, t := range r.Tables {
		if slices.ContainsFunc(t.Header, keyword.MatchString) {
			for _, row := range t.Rows {
				r.scored[row.Line] = true
			}
		}
	}
}

// openFacts shows the score in facts written as YAML: in front matter, and in blocks with no fields but ours.
func (r *reader) openFacts() {
	for i := 0; i < len(r.Lines); i++ {
		_, info, fenced := markdown.Fence(r.Lines[i])
		isFront := i == 0 && r.Lines[0] == "---"
		isBlock := fenced && (strings.EqualFold(info, "yaml") || strings.EqualFold(info, "yml"))
		if !r.Code[i] || !isFront && !isBlock {
			continue
		}
		first, fields := i+1, map[string]any{}
		for i++; i < len(r.Lines) && r.Code[i] && strings.Trim(r.Lines[i], "-`~ ") != ""; i++ {
			fields[fieldOfYAML(r.Lines[i])] = true
		}
		delete(fields, "")
		for k := first; k < i && (isFront || onlyKnown(fields)); k++ {
			if field := fieldOfYAML(r.Lines[k]); field != "" && statesScore(field) {
				r.Code[k], r.Said[k], r.scored[k] = false, r.Lines[k], true
			}
		}
	}
}

// fieldOfYAML returns the field that a line begins at the first level, "" if it does not.
func fieldOfYAML(line string) string {
	if m := yamlField.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// readLine takes the statements of a line.
func (r *reader) readLine(i int) {
	said := r.Said[i]
	spoken := !r.Code[i] && said != "" && !strings.HasPrefix(strings.TrimSpace(said), ">")
	states := r.readKeywords(i, spoken)
	row, isRow := r.Rows[i]
	switch {
	case !spoken:
		return
	case isRow:
		r.readRow(row)
		return
	}
	r.readNamed(i)
	for _, sentence := range []*pattern.Pattern{rated, ratedInChinese} {
		if m := sentence.FindStringSubmatchIndex(said); m != nil && !states {
			r.addSentence(said, m)
		}
	}
}

// readKeywords takes the statements of a line that begin with a keyword, and reports whether it has one.
func (r *reader) readKeywords(i int, spoken bool) bool {
	line := r.Lines[i]
	found := keyword.FindAllStringIndex(line, maxClaims-min(maxClaims, len(r.claims.made)))
	for k, at := range found {
		until := line
		if k+1 < len(found) {
			until = line[:found[k+1][0]]
		}
		m := findValue(until[at[1]:])
		switch {
		case m != nil && (m[4] != m[5] || m[8] >= 0): // a separator, or a maximum
			r.addStatement(until, at, m, spoken)
		case m == nil && spoken && valueless.MatchString(until[at[1]:]):
			r.readBelow(i)
		}
	}
	return len(found) > 0
}

// readNamed takes the statement of a line that begins with another name and says nothing else.
func (r *reader) readNamed(i int) {
	line := r.Lines[i]
	at := named.FindStringSubmatchIndex(line)
	if at == nil {
		return
	}
	tail := line[at[1]:]
	m := findValue(tail)
	needsNoMaximum := r.scored[i] || decided.MatchString(line[at[2]:at[3]]) || m != nil && strings.Contains(tail[:m[6]], "100")
	switch {
	case m == nil && r.scored[i] && valueless.MatchString(tail):
		r.readBelow(i)
	case m != nil && alone.MatchString(tail[m[1]:]) && (m[8] >= 0 || m[4] != m[5] && needsNoMaximum):
		r.addStatement(line, at, m, true)
	}
}

// findValue returns the match of a value at the beginning of a text; nil if it has none.
func findValue(text string) []int { return value.FindStringSubmatchIndex(text[:min(len(text), 300)]) }

// addStatement adds the statement of a line: of the name at at, with the match of its value in the text behind it.
func (r *reader) addStatement(line string, at, m []int, spoken bool) {
	c, tail := r.claims, line[at[1]:]
	text, rest := strings.TrimSpace(tail[m[6]:m[1]]), tail[m[1]:]
	before := line[max(0, at[0]-60):at[0]] + matchGroup(tail, m, 1)
	switch {
	case m[8] < 0 && !strings.HasSuffix(text, "%") && notAScore.MatchString(rest[:min(len(rest), 16)]):
	case !spoken, quotedAt(line, at[0], at[1]+m[6]), otherScore.MatchString(before):
		c.ignored = append(c.ignored, text)
	case cameTo.MatchString(rest):
		came := cameTo.FindStringSubmatch(rest)[1]
		c.addClaim(came, came, "")
	default:
		c.addUnqualified(text, matchGroup(tail, m, 3), matchGroup(tail, m, 4), rest)
		for _, cell := range strings.SplitN(rest, "|", maxCells)[1:] {
			c.addCell(cell, true)
		}
	}
}

// addSentence adds the statement of a sentence that matches.
func (r *reader) addSentence(said string, m []int) {
	text := said[m[4]:m[1]]
	if quotedAt(said, m[0], m[4]) || otherScore.MatchString(said[max(0, m[0]-60):m[0]]) || otherScore.MatchString(said[m[2]:m[3]]) {
		r.claims.ignored = append(r.claims.ignored, text)
		return
	}
	r.claims.addUnqualified(text, said[m[4]:m[5]], matchGroup(said, m, 3), said[m[1]:])
}

// addCell adds the score in a cell; without a maximum only if it needs none.
func (c *claims) addCell(cell string, needsNoMaximum bool) {
	if m := cellScore.FindStringSubmatch(cell); m != nil && (needsNoMaximum || m[3] == "100") {
		c.addUnqualified(strings.Trim(m[1], "*_ \t"), m[2], m[3], cell[len(m[1]):])
	}
}

// readRow takes the scores of a row about the whole, and of the only row below a head that names the score.
func (r *reader) readRow(row markdown.Row) {
	t := r.Tables[row.Table]
	isTotal := label.MatchString(row.Cell(0)) && !keyword.MatchString(row.Cell(0))
	for n, cell := range row.Cells[:min(len(row.Cells), maxCells)] {
		isOnly := len(t.Rows) == 1 && n < len(t.Header) && keyword.MatchString(t.Header[n])
		if isOnly || isTotal && n > 0 {
			r.claims.addCell(cell, isOnly || r.scored[row.Line] || decided.MatchString(row.Cell(0)))
		}
	}
}

// readBelow takes the score in the first line below one that names it.
func (r *reader) readBelow(i int) {
	for i++; i < len(r.Said) && (strings.TrimSpace(r.Said[i]) == "" || markdown.IsUnderline(r.Said[i])); i++ {
	}
	if i == len(r.Said) || r.Code[i] {
		return
	}
	text := r.Said[i]
	if m := below.FindStringSubmatch(text); m != nil {
		r.claims.addUnqualified(strings.TrimSpace(strings.Trim(m[0], "*_ .(（,，—–-")), m[1], m[2], text[len(m[0]):])
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
