package artifact

import (
	"fmt"
	"strings"

	"github.com/gosimple/slug"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// MaxName is the maximum length of a task name, including its number, in bytes (all ASCII).
const MaxName = 50

// windowsReserved matches the names of Windows devices, reserved with any extension:
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file
var windowsReserved = pattern.New(`^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

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
	return cutToWords(base, MaxName-len(number)) + number
}

// Slug returns the slug of an objective, or "".
func Slug(objective string) string {
	// The beginning is enough for a name; transliterating a long text is wasted work.
	if r := []rune(objective); len(r) > 4*MaxName {
		objective = string(r[:4*MaxName])
	}
	// The tables of the library lack the sound of 一.
	made := slug.Make(strings.ReplaceAll(objective, "一", "yi "))
	words := strings.FieldsFunc(made, func(r rune) bool { return r == '-' || r == '_' })
	s := cutToWords(strings.Join(words, "-"), MaxName)
	if windowsReserved.MatchString(s) {
		s += "-task"
	}
	return s
}

// cutToWords shortens a slug after a whole word, or within a word longer than the limit.
func cutToWords(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head := s[:limit]
	if s[limit] != '-' {
		if i := strings.LastIndexByte(head, '-'); i > 0 {
			head = head[:i]
		}
	}
	return head
}
