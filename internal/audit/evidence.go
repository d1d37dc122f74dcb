package audit

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

var (
	filePath = pattern.New(`(?:[\w.@-]+/)+[\w.@*-]+|\b[\w-]+\.(?:go|tsx?|jsx?|mjs|py|rs|java|kt|kts|swift|rb|php|cs|sql|html|css|scss|vue|svelte|ya?ml|json|toml|md|sh|ps1|c|h|cc|cpp|hpp|ino|proto|tf|dart|ex|exs|scala|lua|ini|cfg|xml|gradle)\b`)
	command  = pattern.New("`\\$? ?[a-z./][\\w./-]* [^`]+`|`\\./[^`]+`|^\\s*\\$ \\S")
	results  = pattern.New(`(?i)\d+ (?:unit |integration |automated |automatic |new |end-to-end |e2e )*(?:tests?|specs?|cases?|checks?|assertions?|passed|passing|failed|examples)\b|\b(?:pass(?:ed)?|failed?|tests?|ok)\b\s*[:：|]\s*\**\d+|\d+\s*(?:项|个|条)?\s*(?:自动|单元|集成)?\s*(?:测试|用例|通过)|(?:测试|用例|通过)[^\d|]{0,8}[:：|]?\s*\d+|^ok\s+\S+\s+[\d.]+s`)
	shell    = pattern.New(`(?i)^(?:ba|z|fi)?sh$|^shell|^console|^powershell|^cmd$|^bash`)
	noIssues = pattern.New(`(?i)\bno (?:open |new |critical |major |blocking |serious |further |other )*(?:findings?|issues?|defects?|problems?)\b|\bnothing (?:was )?found\b|\b0 findings\b|未发现|无(?:阻碍|严重|重大|遗留)?(?:问题|缺陷)|没有(?:发现|问题|缺陷)|零缺陷|0 个(?:问题|缺陷)`)
	findID   = pattern.New(`^\s*(?:#+\s*|[-*+]\s+|\|\s*)?[*_\[(]*(?:R|F|CR|REV|B|BUG|D|DEF|T|Q)-?\d+(?:\.\d+)?\b`)
	sevWord  = pattern.New(`(?i)\b(?:critical|major|minor|blocker|high|medium|low)\b|严重|重要|主要|次要|一般|轻微|阻断|致命|(?:^|[|（(：:，,\s])[高中低](?:$|[|）)：:，,\s])`)
)

// findHas looks for one kind of evidence anywhere in the document.
func findHas(c check, s *document) []miss {
	if s.has(c.What) {
		return nil
	}
	return []miss{{line: -1}}
}

func (s *document) has(what string) bool {
	some := func(re interface{ MatchString(string) bool }) bool {
		return slices.ContainsFunc(s.Lines, func(l string) bool { return len(l) < 1<<16 && re.MatchString(l) })
	}
	switch what {
	case "commands":
		return some(command) || s.hasShell()
	case "files":
		return some(filePath)
	case "results":
		return some(results) || slices.ContainsFunc(s.Tables, countsTests)
	case "ids":
		return len(s.definitions("US", "FR")) > 0
	case "priorities":
		defs := s.definitions("US", "FR")
		return len(defs) == 0 || slices.ContainsFunc(tags(s.text, defs), func(t string) bool { return t != "" })
	case "findings":
		return len(s.reported()) > 0 || some(noIssues)
	}
	// Specifics: whatever could be looked up or run again.
	return s.figures(3) || some(anyID) || some(filePath) || some(results) || some(command)
}

// hasShell reports whether there is a code block of a shell.
func (d *text) hasShell() bool {
	for i, l := range d.Lines {
		if d.Code[i] {
			if _, info, ok := markdown.Fence(l); ok && shell.MatchString(info) {
				return true
			}
		}
	}
	return false
}

// figures reports whether at least n lines give one.
func (d *text) figures(n int) bool {
	for i := range d.Lines {
		if n > 0 && d.hasFigure(i) {
			n--
		}
	}
	return n == 0
}

// countsTests reports whether a table has a number in a column of passed or failed.
func countsTests(t markdown.Table) bool {
	col := t.Column("passed", "pass", "failed", "tests", "通过", "失败", "用例", "测试数")
	return col >= 0 && slices.ContainsFunc(t.Rows, func(r markdown.Row) bool { return numeral.MatchString(r.Cell(col)) })
}

