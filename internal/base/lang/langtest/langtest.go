// Package langtest finds sentences a test expects in another language.
package langtest

import (
	"regexp"
	"strings"
)

// others match the parts of a text by others, or in no language.
var others = []*regexp.Regexp{
	// Quotations, code, and changes of files.
	regexp.MustCompile("(?s)```.*?```|`[^`]*`|“[^”]*”|「[^」]*」|\"[^\"\n]*\""),
	regexp.MustCompile(`(?m)^\t.*$|^ *\+ .*$`),
	// Ids, commands, paths and names in a row.
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`),
	regexp.MustCompile(`(?:bmad-mcp|claude|go install|npx|echo|openssl)(?: [!-~]+)+`),
	regexp.MustCompile(`[!-~]*(?:[/_=@{}]|\.\w)[!-~]*`),
	regexp.MustCompile(`[a-z_0-9]+(?:[,、] ?[a-z_0-9-]+){2,}`),
	// Words of the operating system, of parsers and of the protocol library.
	regexp.MustCompile(`no space left on device|no such file or directory|file does not exist|(?:is|not) a directory|permission denied|read-only file system|` +
		`too many levels of symbolic links|found a tab character that violates indentation|unexpected end of JSON input|handler not found for resource URI`),
}

// sentence matches four English words in a row, of which the last three are not all capitals.
var sentence = regexp.MustCompile(`[A-Za-z]+(?:'[a-z]+)?(?:[,;:]? +[A-Za-z]*[a-z]+(?:'[a-z]+)?){3,}`)

// English returns the English sentences in a text, outside of quotations, code, paths and commands, except
// the ones in texts of others.
func English(text string, theirs ...string) []string {
	for _, part := range others {
		text = part.ReplaceAllString(text, "\x00")
	}
	var found []string
	for _, m := range sentence.FindAllString(text, -1) {
		if !strings.Contains(strings.Join(theirs, "\x00"), m) {
			found = append(found, m)
		}
	}
	return found
}
