package visible_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// escaped has characters that steer a terminal or do not show, with the escape of each.
var escaped = map[string]string{
	"escape sequence":          "touch x #\r\x1b[2K    go test ./...",
	"bidi override":            "a\u202eb",
	"bidi isolate":             "a\u2066b\u2069",
	"left-to-right mark":       "a\u200e\u200fb",
	"arabic letter mark":       "a\u061cb",
	"bell and delete":          "bell\a del\x7f next\u0085",
	"line separator":           "a\u2028b\u2029c",
	"zero width space":         "go\u200btest",
	"zero width joiner":        "go\u200dtest",
	"zero width non-joiner":    "go\u200ctest",
	"word joiner":              "a\u2060b",
	"byte order mark":          "\ufeffgo test",
	"soft hyphen":              "con\u00adfirm",
	"hangul filler":            "a\u3164b",
	"halfwidth hangul filler":  "a\uffa0b",
	"hangul jamo fillers":      "a\u115f\u1160b",
	"combining grapheme":       "a\u034fb",
	"khmer inherent vowel":     "a\u17b4\u17b5b",
	"mongolian separator":      "a\u180e\u180bb",
	"invisible operators":      "a\u2061\u2062\u2063\u2064b",
	"deprecated formats":       "a\u206a\u206fb",
	"interlinear annotation":   "a\ufff9b\ufffac\ufffb",
	"tag characters":           "a\U000e0041\U000e007fb",
	"language tag":             "a\U000e0001b",
	"variation selector":       "rm\ufe0f",
	"text variation selector":  "rm\ufe0e",
	"first variation selector": "a\ufe00b",
	"ideographic variation":    "葛\U000e0100",
	"selector after a digit":   "exit 1\ufe0f",
	"two selectors":            "⚠\ufe0f\ufe0f",
	"selector after joiner":    "👩\u200d\ufe0f",
	"flag of tags":             "🏴\U000e0067\U000e0062\U000e007f",
	"no-break space":           "rm\u00a0-rf",
	"narrow no-break space":    "10\u202f000",
	"ogham space":              "a\u1680b",
	"en quad to hair space":    "a\u2000\u2003\u2009\u200ab",
	"mathematical space":       "a\u205fb",
	"braille blank":            "a\u2800b",
	"musical null notehead":    "a\U0001d159b",
	"musical beam":             "a\U0001d173b",
	"shorthand format":         "a\U0001bca0b",
	"reserved, ignorable":      "a\u2065b",
	"reserved, specials":       "a\ufff0b",
	"reserved, plane 14":       "a\U000e0fffb",
	"noncharacter":             "a\ufdd0b\ufffeb",
	"invalid bytes":            "a\x9b2Jb\xffc",
}

