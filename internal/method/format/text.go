// Package format reads the file formats of the BMAD method as people and installers of every
// version write them: front matter, blocks of YAML, tags, manifests in CSV, settings in TOML.
package format

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"
)

// OneLine puts a text into one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Stem returns a file's name without the ending.
func Stem(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// Heading returns the first heading of a text in Markdown.
func Heading(text string) string {
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			return strings.TrimSpace(title)
		}
	}
	return ""
}

// PlainString returns a value as one line if it is text, else "".
func PlainString(v any) string {
	s, _ := v.(string)
	return OneLine(s)
}

// PlainText returns a plain value of TOML or YAML as text; ok is false if it is a list or a table.
func PlainText(v any) (text string, ok bool) {
	switch v := v.(type) {
	case nil, []any, map[string]any:
		return "", false
	case string:
		return v, true
	case time.Time:
		return v.Format(time.RFC3339), true
	default:
		return fmt.Sprint(v), true
	}
}

// AppendNew appends the values missing in a list, without the empty ones.
func AppendNew(list []string, values ...string) []string {
	seen := map[string]bool{}
	if len(values) > 16 {
		for _, v := range list {
			seen[v] = true
		}
	}
	for _, v := range values {
		if known := seen[v] || len(values) <= 16 && slices.Contains(list, v); v != "" && !known {
			list, seen[v] = append(list, v), true
		}
	}
	return list
}

// Normalize returns bytes as text for parsers: in UTF-8, without a byte order mark, and with a line feed at
// the end of each line.
func Normalize(data []byte) string {
	s := strings.TrimPrefix(string(FromUTF16(data)), "\ufeff")
	return strings.ToValidUTF8(lineEnds.Replace(s), "\ufffd")
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// FromUTF16 returns bytes in UTF-8 if a byte order mark shows that they are in UTF-16, as programs of
// Windows write it, else the bytes as they are.
func FromUTF16(data []byte) []byte {
	if out, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(data); err == nil {
		return out
	}
	return data
}
