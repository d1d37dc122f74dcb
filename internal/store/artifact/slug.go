package artifact

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gosimple/unidecode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// MaxName is the maximum length of a task name, including its number, in bytes (all ASCII).
const MaxName = 50

var (
	// separators matches the characters between the words of a slug.
	separators = pattern.New(`[^a-z0-9]+`)
	// windowsReserved matches the names of Windows devices, reserved with any extension:
	// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
	windowsReserved = pattern.New(`^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
)

// spelled are characters that a slug spells or leaves out. The sound of 一 is not in the tables of unidecode.
var spelled = strings.NewReplacer(`"`, "", "'", "", "’", "", "&", "and", "@", "at", "一", "yi ")

// Name returns the n-th candidate, from 0, for the task name of an objective: a
// lower-case ASCII slug with other scripts transliterated, then the same with -1, -2, …
// An objective without letters or digits gives task-<first 8 characters of the id>.
func Name(objective, sessionID string, n int) string {
	base := Slug(objective)
	if base == "" {
		base = "task-" + sessionID[:min(8, len(sessionID))]
	}
	if n == 0 {
		return base
	}
	number := fmt.Sprintf("-%d", n)
	return cut(base, MaxName-len(number)) + number
}

// Slug returns the slug of an objective, or "".
func Slug(objective string) string {
	// The beginning is enough for a name; transliterating a long text is wasted work.
	if r := []rune(objective); len(r) > 4*MaxName {
		objective = string(r[:4*MaxName])
	}
	text := spelled.Replace(objective)
	if !isASCII(text) {
		text = unidecode.Unidecode(text) // which reads its tables, 1.5 MB, when it is called first
	}
	s := cut(separators.ReplaceAllString(strings.ToLower(text), "-"), MaxName)
	if windowsReserved.MatchString(s) {
		s += "-task"
	}
	return s
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// cut shortens a slug after a whole word, or within a word that alone exceeds the limit.
func cut(s string, limit int) string {
	s = strings.Trim(s, "-")
	if len(s) <= limit {
		return s
	}
	head := s[:limit]
	if s[limit] != '-' {
		if i := strings.LastIndexByte(head, '-'); i > 0 {
			head = head[:i]
		}
	}
	return strings.Trim(head, "-")
}
