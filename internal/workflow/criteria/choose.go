package criteria

import (
	"slices"
	"strings"
	"unicode"
)

// chooseNodes drops the nodes whose ids are those of something else, or only name a node of another place.
func (d *Document) chooseNodes(sections []class) {
	dropped, instead := make([]bool, len(d.Nodes)), map[int]int{}
	known := d.knownFamilies(sections)
	for i := range d.Nodes {
		n, c := &d.Nodes[i], sections[d.Nodes[i].Line]
		n.restated = n.restated || c&isRestating != 0
		n.struck = n.struck || n.Parent >= 0 && d.Nodes[n.Parent].struck || n.Kind != Section && c&isOmitted == 0 && deferredText.MatchString(n.Title)
		isUnknown := n.Family != "" && !strong(n.Family) && !known[stem(n.Family)] && !ofSprint(*n)
		switch {
		case n.Kind == Section:
		case n.struck || c&isOmitted != 0:
			dropped[i] = true
		case n.listed && n.marked:
		case isUnknown && n.listed:
			n.placed, n.Title, n.Text, n.Identifier = true, "", clipText(n.Written+" "+n.Text), Identifier{}
		default:
			dropped[i] = isUnknown || !isCountable(*n, c)
		}
	}
	d.dropGuessed(dropped)
	d.dropRestated(dropped, instead)
	d.compact(dropped, instead)
}

// isCountable reports whether the id of a node may be one of a requirement in a section of a class. Items with mere
// numbers, and letters that number other things, too, have to stand where requirements are listed.
func isCountable(n Node, c class) bool {
	first := stem(n.Family)
	switch {
	case n.Family == "":
		return n.Kind != Requirement || n.Form != Item || n.Written == "" || c&isWanted != 0
	case strong(n.Family):
		return true
	case foreignFamilies[first], c&isOther != 0:
		return false
	}
	return !vagueFamilies[first] || ofSprint(n) || c&isWanted != 0 || n.Kind == Criterion
}

// dropGuessed drops what only the name of the document makes a criterion, if others have ids.
func (d *Document) dropGuessed(dropped []bool) {
	explicit := 0
	for i, n := range d.Nodes {
		if !dropped[i] && !n.guessed && !n.placed && n.Written != "" && n.Kind != Epic {
			explicit++
		}
	}
	for i, n := range d.Nodes {
		dropped[i] = dropped[i] || n.guessed && explicit >= 3
	}
}

// knownFamilies returns the first letters of the families that recur with other numbers.
func (d *Document) knownFamilies(sections []class) map[string]bool {
	numbers, out := map[string]string{}, map[string]bool{}
	for _, n := range d.Nodes {
		if c := sections[n.Line]; n.Family == "" || c&isOmitted != 0 || !isCountable(n, c) {
			continue
		}
		first, number := stem(n.Family), n.Family+FormatNumber(n.Number)
		if before, seen := numbers[first]; seen && before != number {
			out[first] = true
		}
		numbers[first] = number
	}
	return out
}

// maxCompared is how many nodes with the same id are compared with a further one.
const maxCompared = 20

// dropRestated drops the nodes that repeat an id: in a summary, in another form, or with the same text. What stands
// below one belongs to the first with the id.
func (d *Document) dropRestated(dropped []bool, instead map[int]int) {
	byID := map[string][]int{}
	for i, n := range d.Nodes {
		if dropped[i] || n.placed || n.Kind == Section || n.Written == "" || n.Family == "" && n.Kind != Story {
			continue
		}
		key := n.Family + string(rune('0'+n.Kind)) + n.Written
		if n.Family != "" {
			key = n.Family + " " + FormatNumber(n.Number)
		}
		byID[key] = append(byID[key], i)
	}
	for _, same := range byID {
		if len(same) == 1 {
			continue
		}
		certain := slices.DeleteFunc(slices.Clone(same), func(i int) bool { return d.Nodes[i].restated })
		if len(certain) == 0 {
			certain = same[:1]
		}
		var kept []int
		for _, i := range certain {
			if !slices.ContainsFunc(kept[max(0, len(kept)-maxCompared):], func(k int) bool { return d.repeats(i, k) }) {
				kept = append(kept, i)
			}
		}
		for _, i := range same {
			if _, is := slices.BinarySearch(kept, i); !is {
				dropped[i], instead[i] = true, kept[0]
			}
		}
	}
}

// repeats reports whether a node says again what an earlier one with the same id says.
func (d *Document) repeats(i, earlier int) bool {
	a, b := d.Nodes[i], d.Nodes[earlier]
	if kindOf(a.Family) == Criterion {
		return d.repeatsCriterion(i, earlier)
	}
	isDetail := a.Form != b.Form || d.insideOther(i) != d.insideOther(earlier) // one is in a list, or named below another
	return isDetail || similar(a.Text, b.Text)
}

// repeatsCriterion reports whether a criterion is one of an earlier line again: below the same story, or in a list of
// all of them. Criteria of two stories are two, whatever they say.
func (d *Document) repeatsCriterion(i, earlier int) bool {
	a, b := d.around(i), d.around(earlier)
	return (a == b || d.isStory(a) != d.isStory(b) || len(d.Nodes[i].Number) > 1) && similar(d.Nodes[i].Text, d.Nodes[earlier].Text)
}

