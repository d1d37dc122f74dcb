package words

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

const (
	// digestLines is how long the message at a gate is at most: a person gives a decision
	// seconds, and reads no second screen for it.
	digestLines = 15
	// chatColumns is how wide a line of the chat is there, lineColumns an item of a list in one
	// line, itemColumns one in two.
	chatColumns = 76
	lineColumns = chatColumns - 2
	itemColumns = 2*chatColumns - 10
	// formColumns is how wide each of the first lines of a form is at most: Claude Code 2.1
	// cuts them there in a terminal of 80 columns.
	formColumns = 74
	// goalColumns is how much of the objective reminds the person which work it is.
	goalColumns = 60
)

// digest is what a person needs for a decision, before they read the document itself.
type digest struct {
	lang.Language
	lines []digestLine
	lists []digestList
}

type digestLine struct {
	text string
	// spare lines give way to the lists where room is short.
	spare bool
}

type digestList struct {
	title string
	items []string
}

// add adds a line that must be there, spare one that need not; neither adds an empty one.
func (d *digest) add(text string) { d.put(text, false) }

func (d *digest) spare(text string) { d.put(text, true) }

func (d *digest) put(text string, spare bool) {
	if text != "" {
		d.lines = append(d.lines, digestLine{text, spare})
	}
}

// list adds what the server says line by line.
func (d *digest) list(title string, items []string) {
	if len(items) > 0 {
		d.lists = append(d.lists, digestList{title, items})
	}
}

// quote adds what the assistant has written line by line.
func (d *digest) quote(title string, items []string) {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = Quoted(item, 300)
	}
	d.list(title, quoted)
}

// render returns the digest in at most room lines of the given size, as far as its lists and spare lines give
// way: the ends of the lists first, then the spare lines, then the ends of the items, and
// last that of the first item, which is the worst.
func (d digest) render(room int, size func(string) int) string {
	ways := []digestWay{
		{most: 3, first: itemColumns, next: itemColumns, spare: true}, {most: 2, first: itemColumns, next: itemColumns},
		{most: 1, first: itemColumns, next: lineColumns}, {most: 1, first: lineColumns, next: lineColumns},
	}
	for _, way := range ways {
		least := way.most
		for way.most = 10; way.most >= least; way.most-- {
			if text := d.with(way); size(text) <= room {
				return text
			}
		}
	}
	return d.with(ways[len(ways)-1])
}

// digestWay is how much of a digest is shown: so many items of a list at most, the first
// and the next ones so wide at most, and the spare lines.
type digestWay struct {
	most, first, next int
	spare             bool
}

// lines returns how many lines a text has.
func lines(text string) int { return strings.Count(text, "\n") + 1 }

// rows returns how many lines of the chat a text takes, broken between words where it is
// wider than the chat.
func rows(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		used := 0
		for _, word := range strings.Fields(unmarked.Replace(line)) {
			width := visible.Columns(word)
			if used > 0 && used+1+width > chatColumns {
				n, used = n+1, 0
			} else if used > 0 {
				used++
			}
			used += width
			n, used = n+(used-1)/chatColumns, (used-1)%chatColumns+1 // a word without an end
		}
	}
	return n
}

// unmarked takes out the marks of Markdown, which a chat does not show.
var unmarked = strings.NewReplacer("**", "", "`", "")

// Cut cuts a text as visible.Cut does, between words where the script has any.
func Cut(text string, columns int, end string) string {
	short := visible.Cut(text, columns, end)
	if short == text {
		return text
	}
	short = strings.TrimSuffix(short, end)
	if at := strings.LastIndexByte(short, ' '); text[len(short)] != ' ' && at > len(short)*3/4 {
		short = short[:at]
	}
	return strings.TrimRight(short, " ,;:") + end
}

func (d digest) with(way digestWay) string {
	var b strings.Builder
	for _, line := range d.lines {
		if way.spare || !line.spare {
			b.WriteString("\n" + line.text)
		}
	}
	for _, list := range d.lists {
		b.WriteString("\n" + list.title)
		for i, item := range list.items {
			if i == way.most && len(list.items) > way.most+1 {
				b.WriteString("\n- " + d.Say("… and %d more", len(list.items)-i))
				break
			}
			columns, end := way.next, "…"
			if i == 0 {
				columns = way.first
			}
			if strings.HasSuffix(item, "”") {
				end = "…”"
			}
			b.WriteString("\n- " + Cut(item, columns, end))
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}
