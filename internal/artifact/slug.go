package artifact

import (
	"fmt"
	"strings"

	"github.com/gosimple/slug"

	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
)

// MaxName is the maximum length of a task name, including its number, in bytes (all ASCII).
const MaxName = 50

var (
	// hyphens matches the separators that the library leaves between words, one or more.
	hyphens = pattern.New(`[-_]+`)
	// windowsReserved matches the names of Windows devices, reserved with any extension:
	// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
	windowsReserved = pattern.New(`^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
)

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
	s := cut(hyphens.ReplaceAllString(slug.Make(strings.ReplaceAll(objective, "一", "yi ")), "-"), MaxName)
	if windowsReserved.MatchString(s) {
		s += "-task"
	}
	return s
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