func (d *Document) isStory(i int) bool {
	return i >= 0 && (d.Nodes[i].Kind == Story || d.Nodes[i].Kind == Requirement)
}

// insideOther reports whether a node stands below a requirement, story or criterion.
func (d *Document) insideOther(i int) bool {
	for at := d.Nodes[i].Parent; at >= 0; at = d.Nodes[at].Parent {
		if k := d.Nodes[at].Kind; k == Requirement || k == Criterion || k == Story && d.Nodes[at].Written != "" {
			return true
		}
	}
	return false
}

// similar reports whether two texts say the same, or one of them nothing.
func similar(a, b string) bool {
	x, y := wordsOf(a), wordsOf(b)
	if len(x) == 0 || len(y) == 0 {
		return true
	}
	if len(x) > len(y) {
		x, y = y, x
	}
	both := 0
	for w := range x {
		if y[w] {
			both++
		}
	}
	return 4*both >= 3*len(x) && sameNumbers(x, y)
}

// wordsOf returns the words of a text, and of Chinese, Japanese and Korean the characters.
func wordsOf(s string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if !strings.ContainsFunc(word, func(c rune) bool { return c >= 0x2E80 }) {
			out[word] = true
			continue
		}
		for _, c := range word {
			out[string(c)] = true
		}
	}
	return out
}

// compact removes dropped nodes. What stands below one belongs to the node that stands instead of it, or around.
func (d *Document) compact(dropped []bool, instead map[int]int) {
	place := make([]int, len(d.Nodes))
	kept := 0
	for i := range d.Nodes {
		if !dropped[i] {
			place[i] = kept
			kept++
		}
	}
	around := func(i int) int {
		for i >= 0 && dropped[i] {
			if at, ok := instead[i]; ok {
				i = at
			} else {
				i = d.Nodes[i].Parent
			}
		}
		if i < 0 {
			return -1
		}
		return place[i]
	}
	out := make([]Node, 0, kept)
	for i, n := range d.Nodes {
		if !dropped[i] {
			n.Parent = around(n.Parent)
			out = append(out, n)
		}
	}
	d.Nodes = out
}

// markLeaves marks the nodes that are owed: those without others below them.
func (d *Document) markLeaves() {
	covered := make([]bool, len(d.Nodes))
	owners := d.owners()
	for i, n := range d.Nodes {
		if n.Kind == Section || n.Kind == Epic {
			continue
		}
		for at := n.Parent; at >= 0 && !covered[at]; at = d.Nodes[at].Parent {
			covered[at] = covers(n, d.Nodes[at])
		}
		d.coverNumbers(i, owners, covered)
	}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		hasName := n.Written != "" || n.Title != "" && n.Kind == Requirement
		n.Owed = !covered[i] && (n.Kind == Criterion || hasName && (n.Kind == Requirement || n.Kind == Story))
	}
}

// covers reports whether a node is a part of one that it stands below. FR-2 is beside FR-1, wherever it stands, and a
// requirement is not a part of a criterion.
func covers(n, above Node) bool {
	isSibling := stem(above.Family) == stem(n.Family) && len(above.Number) == len(n.Number) && !n.placed
	return !isSibling && (above.Kind != Criterion || n.Kind == Criterion && !above.placed)
}

// owners returns the first nodes with each id.
func (d *Document) owners() map[string]int {
	out := map[string]int{}
	for i, n := range d.Nodes {
		key := n.Family + " " + FormatNumber(n.Number)
		if _, known := out[key]; !known && n.Kind != Section && n.Kind != Epic && n.Written != "" {
			out[key] = i
		}
	}
	return out
}

// coverNumbers marks the nodes that the number of another makes a part of them: FR-1.2 is a part of FR-1 wherever it
// stands, and AC-1.2 one of US-1.
func (d *Document) coverNumbers(i int, owners map[string]int, covered []bool) {
	n := d.Nodes[i]
	families := []string{n.Family}
	if n.Kind == Criterion {
		families = append(families, "US", "HU", "STORY", "")
	}
	for parts := len(n.Number) - 1; parts > 0 && n.Family != ""; parts-- {
		if n.Number[parts] >= letter {
			continue // FR-1a stands beside FR-1
		}
		whole := FormatNumber(n.Number[:parts])
		for _, family := range families {
			at, ok := owners[family+" "+whole]
			if ok && at != i && (family == n.Family || d.Nodes[at].Kind == Story) {
				covered[at] = true
			}
		}
	}
}

// markFormer marks the nodes that former programs owed.
func (d *Document) markFormer() {
	for _, family := range []string{"AC", "FR", "US", ""} {
		found := false
		for i := range d.Nodes {
			n := &d.Nodes[i]
			n.Owed = !n.placed && n.Kind != Section && n.Family != "" && (stem(n.Family) == family || family == "" && n.listed)
			found = found || n.Owed
		}
		if found {
			return
		}
	}
}

// sameNumbers reports whether one of two texts has no number that the other lacks.
func sameNumbers(x, y map[string]bool) bool {
	lacks := func(a, b map[string]bool) bool {
		for w := range a {
			if w[0] <= '9' && !b[w] {
				return true
			}
		}
		return false
	}
	return !lacks(x, y) || !lacks(y, x)
}