// reported returns the findings of a review or QA report: items, headings and
// rows with an id such as R1, and rows of a table with a severity.
func (s *document) reported() []story {
	var out []story
	for i, l := range s.Lines {
		if s.Code[i] || len(l) > 1<<16 {
			continue
		}
		row, isRow := s.Rows[i]
		switch {
		case isRow:
			t := s.Tables[row.Table]
			sev := t.Column("severity", "level", "priority", "级别", "严重程度", "严重性", "严重", "等级", "程度", "优先级")
			if sev >= 0 && len(row.Cells) > 2 && sevWord.MatchString(row.Cell(sev)) {
				out = append(out, story{id: idOf(row.Cells[0]), line: i, end: i + 1, form: 't'})
			}
		case findID.MatchString(l) && (isHash(l) || sevWord.MatchString(l)):
			id := strings.TrimLeft(l, " #-*+|_[(")
			out = append(out, story{id: idOf(id), line: i, form: 'h'})
		}
	}
	for i := range out {
		if out[i].form == 'h' {
			out[i].end = len(s.Lines)
			if i+1 < len(out) {
				out[i].end = out[i+1].line
			}
		}
	}
	return out
}

// place is where a finding can be seen: a file, a path of an interface, a table, a page.
var place = pattern.New("`[^`]+`|(?i)\\b(?:GET|POST|PUT|PATCH|DELETE) /|\\bline \\d|\\bsection \\d|\\bAC-\\d|第\\s*\\d+\\s*[行节章页步]")

// findWithoutPlace lists findings without a place, such as a file and line. A place anywhere
// under the finding's id counts.
func findWithoutPlace(_ check, s *document) []miss {
	located := map[string]bool{}
	first := map[string]int{}
	var order []string
	for _, f := range s.reported() {
		if _, ok := first[f.id]; !ok {
			first[f.id] = f.line
			order = append(order, f.id)
		}
		for i := f.line; i < f.end && !located[f.id]; i++ {
			located[f.id] = filePath.MatchString(s.Lines[i]) || place.MatchString(s.Lines[i])
		}
	}
	var out miss
	for _, id := range order {
		if !located[id] {
			if len(out.items) == 0 {
				out.line = first[id]
			}
			out.items = append(out.items, plain(id))
		}
	}
	if len(out.items) == 0 {
		return nil
	}
	return []miss{out}
}

// findWithoutEvidence lists criteria that are called passed and show nothing for it.
func findWithoutEvidence(_ check, s *document) []miss {
	var out miss
	for i, l := range s.Lines {
		if s.Code[i] || !strings.Contains(l, "AC") {
			continue
		}
		def, ok := s.definitionAt(i)
		if !ok || def.id.prefix != "AC" || s.shown(def) {
			continue
		}
		if len(out.items) == 0 {
			out.line = i
		}
		out.items = append(out.items, plain(def.id.String()))
	}
	if len(out.items) == 0 {
		return nil
	}
	return []miss{out}
}

var (
	verdict   = pattern.New(`(?i)\b(?:pass(?:ed)?|ok|met|yes|fail(?:ed)?|not[ _]tested|skipped)\b|不?通过|不?满足|未通过|失败|未测试|跳过|✅|❌|✓|✔|✗`)
	bareWords = pattern.New(`(?i)^(?:tested|verified|checked|works|ok|yes|pass(?:ed)?|done|fine|good|works as expected|see above|as expected|confirmed|manual(?:ly)?|manual test|自动|手工|手动|人工|已测|已测试|已验证|已确认|已检查|正常|通过|测试通过|验证通过|完成|已完成|符合预期|如预期|没问题|无问题|良好|可以|是|见上|同上|-|–|—)?[.。]?$`)
)

// shown reports whether a criterion's row or line names something that was run or seen.
func (s *document) shown(def definition) bool {
	if row, ok := s.Rows[def.line]; ok {
		t := s.Tables[row.Table]
		if col := t.Column("evidence", "observed", "measured", "actual", "how", "how tested", "how checked", "what was seen", "notes", "test", "tests", "证据", "依据", "实测", "实际", "说明", "备注", "测试", "方法", "方式", "观察", "观测"); col >= 0 {
			return !bareWords.MatchString(row.Cell(col))
		}
		if t.Column("result", "status", "outcome", "verdict", "结果", "状态", "结论", "是否通过", "是否满足") < 0 {
			return true // no table of results
		}
		return len(row.Cells) > 3 && len(row.Cells[len(row.Cells)-1]) > 20
	}
	if !verdict.MatchString(def.body) && def.form != 'h' {
		return true // the criterion, not its result
	}
	rest := strings.Trim(verdict.ReplaceAllString(def.body, " "), " :：.—–-|()（）*")
	return def.form == 'h' || len(rest) > 20
}
