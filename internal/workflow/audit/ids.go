package audit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	// spanTo matches the text between the ends of a range.
	spanTo = pattern.New("^[*_`\\s]*(?:to|through|thru|until|–|—|-|~|～|\\.{2,3}|…|至|到)[*_`\\s]*(?:[A-Z]{1,4}\\d{0,2}[-_]?)?(\\d{1,4}(?:\\.\\d{1,4}){0,2})\\b")
	// alsoOf matches the text between the numbers of a list that names the prefix once.
	alsoOf = pattern.New("^[*_`\\s]*(?:, ?and|,|、|，|and|&|/|和|及|与|or)[*_`\\s]*(\\d{1,4}(?:\\.\\d{1,4}){0,2})\\b")
	// reference matches the text behind an id that begins a line without being explained there.
	reference = pattern.New(`^[*_\s)\]]*(?:(?:,|、|，|/|&)[*_\s]*(?:[A-Z]{1,4}\d{0,2}-?)?\d|(?:and|to|through|or)\s+[A-Z]{1,4}-?\d|[–—~～至和及与-]\s*[A-Z]{1,4}-?\d|\.\.)`)
)

// mentions is the set of ids in a text, ranges included.
type mentions struct {
	single map[string]bool
	ranges []idRange
}

type idRange struct {
	prefix   string
	from, to []int
}

var wildcard = pattern.New(`\b(US|FR|NFR|AC)[-_](\d{1,4})\.[xX*]`)

// mentionsIn collects the ids in the lines.
func mentionsIn(lines []string) mentions {
	m := mentions{single: map[string]bool{}}
	for _, l := range lines {
		if !strings.ContainsAny(l, "0123456789") {
			continue
		}
		for found := range idsIn(l) {
			id, rest := found.id(), l[found.to:]
			m.add(id)
			for range 50 {
				if to := spanTo.FindStringSubmatch(rest); to != nil {
					m.addRange(id, parseNumber(to[1]))
					rest = rest[len(to[0]):]
				} else if also := alsoOf.FindStringSubmatch(rest); also != nil {
					id = identifier{id.prefix, parseNumber(also[1])}
					m.add(id)
					rest = rest[len(also[0]):]
				} else {
					break
				}
			}
		}
		for _, w := range wildcard.FindAllStringSubmatch(l, -1) {
			m.add(identifier{w[1], parseNumber(w[2])})
		}
	}
	return m
}

// add adds an id.
func (m *mentions) add(id identifier) { m.single[id.String()] = true }

func (m *mentions) addRange(from identifier, to []int) {
	// "AC-1.1 to 3" ends at AC-1.3.
	if len(to) < len(from.number) {
		to = append(slices.Clone(from.number[:len(from.number)-len(to)]), to...)
	}
	r := idRange{from.prefix, from.number, to}
	if len(m.ranges) < 300 && !slices.ContainsFunc(m.ranges, func(o idRange) bool {
		return o.prefix == r.prefix && slices.Equal(o.from, r.from) && slices.Equal(o.to, r.to)
	}) {
		m.ranges = append(m.ranges, r)
	}
}

// has reports whether an id is named: itself, its whole (FR-1 for FR-1.2), or in a range.
func (m mentions) has(id identifier) bool {
	for n := len(id.number); n > 0; n-- {
		if m.single[(identifier{id.prefix, id.number[:n]}).String()] {
			return true
		}
	}
	for _, r := range m.ranges {
		upTo := id.number[:min(len(id.number), len(r.to))] // FR-3.1 is in FR-1 to FR-3
		if r.prefix == id.prefix && slices.Compare(r.from, id.number) <= 0 && slices.Compare(upTo, r.to) <= 0 {
			return true
		}
	}
	return false
}

// hasPrefix reports whether an id of the prefix is named at all.
func (m mentions) hasPrefix(prefix string) bool {
	for id := range m.single {
		if strings.HasPrefix(id, prefix+"-") {
			return true
		}
	}
	return false
}

// definition is the line that explains an id, and does not only name it.
type definition struct {
	id   identifier
	line int
	// form is h for a heading, l for a list item, t for a table row, p for a paragraph.
	form byte
	// body is the text behind the id.
	body string
}

// readDefinitions finds all definitions: several checks ask for some of them.
func readDefinitions(d *markdown.Document) []definition {
	var out []definition
	for i, l := range d.Lines {
		if d.Code[i] || !strings.ContainsAny(l, "0123456789") {
			continue
		}
		if def, ok := definitionAt(d, i); ok {
			out = append(out, def)
		}
	}
	return out
}

func definitionAt(d *markdown.Document, i int) (definition, bool) {
	l := d.Lines[i]
	if row, ok := d.Rows[i]; ok {
		for c, cell := range row.Cells[:min(2, len(row.Cells))] {
			if id, body, ok := leadingID(cell); ok && !reference.MatchString(body) {
				rest := append([]string{strings.Trim(body, " *_`:：.—–-")}, row.Cells[c+1:]...)
				return definition{id, i, 't', strings.TrimSpace(strings.Join(rest, " | "))}, true
			}
		}
		return definition{}, false
	}
	form, body := byte('p'), strings.TrimSpace(l)
	if _, text, ok := markdown.HashHeading(l); ok {
		form, body = 'h', markdown.Unnumbered(text)
	} else if _, b, ok := markdown.Item(l); ok {
		form, body = 'l', b
	}
	id, rest, ok := leadingID(body)
	if m := bracketedID.FindStringSubmatch(body); !ok && form == 'h' && m != nil {
		return definition{identifier{"US", parseNumber(m[1])}, i, form, body}, true
	}
	if !ok || reference.MatchString(rest) {
		return definition{}, false
	}
	plain := strings.Trim(rest, " \t*_`:：.—–-()（）[]")
	switch {
	case form == 'l' && plain == "":
		return definition{}, false
	case form == 'p' && !strings.HasPrefix(body, "*") && !strings.HasPrefix(body, "_") && !strings.ContainsAny(rest[:min(1, len(rest))], ":.") && !strings.HasPrefix(rest, "："):
		return definition{}, false
	}
	return definition{id, i, form, plain}, true
}

// bracketedID is the id of a story behind the title: "Ring the bell [US-1]".
var bracketedID = pattern.New(`[\[(（]US-?(\d{1,4})[\])）]`)

// leadingID reads an id at the beginning of s, behind emphasis and brackets.
func leadingID(s string) (id identifier, rest string, ok bool) {
	trimmed := strings.TrimLeft(s, " \t*_`[(（【")
	if !strings.ContainsAny(trimmed[:min(24, len(trimmed))], "0123456789") { // most lines
		return identifier{}, "", false
	}
	found, ok := firstID(trimmed[:runeBoundary(trimmed, maxID)])
	if !ok || found.from != 0 {
		return identifier{}, "", false
	}
	return found.id(), trimmed[found.to:], true
}

// distinctIDs returns the ids of definitions, each once, in order of prefix and number.
func distinctIDs(defs []definition) []identifier {
	seen := map[string]bool{}
	var out []identifier
	for _, d := range defs {
		if !seen[d.id.String()] {
			seen[d.id.String()] = true
			out = append(out, d.id)
		}
	}
	slices.SortFunc(out, func(a, b identifier) int {
		return cmp.Or(cmp.Compare(a.prefix, b.prefix), slices.Compare(a.number, b.number))
	})
	return out
}
