package audit

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// TestReadPart checks how much of a document is read, in bytes, and that a longer one is told so.
func TestReadPart(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n"
	for name, tt := range map[string]struct {
		document string
		read     int
		told     bool
	}{
		"at most":          {strings.Repeat("x", maxRead), maxRead, false},
		"one byte more":    {strings.Repeat("x", maxRead+1), maxRead, true},
		"whole lines":      {strings.Repeat(line, maxRead/100+1), maxRead/100*100 - 1, true},
		"one early line":   {line + strings.Repeat("x", maxRead), maxRead, true},
		"letters of three": {strings.Repeat("字", maxRead/3+1), maxRead / 3 * 3, true},
	} {
		if got := readablePart(tt.document); len(got) != tt.read || !strings.HasPrefix(tt.document, got) {
			t.Errorf("%s: %d bytes are read, want %d", name, len(got), tt.read)
		}
		if got := tooLong(tt.document, lang.English); (len(got) == 1) != tt.told || tt.told && (got[0].ID != "TOO-LONG" || got[0].Points != 20) {
			t.Errorf("%s: told %v", name, got)
		}
	}
}
