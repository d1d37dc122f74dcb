package intake

import (
	"cmp"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	// filePath matches a line that is a path.
	filePath = pattern.New(`^(?:[A-Za-z]:)?[^\s|]*[^\s|.\\/][\\/.][^\s|\\/]*[\pL\pN]$`)
	// documentFile matches the name of a file with a document.
	documentFile = pattern.New(`(?i)(?:[\w~@.-]*[\\/])*[\w.-]+\.(?:md|mdx|markdown|txt|json|ya?ml|rst|adoc|html?|docx?|pdf)\b`)
	// linkTarget matches the target of a link of Markdown.
	linkTarget = pattern.New(`^\[[^\]]*\]\(([^)]*)\)$`)
)

// maxPointer bounds a sentence that points to a file, in bytes.
const maxPointer = 160

// FileIn returns the file that a text names in place of a document; "" if it is a document.
func FileIn(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	first := ""
	for _, line := range lines {
		line = strings.Trim(strings.TrimSpace(line), "`\"'<>*-@ ")
		line = linkTarget.ReplaceAllString(line, "$1")
		file := documentFile.FindString(line)
		isSentence := file != "" && len(lines) == 1 && len(line) <= maxPointer
		switch {
		case filePath.MatchString(line):
			file = line
		case line != "" && !isSentence:
			return ""
		}
		first = cmp.Or(first, file)
	}
	return first
}
