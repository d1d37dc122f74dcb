package textdiff

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// show writes a line for each row: sign, numbers, both sides with the changed parts in brackets.
func show(rows []Row) string {
	side := func(spans []Span) string {
		var b strings.Builder
		for _, s := range spans {
			text := strings.ReplaceAll(s.Text, "\n", "¶")
			if s.Changed {
				text = "[" + text + "]"
			}
			b.WriteString(text)
		}
		return b.String()
	}
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s %d %d %s | %s", r.Kind, r.Before, r.After, side(r.Left), side(r.Right)))
	}
	return strings.Join(out, "\n")
}

func TestRows(t *testing.T) {
	for _, test := range []struct{ name, before, after, want string }{
		{"nothing", "", "", ""},
		{"equal", "a\nb\n", "a\nb\n", "same 1 1 a¶ | a¶\nsame 2 2 b¶ | b¶"},
		{"all new", "", "a\n", "added 0 1  | [a¶]"},
		{"all gone", "a\nb", "", "removed 1 0 [a¶] | \nremoved 2 0 [b] | "},
		{"a word", "the limit is 5 MB\n", "the limit is 10 MB\n", "changed 1 1 the limit is [5] MB¶ | the limit is [10] MB¶"},
		{"inserted line", "a\nc\n", "a\nb\nc\n", "same 1 1 a¶ | a¶\nadded 0 2  | [b¶]\nsame 2 3 c¶ | c¶"},
		{"moved words of a new line break", "one two three four\nfive six\n", "one two three\nfour five six\n",
			"changed 1 1 one two three four¶ | one two three¶\nchanged 2 2 five six¶ | four five six¶"},
		{"Chinese", "上限为五兆\n", "上限为十兆\n", "changed 1 1 上限为[五]兆¶ | 上限为[十]兆¶"},
		{"no line in common", "alpha beta\n", "gamma delta\n", "removed 1 0 [alpha beta¶] | \nadded 0 1  | [gamma delta¶]"},
		{"similar line among others", "the cat sat\nxx yy\n", "zz\nthe cat ran\n",
			"added 0 1  | [zz¶]\nchanged 1 2 the cat [sat¶] | the cat [ran]¶\nremoved 2 0 [xx yy¶] | "},
		{"emoji stay whole", "a 👩‍💻 b\n", "a 👩 b\n", "changed 1 1 a [👩‍💻] b¶ | a [👩] b¶"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := show(Rows(test.before, test.after)); got != test.want {
				t.Errorf("rows:\n%s\nwant:\n%s", got, test.want)
			}
		})
	}
}

func TestFoldAndStat(t *testing.T) {
	var before, after []string
	for i := range 30 {
		before = append(before, fmt.Sprintf("line %d\n", i))
	}
	after = append(after, before...)
	after[15] = "line fifteen\n"
	rows := Rows(strings.Join(before, ""), strings.Join(after, ""))
	var got []string
	for _, h := range Fold(rows, 3) {
		got = append(got, fmt.Sprint(h.Folded, len(h.Rows)))
	}
	if want := "true 12, false 7, true 11"; strings.Join(got, ", ") != want {
		t.Errorf("hunks: %s, want %s", strings.Join(got, ", "), want)
	}
	if a, r := Stat(strings.Join(before, ""), strings.Join(after, "")); a != 1 || r != 1 {
		t.Errorf("stat: %d added, %d removed", a, r)
	}
	if a, r := Stat("a\n\nb\n", "a\nb\n \nc\n"); a != 1 || r != 0 {
		t.Errorf("stat beside empty lines: %d added, %d removed", a, r)
	}
}

func TestPlace(t *testing.T) {
	before := "# A\n\nfirst point here\nsecond point here\n\nlast\n"
	for _, test := range []struct {
		name, after    string
		from, to, f, n int
		ok             bool
	}{
		{"unchanged", before, 3, 4, 3, 4, true},
		{"lines before", "# A\n\nnew\n\nfirst point here\nsecond point here\n\nlast\n", 3, 4, 5, 6, true},
		{"changed in place", "# A\n\nfirst other point here\nsecond point here\n\nlast\n", 3, 3, 3, 3, true},
		{"one of two gone", "# A\n\nsecond point here\n\nlast\n", 3, 4, 3, 3, true},
		{"gone", "# A\n\nlast\n", 3, 4, 0, 0, false},
		{"outside", before, 70, 80, 0, 0, false},
		{"whole document", before, 0, 0, 0, 0, false},
	} {
		f, n, ok := Place(Rows(before, test.after), test.from, test.to)
		if f != test.f || n != test.n || ok != test.ok {
			t.Errorf("%s: %d-%d %v, want %d-%d %v", test.name, f, n, ok, test.f, test.n, test.ok)
		}
	}
}

