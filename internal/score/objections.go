package score

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxSpeaking bounds the lines that are quoted against a pass.
const maxSpeaking = 6

// readVerdict fills verdict, findings, criteria and objections. A "verdict" field takes
// precedence over the words of the text. Anything that contradicts a stated pass is an objection,
// which asks the person: a gate held too long costs a question, one opened wrongly costs trust.
func (a *Assessment) readVerdict(e envelope, m *meter) {
	lines := readLines(a.Document, m)
	all := statements(lines)
	found := a.readRows(e, lines)

	a.StatedVerdict = verdictField(e.object)
	var doubts []statement
	sure := true
	if a.StatedVerdict != "" {
		a.Verdict, sure = classify(a.StatedVerdict)
		_, doubts = verdictOf(all)
		doubts = slices.DeleteFunc(doubts, func(s statement) bool { return s.verdict == "" })
	} else {
		a.Verdict, doubts = verdictOf(all)
	}
	if a.Verdict == workflow.Blocked {
		a.Needs = needs(e.object, a.StatedVerdict, withoutFences(a.Document))
	}
	if !passes(a.Verdict) {
		if other := conflicting(e, a.Verdict); !other.Empty() { // a fail beside a pass: none is the stated one for certain
			a.Verdict, a.Objections = workflow.Pass, []lang.Text{other}
		}
		return
	}
	var out []lang.Text
	if !sure {
		out = append(out, lang.T("the verdict reads %q, which is not a plain pass", clipRunes(a.StatedVerdict, 120)))
	}
	if other := conflicting(e, a.Verdict); !other.Empty() {
		out = append(out, other)
	}
	out = append(out, a.rowsAgainst(found)...)
	out = append(out, a.linesAgainst(lines, found, doubts, e, m)...)
	a.Objections = out
}

// conflicting names verdicts of the envelope, or of a second one, that are not the stated one.
func conflicting(e envelope, stated workflow.Verdict) lang.Text {
	said := []string{}
	conflict := false
	for _, v := range e.verdicts {
		read, _ := classify(v)
		if read == "" {
			continue
		}
		conflict = conflict || passes(read) != passes(stated)
		if !slices.Contains(said, v) {
			said = append(said, v)
		}
	}
	if !conflict {
		return lang.Text{}
	}
	return lang.T("its fields state different verdicts: %s", clipRunes(strings.Join(said, ", "), 120))
}

// rowsAgainst lists what findings and criteria hold against a pass.
func (a *Assessment) rowsAgainst(found rows) []lang.Text {
	var failed, critical, major []string
	var out []lang.Text
	for _, c := range workflow.FailedCriteria(a.Criteria) {
		failed = append(failed, c.ID)
	}
	for _, f := range workflow.OpenFindings(a.Findings) {
		switch f.Severity {
		case "critical":
			critical = append(critical, f.ID)
		case "major":
			major = append(major, f.ID)
		}
	}
	if len(failed) > 0 {
		out = append(out, lang.T("%d of %d criteria failed: %s", len(failed), len(a.Criteria), few(failed)))
	}
	if len(critical) > 0 {
		out = append(out, lang.T("critical findings are open: %s", few(critical)))
	}
	if len(major) > 0 && a.Verdict == workflow.Pass {
		out = append(out, lang.T("major findings are open: %s", few(major)))
	}
	if text := found.untested(a.Verdict); !text.Empty() {
		out = append(out, text)
	}
	return out
}

// quotes are the lines that speak against a pass, as the objections have them.
type quotes struct {
	out  []lang.Text
	more int
	said map[int]bool // by their number
}

// add quotes a line once; one without a number does not stand in the document.
func (q *quotes) add(n int, text string) {
	if n > 0 && q.said[n] {
		return
	}
	q.said[n] = true
	text = clipRunes(strings.Join(strings.Fields(text), " "), 160)
	switch {
	case len(q.out) >= maxSpeaking:
		q.more++
	case n > 0:
		q.out = append(q.out, lang.T("line %d says “%s”", n, text))
	default:
		q.out = append(q.out, lang.T("it says “%s”", text))
	}
}

// linesAgainst quotes the lines that speak against a pass.
func (a *Assessment) linesAgainst(lines []line, found rows, doubts []statement, e envelope, m *meter) []lang.Text {
	q := quotes{said: map[int]bool{}}
	for _, s := range doubts {
		q.add(s.line.number, s.line.text)
	}
	for _, t := range found.lines {
		q.add(t.number, t.text)
	}
	for i, l := range lines {
		m.charge(len(l.text))
		if q.more > maxSpeaking || m.stopped() {
			break
		}
		if l.comment || l.earlier || found.taken[l.number] {
			continue
		}
		if a.lineAgainst(lines, i) {
			q.add(l.number, l.text)
		}
		if item, found := a.criticalSection(lines, i); found {
			q.add(item.number, item.text)
		}
		if item, found := a.openBug(lines, i); found && a.Verdict == workflow.Pass {
			q.add(item.number, item.text)
		}
	}
	for _, text := range append(besideAgainst(e, m), fieldsAgainst(e)...) {
		q.add(0, text)
	}
	if q.more > 0 {
		q.out = append(q.out, lang.T("and more lines of the kind"))
	}
	return q.out
}

