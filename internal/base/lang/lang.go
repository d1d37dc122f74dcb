// Package lang puts the sentences of this program into the reader's language.
//
// The code has each sentence in English, with the format as the key of translations. If the code knows the
// language, [Language.Say] translates a sentence at once. Otherwise a [Text] carries it to code with a
// language, for example in an error or a finding. The catalogue of a language is a package below this one
// with gettext files (.po), which any editor for translations opens; [Add] takes them in. A package of
// sentences brings no catalogue along: a program speaks the languages it imports. Prompts, tool
// descriptions and log lines are for models and operators, and stay English.
package lang

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Language is the tag of a language, for example "zh". The zero value is [English].
type Language string

// English is the language in which every sentence is written.
const English Language = "en"

// All lists the languages, English first.
func All() []Language {
	out := []Language{English}
	for _, c := range catalogues() {
		out = append(out, c.tag)
	}
	return out
}

// Known returns the language of a tag, and false if it has no catalogue.
func Known(tag string) (Language, bool) {
	l := Language(tag)
	if l == English || catalogueOf(l) != nil {
		return l, true
	}
	return English, false
}

// Name returns the name of the language in English.
func (l Language) Name() string {
	if c := catalogueOf(l); c != nil {
		return c.name
	}
	return "English"
}

// Say puts a sentence into the language, with arguments as fmt.Sprintf takes them. Arguments with a
// sentence, a [Text] or an error with one, are put into the language as well. A sentence missing in the
// catalogue stays English.
func (l Language) Say(format string, args ...any) string {
	if c := catalogueOf(l); c != nil {
		return fmt.Sprintf(c.translateFormat(format), sayArguments(l, args)...)
	}
	return fmt.Sprintf(format, args...)
}

// Count returns a number of things, for example "1 line" or "2 lines". The noun is an English singular with
// a plural in -s.
func (l Language) Count(n int, noun string) string {
	if c := catalogueOf(l); c != nil {
		if text := c.count(n, noun); text != "" {
			return text
		}
	}
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Word translates a data text, for example the role of a built-in stage. It returns a text without a
// translation, for example from a person's own workflow, unchanged.
func (l Language) Word(text string) string {
	if c := catalogueOf(l); c != nil && !formatVerb.MatchString(text) { // a format is not a word
		return c.translateWord(text)
	}
	return text
}

// formatVerb matches a part found only in formats.
var formatVerb = pattern.New(`%[-+#]?[dqsv]`)

// speaker is an argument with a sentence.
type speaker interface{ In(Language) string }

func sayArguments(l Language, args []any) []any {
	out := slices.Clone(args)
	for i, arg := range out {
		if s, ok := asSpeaker(arg); ok {
			out[i] = s.In(l)
		}
	}
	return out
}

// asSpeaker returns the sentence of an argument, or ours for it.
func asSpeaker(arg any) (speaker, bool) {
	if s, ok := arg.(speaker); ok {
		return s, true
	}
	err, _ := arg.(error)
	return ofDisk(err)
}
