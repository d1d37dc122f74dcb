package memory

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// byFile is who notes are from that a file of another tool has.
const byFile = "file"

// foreign is what the files of other tools say about a project. It does not change: a change of a
// file makes a new one, in which the notes that are still there have the ids that they had.
type foreign struct {
	grimoire.Content
	// notes are the entries of the content, in their order. Their texts are as the files have
	// them: what leaves the program goes through shown.
	notes []foreignNote
	byID  map[string]*foreignNote
	// problems are the parts that cannot be read, and sources the files.
	problems []Problem
	sources  []string
}

// foreignNote is an entry of a file as a note that nobody can change.
type foreignNote struct {
	Note
	source  string // path:line
	failure *grimoire.Failure
}

// cabinet keeps the files of other tools as they were read last.
type cabinet struct {
	mu    sync.Mutex
	files map[string]foreignFile
	// unlisted are the problems of the listing.
	unlisted string
	all      *foreign
}

type foreignFile struct {
	version  durable.Version
	settled  bool
	content  grimoire.Content
	problems []grimoire.Problem
}

// foreign returns what the files of other tools say. It is the same value for as long as no file
// has changed.
func (b *Book) foreign(ctx context.Context) (*foreign, error) {
	c := &b.notes.cabinet
	c.mu.Lock()
	defer c.mu.Unlock()
	sources, bad := grimoire.Sources(b.p.Dir.Tree())
	unlisted := fmt.Sprint(bad)
	files, fresh := map[string]foreignFile{}, c.all == nil || len(sources) != len(c.files) || unlisted != c.unlisted
	var contents []grimoire.Content
	for _, s := range sources {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, known := c.files[s.Path]
		if !known || !f.settled || f.version != durable.VersionOf(s.Info) {
			f, fresh = b.open(s), true
		}
		files[s.Path] = f
		contents = append(contents, f.content)
		bad = append(bad, f.problems...)
	}
	c.files, c.unlisted = files, unlisted
	if !fresh {
		return c.all, nil
	}
	all, more := grimoire.Join(contents)
	c.all = &foreign{Content: all, byID: map[string]*foreignNote{}, notes: make([]foreignNote, 0, len(all.Entries))}
	for _, s := range sources {
		c.all.sources = append(c.all.sources, s.Path)
	}
	for _, p := range append(bad, more...) {
		c.all.problems = append(c.all.problems, Problem{p.Path, p.Line, p.Text})
	}
	for _, e := range all.Entries {
		c.all.add(e)
	}
	return c.all, nil
}

// open reads one file.
func (b *Book) open(s grimoire.Source) foreignFile {
	now := b.m.Now()
	data, version, err := b.p.Dir.ReadVersion(s.Path, grimoire.MaxFile)
	if err != nil {
		return foreignFile{problems: []grimoire.Problem{{Path: s.Path, Text: lang.Of(err)}}}
	}
	f := foreignFile{version: version, settled: version.Settled(now)}
	f.content, f.problems = grimoire.Parse(s, data)
	return f
}

// add takes an entry in as a note.
func (f *foreign) add(e grimoire.Entry) {
	n := foreignNote{source: fmt.Sprintf("%s:%d", e.Path, e.Line), failure: e.Failure}
	n.Note = Note{
		ID: uuid.NewSHA1(uuid.NameSpaceDNS, []byte(n.source+":"+e.Text)).String(), Type: Type(e.Type), Agent: e.Agent, Text: e.Text, Tags: e.Tags,
		CreatedAt: at(e.Date), UpdatedAt: at(e.Date), By: byFile,
	}
	f.notes = append(f.notes, n)
	f.byID[n.ID] = &f.notes[len(f.notes)-1]
}

// shown is a text of a file as it leaves the program: without credentials and characters that
// steer, at most so many bytes.
func shown(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if visible.Steers(string(r)) {
			return -1
		}
		return r
	}, text)
	return visible.Clip(mask(text), most)
}
