package request

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// skipWords are the answers by which a person skips a question.
var skipWords = []string{"skip", "skip it", "skip this", "skipped", "跳过", "略过", "跳过此问题", "跳过这个问题"}

// Skips reports whether an answer is the person's word that they do not want to answer. If the
// question offers that word itself, it is an answer.
func Skips(q workflow.Question, answer string) bool {
	word := strings.ToLower(strings.Trim(answer, " \t\r\n.!。！\"'“”「」"))
	offered := slices.ContainsFunc(q.Options, func(option string) bool { return strings.EqualFold(strings.TrimSpace(option), word) })
	return slices.Contains(skipWords, word) && !offered
}
