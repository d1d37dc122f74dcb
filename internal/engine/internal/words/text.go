package words

import (
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// sprintsAre says "sprint 2 is", "sprints 2, 3 are".
func sprintsAre(l lang.Language, numbers []int) string {
	if len(numbers) == 1 {
		return l.Say("%s is", sprintList(l, numbers))
	}
	return l.Say("%s are", sprintList(l, numbers))
}

// sprintList returns the names of sprints, for example "sprints 2, 3".
func sprintList(l lang.Language, numbers []int) string {
	if len(numbers) == 1 {
		return l.Say("sprint %s", Numbers(numbers))
	}
	return l.Say("sprints %s", Numbers(numbers))
}

// Numbers lists numbers, with an end if there are many.
func Numbers(numbers []int) string {
	more := ""
	if len(numbers) > 30 {
		numbers, more = numbers[:30], ", …"
	}
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ", ") + more
}

// Quoted sets the assistant's words off from the server's: in quotation
// marks, in one line, without characters that steer a terminal or look like emphasis.
func Quoted(text string, limit int) string {
	return "“" + visible.Fit(plainMarks.Replace(visible.Line(text)), limit) + "”"
}

// plainMarks removes marks that would end the quotation and make the words look like the server's own.
var plainMarks = strings.NewReplacer("**", "", "__", "", "“", "'", "”", "'", "`", "'", "<", "‹", ">", "›", "](", "] (")

// plainSentences returns sentences of the server that quote the assistant's words: in one line each,
// without emphasis.
func plainSentences(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = visible.Fit(strings.NewReplacer("**", "", "__", "", "<", "‹", ">", "›").Replace(visible.Line(text)), 300)
	}
	return out
}

// addLabel puts a label before a text; "" if the text is empty.
func addLabel(label, what string) string {
	if what == "" {
		return ""
	}
	return label + what
}
