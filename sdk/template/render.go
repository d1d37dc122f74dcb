package template

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// object has values by key: of a section the text or the items, of {{name}} a variable, and of the section's key with
// a question mark whether it is there. An item of a repeatable section is another object, over the one around it.
type object = map[string]any

// valueOf returns the value of a variable; "" is none. It names no other variable.
func valueOf(values object, name string) string {
	text, _ := values["{{"+name+"}}"].(string)
	if at := strings.LastIndex(name, "."); text == "" && at >= 0 { // the person has named it for all neighbours
		text, _ = values["{{"+name[at+1:]+"}}"].(string)
	}
	return strings.TrimSpace(strings.NewReplacer("{{", "", "}}", "").Replace(text))
}

// fillVariables puts the values of variables into a text, and returns the names without one.
func fillVariables(text string, values object) (filled string, missing []string) {
	filled = variable.ReplaceAllStringFunc(text, func(found string) string {
		name := variablesOf(found)[0]
		value := valueOf(values, name)
		if value == "" {
			missing = append(missing, name)
		}
		return cmp.Or(value, "["+name+"]")
	})
	return filled, missing
}

// nameOf returns the title of a section for lists, or the id if it is not known yet.
func nameOf(s *Section, values object) string {
	title, missing := fillVariables(s.Title, values)
	if title = visible.Line(title); title == "" || len(missing) > 0 {
		return s.ID
	}
	return title
}

// hasText reports whether the model writes a text for a section itself, beside the sections in it.
func (s *Section) hasText() bool {
	return s.Template+s.Type != "" || len(s.Sections) == 0 && s.Title != "" && s.Content == ""
}

// textSchema returns the schema of the text of a section.
func (s *Section) textSchema() object {
	var texts []string
	list, _ := s.Choices.([]any)
	for _, choice := range list {
		texts = append(texts, fmt.Sprint(choice))
	}
	if s.Type == "choice" && len(texts) > 0 {
		return object{"enum": texts}
	}
	return object{"type": "string"}
}

// writer writes a document.
type writer struct {
	b strings.Builder
	Result
	// faults are the reasons why sections have no text.
	faults map[string]string
}

func (w *writer) fill(text string, values object) string {
	text, missing := fillVariables(text, values)
	if w.Done {
		addOnce(&w.Unfilled, missing...)
	}
	return text
}

// addOnce adds texts to a list once.
func addOnce(list *[]string, texts ...string) {
	for _, text := range texts {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
}

// writeHeading writes a heading, whatever the title holds.
func (w *writer) writeHeading(level int, title string) {
	title, _ = escapeTags(visible.Cut(visible.Line(title), 300, "…"), false)
	if plain := strings.TrimRight(title, "#"); plain != title {
		title = plain + strings.Repeat(`\#`, len(title)-len(plain))
	}
	fmt.Fprintf(&w.b, "%s %s\n\n", strings.Repeat("#", min(level, 6)), title)
}

var isNumber = pattern.New(`(?:^|_)(?:number|num|no|index)$`)

// writeSection writes a section with its parts, once for each item if it is repeatable.
func (w *writer) writeSection(s *Section, level int, values object) {
	if values[s.key+"?"] == false {
		addOnce(&w.LeftOut, nameOf(s, values))
		return
	}
	if !s.Repeatable {
		w.writeItem(s, level, values)
		return
	}
	items, _ := values[s.key].([]any)
	if len(items) > maxItems {
		items = items[:maxItems]
		addOnce(&w.Cut, s.ID)
	}
	for n, item := range items {
		inner := maps.Clone(values)
		delete(inner, s.key)
		own, _ := item.(object)
		maps.Copy(inner, own)
		for _, name := range variablesOf(s.Title) {
			if isNumber.MatchString(name) && valueOf(inner, name) == "" {
				inner["{{"+name+"}}"] = fmt.Sprint(n + 1)
			}
		}
		w.writeItem(s, level, inner)
	}
	if len(items) == 0 {
		w.writeItem(&Section{ID: s.ID, key: s.key, Title: s.Title}, level, values)
	}
}

// writeItem writes a section, or an item of a repeatable one.
func (w *writer) writeItem(s *Section, level int, values object) {
	if s.Title != "" {
		w.writeHeading(level, w.fill(s.Title, values))
		level++
	}
	if s.Content != "" {
		fmt.Fprintf(&w.b, "%s\n\n", strings.TrimSpace(cleanText(w.fill(s.Content, values), level)))
	}
	text, _ := values[s.key].(string)
	text = strings.TrimSpace(text)
	switch name := nameOf(s, values); {
	case !s.hasText():
	case text != "":
		if s.Type != "code" { // such braces are of the language
			text = w.fill(text, values)
		}
		w.b.WriteString(formatText(s, text, name, level) + "\n\n")
	case w.Done:
		addOnce(&w.Open, strings.TrimSuffix(name+": "+visible.Line(w.faults[s.key]), ": "))
		w.b.WriteString("> **Open:** the model has given no text for this section.\n\n")
	default:
		w.b.WriteString("> Not written yet.\n\n")
	}
	for _, below := range s.Sections {
		w.writeSection(below, level, values)
	}
}

// formatText returns a text of the model as the document has it.
func formatText(s *Section, text, title string, least int) string {
	first, rest, _ := strings.Cut(text, "\n")
	if _, heading, ok := markdown.HashHeading(first); ok && strings.EqualFold(heading, title) {
		text = strings.TrimSpace(rest) // many models repeat the title
	}
	if s.Type == "yaml" {
		return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "```yaml"), "```"), "```"))
	}
	if s.Type == "code" && !strings.Contains(text, "```") {
		return "```" + visible.Line(strings.ReplaceAll(s.Language, "`", "")) + "\n" + text + "\n```"
	}
	if len(s.Sections) > 0 {
		least++
	}
	return cleanText(text, least)
}