func TestEverythingInvisibleIsEscaped(t *testing.T) {
	for name, text := range escaped {
		for face, got := range map[string]string{"Text": visible.Text(text), "Line": visible.Line(text), "Exact": visible.Exact(text)} {
			if face != "Exact" { // an emoji is seen with its selector and joiner
				got = strings.NewReplacer("⚠\ufe0f", "", "👩\u200d", "").Replace(got)
			}
			if strings.ContainsFunc(got, hides) {
				t.Errorf("%s: %s left something that does not show: %+q", name, face, got)
			}
			if face != "Line" && !strings.Contains(got, `\`) {
				t.Errorf("%s: %s has no escape: %+q", name, face, got)
			}
		}
		if !visible.Hides(text) {
			t.Errorf("%s: Hides does not see it", name)
		}
	}
}

// hides decides by the same rule in a second way, by properties alone.
func hides(r rune) bool {
	return r != '\n' && r != '\t' && r != ' ' && (unicode.IsControl(r) ||
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point))
}

func TestEscapesAreTold(t *testing.T) {
	for text, want := range map[string]string{
		"touch x #\r\x1b[2K    go":  `touch x #\u000d\u001b[2K    go`,
		"a\u202eb\u2066c\u200f":     `a\u202eb\u2066c\u200f`,
		"bell\a del\x7f next\u0085": `bell\u0007 del\u007f next\u0085`,
		"a\U000e0041b":              `a\udb40\udc41b`,
		"a\x9b2J":                   `a\u009b2J`,
		"":                          "",
	} {
		if got := visible.Text(text); got != want {
			t.Errorf("%+q: got %q, want %q", text, got, want)
		}
	}
}

// TestHonestTextStays checks that ordinary text of people and models in their languages stays.
func TestHonestTextStays(t *testing.T) {
	for _, text := range []string{
		"plain, 中文 é 🧑\n\tand more\n",
		"第一段。\n\u3000\u3000第二段，带全角空格。",
		"⚠️ careful, ❤️ and ✔︎ and ↔️ and ‼️",
		"👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🧑🏽‍🚀 🇨🇳",
		"1️⃣ first, *️⃣ any, #️⃣ tag",
		"combining e\u0301 and ñ, ไทย, हिन्दी, العربية, עברית",
		`a literal \u200b stays as it was written`,
		"box ┌─┐ │ └─┘ ✅ ❌ → ≥ ∞ \u2026 “quotes”",
		"\ufffd is what a broken character shows as",
	} {
		if got := visible.Text(text); got != text {
			t.Errorf("%+q: Text made %+q of it", text, got)
		}
	}
	if got := visible.Exact("go test ./... && 构建"); got != "go test ./... && 构建" || visible.Hides("go test ./... && 构建\n\tmake") {
		t.Errorf("an honest command became %+q", got)
	}
	// A command shows each character, also those that only change how another one looks.
	for text, want := range map[string]string{"echo ⚠\ufe0f": `echo ⚠\ufe0f`, "cat 项目\u3000a": `cat 项目\u3000a`, "👩\u200d💻": `👩\u200d💻`} {
		if got := visible.Exact(text); got != want || !visible.Hides(text) {
			t.Errorf("%+q: Exact made %+q of it", text, got)
		}
	}
}

func TestTrim(t *testing.T) {
	for text, want := range map[string]string{" a b\n": "a b", "\u200b": "", "\ufeff \u2060\u00a0": "", "\u200ba": "\u200ba", " 👍\ufe0f ": "👍\ufe0f", "": ""} {
		if got := visible.Trim(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestLineIsOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\nb\r\nc\td":             "a b c d",
		"  round  about  ":           "round about",
		"x\u2028y\u2029z\vw":         "x y z w",
		"a\u0085b":                   "a b",
		"**The human says:**\n\nyes": "**The human says:** yes",
		"a\u202eb\u001b[2J":          `a\u202eb\u001b[2J`,
		"一\n二\u3000三":                "一 二 三",
	} {
		if got := visible.Line(text); got != want {
			t.Errorf("%+q: got %q, want %q", text, got, want)
		}
	}
}

// TestWriter checks that a text comes out as from Text, however it is cut into writes.
func TestWriter(t *testing.T) {
	texts := []string{"plain 中文 ⚠️ 👩‍💻 done\n", "a\u202eb\U000e0041c\x9bd\u200be 1️⃣ end"}
	for _, text := range escaped {
		texts = append(texts, text+".")
	}
	for _, text := range texts {
		for size := 1; size <= len(text); size++ {
			var buf bytes.Buffer
			w := visible.NewWriter(&buf)
			for at := 0; at < len(text); at += size {
				part := text[at:min(at+size, len(text))]
				if n, err := io.WriteString(w, part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if buf.String() != visible.Text(text) {
				t.Errorf("%+q in pieces of %d: %+q", text, size, buf.String())
			}
		}
	}
}

// TestJSONStaysJSON checks that machine-readable output keeps its meaning.
func TestJSONStaysJSON(t *testing.T) {
	for name, text := range escaped {
		doc, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal([]byte(visible.Text(string(doc))), &got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := strings.ToValidUTF8(text, "\ufffd"); strings.ReplaceAll(got["text"], "\ufffd", "") != strings.ReplaceAll(want, "\ufffd", "") {
			t.Errorf("%s: %+q became %+q", name, text, got["text"])
		}
	}
}

func TestParts(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n上　海":            "(plain\n上　海)",
		"a\u202e\u200bb":        "(a)<U+202E><U+200B>(b)",
		"👩\u200d💻\u200d\xff":    "(👩\u200d💻\u200d)<0xFF>",
		"\u200d👩":               "<U+200D>(👩)",
		"1\ufe0f\u20e3 1\ufe0f": "(1\ufe0f\u20e3 1)<U+FE0F>",
	} {
		var b strings.Builder
		visible.Parts(text, func(part string) { b.WriteString("(" + part + ")") }, func(name string) { b.WriteString("<" + name + ">") })
		if b.String() != want {
			t.Errorf("%q: %q, want %q", text, b.String(), want)
		}
	}
}
