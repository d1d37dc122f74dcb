package visible_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// TestWrap checks that rows end between words, or between characters in scripts without spaces, and
// never before a mark that ends a part of a sentence.
func TestWrap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		n    int
		want []string
	}{
		{"", 5, []string{""}},
		{"one two", 7, []string{"one two"}},
		{"one two", 6, []string{"one", "two"}},
		{"one  two ", 4, []string{"one", "two"}},
		{"a\n\nb c", 2, []string{"a", "", "b", "c"}},
		{"in-the-very-word", 6, []string{"in-the", "-very-", "word"}},
		{"go incomprehensible", 6, []string{"go inc", "ompreh", "ensibl", "e"}},
		{"高峰期每天多少人", 6, []string{"高峰期", "每天多", "少人"}},
		{"高峰期每天", 5, []string{"高峰", "期每", "天"}},
		{"高峰期。每天", 6, []string{"高峰", "期。每", "天"}},
		{"高峰“期”每天", 5, []string{"高峰", "“期”", "每天"}},
		{"API 接口的 timeout 值", 9, []string{"API 接口", "的", "timeout", "值"}},
		{"宽", 1, []string{"宽"}},
		{"宽宽", 1, []string{"宽", "宽"}},
		{"one two     ", 7, []string{"one two"}},
	} {
		if got := visible.Wrap(tt.text, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("%q in %d columns:\n got %q\nwant %q", tt.text, tt.n, got, tt.want)
		}
	}
}

// TestFold checks that a word that fits into no row stays whole.
func TestFold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		n    int
		want []string
	}{
		{"go /an/incomprehensible/path on", 6, []string{"go", "/an/incomprehensible/path", "on"}},
		{"/an/incomprehensible/path", 6, []string{"/an/incomprehensible/path"}},
		{"one two", 6, []string{"one", "two"}},
		{"在 session-1a2b3c.json 里面", 6, []string{"在", "session-1a2b3c.json", "里面"}},
	} {
		if got := visible.Fold(tt.text, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("%q in %d columns:\n got %q\nwant %q", tt.text, tt.n, got, tt.want)
		}
	}
}

// FuzzWrap checks that no row is too wide, and that only spaces are lost.
func FuzzWrap(f *testing.F) {
	f.Add("one two 高峰期，每天\n\n👩‍💻 x", 7)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 2 || n > 200 {
			return
		}
		text = strings.ToValidUTF8(text, "?")
		rows := visible.Wrap(text, n)
		for _, row := range rows {
			if visible.Columns(row) > n {
				t.Errorf("%d columns: %q", visible.Columns(row), row)
			}
		}
		bare := func(text string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(text) }
		if got := bare(strings.Join(rows, "")); got != bare(text) {
			t.Errorf("%q became %q", text, rows)
		}
		if got := bare(strings.Join(visible.Fold(text, n), "")); got != bare(text) {
			t.Errorf("%q is folded to %q", text, got)
		}
	})
}

// TestHead cuts at characters.
func TestHead(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"", "a", "a", "a", "a登", "a登", "a登", "a登录", "a登录"} {
		if got := visible.Head("a登录", n); got != want {
			t.Errorf("to %d bytes: got %q, want %q", n, got, want)
		}
	}
}

// TestFit cuts at characters.
func TestFit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{{"short", 5, "short"}, {"longer", 5, "lo…"}, {"登录服务", 8, "登…"}, {"登录", 6, "登录"}} {
		if got := visible.Fit(tt.text, tt.n); got != tt.want || len(got) > max(tt.n, len(tt.text)) {
			t.Errorf("%q to %d bytes: got %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}
