package cli

import (
	"bytes"
	"io"
	"testing"
)

// TestVisible: nothing that is printed moves the cursor or turns the text about.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain, 中文 é 🧑\n\tand more\n":         "plain, 中文 é 🧑\n\tand more\n",
		"touch x #\r\x1b[2K    go test ./...": `touch x #\u000d\u001b[2K    go test ./...`,
		"a\u202eb\u2066c\u200f":               `a\u202eb\u2066c\u200f`,
		"bell\a del\x7f next\u0085":           `bell\u0007 del\u007f next\u0085`,
		"":                                    "",
	} {
		var buf bytes.Buffer
		n, err := io.WriteString(visible{&buf}, text)
		if buf.String() != want || n != len(text) || err != nil {
			t.Errorf("%q: got %q, %d, %v", text, buf.String(), n, err)
		}
	}
}
