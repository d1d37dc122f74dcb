package notes

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// randomLines returns lines about few keys, at few times, so that they contradict each other in
// every way.
func randomLines(r *rand.Rand, n int) []string {
	var out []string
	for range n {
		id, stamp := fmt.Sprintf("key-%d", r.IntN(4)), fmt.Sprintf("2026-01-01T00:00:0%dZ", r.IntN(3))
		kind := Types()[r.IntN(2)]
		if r.IntN(3) == 0 {
			out = append(out, fmt.Sprintf(`{"v":1,"id":%q,"type":%q,"deleted_at":%q,"by":"b%d"}`, id, kind, stamp, r.IntN(2)))
			continue
		}
		out = append(out, fmt.Sprintf(`{"v":1,"id":%q,"type":%q,"agent":"a","text":"text %d","tags":["%d"],"updated_at":%q}`, id, kind, r.IntN(2), r.IntN(3), stamp))
	}
	return out
}

func fold(lines []string) string {
	s := NewSet()
	s.setPart(&part{name: "stories.jsonl", kind: Stories}, []byte(strings.Join(lines, "\n")))
	out, err := json.Marshal(s.live())
	if err != nil {
		panic(err)
	}
	return string(out)
}

// TestFoldIsOrderFree: any order of lines, any union of branches, and lines that are there twice, give
// the same notes.
func TestFoldIsOrderFree(t *testing.T) {
	t.Parallel()
	different := map[string]bool{}
	for seed := range 150 {
		r := rand.New(rand.NewPCG(1, uint64(seed)))
		base, ours, theirs := randomLines(r, 4), randomLines(r, 5), randomLines(r, 5)
		all := slices.Concat(base, ours, theirs)
		want := fold(all)
		different[want] = true
		for range 10 {
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if got := fold(all); got != want {
				t.Fatalf("seed %d: the order\n%s\ngives %s\nnot %s", seed, strings.Join(all, "\n"), got, want)
			}
		}
		for _, union := range [][]string{slices.Concat(base, theirs, ours), slices.Concat(ours, base, theirs, base, ours), slices.Concat(theirs, theirs, ours, base)} {
			if got := fold(union); got != want {
				t.Fatalf("seed %d: a union gives %s\nnot %s", seed, got, want)
			}
		}
	}
	if len(different) < 110 {
		t.Errorf("only %d different folds were tried", len(different))
	}
}

// TestFoldChooses: the later line counts; of the same time the deletion, else the greater one.
func TestFoldChooses(t *testing.T) {
	t.Parallel()
	note := func(tag, at string) string {
		return fmt.Sprintf(`{"v":1,"id":"k","type":"stories","agent":"a","text":"t","tags":[%q],"updated_at":%q}`, tag, at)
	}
	dead := func(at string) string {
		return fmt.Sprintf(`{"v":1,"id":"k","type":"stories","deleted_at":%q}`, at)
	}
	const one, two = "2026-01-01T00:00:01.000Z", "2026-01-01T00:00:02.000Z"
	for _, c := range []struct {
		lines []string
		want  string // the tag, or none
	}{
		{[]string{note("new", two), note("old", one)}, "new"},
		{[]string{note("a", one), note("b", one)}, "b"},
		{[]string{note("a", one), dead(one)}, ""},
		{[]string{dead(one), note("a", two)}, "a"},
		{[]string{dead(two), note("a", one)}, ""},
		{[]string{dead(two)}, ""},
	} {
		got := fold(c.lines)
		if (c.want == "") != (got == "null") || c.want != "" && !strings.Contains(got, `["`+c.want+`"]`) {
			t.Errorf("%s\ngives %s, want %q", strings.Join(c.lines, "\n"), got, c.want)
		}
	}
}
