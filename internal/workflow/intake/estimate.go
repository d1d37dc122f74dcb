package intake

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The estimate for a document without a score: estimateBase, plus estimatePoint for each section
// and quality present, never above EstimateMax nor above the audit.
const (
	estimateBase  = 60
	estimatePoint = 5
	// EstimateMax keeps an estimate below any sensible gate.
	EstimateMax = 85
)

// trait is something a good document has.
type trait struct {
	// advice for the next round
	add   lang.Text
	words []string
	found *pattern.Pattern // in a text in lower case
}

var (
	figures  = trait{add: lang.T("put figures on the goals: percentages, times in ms, counts"), found: figure}
	criteria = trait{add: lang.T("give every story testable acceptance criteria"),
		words: []string{"acceptance criteria", "acceptance criterion", "验收标准"}, found: criterion}
)

var (
	// figure matches a percentage, a time in ms, or a bound, for example "<200" or "> 5".
	figure = pattern.New(`\d *(?:%|ms(?:[^a-z_]|$))|[<>≤≥][ =]*\d`)
	// criterion matches the id of an acceptance criterion.
	criterion = pattern.New(`\bac-?\d`)
)

func sectionTrait(name string, also ...string) trait {
	return trait{add: lang.T("add a section %q", lang.T(name)), words: append([]string{strings.ToLower(name)}, also...)}
}

var productTraits = []trait{
	sectionTrait("Executive Summary", "执行摘要", "概述"),
	sectionTrait("Business Goals", "business objectives", "业务目标", "商业目标"),
	sectionTrait("User Stories", "用户故事"),
	sectionTrait("Functional Requirements", "功能需求"),
	sectionTrait("Technical Requirements", "technical constraints", "技术需求", "技术要求", "技术约束"),
	sectionTrait("Success Metrics", "成功指标"),
	figures,
	criteria,
}

// traced matches the id of a requirement or story.
var traced = pattern.New(`\b(?:fr|us|nfr)-?\d`)

var architectureTraits = []trait{
	sectionTrait("Architecture Overview", "system overview", "high-level design", "架构概述", "系统概述", "总体架构", "系统架构"),
	sectionTrait("Components", "modules", "组件", "模块"),
	sectionTrait("Data Model", "data design", "schema", "数据模型", "数据设计"),
	sectionTrait("Technology Choices", "technology stack", "tech stack", "技术选型", "技术栈"),
	sectionTrait("Scalability", "capacity", "可扩展性", "扩展性"),
	sectionTrait("Security", "安全"),
	figures,
	{add: lang.T("trace each component to the requirements it meets (FR-…)"),
		words: []string{"requirements trace", "requirement trace", "traceability", "需求追踪"},
		found: traced},
}

func traitsFor(rubric string) []trait {
	switch {
	case rubric == string(workflow.Architect):
		return architectureTraits
	case documentKeys()[workflow.StageID(rubric)] != nil:
		return productTraits
	}
	return nil // a document whose sections nobody has named
}

func (t trait) isIn(lower string) bool {
	if slices.ContainsFunc(t.words, func(w string) bool { return strings.Contains(lower, w) }) {
		return true
	}
	return t.found != nil && t.found.MatchString(lower)
}

// Estimate returns 60 to 85 for a document without a score, and lists the missing parts, each with
// the points of the estimate.
func Estimate(rubric string, document string) (points float64, missing []lang.Text) {
	lower := strings.ToLower(document)
	n := estimateBase
	for _, t := range traitsFor(rubric) {
		if t.isIn(lower) {
			n += estimatePoint
		} else {
			missing = append(missing, lang.T("%s (+%d)", t.add, estimatePoint))
		}
	}
	return float64(min(n, EstimateMax)), missing
}
