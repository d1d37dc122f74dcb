// Package langtest finds sentences that tests expect in another language.
package langtest

import "regexp"

var (
	// others are parts of a text that are not ours: names, code, quotations, and words of
	// the operating system and of libraries.
	others = regexp.MustCompile("(?s)```.*?```|`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」|\\S*[/_=@]\\S*|\\bbmad-mcp( +[a-z-]+)+" +
		"|no space left on device|no such file or directory|file does not exist|not a directory|is a directory|permission denied|read-only file system|too many levels of symbolic links|found a tab character that violates indentation")
	// sentence is four words in a row.
	sentence = regexp.MustCompile(`[A-Za-z][a-z']*(?:[;:]? +[a-z']+){3,}`)
)

// English returns the English sentences in a text: four words in a row or more, outside of
// quotations, code, paths and commands.
func English(text string) []string {
	return sentence.FindAllString(others.ReplaceAllString(text, " · "), -1)
}
