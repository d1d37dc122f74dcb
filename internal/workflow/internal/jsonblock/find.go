// Package jsonblock finds the objects of JSON that a model writes into a text, and reads them.
//
// An object stands in a fence or bare, on lines of its own; a caller may also ask for objects inside a line. An
// invalid one is repaired as models break JSON, but never one that breaks off. No byte is read more than a few
// times, whatever the text is.
package jsonblock

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Block is an object of JSON in a text.
type Block struct {
	// Start and End are the block's place in the text, with the fence; At is the place of the first
	// brace.
	Start, End, At int
	// Raw is the JSON as it is written, Data the decoded text: the same, or repaired.
	Raw, Data string
	// Object is nil if it cannot be read. The numbers are of the type [json.Number].
	Object map[string]any
	// Err says why the object cannot be read, or which field stands twice: then Object has the last
	// one.
	Err error
}

// Find returns the objects of a text that ours accepts by their text: objects in fences, and objects that begin a
// line or a match of inline, if it is given. Comments are passed over. A fence with something else is searched only
// if there is no other object.
func Find(text string, ours func(raw string) bool, inline *pattern.Pattern) []Block {
	f := newFinder(text, ours, inline)
	out, nested := f.find(true)
	if len(out) == 0 {
		out = nested
	}
	budget := maxRepair
	for i := range out {
		out[i].read(&budget)
	}
	return out
}

// finder finds the blocks in the lines of a text, which begin at offsets.
type finder struct {
	text    string
	lines   []string
	offsets []int
	ours    func(raw string) bool
	inline  *pattern.Pattern
	// left is how many bytes may still be read behind the ends of fences.
	left int
	// unclosed is true once a bare object had no end: then no other is looked for.
	unclosed bool
}

func newFinder(text string, ours func(raw string) bool, inline *pattern.Pattern) *finder {
	f := &finder{text: text, lines: strings.Split(text, "\n"), ours: ours, inline: inline, left: 4*len(text) + 1<<20}
	f.offsets = make([]int, len(f.lines)+1)
	for i, line := range f.lines {
		f.offsets[i+1] = f.offsets[i] + len(line) + 1
	}
	return f
}

// find returns the blocks, and if deep the blocks in fences of something else.
func (f *finder) find(deep bool) (out, nested []Block) {
	var comments markdown.Comments
	for i := 0; i < len(f.lines); i++ {
		if mark, _, fence := markdown.Fence(f.lines[i]); fence && !comments.Open {
			b, last := f.readFence(i, mark)
			switch {
			case b.Raw != "":
				out = append(out, b)
			case deep:
				nested = append(nested, f.findInside(i+1, last)...)
			}
			i = last
			continue
		}
		if at := f.objectOffset(i); at >= 0 && !comments.Open && !f.unclosed {
			b, last := f.readBare(i, at)
			if b.Raw != "" {
				out = append(out, b)
			}
			i = last
			continue
		}
		comments.Strip(i+1, f.lines[i])
	}
	return out, nested
}

// findInside returns the blocks in the lines from one up to another.
func (f *finder) findInside(from, to int) []Block {
	if from >= to {
		return nil
	}
	start := f.offsets[from]
	out, _ := newFinder(f.text[start:f.offsets[to]-1], f.ours, f.inline).find(false)
	for i := range out {
		out[i].Start, out[i].End, out[i].At = out[i].Start+start, out[i].End+start, out[i].At+start
	}
	return out
}

// first matches the beginning of an object.
var first = pattern.New(`^\{\s*(?:["'“”}/]|[\p{L}\d_-]+\s*[:：])`)

func beginsObject(text string) bool { return first.MatchString(text[:min(len(text), 200)]) }

// objectOffset returns the offset at which an object begins in a line, -1 if none does.
func (f *finder) objectOffset(line int) int {
	text := f.lines[line]
	at := f.offsets[line] + len(text) - len(strings.TrimLeft(text, " \t"))
	if strings.HasPrefix(f.text[at:], "{") && beginsObject(f.text[at:]) {
		return at
	}
	if f.inline != nil {
		if found := f.inline.FindStringIndex(text); found != nil {
			return f.offsets[line] + found[0]
		}
	}
	return -1
}

