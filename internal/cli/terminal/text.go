package terminal

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
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

// Table prints rows, with the last column cut to the width of the terminal.
func (t *Terminal) Table(header []string, rows [][]string) error {
	if t.Pretty() {
		return t.printGrid(header, rows, true)
	}
	last := len(header) - 1
	used := 0
	for column := range last {
		widest := visible.Columns(header[column])
		for _, row := range rows {
			row[column] = visible.Cut(row[column], maxCell, "…")
			widest = max(widest, visible.Columns(row[column]))
		}
		used += widest + 2
	}
	for _, row := range rows {
		row[last] = visible.Cut(row[last], max(t.Width(widestLine)-used-1, 20), "…")
	}
	return t.Columns(header, rows)
}

// maxCell bounds a column before the last, in columns of the terminal.
const maxCell = 44

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

// Columns prints rows of equal length as an aligned table. A Chinese character counts as two columns. The
// header may be nil.
func (t *Terminal) Columns(header []string, rows [][]string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = joinLines(row[i])
		}
	}
	if t.Pretty() {
		return t.printGrid(header, rows, false)
	}
	if header != nil {
		rows = slices.Concat([][]string{header}, rows)
	}
	widths := columnWidths(rows)
	for _, row := range rows {
		if _, err := fmt.Fprintln(t.Out, alignRow(row, widths)); err != nil {
			return err
		}
	}
	return nil
}

// columnWidths returns the widths of columns.
func columnWidths(rows [][]string) (widths []int) {
	for _, row := range rows {
		widths = append(widths, make([]int, max(len(row)-len(widths), 0))...)
		for i, cell := range row {
			widths[i] = max(widths[i], visible.Columns(cell))
		}
	}
	return widths
}

// alignRow returns the line of a row.
func alignRow(row []string, widths []int) (line string) {
	for i, cell := range row {
		if line += cell; i < len(row)-1 {
			line += strings.Repeat(" ", widths[i]-visible.Columns(cell)+2)
		}
	}
	return line
}

// printGrid prints a table within the width of the terminal. A last column without room is wrapped, or with
// cut, cut to whole words. Other columns without room follow below the row, each after the heading.
func (t *Terminal) printGrid(header []string, rows [][]string, cut bool) error {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = strings.TrimRight(strings.ReplaceAll(visible.Text(cell), "\n", " "), " ")
		}
	}
	widths, room, shown := columnWidths(slices.Concat([][]string{header}, rows)), t.Width(narrow), 0
	for last := len(widths) - 1; shown <= last; shown++ {
		if shown < last {
			widths[shown] = min(widths[shown], maxCell)
		}
		if wide := widths[shown] > room; wide && (shown < last || room < 20 || !cut && tearsWord(rows, room)) {
			break
		}
		widths[shown] = min(widths[shown], room)
		room -= widths[shown] + 2
	}
	shown = max(shown, 1)
	if header != nil {
		t.Styled(Bold, alignRow(header[:shown], widths))
	}
	for _, row := range rows {
		lines := visible.Fold(row[shown-1], widths[shown-1])
		if cut {
			lines = []string{visible.Shorten(row[shown-1], widths[shown-1], "…")}
		}
		begin := ""
		for i, cell := range row[:shown-1] {
			begin += alignRow([]string{visible.Shorten(cell, widths[i], "…"), ""}, widths[i:])
		}
		text := begin + strings.Join(lines, "\n"+strings.Repeat(" ", visible.Columns(begin)))
		t.Styled(styleOf(row[:shown]), strings.TrimRight(text, " "))
		t.printBelow(header, row, shown)
	}
	return nil
}

// tearsWord reports whether a word of the last column is wider than its room.
func tearsWord(rows [][]string, room int) bool {
	return slices.ContainsFunc(rows, func(row []string) bool {
		return slices.Max(columnWidths([][]string{visible.Fold(row[len(row)-1], room)})) > room
	})
}

// printBelow prints the columns of a row that are too wide to stand beside the others.
func (t *Terminal) printBelow(header, row []string, shown int) {
	var more, commands []string
	for i := shown; i < len(row); i++ {
		switch {
		case row[i] == "":
		case strings.HasPrefix(row[i], "bmad-mcp "): // a command is to be copied
			commands = append(commands, "    "+row[i])
		case header == nil:
			more = append(more, row[i])
		default:
			more = append(more, strings.ToLower(header[i])+": "+row[i])
		}
	}
	if len(more) > 0 {
		t.Styled("", "    "+strings.Join(more, " · "))
	}
	if len(commands) > 0 {
		t.Styled(Cyan, strings.Join(commands, "\n"))
	}
}

// styleOf returns the style of a row, by the state in it.
func styleOf(row []string) string {
	for _, cell := range row {
		switch state := workflow.State(cell); {
		case state.WaitsForHuman():
			return Yellow
		case state == workflow.Completed:
			return Green
		case state == workflow.Cancelled:
			return Dim
		}
	}
	return ""
}

// Widths of a table, in columns, on an unknown terminal: for a program, and for a person.
const (
	widestLine = 160
	narrow     = 80
)
