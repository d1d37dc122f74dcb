package words

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

const (
	// digestLines is the most lines of the message at a gate: a person gives a decision
	// seconds, and reads no second screen for it.
	digestLines = 15
	// chatColumns is the width of a line of the chat there, lineColumns an item of a list in one
	// line, itemColumns one in two.
	chatColumns = 76
	lineColumns = chatColumns - 2
	itemColumns = 2*chatColumns - 10
	// formColumns is the greatest width of each of the first lines of a form: Claude Code 2.1
	// cuts them there in a terminal of 80 columns.
	formColumns = 73
	// goalColumns is the width of the objective, as a reminder of the work.
	goalColumns = 60
)

// digest has the facts that a person needs for a decision, before they read the document itself.
type digest struct {
	lang.Language
	lines []digestLine
	lists []digestList
}

type digestLine struct {
	text string
	// spare lines give way to the lists if room is short.
	spare bool
}

type digestList struct {
	title string
	items []string
}

// add adds a required line, addSpare an optional line. Empty lines are not added.
func (d *digest) add(text string) { d.addLine(text, false) }

func (d *digest) addSpare(text string) { d.addLine(text, true) }

func (d *digest) addLine(text string, spare bool) {
	if text != "" {
		d.lines = append(d.lines, digestLine{text, spare})
	}
}

// addList adds the server's own words, line by line.
func (d *digest) addList(title string, items []string) {
	if len(items) > 0 {
		d.lists = append(d.lists, digestList{title, items})
	}
}

// addQuoted adds the assistant's words, line by line.
func (d *digest) addQuoted(title string, items []string) {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = Quoted(item, 300)
	}
	d.addList(title, quoted)
}

// render returns the digest in at most room lines of the given size, as far as it can be shortened: first the ends
// of the lists go, then the spare lines, then the ends of the items, and last the end of the first item, which is
// the worst.
func (d digest) render(room int, size func(string) int) string {
	ways := []digestWay{
		{most: 3, first: itemColumns, next: itemColumns, spare: true}, {most: 2, first: itemColumns, next: itemColumns},
		{most: 1, first: itemColumns, next: lineColumns}, {most: 1, first: lineColumns, next: lineColumns},
	}
	for _, way := range ways {
		least := way.most
		for way.most = 10; way.most >= least; way.most-- {
			if text := d.renderWith(way); size(text) <= room {
				return text
			}
		}
	}
	return d.renderWith(ways[len(ways)-1])
}

// digestWay is the extent of a digest: so many items of a list at most, the first
// and the next ones so wide at most, and the spare lines.
type digestWay struct {
	most, first, next int
	spare             bool
}

func countLines(text string) int { return strings.Count(text, "\n") + 1 }

// countRows returns how many lines of the chat a text takes, broken between words if it is
// wider than the chat.
func countRows(text string) int { return len(visible.Wrap(unmarked.Replace(text), chatColumns)) }

// unmarked takes out the marks of Markdown, which a chat does not show.
var unmarked = strings.NewReplacer("**", "", "`", "")

func (d digest) renderWith(way digestWay) string {
	var b strings.Builder
	for _, line := range d.lines {
		if way.spare || !line.spare {
			b.WriteString("\n" + line.text)
		}
	}
	for n, list := range d.lists {
		if n > 0 {
			b.WriteString("\n") // else Markdown takes the title for a part of the last item
		}
		if n > 0 && len(list.items) == 1 { // as short as the empty line is
			b.WriteString("\n" + cutItem(list.title+" "+list.items[0], way.next))
			continue
		}
		b.WriteString("\n" + list.title)
		for i, item := range list.items {
			if i == way.most && len(list.items) > way.most+1 {
				b.WriteString("\n- " + d.Say("… and %d more", len(list.items)-i))
				break
			}
			columns := way.next
			if i == 0 {
				columns = way.first
			}
			b.WriteString("\n- " + cutItem(item, columns))
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// cutItem cuts an item, which may end with a quotation.
func cutItem(item string, columns int) string {
	if strings.HasSuffix(item, "”") {
		return visible.Shorten(item, columns, "…”")
	}
	return visible.Shorten(item, columns, "…")
}
