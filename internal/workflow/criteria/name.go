package criteria

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// maxTitle is how many characters of a title are in an id, maxPlace how many of the node around, and maxID how many an
// id has before a number is put behind it.
const (
	maxTitle = 44
	maxPlace = 30
	maxID    = 72
)

// nameNodes gives each node an id. A criterion without one is named by its place: "1.1/AC2" is the second one of
// Story 1.1, "1.2" the second of Requirement 1, "Sign in/Wrong password" a scenario. An id that stands at several
// places is qualified by the place.
func (d *Document) nameNodes() {
	d.numberPlaced()
	d.noteStories()
	d.noteRepeatedStories()
	uses := map[string]int{}
	for i := range d.Nodes {
		if n := &d.Nodes[i]; n.Owed {
			n.ID = d.shortID(i)
			n.keys = []string{Key(n.ID)}
			uses[n.keys[0]]++
		}
	}
	taken := map[string]int{}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if !n.Owed {
			continue
		}
		if uses[n.keys[0]] > 1 {
			n.ID = d.qualifiedID(i, n.ID)
		}
		if taken[Key(n.ID)] > 0 && n.Parent >= 0 {
			n.ID = join(d.place(d.Nodes[n.Parent].Parent), n.ID)
		}
		n.ID = cutAtWord(n.ID, maxID)
		for id := n.ID; taken[Key(n.ID)] > 0; {
			taken[Key(id)]++
			n.ID = fmt.Sprintf("%s (%d)", id, taken[Key(id)])
		}
		taken[Key(n.ID)]++
		other := d.qualifiedID(i, n.ID)
		n.keys = append(n.keys, Key(n.ID), Key(strings.TrimPrefix(n.ID, "US-")), Key(other), Key(strings.TrimPrefix(other, "US-")))
		for _, form := range d.looseForms(i) {
			n.keys = append(n.keys, Key(form))
		}
	}
	d.byKey = map[string]int{}
	for _, exact := range []bool{true, false} {
		for i, n := range d.Nodes {
			if n.Owed {
				d.noteKeys(i, exact)
			}
		}
	}
}

// numberPlaced numbers the criteria without ids, below each node anew. A written number is kept if it is free. A title
// without letters and numbers names nothing.
func (d *Document) numberPlaced() {
	used := map[int]map[int]bool{}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if !n.placed || Key(n.Title) != "" {
			continue
		}
		n.Title = ""
		around := d.around(i)
		if used[around] == nil {
			used[around] = map[int]bool{}
		}
		k := 0
		if len(n.Number) == 1 && !used[around][n.Number[0]] {
			k = n.Number[0]
		} else {
			for k = len(used[around]) + 1; used[around][k]; k++ {
			}
		}
		used[around][k] = true
		n.Number = []int{k}
	}
}

// around returns the story, requirement or section that names a node, or -1. A section is one with a title that is not
// the document's own.
func (d *Document) around(i int) int {
	named := -1
	for at := d.Nodes[i].Parent; at >= 0; at = d.Nodes[at].Parent {
		n := d.Nodes[at]
		switch {
		case n.Kind == Story || n.Kind == Requirement, n.Kind == Section && n.Written != "":
			return at
		case named < 0 && n.Title != "" && n.Line != d.titleLine:
			named = at
		}
	}
	return named
}

// Name names a node: an owed one by its id, others as a report or plan would.
func (d *Document) Name(i int) string {
	if id := d.Nodes[i].ID; id != "" {
		return id
	}
	return d.shortID(i)
}

// place names a node around a criterion.
func (d *Document) place(i int) string {
	if i < 0 {
		return ""
	}
	switch n := d.Nodes[i]; {
	case n.Written != "" && n.Family != "" && n.Kind != Section:
		return n.withLetters()
	case n.Written != "" && n.Kind != Epic:
		return d.storyNumber(i)
	default:
		return cutAtWord(cmp.Or(n.Title, n.Written), maxPlace)
	}
}

// Place names where an owed node stands: its story or requirement, or the letters of its id.
func (d *Document) Place(i int) string {
	n := d.Nodes[i]
	if n.Kind == Criterion {
		if place := d.place(d.around(i)); place != "" {
			return place
		}
	}
	switch {
	case n.Family != "":
		return n.Family
	case n.Kind == Story || n.Kind == Requirement:
		return n.ID
	}
	return "AC"
}

// storyNumber returns the number of a story, behind the number of the epic if stories are counted anew in each.
func (d *Document) storyNumber(i int) string {
	n := d.Nodes[i]
	if strings.Contains(n.Written, ".") {
		return n.Written
	}
	for at := n.Parent; d.repeated[n.Written] && at >= 0; at = d.Nodes[at].Parent {
		if e := d.Nodes[at]; e.Kind == Epic && e.Written != "" {
			return e.Written + "." + n.Written
		}
	}
	return n.Written
}

// noteRepeatedStories notes the numbers that stories of several epics have.
func (d *Document) noteRepeatedStories() {
	d.repeated = map[string]bool{}
	first := map[string]int{}
	for i, n := range d.Nodes {
		if n.Kind != Story || n.Written == "" {
			continue
		}
		if at, seen := first[n.Written]; seen && d.Nodes[at].Parent != n.Parent {
			d.repeated[n.Written] = true
		} else if !seen {
			first[n.Written] = i
		}
	}
}

