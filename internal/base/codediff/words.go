package codediff

import (
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/textdiff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Label says in words what is special about a file; "" if its lines say all.
func (f File) Label(l lang.Language) string {
	var all []string
	add := func(text lang.Text) { all = append(all, text.In(l)) }
	switch f.Kind {
	case Added:
		add(lang.T("new"))
	case Deleted:
		add(lang.T("deleted"))
	case Renamed:
		add(lang.T("renamed from %s", visible.Line(f.From)))
	case ModeOnly, Modified:
	}
	switch f.Content {
	case Binary:
		add(lang.T("binary"))
	case Link:
		add(lang.T("link"))
	case Repository:
		add(lang.T("another repository"))
	case Large:
		add(lang.T("in Git LFS"))
	case Text:
	}
	switch f.Fold {
	case Generated:
		add(lang.T("generated"))
	case Vendored:
		add(lang.T("copied from elsewhere"))
	}
	switch f.Unread {
	case TooLarge:
		add(lang.T("too large to show"))
	case TooMuch:
		add(lang.T("left out: the files before it are already as much as is shown"))
	case Unreadable:
		add(lang.T("cannot be read"))
	}
	if f.OldMode != "" {
		add(lang.T("mode %s, was %s", f.NewMode, f.OldMode))
	}
	if f.Earlier {
		add(lang.T("with changes from before the work"))
	}
	if f.LineEnds {
		add(lang.T("other line ends"))
	}
	return strings.Join(all, ", ")
}

// contextLines is the number of unchanged lines around a change.
const contextLines = 3

// Patch writes the list of files, then their changes as far as they fit into a number of bytes, or the lines of one file.
// more is the number of files whose changes are left out.
func (c Changes) Patch(l lang.Language, one string, room int) (text string, more int) {
	var b strings.Builder
	if one == "" {
		fmt.Fprintf(&b, "%s, +%d -%d\n", l.Count(len(c.Files)+c.More, "file"), c.Added, c.Removed)
		for i, f := range c.Files {
			line := f.line(l)
			if b.Len()+len(line) > room/2 {
				fmt.Fprintf(&b, "%s\n", l.Say("and %s more", l.Count(len(c.Files)-i+c.More, "file")))
				break
			}
			b.WriteString(line)
		}
	}
	for _, f := range c.Files {
		isAsked := f.Path == one
		if one == "" {
			isAsked = f.Fold == ""
		}
		if !isAsked || !f.HasRows() {
			continue
		}
		if part := f.patch(l); one != "" || b.Len()+len(part) <= room {
			b.WriteString(part)
		} else {
			more++
		}
	}
	return visible.Text(b.String()), more
}

// line is the line of a file in the list.
func (f File) line(l lang.Language) string {
	out := visible.Line(f.Path)
	if f.HasRows() {
		out += fmt.Sprintf(" +%d -%d", f.Added, f.Removed)
	}
	if label := f.Label(l); label != "" {
		out += " (" + label + ")"
	}
	return out + "\n"
}

// patch writes the changed lines of a file with their neighbours.
func (f File) patch(l lang.Language) string {
	var b strings.Builder
	b.WriteString("\n--- " + f.line(l))
	for _, h := range textdiff.Fold(f.Rows(), contextLines) {
		if h.Folded {
			continue
		}
		fmt.Fprintf(&b, "@@ -%d +%d @@\n", h.Rows[0].Before, h.Rows[0].After)
		for _, r := range h.Rows {
			switch {
			case r.Kind == textdiff.Same:
				writeLine(&b, " ", r.Right)
				continue
			case r.Before > 0:
				writeLine(&b, "-", r.Left)
			}
			if r.After > 0 {
				writeLine(&b, "+", r.Right)
			}
		}
	}
	return b.String()
}

// longLine is the most of a line that is written, in bytes.
const longLine = 500

func writeLine(b *strings.Builder, sign string, spans []textdiff.Span) {
	text := ""
	for _, s := range spans {
		text += s.Text
	}
	b.WriteString(sign + visible.Fit(strings.TrimRight(text, "\r\n"), longLine) + "\n")
}
