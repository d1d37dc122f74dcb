package notes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
)

const (
	// partLimit is in bytes: the cost of a write does not grow with the project.
	partLimit = 128 << 10
	// maxPart bounds the part of a file that is read: a union of branches can be longer than partLimit.
	maxPart = 16 << 20
)

// part is one file of notes.
type part struct {
	name   string
	kind   Type
	number int // 0 for the first

	data  []byte
	lines []*line
	bad   []*line // those that cannot be used
	// version is that of the file when it was read; settled is true if it shows every change
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

var newline = []byte("\n")

// PartName returns the name of the n-th file, after that of the first one.
func PartName[S ~string](first S, n int) string {
	if n == 0 {
		return string(first) + ".jsonl"
	}
	return fmt.Sprintf("%s-%06d.jsonl", first, n)
}

// appendLine returns data with a line after it, which a missing line break does not join.
func appendLine(data, line []byte) []byte {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(slices.Clip(data), '\n')
	}
	return slices.Concat(data, line)
}

// fits reports whether a part has room for a line.
func fits(part, line []byte) bool { return len(part) == 0 || len(part)+1+len(line) <= partLimit }
