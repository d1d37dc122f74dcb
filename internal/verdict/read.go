package verdict

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Read reads a report: Markdown with a block of JSON, the block alone, or an envelope of JSON
// that holds the Markdown in one of the fields keys. Line ends are \n.
func Read(text string, keys []string) Report {
	var r Report
	r.read(strings.Split(text, "\n"), keys, true)
	r.Body = strings.TrimSpace(r.Body)
	return r
}

// read adds what the lines say. An envelope's own report is read likewise, once.
func (r *Report) read(lines []string, keys []string, envelope bool) {
	lines = withoutTables(lines)
	blocks := choose(findBlocks(lines), keys)
	body, at := []string{}, 0
	inner := ""
	for _, b := range blocks {
		body = append(body, lines[at:b.first]...)
		at = b.last + 1
		r.add(b)
		if key, text := documentIn(b.object, keys); envelope && key != "" {
			inner = text
			b.raw = indented(b.object, key)
		}
		r.Blocks = append(r.Blocks, b.raw)
	}
	body = append(body, lines[at:]...)
	r.readText(body)
	r.Body = strings.Join(body, "\n")
	if inner != "" {
		r.Body = ""
		r.read(strings.Split(inner, "\n"), keys, false)
	}
}

// choose keeps the objects that are blocks of the report. Where one has rows, those without are
// the product's own data, unless they have nothing but commands or a verdict of the report.
func choose(found []block, keys []string) []block {
	var out, other []block
	parts := 0
	for _, b := range found {
		switch {
		case b.object == nil, strong(b.object):
			out = append(out, b)
		case weak(b.object, keys):
			_, checks := b.object["checks"].([]any)
			if checks || readVerdict(text(b.object, "verdict")) != "" {
				parts++
				out = append(out, b)
			}
			other = append(other, b)
		default:
			if key, _ := documentIn(b.object, keys); key != "" {
				other = append(other, b)
			}
		}
	}
	if len(out) == parts {
		out = other
	}
	return out
}

// isDocument reports whether a field holds the report itself.
func isDocument(key string, keys []string) bool {
	return slices.Contains(keys, key) || strings.HasSuffix(key, "_report") || key == "report" || key == "document" || key == "markdown"
}

// documentIn returns the field of an object that holds the report, the stage's own first.
func documentIn(object map[string]any, keys []string) (key, text string) {
	names := slices.Clone(keys)
	for name := range object {
		if isDocument(name, nil) {
			names = append(names, name)
		}
	}
	slices.Sort(names[len(keys):])
	for _, name := range names {
		if text, ok := object[name].(string); ok && strings.TrimSpace(text) != "" {
			return name, text
		}
	}
	return "", ""
}

// add adds the rows of a block.
func (r *Report) add(b block) {
	if !b.defect.Empty() {
		r.defect(b.defect)
	}
	if b.object == nil {
		r.state(verdictIn(b.raw))
		return
	}
	if strong(b.object) && r.Listed || len(r.Criteria) > 0 && b.object["criteria"] != nil {
		r.defect(lang.T("a second block of JSON stands at line %d; hand in one, and put samples of data into fences without these fields", b.first+1))
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
	r.Resolved = append(r.Resolved, readResolved(b.object["resolved"])...)
	stated := text(b.object, "verdict")
	v := readVerdict(stated)
	r.state(worse(v, readVerdict(text(b.object, "status")))) // an older name, which may be about anything
	if v == "" && stated != "" {
		r.defect(lang.T(`"verdict" is %s, and not one of pass, pass_with_risk, fail, blocked`, quote(stated)))
	}
}

// state takes in a stated verdict: the worst counts.
func (r *Report) state(v workflow.Verdict) { r.Stated = worse(r.Stated, v) }

// maxDefects bounds the mistakes that are named.
const maxDefects = 100

func (r *Report) defect(t lang.Text) {
	if len(r.Defects) < maxDefects {
		r.Defects = append(r.Defects, t)
	}
}

// twice notes fields that stand twice, in other spellings or by another name: a reader of the
// report may take the one, and its verdict the other.
func (r *Report) twice(names []string) {
	for _, name := range names {
		r.defect(lang.T("an object of the block has the field %s twice, in two spellings", quote(name)))
	}
}

// needs returns what a blocked report waits for: a text or a list of texts.
func needs(v any) string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for _, item := range list {
		if s := scalar(item); s != "" {
			out = append(out, s)
		}
	}
	return clip(strings.Join(out, "; "))
}