// TestBound compares texts that an exact comparison cannot afford.
func TestBound(t *testing.T) {
	const n = 20000
	text := func(f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i) + "\n")
		}
		return b.String()
	}
	numbered := text(func(i int) string { return fmt.Sprintf("left %d of it", i) })
	for name, after := range map[string]string{
		"unrelated": text(func(i int) string { return fmt.Sprintf("right%d other%d", i, i+1) }),
		"two lines": text(func(i int) string { return []string{"x", "y"}[i*i%7%2] }),
		"backwards": text(func(i int) string { return fmt.Sprintf("left %d of it", n-i) }),
		"one word":  strings.Repeat("a b ", n),
	} {
		for _, pair := range [][2]string{{numbered, after}, {after, text(func(i int) string { return []string{"y", "x"}[i%3%2] })}} {
			if _, steps := compareTexts(pair[0], pair[1]); steps > 2*budget+2*depth*(len(pair[0])+len(pair[1])) {
				t.Errorf("%s: %d steps", name, steps)
			}
		}
	}
}

func FuzzRows(f *testing.F) {
	f.Add("a\nb\n", "b\na")
	f.Add("the same words\nin other lines", "the same\nwords in\r\nother lines\n")
	f.Add("a\n\nb\nc\nd\n", "a\nb\n \nd\nc\ne")
	f.Add("\xff\x00 上\u200d", "上 \u0301\n\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		var left, right strings.Builder
		x, y, added, removed := 0, 0, 0, 0
		for _, r := range Rows(before, after) {
			if line := spanned(r.Right); r.Kind != Same && strings.TrimSpace(line) != "" {
				added++
			}
			if line := spanned(r.Left); r.Kind != Same && strings.TrimSpace(line) != "" {
				removed++
			}
			for _, s := range r.Left {
				left.WriteString(s.Text)
			}
			for _, s := range r.Right {
				right.WriteString(s.Text)
			}
			if r.Before != 0 {
				x++
			}
			if r.After != 0 {
				y++
			}
			if r.Before != 0 && r.Before != x || r.After != 0 && r.After != y {
				t.Errorf("numbers %d and %d at lines %d and %d", r.Before, r.After, x, y)
			}
			if r.Kind == Same && (len(r.Left) != 1 || r.Left[0] != r.Right[0]) {
				t.Errorf("a row of equal lines differs: %v", r)
			}
		}
		if a, r := Stat(before, after); a != added || r != removed {
			t.Errorf("counted %d added and %d removed lines, the rows have %d and %d", a, r, added, removed)
		}
		if left.String() != before || right.String() != after {
			t.Errorf("the rows hold %q and %q, not %q and %q", left.String(), right.String(), before, after)
		}
	})
}

// TestLongLines checks that the memory of a comparison grows with the texts, even for one long line.
func TestLongLines(t *testing.T) {
	for name, texts := range map[string][2]string{
		"words": {strings.Repeat("a b ", 1<<14), strings.Repeat("c d ", 1<<14)},
		"marks": {strings.Repeat(".,", 1<<14), strings.Repeat(";:", 1<<14)},
		"Han":   {strings.Repeat("漢字", 1<<14), strings.Repeat("仮名", 1<<14)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows := Rows(texts[0], texts[1])
		runtime.ReadMemStats(&after)
		if took, size := after.TotalAlloc-before.TotalAlloc, uint64(len(texts[0])+len(texts[1])); took > 2000*size {
			t.Errorf("%s: %d bytes for %d", name, took, size)
		}
		if left, right := joined(rows); left != texts[0] || right != texts[1] {
			t.Errorf("%s: the rows are not the texts", name)
		}
	}
}

// joined returns the texts of the rows.
func joined(rows []Row) (left, right string) {
	for _, r := range rows {
		for _, part := range r.Left {
			left += part.Text
		}
		for _, part := range r.Right {
			right += part.Text
		}
	}
	return left, right
}

// spanned returns the text of a side of a row.
func spanned(side []Span) (out string) {
	for _, s := range side {
		out += s.Text
	}
	return out
}
