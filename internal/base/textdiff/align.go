package textdiff

import "sort"

// The work of one comparison is bounded: depth limits how often a part is split again at its unique items,
// table the size of the exact comparison of a part without any, and budget the sum of such tables. A part
// beyond them counts as replaced.
const (
	depth  = 24
	table  = 1 << 18
	budget = 1 << 23
)

// aligner finds the common items of two sequences. An item is a line or a word, as a number.
type aligner struct {
	// to has for each item of the first sequence the place in the second, or -1.
	to []int
	// steps counts the work.
	steps int
	// spent is the part of the budget used by tables.
	spent int
}

func align(a, b []int) *aligner {
	g := &aligner{to: make([]int, len(a))}
	for i := range g.to {
		g.to[i] = -1
	}
	g.alignPart(a, b, 0, len(a), 0, len(b), depth)
	return g
}

// alignPart aligns a[i:n] with b[j:m].
func (g *aligner) alignPart(a, b []int, i, n, j, m, depth int) {
	for i < n && j < m && a[i] == b[j] {
		g.to[i] = j
		i, j = i+1, j+1
		g.steps++
	}
	for i < n && j < m && a[n-1] == b[m-1] {
		n, m = n-1, m-1
		g.to[n] = m
		g.steps++
	}
	if i == n || j == m {
		return
	}
	var anchors [][2]int
	if depth > 0 {
		anchors = g.findAnchors(a, b, i, n, j, m)
	}
	if len(anchors) == 0 {
		g.alignExactly(a, b, i, n, j, m)
		return
	}
	for _, at := range anchors {
		g.alignPart(a, b, i, at[0], j, at[1], depth-1)
		g.to[at[0]] = at[1]
		i, j = at[0]+1, at[1]+1
	}
	g.alignPart(a, b, i, n, j, m, depth-1)
}

// findAnchors returns the longest rising sequence of items found once on each side.
func (g *aligner) findAnchors(a, b []int, i, n, j, m int) [][2]int {
	type count struct{ a, b, at int }
	seen := map[int]count{}
	for _, x := range a[i:n] {
		c := seen[x]
		c.a++
		seen[x] = c
	}
	for y := j; y < m; y++ {
		if c, ok := seen[b[y]]; ok {
			c.b, c.at = c.b+1, y
			seen[b[y]] = c
		}
	}
	g.steps += n - i + m - j
	type link struct{ x, y, before int }
	var links []link
	var tails []int // tails[k] ends the best sequence of k+1 links
	for x := i; x < n; x++ {
		c := seen[a[x]]
		if c.a != 1 || c.b != 1 {
			continue
		}
		k := sort.Search(len(tails), func(k int) bool { return links[tails[k]].y >= c.at })
		before := -1
		if k > 0 {
			before = tails[k-1]
		}
		links = append(links, link{x, c.at, before})
		if k == len(tails) {
			tails = append(tails, 0)
		}
		tails[k] = len(links) - 1
	}
	out := make([][2]int, len(tails))
	if len(tails) == 0 {
		return nil
	}
	for k, at := len(tails)-1, tails[len(tails)-1]; k >= 0; k, at = k-1, links[at].before {
		out[k] = [2]int{links[at].x, links[at].y}
	}
	return out
}

// alignExactly finds a longest common subsequence, if the table for it is small enough.
func (g *aligner) alignExactly(a, b []int, i, n, j, m int) {
	h, w := n-i, m-j
	if size := (h + 1) * (w + 1); h > table || w > table || size > table || g.spent+size > budget {
		return
	}
	g.steps += h * w
	g.spent += (h + 1) * (w + 1)
	best := make([]int32, (h+1)*(w+1))
	for x := h - 1; x >= 0; x-- {
		for y := w - 1; y >= 0; y-- {
			down, right := best[(x+1)*(w+1)+y], best[x*(w+1)+y+1]
			best[x*(w+1)+y] = max(down, right)
			if a[i+x] == b[j+y] {
				best[x*(w+1)+y] = best[(x+1)*(w+1)+y+1] + 1
			}
		}
	}
	for x, y := 0, 0; x < h && y < w; {
		switch {
		case a[i+x] == b[j+y]:
			g.to[i+x] = j + y
			x, y = x+1, y+1
		case best[(x+1)*(w+1)+y] >= best[x*(w+1)+y+1]:
			x++
		default:
			y++
		}
	}
}

// numberItems gives equal items equal numbers.
func numberItems(ids map[string]int, items []string) []int {
	out := make([]int, len(items))
	for i, item := range items {
		id, ok := ids[item]
		if !ok {
			id = len(ids)
			ids[item] = id
		}
		out[i] = id
	}
	return out
}
