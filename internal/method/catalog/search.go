package catalog

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lithammer/fuzzysearch/fuzzy"
)

// Hit is a search result.
type Hit struct {
	Item
	// Score rates the match: 100 for a name, 80 for the beginning of one, 60 for words of a name or title,
	// 40 for words of a description, less for some of the words, 5 for words similar to a name's.
	Score int `json:"score"`
}

// Search returns the items with the words of a query, the best first; or else items with similar words in
// their names.
func (c *Catalog) Search(query string, kinds ...Kind) []Hit {
	words, whole := significantWords(query), normalName(query)
	if len(words) == 0 || whole == "" {
		return nil
	}
	items := c.Items(kinds...)
	out := scoredHits(items, func(i Item) int { return i.score(whole, words) })
	if len(out) == 0 {
		out = scoredHits(items, func(i Item) int { return i.similarScore(words) })
	}
	slices.SortStableFunc(out, func(a, b Hit) int {
		return cmp.Or(b.Score-a.Score, cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)), strings.Compare(a.Name, b.Name))
	})
	return out
}

// scoredHits returns the items with a score.
func scoredHits(items []Item, score func(Item) int) []Hit {
	var out []Hit
	for _, i := range items {
		if n := score(i); n > 0 {
			out = append(out, Hit{i, n})
		}
	}
	return out
}

// similarScore returns 5 if each word is the word of a name or title but for a third of its letters.
func (i Item) similarScore(words []string) int {
	names := append([]string{withoutPrefix(i.Name), i.DisplayName}, i.Aliases...)
	for _, n := range append(names, i.Name, i.Title) {
		names = append(names, strings.FieldsFunc(n, func(r rune) bool { return r == ' ' || r == '-' || r == '_' })...)
	}
	for _, w := range words {
		letters := utf8.RuneCountInString(w)
		if letters < 4 || !slices.ContainsFunc(names, func(n string) bool {
			return fuzzy.LevenshteinDistance(w, strings.ToLower(n)) <= letters/3
		}) {
			return 0
		}
	}
	return 5
}

// fillers are words in nearly every description.
var fillers = strings.Fields("a an the i me my we us you your it is are be do does how what which when who can could " +
	"should want need needs help with for from to of on in at by and or not some something about up this that use user")

// significantWords returns the meaningful words of a query, without their endings; all of them if none is
// meaningful.
func significantWords(query string) []string {
	var out []string
	all := strings.Fields(strings.ToLower(query))
	for _, w := range all {
		w = strings.Trim(w, ".,;:!?\"'()")
		if w == "" || slices.Contains(fillers, w) {
			continue
		}
		for _, ending := range []string{"ing", "es", "s"} {
			if rest, ok := strings.CutSuffix(w, ending); ok && len(rest) > 3 {
				w = rest
				break
			}
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		return all
	}
	return out
}

func (i Item) score(whole string, words []string) int {
	names := append([]string{i.Name, withoutPrefix(i.Name), i.DisplayName, i.Title}, i.Aliases...)
	names = append(names, i.Codes...)
	prefix := false
	for _, n := range names {
		n = normalName(n)
		if n == whole && n != "" {
			return 100
		}
		prefix = prefix || n != "" && strings.HasPrefix(n, whole)
	}
	if prefix {
		return 80
	}
	title := strings.ToLower(strings.Join(names, " ") + " " + i.Module + " " + i.Phase)
	all := title + " " + strings.ToLower(i.Description)
	inTitle, inAll := 0, 0
	for _, w := range words {
		if strings.Contains(title, w) {
			inTitle++
		}
		if strings.Contains(all, w) {
			inAll++
		}
	}
	switch {
	case inTitle == len(words):
		return 60
	case inAll == len(words):
		return 40
	case inAll*2 >= len(words) && inAll > 0: // at least half of a question
		return 10 + 20*inAll/len(words)
	}
	return 0
}
