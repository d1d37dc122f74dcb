package memory

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
)

const (
	// partLimit is in bytes: what a write costs does not grow with the project.
	partLimit = 128 << 10
	// maxPart is what is read of a file: a union of branches can be longer than partLimit.
	maxPart = 16 << 20
)

// part is one file of notes.
type part struct {
	name   string
	kind   Type
	number int // 0 for the first

	data  []byte
	lines []*line
	bad   []*line // those that cannot be used
	// version is that of the file when it was read; settled is true where it shows every change
	// since.
	version durable.Version
	settled bool
	// err says why the file cannot be read.
	err error
}

// partName is the n-th file of what the first one is named after.
func partName[S ~string](first S, n int) string {
	if n == 0 {
		return string(first) + ".jsonl"
	}
	return fmt.Sprintf("%s-%06d.jsonl", first, n)
}

// parsePart returns the type and number of a file of notes.
func parsePart(name string) (kind Type, n int, ok bool) {
	for _, kind := range Types() {
		if rest, ok := strings.CutPrefix(name, string(kind)); ok {
			n, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimSuffix(rest, ".jsonl"), "-")) // the first has none
			return kind, n, n >= 0 && name == partName(kind, n)
		}
	}
	return "", 0, false
}

// notes are the notes of one project as they were read last.
type notes struct {
	mu      sync.Mutex
	parts   map[string]*part
	entries map[Key]*entry
	// texts finds the keys of notes by what they say: clones in folders of different names have
	// given one text two ids.
	texts map[textSum][]Key
	// temps are files that a killed process has left, or that another one is writing; who has the
	// lock knows which.
	temps []string
	// attributes is the version of the file that makes git merge lines, once it was seen to.
	attributes durable.Version
	// oldest is the note that names the project; nil where it has to be looked for.
	oldest *Note
	// findings finds them by what they are about in a session.
	findings map[string][]Key
	// foreign are notes of other programs, by their keys in the index.
	foreign map[string]placed
	cabinet cabinet
	runs    cabinet
	index   index
	// changed has the notes that have changed since they were taken into the index.
	changed map[string]bool
	// edited names the parts that a change has given other bytes, in the order of writing.
	edited []string
	// hiding has the entries with notes that another hides.
	hiding map[Key]*entry
}

func newNotes() *notes {
	return &notes{parts: map[string]*part{}, entries: map[Key]*entry{}, texts: map[textSum][]Key{}, findings: map[string][]Key{}, changed: map[string]bool{}, hiding: map[Key]*entry{}}
}

// refresh reads the files that have changed. The caller holds the lock of s.
func (b *Book) refresh(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := b.notes
	now := b.m.Now()
	listed, err := b.p.Dir.ReadDir(b.own())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := map[string]bool{}
	s.temps = nil
	for _, e := range listed {
		kind, n, ok := parsePart(e.Name())
		if !ok {
			if of, temp := durable.IsTemp(e.Name()); temp && strings.HasSuffix(of, ".jsonl") {
				s.temps = append(s.temps, e.Name())
			}
			continue
		}
		there[e.Name()] = true
		info, err := e.Info()
		known := s.parts[e.Name()]
		if err == nil && known != nil && known.settled && known.version == durable.VersionOf(info) {
			continue
		}
		b.read(&part{name: e.Name(), kind: kind, number: n}, now)
	}
	for name, p := range s.parts {
		if !there[name] {
			s.set(&part{name: name, kind: p.kind}, nil)
			delete(s.parts, name)
		}
	}
	return nil
}

// read reads a file of notes anew.
func (b *Book) read(p *part, now time.Time) {
	data, version, err := b.p.Dir.ReadVersion(b.own()+"/"+p.name, maxPart)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) { // it went away after it was listed
			err = nil
		}
		data, p.err = nil, err
	}
	p.version, p.settled = version, err == nil && version.Settled(now)
	b.notes.set(p, data)
}

// set puts a part in the place of the one of its name. Lines that both have at their ends are
// not read again.
func (s *notes) set(p *part, data []byte) {
	var old []*line
	if known := s.parts[p.name]; known != nil {
		old = known.lines
	}
	s.parts[p.name], p.data = p, data
	raws := bytes.Split(data, newline)
	head, tail, most := 0, 0, min(len(raws), len(old))
	for head < most && bytes.Equal(raws[head], old[head].raw) {
		head++
	}
	for tail < most-head && bytes.Equal(raws[len(raws)-1-tail], old[len(old)-1-tail].raw) {
		tail++
	}
	dirty, start := map[Key]bool{}, 0
	for i, raw := range raws {
		var l *line
		switch {
		case i < head:
			l = old[i]
		case i >= len(raws)-tail:
			l = old[i+len(old)-len(raws)]
		default:
			if l = parseLine(raw, p.kind); l.usable() {
				if s.entries[l.key] == nil {
					s.entries[l.key] = &entry{}
				}
				e := s.entries[l.key]
				e.lines, dirty[l.key] = append(e.lines, l), true
			}
		}
		l.part, l.raw, l.start, l.number = p, raw, start, i+1
		start += len(raw) + 1
		if p.lines = append(p.lines, l); !l.why.Empty() {
			p.bad = append(p.bad, l)
		}
	}
	for _, l := range old[head : len(old)-tail] {
		if e := s.entries[l.key]; e != nil {
			e.lines = slices.DeleteFunc(e.lines, func(known *line) bool { return known == l })
			dirty[l.key] = true
		}
	}
	for key := range dirty {
		s.refold(key)
	}
}

