package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

var (
	inline    = regexp.MustCompile("`(bmad-mcp [^`\n]*)`")
	shownFlag = regexp.MustCompile(`(?:^| )--([a-z-]+)`)
)

// TestPagesNameCommands: each command line in the README and in docs, in both languages, names a command and flags
// that exist.
func TestPagesNameCommands(t *testing.T) {
	var pages []string
	for _, folder := range []string{".", "docs", "docs/hosts"} {
		some, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, some...)
	}
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range shownLines(string(text)) {
			seen++
			if problem := unknownIn(line); problem != "" {
				t.Errorf("%s: %s: %s", filepath.Base(page), line, problem)
			}
		}
	}
	if seen < 150 {
		t.Errorf("got %d command lines, want the 150 that the pages have at least", seen)
	}
}

// shownLines returns the command lines of a page: those of its blocks of code, and those in a
// sentence.
func shownLines(page string) []string {
	var out []string
	fenced := false
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced && strings.HasPrefix(line, "bmad-mcp "):
			command, _, _ := strings.Cut(strings.TrimSpace(line), " #")
			out = append(out, command)
		case !fenced:
			for _, m := range inline.FindAllStringSubmatch(line, -1) {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// unknownIn returns the command or flag of a line that the program does not have, or "".
func unknownIn(line string) string {
	root := newRoot(app.New(&terminal.Terminal{}))
	root.InitDefaultHelpCmd()
	words := slices.DeleteFunc(strings.Fields(line)[1:], func(w string) bool { return w == "…" })
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	if cmd.HasAvailableSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && cmd.ValidateArgs(rest[:1]) != nil {
		return "no command " + rest[0]
	}
	for _, flag := range shownFlag.FindAllStringSubmatch(line, -1) {
		if cmd.Flag(flag[1]) == nil && cmd.InheritedFlags().Lookup(flag[1]) == nil {
			return "no flag --" + flag[1]
		}
	}
	return ""
}

// TestUnknownIn plants command lines.
func TestUnknownIn(t *testing.T) {
	for line, want := range map[string]bool{
		"bmad-mcp show sign-in":              false,
		"bmad-mcp task status --wait 50":     false,
		"bmad-mcp run --help":                false,
		"bmad-mcp shwo sign-in":              true,
		"bmad-mcp task statsu":               true,
		"bmad-mcp show sign-in --exit-code":  true,
		"bmad-mcp doctor --fix --everything": true,
	} {
		if got := unknownIn(line); (got != "") != want {
			t.Errorf("%s: got %q, want a problem: %t", line, got, want)
		}
	}
}

// TestTerminalPage: the page of the terminal has every command.
func TestTerminalPage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "terminal.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, cmd := range newRoot(app.New(&terminal.Terminal{})).Commands() {
		if cmd.IsAvailableCommand() && !regexp.MustCompile("`bmad-mcp "+cmd.Name()+"[ `]").MatchString(page) {
			t.Errorf("the page lacks `bmad-mcp %s`", cmd.Name())
		}
	}
}

// TestSentencesNameCommands: each command in a sentence of the program, in either language, exists, with the word after
// it if that is one of a group.
func TestSentencesNameCommands(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "base", "lang", "zh", "*.po"))
	if err != nil {
		t.Fatal(err)
	}
	called := regexp.MustCompile(`bmad-mcp ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?`)
	prose := strings.Fields("does leads may reads stays that uses without work") // words after the program's name in a sentence
	root := newRoot(app.New(&terminal.Terminal{}))
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range called.FindAllStringSubmatch(string(text), -1) {
			seen++
			cmd, _, err := root.Find(m[1:2])
			if slices.Contains(prose, m[1]) {
				continue
			}
			if err != nil || cmd == root {
				t.Errorf("%s: %s: there is no such command", filepath.Base(file), m[0])
				continue
			}
			below, _, _ := cmd.Find(m[2:])
			if groups := []string{"agent", "memory", "method", "task"}; m[2] != "" && slices.Contains(groups, m[1]) && below == cmd {
				t.Errorf("%s: %s: there is no such subcommand", filepath.Base(file), m[0])
			}
		}
	}
	if seen < 150 {
		t.Errorf("got %d commands", seen)
	}
}