func (a *Assessment) lineAgainst(lines []line, i int) bool {
	if lines[i].unchecked() {
		return true
	}
	for _, piece := range pieces(lines[i].text) {
		all := sentences(piece, inSentence)
		if lines[i].compilerError(piece) || lines[i].sentencesAgainst(all, func() bool { return noneBelow(lines, i) }) || a.findingAgainst(lines, i, all) {
			return true
		}
	}
	return false
}

// besideAgainst returns the lines around the envelope that speak against a pass.
func besideAgainst(e envelope, m *meter) []string {
	var out []string
	lines := readLines(e.beside, m)
	for i, l := range lines {
		if len(out) <= maxSpeaking && l.spoken() && l.against(func() bool { return noneBelow(lines, i) }) {
			out = append(out, l.text)
		}
	}
	return out
}

// noneBelow reports whether a bare word is a heading of what failed, with nothing below it.
func noneBelow(lines []line, i int) bool {
	if text := strings.TrimRight(lines[i].text, " *_"); lines[i].heading == 0 && !strings.HasSuffix(text, ":") && !strings.HasSuffix(text, "：") {
		return false
	}
	if i+1 >= len(lines) || lines[i+1].heading > 0 && lines[i+1].heading <= lines[i].heading {
		us := units(lines[i].text) // a verdict in capitals stands for itself
		return !slices.ContainsFunc(us, func(u unit) bool { return u.caps }) && i+1 < len(lines)
	}
	all := sentences(lines[i+1].text[:min(len(lines[i+1].text), 200)], inSentence)
	if len(all) == 0 {
		return true
	}
	h := all[0].head()
	if h >= len(all[0].tokens) {
		h = 0
	}
	return slices.ContainsFunc(all[0].tokens[:h+1], func(t token) bool { return t.has(isNone) || t.isNumber && t.number == 0 })
}

// fieldsAgainst reads the other fields of an envelope as lines: {"status": "fail", "failed": 37}.
func fieldsAgainst(e envelope) []string {
	var out []string
	var walk func(key string, v any, depth int)
	walk = func(key string, v any, depth int) {
		if depth > 4 || len(out) > maxSpeaking {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for _, k := range sortedKeys(v) {
				walk(k, v[k], depth+1)
			}
		case []any:
			if failuresListed(key, v) {
				out = append(out, fmt.Sprintf("%s: %d entries", key, len(v)))
			}
			for _, item := range v[:min(len(v), maxItems)] {
				walk(key, item, depth+1)
			}
		default:
			text := scalar(v)
			if text == "" || len(text) > maxText {
				return
			}
			l := line{text: strings.ReplaceAll(key, "_", " ") + ": " + text}
			if us := units(key); len(us) > 0 {
				is, _ := words().match(us, isLaterHead)
				l.later = is != 0
			}
			if l.against(func() bool { return false }) || text == "false" && positive(key) {
				out = append(out, l.text)
			}
		}
	}
	for _, k := range sortedKeys(e.object) {
		if !notRead[k] && !isDocumentKey(k) && !slices.Contains(keysOf(e.stage), k) {
			walk(k, e.object[k], 0)
		}
	}
	return out
}

// notRead are fields that are read elsewhere, or that say what could be and not what is.
var notRead = map[string]bool{"verdict": true, "findings": true, "issues": true, "defects": true, "criteria": true, "questions": true, "gaps": true,
	"clarification_questions": true, "clarifying_questions": true, "open_questions": true, "needs": true, "quality_score": true, "fixed": true, "resolved": true, "history": true, "previous": true}

// positive reports whether a field names what a good product is.
func positive(key string) bool {
	us := units(key)
	if len(us) == 0 {
		return false
	}
	is, _ := words().match(us, isPass|isWorks)
	return is != 0
}

func failuresListed(key string, list []any) bool {
	if len(list) == 0 {
		return false
	}
	us := units(key)
	if len(us) == 0 {
		return false
	}
	bad := false
	for i := range us {
		is, _ := words().match(us[i:], isFailures|isCritical|isResolved|isEarlier|isNeutral)
		if is&(isResolved|isEarlier|isNeutral) != 0 {
			return false
		}
		bad = bad || is != 0
	}
	return bad
}

// few joins ids, naming at most eight.
func few(ids []string) lang.Text {
	if len(ids) > 8 {
		return lang.T("%s and %d more", strings.Join(ids[:8], ", "), len(ids)-8)
	}
	return lang.T("%s", strings.Join(ids, ", "))
}
