package terminal

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// newScreen returns the terminal of a person, of unknown width, and what it shows.
func newScreen(t *testing.T, l lang.Language) (*Terminal, *strings.Builder) {
	t.Helper()
	for _, name := range append(slices.Clone(assistantsTerminal), "NO_COLOR", "CLICOLOR_FORCE", "BMAD_PAGER", "PAGER") {
		name, _, _ = strings.Cut(name, "=")
		t.Setenv(name, "")
	}
	t.Setenv("TERM", "xterm")
	var out strings.Builder
	shown := New(nil, &out, &out)
	shown.Lang, shown.screen.person = l, true
	return shown, &out
}

// TestFoldedLines checks that lines end between words, with the indentation of their texts, and that commands stay whole.
func TestFoldedLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                                      "",
		"short":                                 "short",
		"  one two three four five six":         "  one two three four\n  five six",
		"- one two three four five six":         "- one two three four\n  five six",
		"  bmad-mcp decide one-two-three --yes": "  bmad-mcp decide one-two-three --yes",
		"看草稿，然后决定是否批准它，再继续":                          "看草稿，然后决定是否批准\n它，再继续",
		"see /a/path/that/is/too/long/for/it now":    "see\n/a/path/that/is/too/long/for/it\nnow",
		"a question of three words: ":                "a question of three\nwords: ",
		"Start it: bmad-mcp start \"what is built\"": "Start it:\nbmad-mcp start \"what is built\"",
		"see bmad-mcp show a/b.md, then go on":       "see\nbmad-mcp show a/b.md,\nthen go on",
		"                 far away, and wide of it":  "            far away,\n            and wide of\n            it",
	} {
		if got := strings.Join(foldLine(line, 24), "\n"); got != want {
			t.Errorf("%q:\n got %q\nwant %q", line, got, want)
		}
	}
}

// TestMarkdown draws a document at 30 columns: no mark is left, with colours or without.
func TestMarkdown(t *testing.T) {
	const document = "## Next\n\nType **the one command** that `decides` this.\n\n| Key | About |\n|---|---|\n| `gate` | who **decides** |\n\n- one `bmad-mcp decide sign-in` now\n"
	for _, c := range []struct{ noColour, want string }{
		{"1", "Next\n\nType the one command that\ndecides this.\n\nKey   About\ngate  who decides\n\n• one\n  bmad-mcp decide sign-in now\n"},
		{"", "\x1b[1mNext\x1b[0m\n\nType \x1b[1mthe one command\x1b[0m that\n\x1b[36mdecides\x1b[0m this.\n\n\x1b[1mKey   About\x1b[0m\ngate  who decides\n\n" +
			"• one\n  \x1b[36mbmad-mcp decide sign-in\x1b[0m now\n"},
	} {
		shown, out := newScreen(t, lang.English)
		t.Setenv("NO_COLOR", c.noColour)
		shown.columns = 30
		shown.Markdown(document, "")
		if out.String() != c.want {
			t.Errorf("got\n%q, want\n%q", out.String(), c.want)
		}
	}
}

// TestColoursAreOurs checks that a text colours nothing by itself, however its line is coloured.
func TestColoursAreOurs(t *testing.T) {
	shown, out := newScreen(t, lang.English)
	shown.Styled(Green, "a\x1b[2Jb")
	shown.Markdown("# T\x1b[2J\n\n- **b\x1b[8mc** `d`\n\n```sh\n# no heading\n```\n<!-- kept -->", "")
	want := "\x1b[32ma\\u001b[2Jb\x1b[0m\n\x1b[1mT\\u001b[2J\x1b[0m\n\n• \x1b[1mb\\u001b[8mc\x1b[0m \x1b[36md\x1b[0m\n\n" +
		"    \x1b[36m# no heading\x1b[0m\n<!-- kept -->\n"
	if out.String() != want {
		t.Errorf("got %q\nwant %q", out.String(), want)
	}
}

// TestTablesFit checks that a table keeps to the width, whatever its cells are, and loses no word.
func TestTablesFit(t *testing.T) {
	for _, l := range lang.All() {
		for n := range 8 {
			shown, out := newScreen(t, l)
			shown.Color = "never"
			var header, row []string
			for column := range n + 1 {
				header = append(header, "Head")
				row = append(row, strings.Repeat("word 字 ", column+1)+"end")
			}
			if err := shown.Columns(header, [][]string{row, slices.Clone(row)}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if got := visible.Columns(strings.TrimRight(line, "\n")); got > narrow {
					t.Errorf("%d columns: %s", got, line)
				}
			}
			if got, want := strings.Count(out.String(), "word"), (n+1)*(n+2); got != want {
				t.Errorf("%d columns: %d words, want %d:\n%s", n, got, want, out)
			}
		}
	}
}

// TestWhen checks that a person reads how long ago it was, and everything else a time.
func TestWhen(t *testing.T) {
	for _, l := range lang.All() {
		shown, _ := newScreen(t, l)
		for past, want := range map[time.Duration]string{
			time.Second: l.Say("just now"), 5*time.Minute + time.Second: l.Say("%d min ago", 5), 3*time.Hour + time.Minute: l.Say("%d h ago", 3),
			50 * time.Hour: l.Say("%d d ago", 2),
		} {
			at := shown.Now().Add(-past)
			if got := shown.When(at, time.DateTime); got != want {
				t.Errorf("%s: %s is %q, want %q", l, past, got, want)
			}
			shown.JSON = true
			if got, want := shown.When(at, time.DateTime), at.Local().Format(time.DateTime); got != want {
				t.Errorf("%s: got %q, want %q", l, got, want)
			}
			shown.JSON = false
		}
		for _, at := range []time.Time{shown.Now().Add(time.Hour), shown.Now().Add(-40 * 24 * time.Hour)} {
			if got, want := shown.When(at, time.DateTime), at.Local().Format(time.DateTime); got != want {
				t.Errorf("%s: got %q, want %q", l, got, want)
			}
		}
	}
}
