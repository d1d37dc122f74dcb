package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// speak chooses the language for a person who has written a text, for example the objective of the
// session that a command is about, "" if there is none.
func (a *app) speak(written string) {
	a.lang = lang.Choose(a.language, written, lang.Locale(os.Getenv))
}

// speakOf chooses the language of a session.
func (a *app) speakOf(s *workflow.Session) {
	if s != nil {
		a.speak(s.Objective)
	}
}

// speakAs chooses the language of the session that an action was for, by its outcome, or by its
// refusal, which names the session.
func (a *app) speakAs(ctx context.Context, of project.Address, out engine.Outcome, err error) {
	if out.Standing != nil {
		a.speakOf(out.Standing.Session)
	}
	var f *fault.Error
	if errors.As(err, &f) && f.SessionID != "" {
		of.Session = f.SessionID
		if s, _, err := a.engine.Session(ctx, of); err == nil {
			a.speakOf(s)
		}
	}
}

// say prints a sentence as a line.
func (a *app) say(format string, args ...any) { fmt.Fprintln(a.out, a.lang.Say(format, args...)) }

// warn prints a sentence as a line of standard error.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintln(a.err, "bmad-mcp: "+a.lang.Say(format, args...))
}

// header returns the headings of a table, whose format has a tab between each two.
func (a *app) header(format string) []string { return strings.Split(a.lang.Word(format), "\t") }

// flagErrors are the refusals of the library that reads the command line, each with the format
// of its sentence.
var flagErrors = []refusal{
	{pattern.New(`^unknown command (".*?") for (".*?")$`), func(p ...any) lang.Text { return lang.T("unknown command %s for %s", p...) }},
	{pattern.New(`^unknown flag: (.*)$`), func(p ...any) lang.Text { return lang.T("unknown flag: %s", p...) }},
	{pattern.New(`^unknown shorthand flag: ('.*') in (.*)$`), func(p ...any) lang.Text { return lang.T("unknown shorthand flag: %s in %s", p...) }},
	{pattern.New(`^flag needs an argument: ('.*') in (.*)$`), func(p ...any) lang.Text { return lang.T("flag needs an argument: %s in %s", p...) }},
	{pattern.New(`^flag needs an argument: (.*)$`), func(p ...any) lang.Text { return lang.T("flag needs an argument: %s", p...) }},
	{pattern.New(`(?s)^invalid argument (".*") for (".*") flag(: .*)?$`), func(p ...any) lang.Text { return lang.T("invalid argument %s for %s flag%s", p...) }},
	{pattern.New(`^bad flag syntax: (.*)$`), func(p ...any) lang.Text { return lang.T("bad flag syntax: %s", p...) }},
	{pattern.New(`^requires at least (\d+) arg\(s\), only received (\d+)$`), func(p ...any) lang.Text { return lang.T("requires at least %s arg(s), only received %s", p...) }},
	{pattern.New(`^accepts at most (\d+) arg\(s\), received (\d+)$`), func(p ...any) lang.Text { return lang.T("accepts at most %s arg(s), received %s", p...) }},
	{pattern.New(`^accepts between (\d+) and (\d+) arg\(s\), received (\d+)$`), func(p ...any) lang.Text { return lang.T("accepts between %s and %s arg(s), received %s", p...) }},
	{pattern.New(`^accepts (\d+) arg\(s\), received (\d+)$`), func(p ...any) lang.Text { return lang.T("accepts %s arg(s), received %s", p...) }},
}

// refusal is a refusal of that library.
type refusal struct {
	re  *pattern.Pattern
	say func(parts ...any) lang.Text
}

// misspelt returns the subcommands or flags of a command that resemble the one in the refusal of
// that library.
func misspelt(cmd *cobra.Command, err error) []string {
	var known []string
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		for line := range strings.Lines(cmd.LocalFlags().FlagUsages() + cmd.InheritedFlags().FlagUsages()) {
			if _, flag, ok := strings.Cut(strings.TrimSpace(line), "--"); ok {
				flag, _, _ = strings.Cut(flag, " ")
				known = append(known, "--"+flag)
			}
		}
		return fault.Near("--"+name, known)
	}
	rest, ok := strings.CutPrefix(err.Error(), "unknown command \"")
	name, _, ended := strings.Cut(rest, "\"")
	if !ok || !ended {
		return nil
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	return fault.Near(name, known)
}

// flagError is the sentence of an error of that library, without the details of Go's parsers.
func flagError(err error) lang.Text {
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	for _, known := range flagErrors {
		if m := known.re.FindStringSubmatch(text); m != nil {
			parts := make([]any, len(m)-1)
			for i := range parts {
				parts[i] = m[i+1]
			}
			return known.say(parts...)
		}
	}
	return lang.T("%s", text)
}
