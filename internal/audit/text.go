package audit

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/markdown"
)

// text is a document with what the checks find out about it. Lines count from 0 here and
// from 1 in findings.
type text struct {
	*markdown.Document
	// criterion is true for each line that states an acceptance criterion.
	criterion []bool
	// defined returns the definitions of ids, written the document's prose, named the ids that
	// it names, planned the sprints of a plan; each is read when it is first asked for, whichever
	// call asks.
	defined func() []definition
	written func() *prose
	named   func() mentions
	planned func() []markdown.Sprint
}

// substance reports whether a line says anything of its own: not blank, no rule,
// no lone word for "later".
func substance(l string) bool {
	if _, body, ok := markdown.Item(l); ok {
		l = body
	}
	l = strings.ToLower(strings.Trim(strings.TrimSpace(l), "*_>|-:：.。…()（）[]【】 \t"))
	return l != "" && !lonePlaceholder[l]
}

// lonePlaceholder holds what stands in a section or cell that nobody has filled.
var lonePlaceholder = map[string]bool{
	"tbd": true, "todo": true, "tbc": true, "to do": true, "to be done": true, "to be defined": true, "to be determined": true, "fixme": true, "xxx": true,
	"coming soon": true, "to be added": true, "待定": true, "待补充": true, "待完善": true, "待填写": true, "待确认": true, "待补": true, "待明确": true, "待讨论": true, "待决定": true, "未定": true, "暂缺": true, "稍后补充": true, "后续补充": true, "略": true,
}
