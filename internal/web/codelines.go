package web

import (
	"context"
	"io"
	"path"
	"strings"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown/render"
	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// maxCodeLine bounds one line on a page of code, in bytes.
const maxCodeLine = 2000

// codeRow is a row of two versions with the colours of the language.
type codeRow struct {
	Kind          textdiff.Kind
	Before, After int
	Left, Right   codeText
}

// codeText is a line of code; Cut counts the bytes left out.
type codeText struct {
	Parts []codePart
	Cut   int
}

// Render writes the line. A template would put white space between the parts.
func (t codeText) Render(_ context.Context, w io.Writer) error {
	var b strings.Builder
	for _, p := range t.Parts {
		if p.Changed {
			b.WriteString("<mark>")
		}
		for _, token := range p.Tokens {
			if token.Class == "" {
				b.WriteString(templ.EscapeString(token.Text))
			} else {
				b.WriteString(`<span class="` + token.Class + `">` + templ.EscapeString(token.Text) + "</span>")
			}
		}
		if p.Changed {
			b.WriteString("</mark>")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// codePart is a part of a line that has changed, or has not.
type codePart struct {
	Changed bool
	Tokens  []codeToken
}

// codeToken is a text of one class, as the renderer of documents names them; "" has no colour.
type codeToken struct{ Class, Text string }

// codeLanguage returns the language of a file by its name.
func codeLanguage(name string) string {
	if ext := path.Ext(name); ext != "" {
		return ext[1:]
	}
	return path.Base(name)
}

// painter colours the rows of a file. The tokens of each version are by line, as they may go over several.
type painter struct{ before, after [][]codeToken }

func newPainter(name string, rows []textdiff.Row) *painter {
	var before, after strings.Builder
	write := func(b *strings.Builder, line int, spans []textdiff.Span) {
		if line == 0 {
			return
		}
		for _, s := range spans {
			b.WriteString(strings.TrimSuffix(s.Text, "\n"))
		}
		b.WriteByte('\n')
	}
	for _, r := range rows {
		write(&before, r.Before, r.Left)
		write(&after, r.After, r.Right)
	}
	language := codeLanguage(name)
	return &painter{tokensOf(language, before.String()), tokensOf(language, after.String())}
}

// tokensOf returns the tokens of each line of code.
func tokensOf(language, code string) [][]codeToken {
	out := [][]codeToken{nil}
	render.ScanCode(language, code, func(class, part string) {
		for line := range strings.Lines(part) {
			text := strings.TrimSuffix(line, "\n")
			last := len(out) - 1
			out[last] = append(out[last], codeToken{class, text})
			if text != line {
				out = append(out, nil)
			}
		}
	})
	return out
}

// paint colours a row.
func (p *painter) paint(r textdiff.Row) codeRow {
	out := codeRow{Kind: r.Kind, Before: r.Before, After: r.After}
	out.Left = paintLine(r.Kind, r.Left, tokensAt(p.before, r.Before))
	out.Right = paintLine(r.Kind, r.Right, tokensAt(p.after, r.After))
	return out
}

func tokensAt(lines [][]codeToken, n int) []codeToken {
	if n < 1 || n > len(lines) {
		return nil
	}
	return lines[n-1]
}

// paintLine lays the tokens over the spans of a line, and cuts a line that is too long for a page. Words are marked
// beside the line that they differ from: in a new line all are new.
func paintLine(kind textdiff.Kind, spans []textdiff.Span, tokens []codeToken) (out codeText) {
	room, used := maxCodeLine, 0 // used is how much of the first token is laid
	for _, s := range spans {
		head := visible.Head(s.Text, room)
		out.Cut += len(s.Text) - len(head)
		room -= len(head)
		part := codePart{Changed: s.Changed && kind == textdiff.Changed}
		for head != "" {
			for len(tokens) > 0 && used == len(tokens[0].Text) {
				tokens, used = tokens[1:], 0
			}
			class, n := "", len(head)
			if len(tokens) > 0 {
				class = tokens[0].Class
				n = min(n, len(tokens[0].Text)-used)
			}
			part.Tokens = append(part.Tokens, codeToken{class, head[:n]})
			head, used = head[n:], used+n
		}
		if len(part.Tokens) > 0 {
			out.Parts = append(out.Parts, part)
		}
	}
	return out
}
