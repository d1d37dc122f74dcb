package hosts

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// style is the layout of a file.
type style struct{ indent, newline string }

// pair is a member of an object. value returns the JSON text in a style, for a member at a depth.
type pair struct {
	key   string
	value func(s style, depth int) string
}

// findStyle returns the layout of the document, by the first member on a line of its own.
func (d *jsonDocument) findStyle() style {
	s := style{indent: "  ", newline: "\n"}
	if bytes.Contains(d.text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if len(d.root.Members) > 0 {
		if line, own := lastLine(d.root.Members[0].Name.BeforeExtra); own {
			if indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; indent != "" {
				s.indent = indent
			}
		}
	}
	return s
}

// lastLine returns the last line of a text, and whether there is a line before it.
func lastLine(extra []byte) (last string, own bool) {
	i := bytes.LastIndexByte(extra, '\n')
	return string(extra[i+1:]), i >= 0
}

// beginLine begins a line at a depth. If the style has no newline, all of an object stands on one line.
func (s style) beginLine(depth int) string { return s.newline + strings.Repeat(s.indent, depth) }

// inline is the style of an object on one line.
var inline = style{}

// formatObject returns an object whose members stand one to a line, at depth+1.
func (s style) formatObject(depth int, pairs []pair) string {
	separator := ","
	if s == inline {
		separator = ", "
	}
	lines := make([]string, len(pairs))
	for i, p := range pairs {
		lines[i] = s.beginLine(depth+1) + quoteText(p.key) + ": " + p.value(s, depth+1)
	}
	return "{" + strings.Join(lines, separator) + s.beginLine(depth) + "}"
}

// fixedValue returns a value that is the same in every style.
func fixedValue(text string) func(style, int) string {
	return func(style, int) string { return text }
}

// replacePart returns the whole text with a part of it replaced.
func (d *jsonDocument) replacePart(from, to int, by string) []byte {
	out := append([]byte{}, d.mark...)
	out = append(out, d.text[:from]...)
	out = append(out, by...)
	return append(out, d.text[to:]...)
}

// insertMember returns the text with a member behind the others of an object that ends at end and whose brace
// stands at a depth. The member gets a line, unless all of them stand on one. Comments stay with their
// neighbours.
func (d *jsonDocument) insertMember(o *hujson.Object, end, depth int, s style, p pair) []byte {
	brace := end - 1
	at := len(bytes.TrimRight(d.text[:brace], " \t\r\n"))
	closing := string(d.text[at:brace])
	text := func(s style) string { return s.beginLine(depth+1) + quoteText(p.key) + ": " + p.value(s, depth+1) }
	if len(o.Members) == 0 {
		return d.replacePart(at, brace, text(s)+s.beginLine(depth))
	}
	last := o.Members[len(o.Members)-1].Value
	switch {
	case !strings.Contains(closing, "\n") && last.AfterExtra != nil: // {"a": 1,}
		return d.replacePart(at, at, " "+text(inline)+",")
	case !strings.Contains(closing, "\n"):
		return d.replacePart(at, at, ", "+text(inline))
	case last.AfterExtra != nil:
		return d.replacePart(at, at, text(s)+",")
	}
	return d.replacePart(last.EndOffset, at, ","+string(d.text[last.EndOffset:at])+text(s))
}

// cutMember returns the text without a member of an object from start to end. Comments stay, each on its line.
func (d *jsonDocument) cutMember(o *hujson.Object, m *hujson.ObjectMember, start, end int) []byte {
	i := slices.IndexFunc(o.Members, func(other hujson.ObjectMember) bool { return other.Name.StartOffset == m.Name.StartOffset })
	alone, last := len(o.Members) == 1, i == len(o.Members)-1
	from, to := m.Name.StartOffset, m.Value.EndOffset
	trailing := !last || m.Value.AfterExtra != nil // a comma follows
	if trailing {
		to += len(m.Value.AfterExtra) + 1
	}
	if alone && !hasComment(m.Name.BeforeExtra, m.Value.AfterExtra, o.AfterExtra) {
		return d.replacePart(start+1, end-1, "")
	}
	from = len(bytes.TrimRight(d.text[:from], " \t\r\n"))
	if hasLineComment(m.Name.BeforeExtra) {
		// The line in front has a comment at the end, which must not reach further.
		from = bytes.LastIndexByte(d.text[:m.Name.StartOffset], '\n') + 1
		if rest := bytes.TrimLeft(d.text[to:], " \t\r"); len(rest) > 0 && rest[0] == '\n' {
			to = len(d.text) - len(rest) + 1
		}
	}
	out := d.replacePart(from, to, "")
	if last && !trailing && !alone {
		// The comma in front goes with it, and the text behind the comma stays.
		previous := o.Members[i-1].Value
		comma := len(d.mark) + previous.EndOffset + len(previous.AfterExtra)
		out = slices.Delete(out, comma, comma+1)
	}
	return out
}

// hasLineComment reports whether the text between two values ends in a line comment, ignoring spaces.
func hasLineComment(extra hujson.Extra) bool {
	inBlock := false
	last := false
	for rest := string(extra); rest != ""; {
		switch {
		case inBlock:
			_, after, _ := strings.Cut(rest, "*/")
			rest, inBlock, last = after, false, false
		case strings.HasPrefix(rest, "/*"):
			rest, inBlock = rest[2:], true
		case strings.HasPrefix(rest, "//"):
			_, rest, _ = strings.Cut(rest, "\n")
			last = true
		default:
			rest = rest[1:]
		}
	}
	return last
}
