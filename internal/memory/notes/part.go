package notes

import (
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
)

// part is one file of notes.
type part struct {
	name   string
	kind   Type
	number int // 0 for the first

	data  []byte
	lines []*line
	bad   []*line // those that cannot be used
	// version is that of the file when it was read; settled is true where it shows every change
	// since.
	version durable.Version
	settled bool
	// err says why the file cannot be read.
	err error
}

// parsePart returns the type and number of a file of notes.
func parsePart(name string) (kind Type, n int, ok bool) {
	for _, kind := range Types() {
		if rest, ok := strings.CutPrefix(name, string(kind)); ok {
			n, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimSuffix(rest, ".jsonl"), "-")) // the first has none
			return kind, n, n >= 0 && name == PartName(kind, n)
		}
	}
	return "", 0, false
}
