package terminal

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// flagErrors are the errors of the library for the command line, each with a sentence in place of the
// library's text.
var flagErrors = []refusal{
	{pattern.New(`^unknown command (".*?") for (".*?")$`), func(p ...any) lang.Text { return lang.T("unknown command %s for %s", p...) }},
	{pattern.New(`^unknown flag: (.*)$`), func(p ...any) lang.Text { return lang.T("unknown flag: %s", p...) }},
	{pattern.New(`^unknown shorthand flag: ('.*') in (.*)$`), func(p ...any) lang.Text { return lang.T("unknown shorthand flag: %s in %s", p...) }},
	{pattern.New(`^flag needs an argument: ('.*') in (.*)$`), func(p ...any) lang.Text { return lang.T("flag needs an argument: %s in %s", p...) }},
	{pattern.New(`^flag needs an argument: (.*)$`), func(p ...any) lang.Text { return lang.T("flag needs an argument: %s", p...) }},
	{pattern.New(`(?s)^invalid argument (".*") for (".*") flag(: .*)?$`), func(p ...any) lang.Text { return lang.T("invalid argument %s for %s flag%s", p...) }},
	{pattern.New(`^bad flag syntax: (.*)$`), func(p ...any) lang.Text { return lang.T("bad flag syntax: %s", p...) }},
	{pattern.New(`^(?:requires|accepts)(?: at least| at most| between)? (\d+)(?: and \d+)? arg\(s\),(?: only)? received (\d+)$`), sayCount},
}

// sayCount returns the sentence for too few or too many arguments. The first number is the least, or the only
// bound, and the last one the given number.
func sayCount(p ...any) lang.Text {
	least, _ := strconv.Atoi(p[0].(string)) // the pattern takes digits only
	given, _ := strconv.Atoi(p[1].(string))
	if given < least {
		return lang.T("an argument is missing")
	}
	return lang.T("there are too many arguments")
}

// refusal is an error of the library for the command line.
type refusal struct {
	re  *pattern.Pattern
	say func(parts ...any) lang.Text
}

// Misspelt returns the subcommands or flags of a command similar to the one in the library's error, or the
// commands below it with the flag.
func Misspelt(cmd *cobra.Command, err error) []string {
	var known []string
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		if owners := findOwners(cmd, name); len(owners) > 0 && len(owners) <= maxOwners {
			return owners
		}
		for line := range strings.Lines(cmd.LocalFlags().FlagUsages() + cmd.InheritedFlags().FlagUsages()) {
			if _, flag, ok := strings.Cut(strings.TrimSpace(line), "--"); ok {
				flag, _, _ = strings.Cut(flag, " ")
				known = append(known, "--"+flag)
			}
		}
		return fault.Near("--"+name, known)
	}
	name, ok := UnknownCommand(err)
	if !ok {
		return nil
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	return fault.Near(name, known)
}

// UnknownCommand returns the name in the library's error about an unknown command; ok is false for any other error.
func UnknownCommand(err error) (name string, ok bool) {
	rest, begins := strings.CutPrefix(err.Error(), "unknown command \"")
	name, _, ends := strings.Cut(rest, "\"")
	return name, begins && ends
}

// maxOwners bounds the commands named for a flag. A flag of more commands is typical of none.
const maxOwners = 3

// findOwners returns the commands below cmd with a flag, each followed by the flag.
func findOwners(cmd *cobra.Command, flag string) (owners []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.LocalFlags().Lookup(flag) != nil {
			owners = append(owners, sub.CommandPath()+" --"+flag)
		}
		owners = append(owners, findOwners(sub, flag)...)
	}
	return owners
}

// FlagError returns the sentence for an error of the library, without the details of Go's parsers.
func FlagError(err error) lang.Text {
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

// Subcommand returns a command with arguments only, without long help.
func Subcommand(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) }}
}
