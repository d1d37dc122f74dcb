package verify

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTail(t *testing.T) {
	for name, c := range map[string]struct {
		size      int
		text, out string
	}{
		"nothing":                          {10, "", ""},
		"less":                             {10, "one\ntwo\n", "one\ntwo"},
		"just as much":                     {7, "one\ntwo", "one\ntwo"},
		"just as much and a line's end":    {7, "one\ntwo\n", "one\ntwo"},
		"one byte more":                    {6, "one\ntwo", "…\ntwo"},
		"begins at a line":                 {3, "one\ntwo", "…\ntwo"},
		"begins after a line's start":      {2, "one\ntwo", "…wo"},
		"begins in a line":                 {9, "the first\nlast", "…\nlast"},
		"one long line":                    {4, "0123456789\n", "…6789"},
		"none is kept":                     {0, "one", ""},
		"fewer than none":                  {-1, "one", ""},
		"cut in a character":               {5, "ääää\n", "…ää"},
		"cut in a character of four bytes": {5, "😀😀", "…😀"},
		"not UTF-8":                        {20, "a\xff\xfeb\xc3", "a\ufffdb\ufffd"},
		"not UTF-8 and too long by that":   {6, "\xffa\xffb\xffc", "…b\ufffdc"},
		"NUL and others":                   {20, "a\x00b\ac\x7f\td", "abc\td"},
		"UTF-16":                           {20, "o\x00k\x00\n\x00", "ok"},
		"colours":                          {40, "\x1b[1;31mFAIL\x1b[0m \x1b[2Kit", "FAIL it"},
		"a colour cut off at the end":      {40, "FAIL\x1b[3", "FAIL"},
		"a title and a link":               {99, "\x1b]0;title\aa \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "a link"},
		"a title that does not end":        {40, "a\x1b]0;title\nb", "a\nb"},
		"other sequences":                  {40, "\x1b(B\x1b7a\x1bPq#\x1b\\b\x1bc\x1b", "ab"},
		"control characters of one rune":   {40, "a\u009b\u0085b", "ab"},
		"lines of Windows":                 {40, "one\r\ntwo\r\n", "one\ntwo"},
		"a progress bar":                   {40, "10%\r20%\rdone\n", "10%\n20%\ndone"},
	} {
		for _, piece := range []int{1, 2, 3, 1000} {
			w := &tail{size: c.size}
			for rest := c.text; rest != ""; {
				n := min(piece, len(rest))
				if wrote, err := w.Write([]byte(rest[:n])); wrote != n || err != nil {
					t.Fatal(wrote, err)
				}
				rest = rest[n:]
			}
			if got := w.String(); got != c.out {
				t.Errorf("%s, in pieces of %d: %q, want %q", name, piece, got, c.out)
			}
		}
	}
}

// TestTailIsTheEnd compares what is kept with the end of the whole text, for all ways to cut it up.
func TestTailIsTheEnd(t *testing.T) {
	var whole strings.Builder
	for i := range 40 {
		fmt.Fprintf(&whole, "%c", 'A'+i%50)
	}
	for size := 1; size <= 45; size++ {
		for piece := 1; piece <= 45; piece++ {
			w := &tail{size: size}
			for rest := whole.String(); rest != ""; rest = rest[min(piece, len(rest)):] {
				_, _ = w.Write([]byte(rest[:min(piece, len(rest))]))
			}
			want := whole.String()
			if len(want) > size {
				want = "…" + want[len(want)-size:]
			}
			if got := w.String(); got != want {
				t.Fatalf("size %d, pieces of %d: %q, want %q", size, piece, got, want)
			}
		}
	}
}

func TestTailHoldsNoMore(t *testing.T) {
	w := &tail{size: 1000}
	big := []byte(strings.Repeat("0123456789\n", 10_000))
	for _, p := range [][]byte{big[:10], big, big[:999], big[:1000], big[:1001], big[:1002], big} {
		_, _ = w.Write(p)
		if len(w.end) > 1001 || cap(w.end) > 2002 {
			t.Fatalf("holds %d of %d bytes", len(w.end), cap(w.end))
		}
	}
}

func FuzzTail(f *testing.F) {
	f.Add([]byte("one\ntwo\x1b[31m\xff\x00"), []byte("three\r\n"), 5)
	f.Fuzz(func(t *testing.T, first, second []byte, size int) {
		w := &tail{size: size % 1000}
		for _, p := range [][]byte{first, second} {
			if n, err := w.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
		got := w.String()
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\x1b\r") {
			t.Errorf("%q", got)
		}
		if len(got) > max(0, w.size)+len(more+"\n") {
			t.Errorf("%d bytes of %d: %q", len(got), w.size, got)
		}
	})
}
