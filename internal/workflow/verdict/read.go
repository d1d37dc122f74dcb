package verdict

import (
	"cmp"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// Read reads a report: Markdown with a block of JSON, the block alone, or an envelope of JSON
// that holds the Markdown in one of the fields keys. Line ends are \n.
func Read(text string, keys []string) Report {
	var r Report
	r.read(text, keys, true)
	r.Body = strings.TrimSpace(r.Body)
	return r
}

// read adds the content of a text. The report in an envelope is read likewise, once.
func (r *Report) read(text string, keys []string, envelope bool) {
	text = withoutTables(text)
	blocks := choose(findBlocks(text), keys)
	inner := ""
	for _, b := range blocks {
		r.add(b, 1+strings.Count(text[:b.Start], "\n"))
		if key, text := documentIn(b.object, keys); envelope && key != "" {
			inner = text
			b.Raw = indent(b.object, key)
		}
		r.Blocks = append(r.Blocks, b.Raw)
	}
	r.Body = withoutBlocks(text, blocks)
	r.readText(r.Body)
	if inner != "" {
		r.read(inner, keys, false)
	}
}

// add adds the rows of a block that begins at a line.
func (r *Report) add(b block, line int) {
	if !b.defect.Empty() {
		r.defect(b.defect)
	}
	if b.object == nil {
		r.state(verdictIn(b.Raw))
		return
	}
	moreCriteria := len(r.Criteria) > 0 && b.object["criteria"] != nil
	moreFindings := r.Listed && strong(b.object)
	if moreCriteria || moreFindings {
		r.defect(lang.T("a second block of JSON stands at line %d; hand in one, and put samples of data into fences without these fields", line))
	}
	r.twice(b.twice)
	r.Summary = cmp.Or(r.Summary, text(b.object, "summary"))
	r.NoChecks = cmp.Or(r.NoChecks, text(b.object, "no_checks"))
	r.Needs = cmp.Or(r.Needs, needs(b.object["needs"]))
	r.readChecks(b.object["checks"])
	r.readCriteria(b.object["criteria"])
	if given, has := b.object["findings"]; has {
		r.Listed = true
		r.readFindings(given)
	}
	r.Resolved = append(r.Resolved, intake.ReadResolved(b.object["resolved"])...)
	stated := text(b.object, "verdict")
	v := readVerdict(stated)
	r.state(worse(v, readVerdict(text(b.object, "status")))) // an older name, which may be about anything
	if v == "" && stated != "" {
		r.defect(lang.T(`"verdict" is %s, and not one of pass, pass_with_risk, fail, blocked`, quote(stated)))
	}
}
