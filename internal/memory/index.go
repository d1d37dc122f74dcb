package memory

import (
	"errors"
	"io/fs"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

// LexiconFile has words of the project with the same meaning, in the folder of the notes.
const LexiconFile = "lexicon.tsv"

// index finds the notes of a project.
type index struct {
	*recall.Index
	// lexicon is the version of the project's lexicon in the index.
	lexicon  durable.Version
	problems []lang.Text
	// due has the names of notes changed since the index took them in.
	due map[string]bool
	// fresh is how many notes were taken in or left out since the index was kept.
	fresh int
}

// markChanged has a note taken in anew.
func (x *index) markChanged(name string) {
	if x.Index != nil { // else it takes in all
		x.due[name] = true
	}
}

// resetIfStale empties the index if the project has another lexicon than before, and returns the new one.
func (x *index) resetIfStale(dir *durable.Dir, lexicon string) (words *recall.Lexicon) {
	version := durable.Version{}
	if info, err := dir.Stat(lexicon); err == nil {
		version = durable.VersionOf(info)
	}
	if x.Index != nil && x.lexicon == version {
		return nil
	}
	words, problems := readLexicon(dir, lexicon)
	*x = index{lexicon: version, problems: problems, due: map[string]bool{}}
	return words
}

// An index is kept if it has taken in so many notes since the last time, and such a part of all: a few
// notes are taken in again as fast as an index is written.
const (
	leastFresh = 200
	freshPart  = 16
)

// readLexicon returns the words known to the index, with the project's own.
func readLexicon(dir *durable.Dir, name string) (*recall.Lexicon, []lang.Text) {
	data, err := dir.ReadFile(name, 1<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return recall.Builtin(), nil
	case err != nil:
		return recall.Builtin(), []lang.Text{lang.Of(err)}
	}
	own, left := recall.ParseLexicon(data)
	var problems []lang.Text
	for _, e := range left {
		problems = append(problems, lang.T("%s:%d: %s", LexiconFile, e.Line, flawText(e)))
	}
	return recall.Builtin().With(own), problems
}

// flawText says why a line of a lexicon is left out.
func flawText(e recall.LineError) lang.Text {
	switch e.Flaw {
	case recall.NotText:
		return lang.T("the line is not UTF-8; save the file as UTF-8")
	case recall.TooLong:
		return lang.T("the line is longer than %d bytes; split the concept", recall.MaxLine)
	case recall.NoLanguage:
		return lang.T("the cell %q does not begin with a language such as en, fr or zh and a bar", e.Text)
	case recall.NothingToFind:
		return lang.T("the term %q of %q has only stop words, or mixes scripts; give a term with a word of its own", e.Text, e.Language)
	}
	return lang.T("a concept needs two terms or more, parted by | or by a tab")
}
