package memory

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/recall"
)

// placed is a note with its place.
type placed struct {
	*Note
	name string // its key in the index
	line *line  // nil for a note of another program
	// from is the place of one of those: the path relative to the project, and the line.
	from    string
	failure *grimoire.Failure
}

// LexiconFile has words of the project with the same meaning, in the folder of the notes.
const LexiconFile = "lexicon.tsv"

// index is what finds the notes of a project.
type index struct {
	*recall.Index
	// lexicon is the version of the project's lexicon that it was built with.
	lexicon  durable.Version
	problems []lang.Text
}

// name is the key of a note in the index; foreign notes have that of foreignName.
func (k Key) name() string { return string(k.Type) + "/" + k.ID }

func foreignName(id string) string { return "@" + id }

// indexed takes the notes that have changed into the index.
func (b *Book) indexed() {
	s := b.notes
	name := b.own() + "/" + LexiconFile
	version := durable.Version{}
	if info, err := b.p.Dir.Stat(name); err == nil {
		version = durable.VersionOf(info)
	}
	if s.index.Index == nil || s.index.lexicon != version {
		s.rebuild(lexicon(b, name))
		s.index.lexicon = version
	}
	for name := range s.changed {
		if n := s.named(name); n.Note == nil {
			s.index.Drop(name)
		} else {
			s.index.Put(recall.Doc{Key: name, Text: n.Text, Extra: n.Tags, Time: n.UpdatedAt.Unix()})
		}
	}
	clear(s.changed)
}

// rebuild begins the index anew.
func (s *notes) rebuild(words *recall.Lexicon, problems []lang.Text) {
	s.index = index{Index: recall.New(words), problems: problems}
	for n := range s.all {
		s.changed[n.name] = true
	}
}

// lexicon returns the words that the index knows, with those of the project.
func lexicon(b *Book, name string) (*recall.Lexicon, []lang.Text) {
	data, err := b.p.Dir.ReadFile(name, 1<<20)
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

// named returns the note of a key in the index, without one where it is not found any more.
func (s *notes) named(name string) placed {
	kind, id, _ := strings.Cut(name, "/")
	if e := s.entries[Key{Type(kind), id}]; e != nil {
		return e.placed()
	}
	return s.foreign[name]
}

// placed returns the note of an entry, without one where it was deleted.
func (e *entry) placed() placed {
	n := e.live()
	if n == nil {
		return placed{}
	}
	return placed{Note: n, name: n.Key().name(), line: e.note}
}

// all yields the notes that are not deleted, those of other programs last.
func (s *notes) all(yield func(placed) bool) {
	for _, e := range s.entries {
		if p := e.placed(); p.Note != nil && !yield(p) {
			return
		}
	}
	for _, f := range slices.Backward(s.cabinet.notes) { // later lines are newer
		if !yield(f) {
			return
		}
	}
}

// source is the place of a note, relative to the project.
func (b *Book) source(p placed) string {
	if p.line == nil {
		return p.from
	}
	return grimoire.Place(b.own()+"/"+p.line.part.name, p.line.number)
}

// chooser returns what keeps the notes of a type and an agent, by its names, that hold now; a zero
// argument keeps all.
func (b *Book) chooser(kind Type, agent string) func(placed) bool {
	now := b.m.Now()
	names, _ := b.notes.cabinet.content.Aliases(agent)
	return func(n placed) bool {
		return n.Note != nil && (kind == "" || n.Type == kind) && !n.Expired(now) &&
			(agent == "" || n.Agent == agent || slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, n.Agent) }))
	}
}

// maxBuild is how many notes are taken into a new index for the sake of a hint.
const maxBuild = 2000

// similarMeanwhile looks for similar notes while the disk writes the one that they are like. A fault
// in it costs the hint, not the note.
func similarMeanwhile(b *Book, key Key, text string) <-chan []Similar {
	out := make(chan []Similar, 1)
	go func() {
		defer close(out)
		defer func() {
			if cause := recover(); cause != nil {
				b.m.Log.Error("similar notes were not looked for", "note", key.ID, "panic", cause)
			}
		}()
		out <- b.similar(key, text)
	}()
	return out
}

// similar lists notes that say nearly the same as the text of a note.
func (b *Book) similar(key Key, text string) []Similar {
	s := b.notes
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index.Index == nil && len(s.entries) > maxBuild {
		return nil
	}
	b.indexed()
	keep := b.chooser("", "")
	own := key.name()
	var out []Similar
	for _, h := range s.index.Similar(text, maxSimilar, leastSimilar, func(name string) bool {
		return name != own && keep(s.named(name))
	}) {
		other := s.named(h.Key)
		out = append(out, Similar{ID: other.ID, Type: other.Type, Agent: other.Agent, Text: untrusted.Shown(other.Text, maxShownText/2), Score: round(h.Cosine)})
	}
	return out
}

// Similar notes are those whose spelling is at least this close, at most so many.
const (
	leastSimilar = 0.85
	maxSimilar   = 3
)
