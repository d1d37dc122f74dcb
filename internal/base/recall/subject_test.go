package recall_test

import (
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

// TestUnits takes texts apart, with the lexicon and without.
func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		lexicon *recall.Lexicon
		text    string
		want    []string
	}{
		{recall.Words, "Add dark mode to the 3 pages of the app", []string{"add", "dark", "mode", "pages", "app"}},
		{recall.Builtin(), "Add dark mode to the pages", []string{"add", "dark mode", "pages"}},
		{recall.Builtin(), "logs, logging, and the log", []string{"logs"}},
		{recall.Words, "增加扫码登录", []string{"增加", "加扫", "扫码", "码登", "登录"}},
		{recall.Builtin(), "增加扫码登录", []string{"增加", "扫码", "登录"}},
		{recall.Builtin(), "getUserById 与 42", []string{"user", "id"}},
		{recall.Words, "", nil},
	} {
		var got []string
		for _, u := range tt.lexicon.Units(tt.text) {
			got = append(got, u.Text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestCounts counts units of one text in another: in another form, in other words, in another
// language, and in parts.
func TestCounts(t *testing.T) {
	for _, tt := range []struct {
		lexicon    *recall.Lexicon
		unit, text string
		want       float64
	}{
		{recall.Words, "booking", "She books, he booked. A book!", 3},
		{recall.Words, "booking", "An appointment", 0},
		{recall.Words, "库存", "查库存，再查库存", 2},
		{recall.Builtin(), "sign-in", "People log in, and the login is kept.", 2 * 0.85},
		{recall.Builtin(), "登录", "People log in here.", 0.85},
		{recall.Builtin(), "login", "用户登录后才能看到", 0.85},
		{recall.Builtin(), "dark mode", "It is dark outside.", 0.25},
		{recall.Builtin(), "theme", "Give them this.", 0}, // thème has the stem of them
	} {
		units := tt.lexicon.Units(tt.unit)
		if len(units) != 1 {
			t.Fatalf("%q has %d units", tt.unit, len(units))
		}
		if got := tt.lexicon.Count(tt.text).Of(units[0]); got != tt.want {
			t.Errorf("%q in %q: got %g, want %g", tt.unit, tt.text, got, tt.want)
		}
	}
}
