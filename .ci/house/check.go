package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// limit is a set of limits.
type limit struct {
	file            bound // the lines of a file that is not a test
	methods, fields bound // of a type
	up              bound // of a package
	mixed, long     goal
	// of the functions that are not exported
	participles, oneWord goal
}

// bound is the most that each entry of a list may have.
type bound struct {
	most         int
	what, advice string
	named        map[string]exception
}

// exception is the most that one entry may have instead, and the reason.
type exception struct {
	most int
	why  string
}

// check returns an error if an entry is over its bound, or an exception is not needed.
func (b bound) check(all []sized) error {
	var broken []error
	missing := maps.Clone(b.named)
	for _, s := range all {
		most := b.most
		if e, ok := b.named[s.name]; ok {
			most = e.most
			delete(missing, s.name)
		}
		if s.size > most {
			broken = append(broken, fmt.Errorf("%s has %d %s, at most %d are allowed: %s%s", s.name, s.size, b.what, most, b.advice, s.detail))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		broken = append(broken, fmt.Errorf("limits.go has an exception for the %s of %s, which is missing: remove it there", b.what, name))
	}
	return errors.Join(broken...)
}

// check returns an error that names each limit that an entry breaks.
func (l limit) check(f *figures) error {
	return errors.Join(l.file.check(slices.Concat(f.files, f.supporting)), l.methods.check(f.methods), l.fields.check(f.fields),
		l.up.check(f.up))
}

// goal limits a measure of the whole module. If the measure is over want, today is its limit,
// which may only fall.
type goal struct{ want, today float64 }

// gauge is such a measure.
type gauge struct {
	name  string
	value float64
	goal  goal
}

// most returns the limit.
func (g goal) most() float64 { return max(g.want, g.today) }

func (g gauge) String() string {
	out := number(g.value) + ", at most " + number(g.goal.most())
	if g.goal.today > g.goal.want {
		out += ", goal " + number(g.goal.want)
	}
	return out
}

func number(n float64) string { return strconv.FormatFloat(math.Round(100*n)/100, 'f', -1, 64) }

// gauges measures the module as a whole.
func (l limit) gauges(f *figures) []gauge {
	return []gauge{
		{"conditions that mix && and || per 1,000 lines", 1000 * ratio(f.mixed, f.production), l.mixed},
		{fmt.Sprintf("lines over %d columns", long), float64(f.long), l.long},
		{"functions named by a participle alone, in %", 100 * ratio(f.participles, f.unexported), l.participles},
		{"functions named by one word, in %", 100 * ratio(f.oneWord, f.unexported), l.oneWord},
	}
}

// checkAll returns an error that names each gauge over its limit.
func checkAll(gauges []gauge) error {
	var broken []error
	for _, g := range gauges {
		if g.value > g.goal.most() {
			broken = append(broken, fmt.Errorf("%s: %s", g.name, g))
		}
	}
	return errors.Join(broken...)
}
