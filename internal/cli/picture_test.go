package cli_test

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// The size of a picture's screen, in columns and rows, and of its cells, in pixels.
const (
	screenColumns, screenRows = 80, 25
	cellWidth, cellHeight     = 8.4, 19.0
	screenLeft, screenTop     = 16.0, 44.0
)

// palette has the colours of a picture: of the ground, the frame, the text and what is faint, and
// the eight of terminals, black first.
type palette struct {
	ground, frame, text, faint string
	eight                      [8]string
}

var (
	lightScreen = palette{"#ffffff", "#d0d7de", "#1f2328", "#59636e", [8]string{"#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#59636e"}}
	darkScreen  = palette{"#0d1117", "#3d444d", "#e6edf3", "#9198a1", [8]string{"#6e7681", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#f0f6fc"}}
)

// style is how a terminal shows a character.
type style struct {
	bold, faint, italic, underlined bool
	colour                          string // "" is that of the text
}

// run is a part of a row in one style, whose characters have the same width.
type run struct {
	style
	column, columns int
	wide            bool
	text            string
}

// rows lays out what a program has written to a terminal, which is known by its colours and breaks
// rows that are too long.
func (p palette) rows(output string) [][]run {
	var out [][]run
	for line := range strings.SplitSeq(strings.TrimRight(output, "\r\n"), "\n") {
		var now style
		row, column, kind := []run(nil), 0, -1
		for part := range strings.SplitSeq(strings.ReplaceAll(line, "\r", ""), "\x1b[") {
			if codes, text, escaped := strings.Cut(part, "m"); escaped && numbers.MatchString(codes) {
				now = p.styled(now, codes)
				part, kind = text, -1
			}
			for _, r := range part {
				width := visible.Columns(string(r))
				if column+width > screenColumns {
					out, row, column, kind = append(out, row), nil, 0, -1
				}
				// Fonts disagree about the width of what is not a letter.
				of := width
				if r > '~' && width == 1 {
					of = int(r)
				}
				if of != kind {
					row, kind = append(row, run{style: now, column: column, wide: width > 1}), of
				}
				last := &row[len(row)-1]
				last.text += string(r)
				last.columns += width
				column += width
			}
		}
		out = append(out, row)
	}
	return out
}

var numbers = regexp.MustCompile(`^[0-9;]*$`)

// styled returns a style after the codes of an escape sequence.
func (p palette) styled(now style, codes string) style {
	for code := range strings.SplitSeq(codes, ";") {
		switch n, _ := strconv.Atoi(cmp.Or(code, "0")); {
		case n == 0:
			now = style{}
		case n == 1:
			now.bold = true
		case n == 2:
			now.faint = true
		case n == 3:
			now.italic = true
		case n == 4:
			now.underlined = true
		case n == 22:
			now.bold, now.faint = false, false
		case n >= 30 && n <= 37:
			now.colour = p.eight[n-30]
		case n >= 90 && n <= 97:
			now.colour = p.eight[n-90]
		case n == 39:
			now.colour = ""
		default:
			panic("a picture does not know the escape code " + code) // the palette has to learn it
		}
	}
	return now
}

// draw returns rows as SVG, from a height on.
func (p palette) draw(rows [][]run) string {
	var b strings.Builder
	for i, row := range rows {
		for _, r := range row {
			if strings.TrimSpace(r.text) == "" {
				continue
			}
			attributes := ""
			if colour := r.colour; colour != "" || r.faint {
				attributes += fmt.Sprintf(` fill="%s"`, cmp.Or(colour, p.faint))
			}
			if r.wide {
				attributes += ` font-size="16"` // it fills its cells
			}
			if r.bold {
				attributes += ` font-weight="bold"`
			}
			if r.italic {
				attributes += ` font-style="italic"`
			}
			if r.underlined {
				attributes += ` text-decoration="underline"`
			}
			x, y := screenLeft+cellWidth*float64(r.column), screenTop+14+cellHeight*float64(i)
			fmt.Fprintf(&b, `<text x="%.1f" y="%.0f" textLength="%.1f"%s>%s</text>`+"\n", x, y, cellWidth*float64(r.columns), attributes, html.EscapeString(r.text))
		}
	}
	return b.String()
}

// picture returns a screen as an image of a window, with the styles and what is drawn in it.
func (p palette) picture(title string, height int, css, drawn string) string {
	width, whole := screenColumns*cellWidth+2*screenLeft, screenTop+cellHeight*float64(height)+14
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s">
<style>
svg { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
text { white-space: pre }
%s</style>
<rect x="0.5" y="0.5" width="%.0f" height="%.0f" rx="8" fill="%s" stroke="%s"/>
<g fill="%s"><circle cx="20" cy="20" r="6"/><circle cx="40" cy="20" r="6"/><circle cx="60" cy="20" r="6"/></g>
<g fill="%s">
%s</g>
</svg>
`, width, whole, width, whole, html.EscapeString(title), css, width-1, whole-1, p.ground, p.frame, p.frame, p.text, drawn)
}

// scenes returns the rows with which the scenes of the demo end, and that in which the person has decided at the
// first gate: a scene begins with what somebody says or does.
func scenes(rows [][]run) (ends []int, gate int) {
	for i, row := range rows {
		line := ""
		for _, r := range row {
			line += r.text
		}
		line = strings.TrimLeft(line, " │")
		if i > 0 && slices.ContainsFunc([]string{"🧑", "🤖", "📋", "📝"}, func(mark string) bool { return strings.HasPrefix(line, mark) }) {
			ends = append(ends, i)
		}
		if gate == 0 && strings.HasPrefix(line, "🧑 1") {
			gate = i + 2
		}
	}
	return append(ends, len(rows)), gate
}

// film returns a picture that shows the scenes of the demo one after the other, as long as they take to
// be skimmed: what comes later is covered. Where motion is not wanted it shows the first gate.
func (p palette) film(title, output string) string {
	rows := p.rows(output)
	ends, gate := scenes(rows)
	var lengths []float64
	total, begin := 5.0, 0
	for _, end := range ends {
		lengths = append(lengths, 0.5+0.09*float64(end-begin))
		total += lengths[len(lengths)-1]
		begin = end
	}
	move := func(end int) string { return fmt.Sprintf("transform: translateY(%.0fpx)", cellHeight*float64(end)) }
	var film, cover strings.Builder
	now := 0.0
	for i, end := range ends {
		fmt.Fprintf(&film, "%.2f%% { %s }\n", 100*now/total, move(min(0, screenRows-end)))
		fmt.Fprintf(&cover, "%.2f%% { %s }\n", 100*now/total, move(end))
		now += lengths[i]
	}
	css := fmt.Sprintf(`.film { animation: film %.1fs step-end infinite }
.cover { animation: cover %.1fs step-end infinite }
@keyframes film {
%s}
@keyframes cover {
%s}
@media (prefers-reduced-motion: reduce) { .film { animation: none; %s } .cover { animation: none; %s } }
`, total, total, film.String(), cover.String(), move(screenRows-gate), move(gate))
	drawn := fmt.Sprintf(`<clipPath id="screen"><rect x="1" y="%.0f" width="702" height="%.0f"/></clipPath>
<g clip-path="url(#screen)"><g class="film">
%s<rect class="cover" x="1" y="%.0f" width="702" height="%.0f" fill="%s"/>
</g></g>
`, screenTop+1, cellHeight*screenRows+4, p.draw(rows), screenTop, cellHeight*float64(len(rows)), p.ground)
	return p.picture(title, screenRows, css, drawn)
}