var newline = []byte("\n")

// refold decides anew which lines of a key count.
func (s *notes) refold(key Key) {
	e := s.entries[key]
	s.changed[key.name()] = true
	if e.note != nil {
		unlist(s.texts, sumOf(e.note.note), key)
		unlist(s.findings, findingOf(e.note.note), key)
		s.unname(e.note.note)
	}
	if e.fold(); len(e.lines) == 0 {
		delete(s.entries, key)
	}
	if delete(s.hiding, key); len(e.hidden) > 0 {
		s.hiding[key] = e
	}
	if e.note == nil {
		return
	}
	list(s.texts, sumOf(e.note.note), key)
	if e.note.note.Finding != "" {
		list(s.findings, findingOf(e.note.note), key)
	}
	s.unname(e.note.note)
}

func list[K comparable](in map[K][]Key, at K, key Key) { in[at] = append(in[at], key) }

func unlist[K comparable](in map[K][]Key, at K, key Key) {
	in[at] = slices.DeleteFunc(in[at], func(k Key) bool { return k == key })
	if len(in[at]) == 0 {
		delete(in, at)
	}
}

// first returns the entry of some keys that counts: one that is not deleted, and of those the one
// with the least id; nil where there is none.
func (s *notes) first(keys []Key) (found *entry) {
	for _, key := range slices.SortedFunc(slices.Values(keys), func(a, b Key) int { return cmp.Compare(a.ID, b.ID) }) {
		if e := s.entries[key]; found == nil || found.deleted() && !e.deleted() {
			found = e
		}
	}
	return found
}

// saying returns the entry of what a note says, deleted ones as well.
func (s *notes) saying(n *Note) *entry { return s.first(s.texts[sumOf(n)]) }

// known returns the entry of a finding of a session, deleted ones as well.
func (s *notes) known(session, finding string) *entry {
	return s.first(s.findings[findingOf(&Note{Session: session, Finding: finding})])
}

func findingOf(n *Note) string { return n.Session + "\x00" + n.Finding }

// textSum stands for what a note says, and whose it is.
type textSum [16]byte

func sumOf(n *Note) textSum {
	sum := sha256.Sum256([]byte(string(n.Type) + "\x00" + n.Agent + "\x00" + n.Text))
	return textSum(sum[:16])
}

// ordered returns the parts in the order of their names.
func (s *notes) ordered() []*part {
	return slices.SortedFunc(maps.Values(s.parts), func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number))
	})
}

// problems lists what cannot be used in the files, and notes that others hide, in the language of
// the project.
func (b *Book) problems() []Problem {
	var out []Problem
	for _, p := range b.notes.ordered() {
		name := b.own() + "/" + p.name
		if p.err != nil {
			out = append(out, Problem{Path: name, Why: lang.Of(p.err)})
		}
		for _, l := range p.bad {
			out = append(out, Problem{Path: name, Line: l.number, Why: l.why})
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(b.notes.hiding), func(a, b Key) int { return cmp.Compare(a.name(), b.name()) }) {
		for _, l := range b.notes.hiding[key].hidden {
			out = append(out, Problem{Path: b.own() + "/" + l.part.name, Line: l.number, Why: lang.T("the note has the id of another one, which hides it: bmad-mcp memory gc --apply gives it its own")})
		}
	}
	for _, why := range b.notes.index.problems {
		out = append(out, Problem{Path: b.own(), Why: why})
	}
	return spoken(b.p.Language(""), append(out, b.notes.cabinet.problems...))
}

// project returns the name of the project that ids are made of: the oldest note's, so that a clone
// in a folder of another name gives the same ids; "" where no note has one.
func (s *notes) project() string {
	if s.oldest == nil {
		s.oldest = &Note{}
		for _, e := range s.entries {
			if e.note != nil && e.note.note.Project != "" && (s.oldest.Project == "" || older(e.note.note, s.oldest) < 0) {
				s.oldest = e.note.note
			}
		}
	}
	return s.oldest.Project
}

func older(a, b *Note) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.Project, b.Project))
}

// unname forgets the oldest note where one that comes or goes could be it.
func (s *notes) unname(n *Note) {
	if s.oldest != nil && (s.oldest.Project == "" || older(n, s.oldest) <= 0) {
		s.oldest = nil
	}
}

// maxWhy bounds the sentence of a problem, which can quote a file, in bytes.
const maxWhy = 300

// spoken returns problems whose sentences are in a language already, as they are shown.
func spoken(l lang.Language, list []Problem) []Problem {
	list = slices.Clone(list)
	for i, p := range list {
		list[i].Why = lang.T("%s", untrusted.Shown(p.Why.In(l), maxWhy))
	}
	return list
}
