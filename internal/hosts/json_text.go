package hosts

import (
	"bytes"
	"strings"

	"github.com/tailscale/hujson"
)

// style is how a file is laid out.
type style struct{ indent, newline string }

// pair is a member of an object. Its value is JSON, in a style, for where the member
// stands at a depth.
type pair struct {
	key   string
	value func(s style, depth int) string
}

// style returns how the document is laid out: by its first member that stands on a line
// of its own.
func (d *document) style() style {
	s := style{indent: "  ", newline: "\n"}
	if bytes.Contains(d.text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if len(d.root.Members) > 0 {
		if _, indent, own := lastLine(d.root.Members[0].Name.BeforeExtra); own && indent != "" {
			s.indent = indent
		}
	}
	return s
}

// lastLine returns what stands on the last line of a text, and whether there is a line
// before.
func lastLine(extra []byte) (before, last string, own bool) {
	text := string(extra)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return "", text, false
}

// line begins a line at a depth. Without a newline, all of an object is on one.
func (s style) line(depth int) string { return s.newline + strings.Repeat(s.indent, depth) }

// inline is for an object that stands on one line.
var inline = style{}

// object returns an object whose members stand one to a line, at depth+1.
func (s style) object(depth int, pairs []pair) string {
	separator := ","
	if s == inline {
		separator = ", "
	}
	lines := make([]string, len(pairs))
	for i, p := range pairs {
		lines[i] = s.line(depth+1) + quoted(p.key) + ": " + p.value(s, depth+1)
	}
	return "{" + strings.Join(lines, separator) + s.line(depth) + "}"
}

// literal is a value that looks the same in every style.
func literal(text string) func(style, int) string {
	return func(style, int) string { return text }
}

// splice returns the whole text with a part of it replaced.
func (d *document) splice(from, to int, by string) []byte {
	out := append([]byte{}, d.mark...)
	out = append(out, d.text[:from]...)
	out = append(out, by...)
	return append(out, d.text[to:]...)
}

// insert returns the text with a member behind the others of an object that ends at end
// and whose brace stands at a depth: on a line of its own, or on the one that all of them
// stand on. Comments stay with what they stand beside.
func (d *document) insert(o *hujson.Object, end, depth int, s style, p pair) []byte {
	brace := end - 1
	at := len(bytes.TrimRight(d.text[:brace], " \t\r\n"))
	closing := string(d.text[at:brace])
	text := func(s style) string { return s.line(depth+1) + quoted(p.key) + ": " + p.value(s, depth+1) }
	if len(o.Members) == 0 {
		return d.splice(at, brace, text(s)+s.line(depth))
	}
	last := o.Members[len(o.Members)-1].Value
	switch {
	case !strings.Contains(closing, "\n") && last.AfterExtra != nil: // {"a": 1,}
		return d.splice(at, at, " "+text(inline)+",")
	case !strings.Contains(closing, "\n"):
		return d.splice(at, at, ", "+text(inline))
	case last.AfterExtra != nil:
		return d.splice(at, at, text(s)+",")
	}
	return d.splice(last.EndOffset, at, ","+string(d.text[last.EndOffset:at])+text(s))
}

// cut returns the text without a member of an object that ends at end.
func (d *document) cut(o *hujson.Object, m *hujson.ObjectMember, end int) []byte {
	i := 0
	for i = range o.Members {
		if &o.Members[i] == m {
			break
		}
	}
	brace := end - 1
	start, stop := m.Name.StartOffset, m.Value.EndOffset
	before := len(bytes.TrimRight(d.text[:start], " \t\r\n")) // the end of what stands in front
	switch {
	case len(o.Members) == 1:
		// Comments in front stay; the object is what it was before.
		if rest := bytes.TrimSpace(d.text[stop:brace]); len(rest) > 0 && !bytes.Equal(rest, []byte(",")) || d.text[before-1] != '{' {
			return d.splice(before, stop, "")
		}
		return d.splice(before, brace, "")
	case i == len(o.Members)-1 && m.Value.AfterExtra == nil:
		// The comma in front goes with it, and what stood behind that comma stays.
		previous := o.Members[i-1].Value
		comma := previous.EndOffset + len(previous.AfterExtra)
		out := d.splice(before, stop, "")
		return append(out[:len(d.mark)+comma], out[len(d.mark)+comma+1:]...)
	default:
		comma := stop + len(m.Value.AfterExtra) + 1
		return d.splice(before, comma, "")
	}
}
