package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// arrows are those between the files of a package: there is one from A to B if A names something
// that B declares (a function, method, type, variable, constant or field), however often it does so.
type arrows map[string]map[string]bool

func (a arrows) add(from, to string) {
	for _, name := range []string{from, to} {
		if a[name] == nil {
			a[name] = map[string]bool{}
		}
	}
	a[from][to] = true
}

func (a arrows) count() int {
	total := 0
	for _, to := range a {
		total += len(to)
	}
	return total
}

// room is the name of a file. What was generated from x.templ is part of x.go: the layout of a page, and
// the facts that it shows.
func room(file string) string {
	return strings.Replace(filepath.Base(file), "_templ.go", ".go", 1)
}

// between draws the arrows of a package.
func between(set *token.FileSet, pkg *types.Package, uses map[*ast.Ident]types.Object) arrows {
	out := arrows{}
	for ident, object := range uses {
		if object.Pkg() != pkg {
			continue
		}
		from, to := set.Position(ident.Pos()).Filename, set.Position(object.Pos()).Filename
		if room(from) != room(to) {
			out.add(room(from), room(to))
		}
	}
	return out
}

// upward returns the arrows that run back up, as "low.go -> high.go", sorted.
//
// The files of a package are put one above the other, callers above the files that they call, so
// that as many arrows as possible run down; the others run back up. Without circles no arrow does.
// With circles the number says how many arrows have to go before the files lean on each other in
// one direction. File names have no influence, except on the choice between equally good orders.
func (a arrows) upward() []string {
	order := a.improve(a.stack())
	height := map[string]int{}
	for i, name := range order {
		height[name] = len(order) - i
	}
	var out []string
	for from, all := range a {
		for to := range all {
			if height[to] > height[from] {
				out = append(out, from+" -> "+to)
			}
		}
	}
	slices.Sort(out)
	return out
}

// stack orders the files from the top down: files that no other uses go to the top and files that
// use no other to the bottom, again and again; if only circles are left, the file goes next to the
// top that uses the most others and is used by the fewest.
func (a arrows) stack() []string {
	var top, bottom []string
	for left := slices.Sorted(maps.Keys(a)); len(left) > 0; {
		i, low := a.next(left)
		if low {
			bottom = append(bottom, left[i])
		} else {
			top = append(top, left[i])
		}
		left = slices.Delete(left, i, i+1)
	}
	slices.Reverse(bottom)
	return append(top, bottom...)
}

// next returns the position of the file to put in place next, and whether it goes to the bottom.
func (a arrows) next(left []string) (at int, low bool) {
	best := 0
	for i, name := range left {
		uses, users := a.degrees(name, left)
		score := uses - users
		switch {
		case uses == 0:
			return i, true
		case users == 0:
			score = len(a) + 1
		}
		if i == 0 || score > best {
			at, best = i, score
		}
	}
	return at, false
}

// degrees counts how many of the given files a file uses, and how many of them use it.
func (a arrows) degrees(name string, among []string) (uses, users int) {
	for _, other := range among {
		if a[name][other] {
			uses++
		}
		if a[other][name] {
			users++
		}
	}
	return uses, users
}

// improve moves single files up or down for as long as that turns arrows downward.
func (a arrows) improve(order []string) []string {
	for better := true; better; {
		better = false
		for i := range order {
			better = a.sift(order, i) || better
		}
	}
	return order
}

// sift moves the file at a position of the order to the position that turns the most arrows downward, and
// reports whether there is one.
func (a arrows) sift(order []string, at int) bool {
	name, best, to := order[at], 0, at
	for _, step := range []int{-1, 1} {
		gain := 0
		for i := at + step; i >= 0 && i < len(order); i += step {
			// Passing a file upward turns the arrow to it downward, and the one from it upward.
			if a[name][order[i]] {
				gain -= step
			}
			if a[order[i]][name] {
				gain += step
			}
			if gain > best {
				best, to = gain, i
			}
		}
	}
	if best == 0 {
		return false
	}
	moved := slices.Insert(slices.Delete(slices.Clone(order), at, at+1), to, name)
	copy(order, moved)
	return true
}