// readFence reads the fence opened at a line, and returns the last line. JSON incomplete at the closing line goes
// on to a later such line: a text in it may hold fences.
func (f *finder) readFence(open int, mark string) (b Block, last int) {
	last = f.closingLine(open, mark)
	begin := f.offsets[open+1] // beyond the text after the last line
	if last == open+1 || begin >= len(f.text) {
		return b, last
	}
	at := begin + len(f.text[begin:]) - len(strings.TrimLeft(f.text[begin:], " \t\r\n"))
	if at >= f.offsets[last] || !beginsObject(f.text[at:]) {
		return b, last
	}
	if last < len(f.lines) && f.left > 0 {
		_, end := findEnd(f.text[at:])
		if end < 0 {
			f.left -= len(f.text) - at
		} else if to := at + end; to > f.offsets[last] {
			f.left -= to - f.offsets[last]
			if next := f.closingLine(f.lineAt(to-1), mark); next < len(f.lines) {
				last = next
			}
		}
	}
	raw := strings.TrimSpace(f.text[at : f.offsets[last]-1])
	if !f.ours(raw) {
		return b, last
	}
	return Block{Start: f.offsets[open], End: f.offsets[min(last+1, len(f.lines))] - 1, At: at, Raw: raw}, last
}

// closingLine returns the line that closes a fence behind a line; the number of lines if none does.
func (f *finder) closingLine(after int, mark string) int {
	for i := after + 1; i < len(f.lines); i++ {
		if end, info, ok := markdown.Fence(f.lines[i]); ok && info == "" && strings.HasPrefix(end, mark) {
			return i
		}
	}
	return len(f.lines)
}

// lineAt returns the line of an offset.
func (f *finder) lineAt(offset int) int {
	i, found := slices.BinarySearch(f.offsets, offset)
	if !found {
		i--
	}
	return i
}

// readBare reads an object outside fences, and returns the last line. An object without an end goes on to the next
// fence.
func (f *finder) readBare(line, at int) (b Block, last int) {
	_, end := findEnd(f.text[at:])
	if end < 0 {
		f.unclosed = true
		last = line
		for last+1 < len(f.lines) {
			if _, _, fence := markdown.Fence(f.lines[last+1]); fence {
				break
			}
			last++
		}
		end = f.offsets[last+1] - 1 - at
	} else {
		last = f.lineAt(at + end - 1)
	}
	raw := strings.TrimSpace(f.text[at : at+end])
	if !f.ours(raw) {
		if f.unclosed {
			last = line
		}
		return b, last
	}
	return Block{Start: at, End: at + end, At: at, Raw: raw}, last
}

// findEnd scans text that begins with a brace. end is the index behind the brace that closes it. If
// there is none, end is -1 and opened is the index of the innermost open bracket.
func findEnd(text string) (opened, end int) {
	var stack []int
	before := byte(0) // the last byte besides spaces
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"', c == '\'' && strings.IndexByte("{[,:", before) >= 0:
			i = skipString(text, i)
		case c == '/' && strings.HasPrefix(text[i:], "//") && before != ':':
			i = skipLine(text, i)
		case c == '{' || c == '[':
			stack = append(stack, i)
		case c == '}' || c == ']':
			if stack = stack[:max(0, len(stack)-1)]; len(stack) == 0 {
				return -1, i + 1
			}
		}
		if strings.IndexByte(" \n\t\r", c) < 0 {
			before = c
		}
	}
	if len(stack) == 0 {
		return 0, -1
	}
	return stack[len(stack)-1], -1
}

// skipString returns the index of the quotation mark that closes the string beginning at from.
func skipString(text string, from int) int {
	for i := from + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[from]:
			return i
		}
	}
	return len(text)
}

// skipLine returns the index of the last byte of the line.
func skipLine(text string, from int) int {
	if n := strings.IndexByte(text[from:], '\n'); n > 0 {
		return from + n - 1
	}
	return len(text)
}
