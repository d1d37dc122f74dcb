package verdict

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/kaptinlin/jsonrepair"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// block is an object of JSON in a report.
type block struct {
	// first and last are the lines that it takes up, with its fence, from 0.
	first, last int
	// line is that of its first brace, from 0.
	line   int
	raw    string
	object map[string]any
	twice  []string // fields
	defect lang.Text
}

// maxRepair bounds the text of a report, in bytes, that the repair library reads: it takes 1.4 s for 100 kB
// of unescaped quotes.
const maxRepair = 64 << 10

// named matches a field of a block. An object without any is a sample of the product's own data.
var named = pattern.New(`(?i)["'“]?(?:criteria|findings|checks|no_checks|verdict|needs|[a-z]+_report|review)["'”]?\s*[:：]`)

// maxBlocks bounds the blocks of a report that are read; each may be scanned up to its end.
const maxBlocks = 100

// findBlocks returns the blocks of a report: those in fences, and those that stand between the
// lines of the text. A fence that holds fences is searched only if there is no other block.
func findBlocks(lines []string) []block {
	f := newFinder(lines)
	out, nested := f.find(true)
	if len(out) == 0 {
		out = nested
	}
	for i := range out {
		if i == maxBlocks {
			out[i].defect = lang.T("it has more than %d blocks of JSON; hand in one", maxBlocks)
			return out[:i+1]
		}
		out[i].decode(&f.repair)
	}
	return out
}

// finder finds the blocks in lines. text is the lines joined, offsets the places at which they begin.
// repair is how many bytes the repair library may still read.
type finder struct {
	lines   []string
	text    string
	offsets []int
	repair  int
}

func newFinder(lines []string) *finder {
	f := &finder{lines: lines, text: strings.Join(lines, "\n"), offsets: make([]int, len(lines)+1), repair: maxRepair}
	for i, line := range lines {
		f.offsets[i+1] = f.offsets[i] + len(line) + 1
	}
	return f
}

// joinLines returns the text of the lines from one up to another.
func (f *finder) joinLines(from, to int) string {
	if from >= to {
		return ""
	}
	return f.text[f.offsets[from] : f.offsets[to]-1]
}

// find returns the blocks, at most one more than are read, and if deep those in fences of
// something else.
func (f *finder) find(deep bool) (out, nested []block) {
	var comments markdown.Comments
	unnamed := -1 // the last line of an object that names no field; nor does an object in it
	for i := 0; i < len(f.lines) && len(out) <= maxBlocks; i++ {
		mark, _, fence := markdown.Fence(f.lines[i])
		switch {
		case fence && !comments.Open:
			b := f.readFence(i, mark)
			if b.raw != "" {
				out = append(out, b)
			} else if deep && len(nested) <= maxBlocks {
				inner, _ := newFinder(f.lines[i+1 : max(i+1, b.last)]).find(false)
				for _, in := range inner {
					in.first, in.last, in.line = in.first+i+1, in.last+i+1, in.line+i+1
					nested = append(nested, in)
				}
			}
			i = b.last
		case strings.HasPrefix(strings.TrimSpace(f.lines[i]), "{") && !comments.Open && i > unnamed:
			b := f.readBare(i)
			if b.raw != "" {
				out = append(out, b)
				i = b.last
				continue
			}
			unnamed = b.last
			comments.Strip(i+1, f.lines[i])
		default:
			comments.Strip(i+1, f.lines[i])
		}
	}
	return out, nested
}

// readFence reads the fence that opens at a line. JSON that is not complete at the line that
// closes it goes on to the next such line: its texts may hold fences.
func (f *finder) readFence(open int, mark string) block {
	closes := func(after int) int {
		for i := after + 1; i < len(f.lines); i++ {
			if end, info, ok := markdown.Fence(f.lines[i]); ok && info == "" && strings.HasPrefix(end, mark) {
				return i
			}
		}
		return len(f.lines)
	}
	to := closes(open)
	text := f.joinLines(open+1, to)
	trimmed := strings.TrimSpace(text)
	b := block{first: open, last: min(to, len(f.lines)-1)}
	if !strings.HasPrefix(trimmed, "{") || !named.MatchString(trimmed) {
		if to == len(f.lines) {
			b.last = to
		}
		return b
	}
	begins := f.offsets[open+1] + strings.IndexByte(text, '{')
	if _, end := findEnd(f.text[begins:]); end >= 0 && to < len(f.lines) {
		if next := closes(f.line(begins + end - 1)); next > to && next < len(f.lines) {
			to, b.last = next, next
		}
	}
	b.raw, b.line = strings.TrimSpace(f.joinLines(open+1, to)), f.line(begins)
	return b
}