var (
	// fenceLine opens or closes a block of code, within a list or quotation, too. nested is a heading within one,
	// and underline makes one of the line above.
	fenceLine = pattern.New("^((?:[ \t>]|[-*+][ \t]|\\d{1,9}[.)][ \t])*)(`{3,}|~{3,})(.*)$")
	nested    = pattern.New(`^((?:[ \t>*+-]|\d{1,9}[.)])+)(#{1,6}(?:[ \t].*)?|[=-]+[ \t]*)$`)
	underline = pattern.New(`^[ \t]*(?:=+|-+)[ \t]*$`)
	backticks = pattern.New("`+")
	// loose ends a text in which the backtick that follows may begin no code. tag is an address, or the beginning of HTML.
	loose = pattern.New(`(?:\\|//\S*|www\.\S*)$`)
	tag   = pattern.New(`<https?://[^\s<>]*>|<[A-Za-z/!?]`)
)

// escapeTags makes text of the HTML in a line, which could hide the text that follows. Code stays if all of it is in the
// line and read in the same way everywhere. isOpen says that code may go on from the lines before, or into the next one.
func escapeTags(line string, isOpen bool) (string, bool) {
	run := cmp.Or(backticks.FindString(line), "\n")
	parts := strings.Split(line, run)
	isOpen = isOpen && strings.Trim(line, " \t") != "" || len(parts)%2 == 0
	hasCode := !isOpen
	for i, part := range parts {
		isLast, isCode := i == len(parts)-1, i%2 == 1
		isOdd := i > 0 && !isLast && part == "" || strings.Contains(part, "`") || isCode && strings.Contains(part, "|")
		if isOdd || !isCode && !isLast && loose.MatchString(part) {
			isOpen, hasCode = true, false
		}
	}
	for i, part := range parts {
		if i%2 == 0 || !hasCode {
			parts[i] = tag.ReplaceAllStringFunc(part, func(found string) string {
				if strings.HasSuffix(found, ">") {
					return found
				}
				return "&lt;" + found[1:]
			})
		}
	}
	return strings.Join(parts, run), isOpen
}

// cleanText makes headings of a text no higher than a level, and ends what would hide the text that follows. Blocks of
// code stand on their own, outside of lists.
func cleanText(text string, least int) string {
	var out []string
	fence, indent, isOpen := "", "", false
	for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n") {
		m := fenceLine.FindStringSubmatch(line)
		opens := m != nil && (m[2][0] == '~' || !strings.Contains(m[3], "`"))
		if fence == "" && !opens {
			line, isOpen = escapeTags(line, isOpen)
		}
		level, heading, isHeading := markdown.HashHeading(line)
		switch {
		case fence != "" && m != nil && strings.TrimSpace(m[3]) == "" && strings.HasPrefix(m[2], fence):
			line, fence = m[2], ""
		case fence != "":
			line = strings.TrimPrefix(line, indent)
		case opens:
			line, fence, indent = m[2]+m[3], m[2], strings.Repeat(" ", len(m[1]))
			if mark := strings.TrimSpace(m[1]); mark != "" {
				out = append(out, mark)
			}
		case isHeading && max(level, least) > 6:
			line = "**" + heading + "**"
		case isHeading:
			line = strings.Repeat("#", max(level, least)) + " " + heading
		case underline.MatchString(line):
			out = append(out, "")
		default:
			line = nested.ReplaceAllString(line, `$1\$2`)
		}
		out = append(out, line)
	}
	if fence != "" {
		out = append(out, fence)
	}
	return strings.Join(out, "\n")
}
