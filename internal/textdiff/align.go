package textdiff

// match is a run of lines that both texts have.
type match struct{ a, b, n int }

// maxWork bounds the steps of an exact alignment. Beyond it, lines that are unique in both texts
// hold the texts together.
const maxWork = 4_000_000

// align finds the lines that two texts share, in order.
func align(a, b []string) []match {
	first := 0
	for first < len(a) && first < len(b) && a[first] == b[first] {
		first++
	}
	last := 0
	for last < len(a)-first && last < len(b)-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	var out []match
	add := func(m match) {
		if k := len(out) - 1; k >= 0 && out[k].a+out[k].n == m.a && out[k].b+out[k].n == m.b {
			out[k].n += m.n
		} else if m.n > 0 {
			out = append(out, m)
		}
	}
	add(match{0, 0, first})
	for _, m := range inner(a[first:len(a)-last], b[first:len(b)-last]) {
		add(match{m.a + first, m.b + first, m.n})
	}
	add(match{len(a) - last, len(b) - last, last})
	return out
}

// inner aligns the parts that begin and end differently: around the lines that are unique in
// both, and exactly between those.
func inner(a, b []string) []match {
	anchors := unique(a, b)
	if len(anchors) == 0 {
		return exact(a, b)
	}
	var out []match
	i, j := 0, 0
	for _, m := range append(anchors, match{len(a), len(b), 0}) {
		for _, part := range exact(a[i:m.a], b[j:m.b]) {
			out = append(out, match{part.a + i, part.b + j, part.n})
		}
		if m.n > 0 {
			out = append(out, m)
		}
		i, j = m.a+m.n, m.b+m.n
	}
	return out
}

// unique returns the lines that stand once in each text, the longest series of them that has the
// same order in both.
func unique(a, b []string) []match {
	type place struct{ inA, inB, a, b int }
	places := map[string]*place{}
	for i, line := range a {
		p := places[line]
		if p == nil {
			p = &place{}
			places[line] = p
		}
		p.inA++
		p.a = i
	}
	for j, line := range b {
		if p := places[line]; p != nil {
			p.inB++
			p.b = j
		}
	}
	var pairs []match
	for i, line := range a {
		if p := places[line]; p.inA == 1 && p.inB == 1 {
			pairs = append(pairs, match{i, p.b, 1})
		}
	}
	return rising(pairs)
}

// rising is the longest series of pairs whose places in the second text rise, too.
func rising(pairs []match) []match {
	var tails []int // by length, the pair that ends a series of it with the smallest place
	before := make([]int, len(pairs))
	for i, p := range pairs {
		low, high := 0, len(tails)
		for low < high {
			if mid := (low + high) / 2; pairs[tails[mid]].b < p.b {
				low = mid + 1
			} else {
				high = mid
			}
		}
		before[i] = -1
		if low > 0 {
			before[i] = tails[low-1]
		}
		if low == len(tails) {
			tails = append(tails, i)
		} else {
			tails[low] = i
		}
	}
	out := make([]match, len(tails))
	if len(tails) == 0 {
		return nil
	}
	for k, i := len(tails)-1, tails[len(tails)-1]; k >= 0; k, i = k-1, before[i] {
		out[k] = pairs[i]
	}
	return out
}

// exact is a longest common subsequence; none where that would take too many steps.
func exact(a, b []string) []match {
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > maxWork {
		return nil
	}
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	var out []match
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			out = append(out, match{i, j, 1})
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return out
}
