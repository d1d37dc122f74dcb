package memory

import (
	"errors"
	"io/fs"
	"iter"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
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

// kept has the notes of a project as they were read last, for all who open it. Who holds the notes holds it.
type kept struct {
	set *notes.Set
	// files are the memory files of other kits, foreign their notes by their keys in the index.
	files   cabinet
	foreign map[string]placed
	// runs are the files about runs of other kits.
	runs  cabinet
	index index
}

// note returns the note of a key in the index; it is empty if the note is not found.
func (k *kept) note(name string) placed {
	kind, id, _ := strings.Cut(name, "/")
	if e := k.set.Get(notes.Key{Type: notes.Type(kind), ID: id}); e != nil {
		return placedAt(e)
	}
	return k.foreign[name]
}

// all yields the notes that are not deleted and that keep takes.
func (k *kept) all(keep func(placed) bool) iter.Seq[placed] {
	return func(yield func(placed) bool) {
		for e := range k.set.Entries() {
			if p := placedAt(e); p.Note != nil && keep(p) && !yield(p) {
				return
			}
		}
		for _, f := range k.files.notes {
			if keep(f) && !yield(f) {
				return
			}
		}
	}
}

// named returns a filter of keys in the index that takes those of the notes that keep takes.
func (k *kept) named(keep func(placed) bool) func(name string) bool {
	return func(name string) bool { return keep(k.note(name)) }
}
