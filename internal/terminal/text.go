package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// Plain removes the emphasis of Markdown for chat windows.
func Plain(markdown string) string {
	return strings.NewReplacer("**", "", " _(", " (", ")_", ")").Replace(markdown)
}

// ShellWord quotes a text for a shell if it needs that, for example one with a space.
func ShellWord(text string) string {
	if text != "" && strings.IndexFunc(text, func(r rune) bool {
		plain := r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
		return !plain && !strings.ContainsRune("-_./:", r)
	}) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// JoinWords puts commas between words.
func JoinWords(words []string) string { return strings.Join(words, ", ") }

// OneLine puts a text into one line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Indent puts two spaces before each line.
func Indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// Table prints rows whose last column is cut to the width of the terminal.
func (t *Terminal) Table(header []string, rows [][]string) error {
	width := t.Width(widestLine)
	last := len(header) - 1
	used := 0
	for column := range last {
		widest := visible.Columns(header[column])
		for _, row := range rows {
			row[column] = visible.Cut(row[column], 44, "…")
			widest = max(widest, visible.Columns(row[column]))
		}
		used += widest + 2
	}
	for _, row := range rows {
		row[last] = visible.Cut(row[last], max(width-used-1, 20), "…")
	}
	return Columns(t.Out, slices.Concat([][]string{header}, rows))
}

// List prints a list: the value for a program, else a table, or a sentence if there are no rows.
func (t *Terminal) List(forProgram bool, v any, none lang.Text, header []string, rows [][]string) error {
	switch {
	case forProgram:
		return t.PrintJSON(v)
	case len(rows) == 0:
		_, err := fmt.Fprintln(t.Out, none.In(t.Lang))
		return err
	}
	return t.Table(header, rows)
}

// Columns prints rows of equal length so that their cells align on a terminal, which draws a
// character of Chinese two columns wide.
func Columns(out io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		widths = append(widths, make([]int, max(len(row)-len(widths), 0))...)
		for i, cell := range row {
			widths[i] = max(widths[i], visible.Columns(cell))
		}
	}
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			row[i] = cell + strings.Repeat(" ", widths[i]-visible.Columns(cell)+2)
		}
		if _, err := fmt.Fprintln(out, strings.Join(row, "")); err != nil {
			return err
		}
	}
	return nil
}

// widestLine is the width of a table, in columns, if that of the terminal is not known.
const widestLine = 160
