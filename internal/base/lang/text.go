package lang

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Text is a sentence to be put into a language when it is said.
type Text struct {
	format string
	args   []any
}

// T returns the sentence of an English format and its arguments, as fmt.Sprintf takes them.
func T(format string, args ...any) Text { return Text{format, args} }

// In returns the sentence in a language.
func (t Text) In(l Language) string { return l.Say(t.format, t.args...) }

// String returns the sentence in English.
func (t Text) String() string { return t.In(English) }

// Empty reports whether there is no sentence.
func (t Text) Empty() bool { return t.format == "" }

// Reworded returns the sentence for another kind of reader: a sentence in it with a key as its format takes
// the format of the value, which may have fewer arguments at the end, and an argument among the words
// becomes another.
func (t Text) Reworded(sentences map[string]Text, words map[string]string) Text {
	args := slices.Clone(t.args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case Text:
			args[i] = arg.Reworded(sentences, words)
		case *sayable:
			args[i] = arg.Reworded(sentences, words)
		case string:
			args[i] = cmp.Or(words[arg], arg)
		}
	}
	format := cmp.Or(sentences[t.format].format, t.format)
	return Text{format, args[:min(len(args), strings.Count(format, "%"))]}
}

// SayAll puts sentences into the language.
func (l Language) SayAll(texts []Text) []string {
	var out []string
	for _, t := range texts {
		out = append(out, t.In(l))
	}
	return out
}

// Join returns sentences with a separator between them.
func Join(texts []Text, separator string) Text {
	args := make([]any, len(texts))
	for i, t := range texts {
		args[i] = t
	}
	separator = strings.ReplaceAll(separator, "%", "%%")
	return Text{strings.TrimSuffix(strings.Repeat("%s"+separator, len(texts)), separator), args}
}

// Count returns a number of things for [Language.Count] to put into a language later.
func Count(n int, noun string) fmt.Stringer { return counted{n, noun} }

type counted struct {
	n    int
	noun string
}

func (c counted) In(l Language) string { return l.Count(c.n, c.noun) }
func (c counted) String() string       { return c.In(English) }

// Errorf returns an error for every language; %w wraps a cause as fmt.Errorf does.
func Errorf(format string, args ...any) error {
	cause := fmt.Errorf(format, args...)
	if _, several := cause.(interface{ Unwrap() []error }); !several {
		cause = errors.Unwrap(cause)
	}
	return &sayable{Text: T(strings.ReplaceAll(format, "%w", "%v"), args...), cause: cause}
}

type sayable struct {
	Text
	cause error
}

func (e *sayable) Error() string { return e.String() }
func (e *sayable) Unwrap() error { return e.cause }

// Of returns the sentence of an error, or the English text of an error without one.
func Of(err error) Text {
	return T("%s", err)
}
