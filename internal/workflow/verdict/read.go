package verdict

import (
	"cmp"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// Read reads a report: Markdown with a block of JSON, the block alone, or an envelope of JSON that
// holds the Markdown in one of the fields keys. Line ends are \n.
func Read(text string, keys []string) Report {
	var r Report
	r.readReport(text, keys, true)
	r.Body = strings.TrimSpace(r.Body)
	return r
}

// readReport adds the content of a text. The report in an envelope is read likewise, once.
func (r *Report) readReport(text string, keys []string, mayBeEnvelope bool) {
	text = withoutTables(text)
	blocks := chooseBlocks(findBlocks(text), keys)
	inner := ""
	for _, b := range blocks {
		r.addBlock(b, 1+strings.Count(text[:b.Start], "\n"))
		if key, text := documentIn(b.object, keys); mayBeEnvelope && key != "" {
			inner = text
			b.Raw = indentWithout(b.object, key)
		}
		r.Blocks = append(r.Blocks, b.Raw)
	}
	r.Body = withoutBlocks(text, blocks)
	r.readStatements(r.Body)
	if inner != "" {
		r.readReport(inner, keys, false)
	}
}

// addBlock adds the rows of a block at a line.
func (r *Report) addBlock(b block, line int) {
	if !b.defect.Empty() {
		r.addDefect(b.defect)
	}
	if b.object == nil {
		r.addStated(verdictIn(b.Raw))
		return
	}
	moreCriteria := len(r.Criteria) > 0 && b.object["criteria"] != nil
	moreFindings := r.Listed && hasRows(b.object)
	if moreCriteria || moreFindings {
		r.addDefect(lang.T("a second block of JSON stands at line %d; hand in one, and put samples of data into fences without these fields", line))
	}
	r.addDuplicates(b.twice)
	r.Summary = cmp.Or(r.Summary, textField(b.object, "summary"))
	r.NoChecks = cmp.Or(r.NoChecks, textField(b.object, "no_checks"))
	r.Needs = cmp.Or(r.Needs, joinNeeds(b.object["needs"]))
	r.readChecks(b.object["checks"])
	r.readCriteria(b.object["criteria"])
	if given, has := b.object["findings"]; has {
		r.Listed = true
		r.readFindings(given)
	}
	r.Resolved = append(r.Resolved, intake.ReadResolved(b.object["resolved"])...)
	stated := textField(b.object, "verdict")
	v := readVerdict(stated)
	r.addStated(worseVerdict(v, readVerdict(textField(b.object, "status")))) // an older name, which may be about anything
	if v == "" && stated != "" {
		r.addDefect(lang.T(`"verdict" is %s, and not one of pass, pass_with_risk, fail, blocked`, quote(stated)))
	}
}
