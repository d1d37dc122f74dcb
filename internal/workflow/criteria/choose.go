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
	for i, n := range d.Nodes {
		c := sections[n.Line]
		switch {
		case n.Parent >= 0 && d.Nodes[n.Parent].struck:
			d.Nodes[i].struck, dropped[i] = true, n.Kind != Section
		case n.Kind == Section:
		case c&(isOmitted|isNaming) != 0:
			dropped[i] = true
		case deferredText.MatchString(n.Title):
			d.Nodes[i].struck, dropped[i] = true, true
		case n.listed && n.marked:
		case n.Family != "" && !n.placed && n.listed && !known[n.Family]:
			d.Nodes[i].placed, d.Nodes[i].Title, d.Nodes[i].Identifier = true, "", Identifier{}
			d.Nodes[i].Text = clipText(n.Written + " " + n.Text)
		case n.Family != "" && !n.placed && (!known[n.Family] && !ofSprint(n) || !isCountable(n, c)):
			dropped[i] = true
		case n.Family == "" && !n.placed && n.Kind == Requirement && n.Written != "" && n.Form == Item && c&isWanted == 0:
			dropped[i] = true
		}
		d.Nodes[i].restated = n.restated || c&isRestating != 0
	}
	d.dropGuessed(dropped)
	d.dropRestated(dropped, instead)
	d.compact(dropped, instead)
}

// isCountable reports whether the id of a node may be one of a requirement in a section of a class.
func isCountable(n Node, c class) bool {
	first := stem(n.Family)
	switch {
	case strong(n.Family):
		return true
	case foreignFamilies[first], c&isOther != 0:
		return false
	}
	return !vagueFamilies[first] || ofSprint(n) || c&isWanted != 0 || n.Kind == Criterion
}

// ofSprint reports whether an id is one of a sprint's story or task: "S1-2", "T1.2".
func ofSprint(n Node) bool { return (n.Family == "S" || n.Family == "T") && len(n.Number) == 2 }

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

// knownFamilies returns the families of requirements: those that recur with other numbers, or whose letters are known.
func (d *Document) knownFamilies(sections []class) map[string]bool {
	numbers := map[string]map[string]bool{}
	inPlace := map[string]bool{}
	for _, n := range d.Nodes {
		c := sections[n.Line]
		if n.Family == "" || n.placed || c&(isOmitted|isNaming) != 0 || !isCountable(n, c) {
			continue
		}
		first := stem(n.Family)
		if numbers[first] == nil {
			numbers[first] = map[string]bool{}
		}
		numbers[first][n.Family+FormatNumber(n.Number)] = true
		inPlace[n.Family] = true
	}
	out := map[string]bool{}
	for family := range inPlace {
		out[family] = strong(family) || len(numbers[stem(family)]) > 1
	}
	return out
}

// maxCompared is how many nodes with the same id are compared with a further one.
const maxCompared = 20

// dropRestated drops the nodes that repeat an id: in a summary, in another form, or with the same text. What stands
// below one belongs to the first with the id.
func (d *Document) dropRestated(dropped []bool, instead map[int]int) {
	byID := map[string][]int{}
	var order []string
	for i, n := range d.Nodes {
		if dropped[i] || n.placed || n.Kind == Section || n.Written == "" || n.Family == "" && n.Kind != Story {
			continue
		}
		key := n.Family + string(rune('0'+n.Kind)) + n.Written
		if n.Family != "" {
			key = n.Family + " " + FormatNumber(n.Number)
		}
		if byID[key] == nil {
			order = append(order, key)
		}
		byID[key] = append(byID[key], i)
	}
	for _, key := range order {
		same := byID[key]
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
	if criterionFamilies[stem(a.Family)] {
		return d.repeatsCriterion(i, earlier)
	}
	if a.Form != b.Form {
		return true // a list of all, and the details
	}
	if a.Parent == b.Parent && a.Form == b.Form && a.Form == Heading {
		return similar(a.Text, b.Text)
	}
	if d.insideOther(i) != d.insideOther(earlier) {
		return true // one is named below another requirement
	}
	return similar(a.Text, b.Text)
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
	return 4*both >= 3*len(x)
}

// wordsOf returns the words of a text, and of Chinese the characters.
func wordsOf(s string) map[string]bool {
	out := map[string]bool{}
	word := strings.Builder{}
	end := func() {
		if word.Len() > 0 {
			out[word.String()] = true
			word.Reset()
		}
	}
	for _, c := range strings.ToLower(s) {
		switch {
		case c >= 0x2E80 && unicode.IsLetter(c):
			end()
			out[string(c)] = true
		case unicode.IsLetter(c), unicode.IsDigit(c):
			word.WriteRune(c)
		default:
			end()
		}
	}
	end()
	return out
}

// compact removes dropped nodes. What stands below one belongs to the node that stands instead of it, or around.
func (d *Document) compact(dropped []bool, instead map[int]int) {
	place := make([]int, len(d.Nodes))
	kept := 0
	for i := range d.Nodes {
		if place[i] = -1; !dropped[i] {
			place[i] = kept
			kept++
		}
	}
	around := func(i int) int {
		for steps := 0; i >= 0 && dropped[i] && steps < len(d.Nodes); steps++ {
			if at, ok := instead[i]; ok {
				i = at
			} else {
				i = d.Nodes[i].Parent
			}
		}
		if i < 0 || dropped[i] {
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

// markLeaves marks the nodes that are owed: those without others below them. FR-1.2 is below FR-1 wherever it stands,
// and AC-1.2 below US-1.
func (d *Document) markLeaves() {
	owner := map[string]int{}
	for i, n := range d.Nodes {
		if n.Kind != Section && n.Kind != Epic && n.Written != "" && !n.placed {
			key := n.Family + " " + FormatNumber(n.Number)
			if _, known := owner[key]; !known {
				owner[key] = i
			}
		}
	}
	covered := make([]bool, len(d.Nodes))
	for i, n := range d.Nodes {
		if n.Kind == Section || n.Kind == Epic {
			continue
		}
		for at, steps := n.Parent, 0; at >= 0 && steps < 50 && !covered[at]; at, steps = d.Nodes[at].Parent, steps+1 {
			k := d.Nodes[at]
			sibling := stem(k.Family) == stem(n.Family) && len(k.Number) == len(n.Number) && !n.placed
			inside := k.Kind != Criterion || n.Kind == Criterion && !k.placed
			covered[at] = inside && !sibling
		}
		if n.placed || n.Family == "" {
			continue
		}
		for parts := len(n.Number) - 1; parts > 0; parts-- {
			if n.Number[parts] >= letter {
				continue
			}
			whole := FormatNumber(n.Number[:parts])
			if at, ok := owner[n.Family+" "+whole]; ok && at != i {
				covered[at] = true
			}
			if n.Kind == Criterion {
				d.coverStory(owner, whole, covered)
			}
		}
	}
	for i := range d.Nodes {
		n := &d.Nodes[i]
		leaf := n.Kind == Criterion || n.Kind == Requirement || n.Kind == Story && (n.Written != "" || n.Family != "")
		n.Owed = leaf && !covered[i] && (n.Kind != Requirement || n.Written != "" || n.Title != "")
	}
}

// coverStory marks the story with a number that the number of a criterion begins with.
func (d *Document) coverStory(owner map[string]int, number string, covered []bool) {
	for _, family := range []string{"US", "HU", "STORY", ""} {
		if at, ok := owner[family+" "+number]; ok && d.Nodes[at].Kind == Story {
			covered[at] = true
			return
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