// shortID returns the id of an owed node as it is below the node around it.
func (d *Document) shortID(i int) string {
	n := d.Nodes[i]
	if n.placed {
		return d.placedID(i)
	}
	switch {
	case n.Written == "":
		return cutAtWord(n.Title, maxTitle+maxPlace)
	case n.Family == "" && n.Kind == Story:
		return "Story " + d.storyNumber(i)
	case n.Family == "" && n.Kind == Requirement && n.Form == Heading:
		return "Requirement " + n.Written
	}
	return n.withLetters()
}

// placedID returns the id of a criterion without one.
func (d *Document) placedID(i int) string {
	n, around := d.Nodes[i], Node{}
	at := d.around(i)
	if at >= 0 {
		around = d.Nodes[at]
	}
	place, number := d.place(at), FormatNumber(n.Number)
	switch {
	case n.Title != "":
		return join(place, cutAtWord(n.Title, maxTitle))
	case around.Kind == Requirement && around.Written != "" && around.Family == "":
		return place + "." + number
	case around.Family == "US" && n.scenario:
		return join(place, "AS"+number)
	}
	return join(place, "AC"+number)
}

// withLetters returns the id as it is written, and that of a "User Story 1" with the letters of stories.
func (id Identifier) withLetters() string {
	if id.Family == "US" && !unicode.IsLetter(rune(id.Written[0])) {
		return "US" + id.Written
	}
	return id.Written
}

func join(place, id string) string {
	if place == "" {
		return id
	}
	return place + "/" + id
}

// qualifiedID returns an id behind the name of the node around it.
func (d *Document) qualifiedID(i int, id string) string {
	around := d.around(i)
	if around < 0 || d.Nodes[i].placed {
		return id
	}
	place := d.place(around)
	if n := d.Nodes[around]; n.Written != "" && (n.Family == "" || n.Family == "US") && n.Kind != Requirement {
		place = "US-" + strings.TrimLeft(strings.TrimPrefix(place, "US"), "-_ ")
	}
	return join(place, id)
}

// cutAtWord cuts a title of more than n characters at a word.
func cutAtWord(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)[:n]
	cut := string(r)
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 {
		cut = cut[:at]
	}
	return strings.TrimSpace(cut) + "…"
}

// looseForms returns what else a report may call a node: a scenario by its title, a criterion by the number of its story,
// as a criterion or scenario, and with or without letters.
func (d *Document) looseForms(i int) (out []string) {
	n := d.Nodes[i]
	number := FormatNumber(n.Number)
	switch around := d.around(i); {
	case n.placed && n.Title != "":
		return []string{n.Title}
	case n.placed && around >= 0:
		of := FormatNumber(d.Nodes[around].Number)
		out = []string{of + "/AC" + number, of + "/AS" + number, d.place(around) + "/AC" + number, "AC-" + of + "." + number}
	case n.Family == "AC" || n.Family == "" && n.Kind == Story:
		out = []string{number, "AC-" + number}
	}
	return out
}

// leadingWord is a word that a report may put before an id.
var leadingWord = pattern.New(`(?i)^(?:` + oneOf("story", "requirement", "scenario", "criterion") + `|req|us)[\s#:_-]*`)

// namedWords are words before the names of a requirement and a scenario.
var namedWords = pattern.New(`(?i)(^|/)\s*(?:` + oneOf("requirement", "scenario", "story") + `)\s*:\s*`)

// Find returns the index of the owed node that an id means: as it is given, or in a shorter or longer form that means
// no other node. It returns -1 if there is none.
func (d *Document) Find(id string) int {
	for _, form := range []string{id, leadingWord.ReplaceAllString(id, ""), namedWords.ReplaceAllString(id, "$1")} {
		if at, ok := d.byKey[Key(form)]; ok && at >= 0 {
			return at
		}
	}
	return -1
}

// noteKeys notes the id of a node, or its other forms. A form of several nodes means none.
func (d *Document) noteKeys(i int, exact bool) {
	if exact {
		d.byKey[d.Nodes[i].keys[1]] = i
		return
	}
	for _, key := range d.Nodes[i].keys {
		at, known := d.byKey[key]
		switch {
		case !known:
			d.byKey[key] = i
		case at >= 0 && at != i && d.Nodes[at].keys[1] != key:
			d.byKey[key] = -1
		}
	}
}

// Story returns the index of the story that a node stands below, or that the number of a criterion names: -1 if there
// is none.
func (d *Document) Story(i int) int { return d.stories[i] }

// noteStories finds the story of each node.
func (d *Document) noteStories() {
	byNumber := map[string]int{}
	for i, n := range d.Nodes {
		if number := FormatNumber(n.Number); n.Kind == Story && number != "" {
			if _, known := byNumber[number]; !known {
				byNumber[number] = i
			}
		}
	}
	d.stories = make([]int, len(d.Nodes))
	for i, n := range d.Nodes {
		d.stories[i] = -1
		for at := n.Parent; at >= 0; at = d.Nodes[at].Parent {
			if d.Nodes[at].Kind == Story {
				d.stories[i] = at
				break
			}
		}
		if at, ok := byNumber[FormatNumber(n.Number[:max(0, len(n.Number)-1)])]; ok && n.Kind == Criterion && !n.placed && d.stories[i] < 0 {
			d.stories[i] = at
		}
	}
}

// CutID returns what follows an id at the beginning of a text.
func CutID(s string) (rest string, ok bool) {
	_, rest, ok = readID(strip(Narrow(s)))
	return rest, ok
}
