package markdown

import "slices"

// Title returns the heading of the document as a whole, and the index, or -1: the first one, if no other
// heading is on the same level.
func (d *Document) Title() (string, int) {
	if len(d.Heads) == 0 || d.Heads[0].Level != 1 {
		return "", -1
	}
	for _, h := range d.Heads[1:] {
		if h.Level == 1 {
			return d.Heads[0].Text, -1
		}
	}
	return d.Heads[0].Text, 0
}

// Sections returns the headings with one of the names, except for the title.
func (d *Document) Sections(names []string) []Heading {
	var out []Heading
	_, title := d.Title()
	for i, h := range d.Heads {
		if i != title && MatchesName(h.Name, names) {
			out = append(out, h)
		}
	}
	return out
}

// Omissions are the names, as [NameOf] gives them, of sections with parts left unbuilt. Words from names of features, too ("Save for
// later"), only count as a whole heading.
var Omissions = []string{
	"out of scope", "not in scope", "nongoals", "won t have", "=left out",
	"=later", "=for later", "=later releases", "=later versions", "=future", "=future work", "=future scope", "=future releases", "=future versions", "=backlog",
	"范围之外", "范围外", "不在范围", "=超出范围", "=不做", "=不做什么", "=不包含", "=不包括", "=不实现", "=暂不", "暂不实现", "暂不支持", "暂不包含",
	"=后续", "=后续版本", "=后续迭代", "=后续规划", "=后续计划", "=以后", "=以后版本", "=未来", "=未来版本", "=未来规划", "=未来工作",
}

// LinesOf returns for each line whether it belongs to one of the sections.
func (d *Document) LinesOf(sections []Heading) []bool {
	out := make([]bool, len(d.Lines))
	for _, h := range sections {
		for i := h.Line; i < h.End; i++ {
			out[i] = true
		}
	}
	return out
}

// HeadsIn returns the headings between two lines.
func (d *Document) HeadsIn(from, to int) []Heading {
	first, _ := slices.BinarySearchFunc(d.Heads, from, func(h Heading, line int) int { return h.Line - line })
	last, _ := slices.BinarySearchFunc(d.Heads, to, func(h Heading, line int) int { return h.Line - line })
	return d.Heads[first:max(first, last)]
}
