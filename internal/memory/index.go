package memory

import (
	"errors"
	"io/fs"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/recall"
)

// LexiconFile has words of the project with the same meaning, in the folder of the notes.
const LexiconFile = "lexicon.tsv"

// index finds the notes of a project.
type index struct {
	*recall.Index
	// lexicon is the version of the project's lexicon that it was built with.
	lexicon  durable.Version
	problems []lang.Text
	// due has the names of notes that have changed since they were taken in.
	due map[string]bool
}

// mark has a note taken in anew.
func (x *index) mark(name string) {
	if x.Index != nil { // else it takes in all
		x.due[name] = true
	}
}

// begin empties the index if the project has another lexicon than before, and reports whether it did.
func (x *index) begin(dir *durable.Dir, lexicon string) bool {
	version := durable.Version{}
	if info, err := dir.Stat(lexicon); err == nil {
		version = durable.VersionOf(info)
	}
	if x.Index != nil && x.lexicon == version {
		return false
	}
	words, problems := readLexicon(dir, lexicon)
	*x = index{Index: recall.New(words), lexicon: version, problems: problems, due: map[string]bool{}}
	return true
}

// updateIndex returns the index with all notes as they are.
func (b *Book) updateIndex() *recall.Index {
	x := &b.index
	if x.begin(b.p.Dir, b.notes.File(LexiconFile)) {
		for n := range b.all(func(placed) bool { return true }) {
			x.mark(n.name())
		}
	}
	for _, key := range b.set.Changed() {
		x.mark(nameOf(key))
	}
	for name := range x.due {
		if n := b.note(name); n.Note == nil {
			x.Drop(name)
		} else {
			x.Put(recall.Doc{Key: name, Text: n.Text, Extra: n.Tags, Time: n.UpdatedAt.Unix()})
		}
	}
	clear(x.due)
	return x.Index
}

// readLexicon returns the words that the index knows, with those of the project.
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