// line returns the line of an offset.
func (f *finder) line(offset int) int {
	i, found := slices.BinarySearch(f.offsets, offset)
	if !found {
		i--
	}
	return i
}

// readBare reads an object that begins a line outside fences.
func (f *finder) readBare(from int) block {
	text := f.text[f.offsets[from]:]
	_, end := findEnd(text)
	if end < 0 {
		end = len(text)
	}
	b := block{first: from, line: from, last: min(f.line(f.offsets[from]+end), len(f.lines)-1)}
	if raw := strings.TrimSpace(text[:end]); named.MatchString(raw) {
		b.raw = raw
	}
	return b
}

// findEnd scans text that begins with a brace. end is the index behind the brace that closes
// it. If there is none, end is -1 and opened is the index of the innermost bracket that
// stays open.
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

// skipString returns the index of the quotation mark that closes the string which begins at from.
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

// decode reads the object strictly, then as models break it. A field that stands twice is a
// defect: a decoder would keep the last. repair is how many bytes may still be repaired.
func (b *block) decode(repair *int) {
	line := b.line
	err := b.parse(b.raw)
	if err == nil || errors.Is(err, jsontext.ErrDuplicateName) {
		b.defect = defect(b.raw, line, err)
		return
	}
	if opened, end := findEnd(b.raw); end < 0 {
		row, column := place(b.raw, opened, line)
		b.defect = lang.T("the block of JSON breaks off: the bracket at line %d, column %d is never closed", row, column)
		return
	}
	b.defect = defect(b.raw, line, err)
	if *repair -= len(b.raw); *repair < 0 {
		return
	}
	fixed, repairErr := jsonrepair.Repair(b.raw)
	if repairErr != nil {
		return
	}
	switch err := b.parse(fixed); {
	case err == nil:
		b.defect = lang.Text{}
	case errors.Is(err, jsontext.ErrDuplicateName):
		b.defect = defect(fixed, line, err)
	}
}

// parse decodes an object and refuses duplicate fields. Numbers are decoded as floats.
func (b *block) parse(text string) error {
	var object map[string]any
	if err := jsonv2.Unmarshal([]byte(text), &object); err != nil {
		return err
	}
	b.object, b.twice = canonical(object)
	return nil
}

// defect describes an error of the JSON in text with its place in the report.
func defect(text string, line int, err error) lang.Text {
	var syntax *jsontext.SyntacticError
	if err == nil || !errors.As(err, &syntax) {
		if err == nil {
			return lang.Text{}
		}
		return lang.T("the block of JSON at line %d cannot be read: %s", line+1, err.Error())
	}
	row, column := place(text, int(syntax.ByteOffset), line)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return lang.T("the block of JSON has the field %q twice, at line %d, column %d", syntax.JSONPointer.LastToken(), row, column)
	}
	return lang.T("the block of JSON is not valid at line %d, column %d", row, column)
}

// place returns line and column, from 1, of an index in a text that begins at a line from 0.
func place(text string, at, line int) (row, column int) {
	at = min(max(at, 0), len(text))
	before := text[:at]
	last := strings.LastIndexByte(before, '\n')
	return line + 1 + strings.Count(before, "\n"), len([]rune(before[last+1:])) + 1
}

// fields are the names of a block's fields, by their form without case and separators.
var fields = map[string]string{
	"summary": "summary", "checks": "checks", "commands": "checks", "nochecks": "no_checks",
	"criteria": "criteria", "acceptancecriteria": "criteria", "findings": "findings", "issues": "findings", "defects": "findings",
	"resolved": "resolved", "needs": "needs", "verdict": "verdict",
}

// canonical gives the fields of an object the names that are read, and returns those that then
// stand twice. Other fields stay.
func canonical(object map[string]any) (out map[string]any, twice []string) {
	return rename(object, func(key string) string { return cmp.Or(fields[squeeze(key)], key) })
}

// rename gives the fields of an object other names, and returns those that then stand twice.
func rename(object map[string]any, nameOf func(key string) string) (out map[string]any, twice []string) {
	out = make(map[string]any, len(object))
	for _, key := range sortedKeys(object) {
		name := nameOf(key)
		if _, taken := out[name]; taken {
			twice = append(twice, name)
			continue
		}
		out[name] = object[key]
	}
	return out, twice
}

// indent returns an object without a field as indented JSON.
func indent(object map[string]any, without string) string {
	rest := maps.Clone(object)
	delete(rest, without)
	return formatJSON(rest, "  ")
}

// formatJSON returns a value as indented JSON.
func formatJSON(v any, indent string) string {
	out, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.WithIndent(indent))
	if err != nil {
		return "{}" // it was decoded from JSON
	}
	return string(out)
}
