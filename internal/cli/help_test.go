package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang/langtest"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

// isCode matches a paragraph of commands to type, which every language writes alike.
var isCode = regexp.MustCompile(`^(\t[^\n]*\n?)+$`)

// helpTexts lists the paragraphs, summaries and texts of flags of all commands, by the command.
func helpTexts(root *cobra.Command) map[string]string {
	root.InitDefaultHelpCmd()
	texts := map[string]string{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		add := func(text string) string {
			if text != "" && !isCode.MatchString(text) {
				texts[text] = cmd.CommandPath()
			}
			return text
		}
		add(cmd.Short)
		for paragraph := range strings.SplitSeq(strings.TrimRight(cmd.Long, "\n"), "\n\n") {
			add(paragraph)
		}
		cmd.HelpFunc()(cmd, nil)
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		for line := range strings.SplitSeq(cmd.UsageString(), "\n") {
			if m := flagLine.FindStringSubmatch(line); m != nil && m[1] != "help" && m[1] != "version" {
				add(cmd.Flag(m[1]).Usage)
			}
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(root)
	return texts
}

// TestHelpIsTranslated: every text that help prints has a translation, and the catalogues of
// help have no other.
func TestHelpIsTranslated(t *testing.T) {
	texts := helpTexts(newRoot(app.New(&terminal.Terminal{Out: io.Discard, Lang: lang.English})))
	if len(texts) < 150 || texts["lowest acceptable score"] != "bmad-mcp audit" {
		t.Fatalf("only %d texts were found", len(texts))
	}
	for _, l := range lang.All()[1:] {
		data, err := os.ReadFile(filepath.Join("..", "base", "lang", string(l), "help.po"))
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for line := range strings.Lines(string(data)) {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "msgid "); ok {
				text, err := strconv.Unquote(id)
				if err != nil {
					t.Fatalf("%s: %v", id, err)
				}
				known[text] = true
			}
		}
		delete(known, "")
		for text, of := range texts {
			if !known[text] {
				t.Errorf("%s: the help of %s has no translation of %q", l, of, text)
			}
		}
		for text := range known {
			if texts[text] == "" {
				t.Errorf("%s: no command says %q", l, text)
			}
		}
	}
}

// TestHelpInChinese: no line of the help of any command stays English.
func TestHelpInChinese(t *testing.T) {
	for _, path := range commandPaths(newRoot(app.New(&terminal.Terminal{}))) {
		var out strings.Builder
		a := app.New(&terminal.Terminal{Out: &out, Err: &out, Lang: "zh"})
		root := newRoot(a)
		root.SetOut(&out)
		root.SetArgs(append(path, "--help"))
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		if found := langtest.English(out.String()); len(found) > 0 {
			t.Errorf("%q: %q", path, found)
		}
		if !strings.Contains(out.String(), "用法：\n") || !strings.Contains(out.String(), "  -h, --help ") {
			t.Errorf("%q: %s", path, out.String())
		}
	}
}

// TestHelpFitsItsWidth: help begins with the usage, and no
// line is wider than 80 columns, or than a terminal of 60 but one of a long name or an example, in either language.
func TestHelpFitsItsWidth(t *testing.T) {
	for _, l := range lang.All() {
		for _, path := range commandPaths(newRoot(app.New(&terminal.Terminal{}))) {
			root := newRoot(app.New(&terminal.Terminal{Lang: l}))
			cmd, _, err := root.Find(path)
			if err != nil {
				t.Fatal(err)
			}
			cmd.InitDefaultHelpFlag()
			h := helpPage{command: cmd, lang: l, width: 60}
			text := h.pageText()
			wide := helpPage{command: cmd, lang: l, width: helpWidth}
			for line := range strings.Lines(wide.pageText()) {
				if n := visible.Columns(strings.TrimRight(line, "\n")); n > helpWidth {
					t.Errorf("%q: %d columns: %s", path, n, line)
				}
			}
			if !strings.HasPrefix(text, l.Say("Usage:")+"\n  bmad-mcp") {
				t.Errorf("%q begins with %.40q", path, text)
			}
			for line := range strings.Lines(text) {
				shown := strings.TrimRight(line, "\n")
				fixed := strings.Contains(cmd.Example, strings.TrimSpace(shown)) || strings.Contains(shown, cmd.UseLine()) || strings.HasPrefix(shown, "\t")
				if !fixed && visible.Columns(shown) > 60 && !flagLine.MatchString(shown) {
					t.Errorf("%q: %d columns: %s", path, visible.Columns(shown), shown)
				}
			}
		}
	}
}

// TestFlagErrors: refusals of the library that reads the command line are said in Chinese, and
// stay as they are in English, but for the number of arguments, which the usage shows.
func TestFlagErrors(t *testing.T) {
	for _, args := range [][]string{
		{"nonsense"}, {"task", "statu"}, {"task", "start"}, {"task", "submit", "--stages", "po"}, {"-x"}, {"show", "a", "b"}, {"diff", "a"},
		{"audit"}, {"report", "--format"}, {"task", "approve", "--approved=maybe"}, {"--=a"}, {"help", "--frob"},
	} {
		var out strings.Builder
		a := app.New(&terminal.Terminal{Out: &out, Err: &out, Lang: lang.English})
		root := newRoot(a)
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(args)
		err := root.Execute()
		if err == nil {
			t.Errorf("%q was not refused", args)
			continue
		}
		english, _, _ := strings.Cut(err.Error(), ": strconv.")
		if strings.Contains(english, "arg(s)") {
			english = "an argument is missing"
			if args[0] == "show" {
				english = "there are too many arguments"
			}
		}
		if got := terminal.FlagError(err).String(); got != english {
			t.Errorf("%q: got %q, want %q", args, got, english)
		}
		a.Terminal.Lang = "zh"
		out.Reset()
		a.Fail(nil, err)
		if found := langtest.English(out.String()); len(found) > 0 || !strings.Contains(out.String(), "处理办法：") {
			t.Errorf("%q: %q in %s", args, found, out.String())
		}
	}
}
