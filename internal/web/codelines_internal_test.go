package web

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
)

// drawLine writes a line with its classes in brackets, and changed parts in braces.
func drawLine(t codeText) string {
	var b strings.Builder
	for _, p := range t.Parts {
		if p.Changed {
			b.WriteByte('{')
		}
		for _, token := range p.Tokens {
			if token.Class != "" {
				b.WriteString("[" + token.Class + " " + token.Text + "]")
			} else {
				b.WriteString(token.Text)
			}
		}
		if p.Changed {
			b.WriteByte('}')
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestColours lays the colours of a language over the marks of changed words.
func TestColours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, before, after, want string }{
		{"a word", "a.go", "return err\n", "return nil\n", "[k return] {[k nil]}"},
		{"half a token", "a.go", "x = \"one two\"\n", "x = \"one three\"\n", "x = [t \"one ]{[t three]}[t \"]"},
		{"a comment over lines", "a.go", "/*\nreturn one\n*/\n", "/*\nreturn two\n*/\n", "[c return ]{[c two]}"},
		{"the name of a file", "Dockerfile", "FROM a\n", "FROM b\n", "[k FROM] {b}"},
		{"another language", "a.unknown", "return err\n", "return nil\n", "return {nil}"},
		{"Chinese", "a.py", "x = '旧 值'\n", "x = '新 值'\n", "x = [t ']{[t 新]}[t  值']"},
		{"bytes that are no text", "a.go", "return \"\xff\xfe\" + a\n", "return \"\xff\xfe\" + b\n", "[k return] [t \"\xff\xfe\"] + {b}"},
	} {
		rows := textdiff.Rows(c.before, c.after)
		p := newPainter(c.file, rows)
		got := ""
		for _, r := range rows {
			if r.Kind == textdiff.Changed {
				got = drawLine(p.paint(r).Right)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// FuzzColours: whatever the code, each line is there as it was, up to its bound.
func FuzzColours(f *testing.F) {
	for _, name := range []string{"a.go", "a.py", "a.html", "a.sql", "Makefile"} {
		f.Add(name, "/*\n'a\\\n", "\"\"\"\n`b\r\nc\n\xff")
	}
	f.Fuzz(func(t *testing.T, name, before, after string) {
		rows := textdiff.Rows(before, after)
		p := newPainter(name, rows)
		for _, r := range rows {
			painted := p.paint(r)
			for _, side := range []struct {
				spans []textdiff.Span
				line  codeText
			}{{r.Left, painted.Left}, {r.Right, painted.Right}} {
				want, got := "", ""
				for _, s := range side.spans {
					want += s.Text
				}
				for _, part := range side.line.Parts {
					for _, token := range part.Tokens {
						got += token.Text
					}
				}
				if !strings.HasPrefix(want, got) || len(want)-len(got) != side.line.Cut {
					t.Errorf("%q is painted as %q, and %d bytes more", want, got, side.line.Cut)
				}
			}
		}
	})
}
