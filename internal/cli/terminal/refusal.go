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
	{pattern.New(`^(?:requires|accepts)(?: at least| at most| between)? (\d+)(?: and \d+)? arg\(s\),(?: only)? received (\d+)$`), sayCount},
}

// sayCount is the refusal of too few or too many arguments. The first number is the least, or the only bound, and the last
// what was given.
func sayCount(p ...any) lang.Text {
	least, _ := strconv.Atoi(p[0].(string)) // the pattern takes digits only
	given, _ := strconv.Atoi(p[1].(string))
	if given < least {
		return lang.T("an argument is missing")
	}
	return lang.T("there are too many arguments")
}

// refusal is a refusal of that library.
type refusal struct {
	re  *pattern.Pattern
	say func(parts ...any) lang.Text
}

// Misspelt returns the subcommands or flags of a command that resemble the one in the refusal of
// that library, or the commands below it that have the flag.
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

// maxOwners bounds the commands that are named for a flag: one that more have belongs to none of them.
const maxOwners = 3

// findOwners returns the commands below one that have a flag, each with it.
func findOwners(cmd *cobra.Command, flag string) (owners []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.LocalFlags().Lookup(flag) != nil {
			owners = append(owners, sub.CommandPath()+" --"+flag)
		}
		owners = append(owners, findOwners(sub, flag)...)
	}
	return owners
}

// FlagError is the sentence of an error of that library, without the details of Go's parsers.
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

// Subcommand returns a command that has only arguments, and no long help.
func Subcommand(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) }}
}
