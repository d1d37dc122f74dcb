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
	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
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
	lines []*line // all that are not empty
	bad   []*line // those of them that cannot be used
	// version is that of the file when it was read; settled is true where it shows every change
	// since.
	version durable.Version
	settled bool
	// err says why the file cannot be read.
	err error
}

func partName(kind Type, n int) string {
	if n == 0 {
		return string(kind) + ".jsonl"
	}
	return fmt.Sprintf("%s-%06d.jsonl", kind, n)
}

// parsePart returns the type and number of a file of notes.
func parsePart(name string) (kind Type, n int, ok bool) {
	base, ok := strings.CutSuffix(name, ".jsonl")
	if !ok {
		return "", 0, false
	}
	if Type(base).known() {
		return Type(base), 0, true
	}
	at := strings.LastIndexByte(base, '-')
	if at < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(base[at+1:])
	kind = Type(base[:at])
	return kind, n, err == nil && n > 0 && kind.known() && partName(kind, n) == name
}

// notes are the notes of one project as they were read last.
type notes struct {
	mu      sync.Mutex
	parts   map[string]*part
	entries map[Key]*entry
	// texts finds the key of a note by what it says.
	texts map[textSum]Key
	// oldest is the note that names the project; nil where it has to be looked for.
	oldest *Note
	// findings finds it by what it is about in a session.
	findings map[string]Key
	// foreign are notes of other programs, by their keys in the index; kit is what their files say
	// besides.
	foreign map[string]*Foreign
	kit     grimoire.Content
	cabinet cabinet
	runs    cabinet
	index   index
	// expiring are the notes in the index that hold until some time.
	expiring map[string]*Note
	// changed has the notes that have changed since they were taken into the index.
	changed map[string]bool
	// hiding has the entries with notes that another hides.
	hiding map[Key]*entry
}

func newNotes() *notes {
	return &notes{parts: map[string]*part{}, entries: map[Key]*entry{}, texts: map[textSum]Key{}, findings: map[string]Key{}, changed: map[string]bool{}, hiding: map[Key]*entry{}, expiring: map[string]*Note{}}
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
	for _, e := range listed {
		kind, n, ok := parsePart(e.Name())
		if !ok {
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
	old := s.parts[p.name]
	if old == nil {
		old = &part{}
	}
	s.parts[p.name], p.data = p, data
	head, tail := common(old.data, data)
	first := slices.IndexFunc(old.lines, func(l *line) bool { return l.start >= head })
	if first < 0 {
		first = len(old.lines)
	}
	last := first
	for last < len(old.lines) && old.lines[last].start < len(old.data)-tail {
		last++
	}
	dirty := map[Key]bool{}
	p.lines = old.lines[:first:first]
	start, number := head, 1+bytes.Count(data[:head], newline)
	for start < len(data)-tail {
		raw, _, _ := bytes.Cut(data[start:], newline)
		l := parseLine(raw, p.kind)
		l.start, l.number = start, number
		if l.usable() || !l.why.Empty() {
			p.lines = append(p.lines, l)
		}
		s.add(l, dirty)
		start += len(raw) + 1
		number++
	}
	for _, l := range old.lines[first:last] {
		s.drop(l, dirty)
	}
	shift := number - 1 - bytes.Count(old.data[:len(old.data)-tail], newline)
	for _, l := range old.lines[last:] {
		l.start += len(data) - len(old.data)
		l.number += shift
		p.lines = append(p.lines, l)
	}
	for _, l := range p.lines {
		l.part, l.raw = p, data[l.start:l.start+len(l.raw)]
		if !l.usable() {
			p.bad = append(p.bad, l)
		}
	}
	for key := range dirty {
		s.refold(key)
	}
}

var newline = []byte("\n")

// common returns how many bytes two texts have in common at their ends, in whole lines.
func common(a, b []byte) (head, tail int) {
	n := min(len(a), len(b))
	const step = 256 // compared at once
	for head+step <= n && bytes.Equal(a[head:head+step], b[head:head+step]) {
		head += step
	}
	for head < n && a[head] == b[head] {
		head++
	}
	head = bytes.LastIndexByte(a[:head], '\n') + 1
	for tail+step <= n-head && bytes.Equal(a[len(a)-tail-step:len(a)-tail], b[len(b)-tail-step:len(b)-tail]) {
		tail += step
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	// The line in which they begin to agree may be another one on each side.
	cut := bytes.IndexByte(a[len(a)-tail:], '\n') + 1
	if cut == 0 {
		return head, 0
	}
	return head, tail - cut
}

// add takes a line into the notes, and drop takes it out; dirty gets the keys to fold again.
func (s *notes) add(l *line, dirty map[Key]bool) {
	if !l.usable() {
		return
	}
	e := s.entries[l.key]
	if e == nil {
		e = &entry{}
		s.entries[l.key] = e
	}
	e.lines = append(e.lines, l)
	dirty[l.key] = true
}

func (s *notes) drop(l *line, dirty map[Key]bool) {
	if e := s.entries[l.key]; l.usable() && e != nil {
		e.lines = slices.DeleteFunc(e.lines, func(known *line) bool { return known == l })
		dirty[l.key] = true
	}
}

// refold decides anew which lines of a key count.
func (s *notes) refold(key Key) {
	e := s.entries[key]
	if e.note != nil && s.texts[sumOf(e.note.note)] == key {
		delete(s.texts, sumOf(e.note.note))
	}
	s.changed[key.name()] = true
	if e.note != nil && e.note.note == s.oldest {
		s.oldest = nil // it is looked for anew
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
	s.texts[sumOf(e.note.note)] = key
	if s.oldest != nil {
		s.older(e)
	}
	if n := e.note.note; n.Finding != "" {
		s.findings[n.Session+"\x00"+n.Finding] = key
	}
}

// known returns the entry of a finding of a session, deleted ones as well.
func (s *notes) known(session, finding string) *entry {
	e := s.entries[s.findings[session+"\x00"+finding]]
	if e == nil || e.note == nil || e.note.note.Session != session || e.note.note.Finding != finding {
		return nil
	}
	return e
}

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
			out = append(out, Problem{name, l.number, l.why})
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(b.notes.hiding), func(a, b Key) int { return cmp.Compare(a.name(), b.name()) }) {
		for _, l := range b.notes.hiding[key].hidden {
			out = append(out, Problem{b.own() + "/" + l.part.name, l.number, lang.T("the note has the id of another one, which hides it: bmad-mcp memory gc --apply gives it its own")})
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
		for _, e := range s.entries {
			s.older(e)
		}
	}
	if s.oldest == nil {
		return ""
	}
	return s.oldest.Project
}

// older notes the note of an entry if it is the oldest so far that names its project.
func (s *notes) older(e *entry) {
	if e.note == nil || e.note.note.Project == "" {
		return
	}
	n := e.note.note
	if s.oldest == nil || cmp.Or(n.CreatedAt.Compare(s.oldest.CreatedAt.Time), cmp.Compare(n.Project, s.oldest.Project)) < 0 {
		s.oldest = n
	}
}

// maxWhy bounds the sentence of a problem, which can quote a file, in bytes.
const maxWhy = 300

// spoken returns problems whose sentences are in a language already, as they are shown.
func spoken(l lang.Language, list []Problem) []Problem {
	list = slices.Clone(list)
	for i, p := range list {
		list[i].Why = lang.T("%s", shown(p.Why.In(l), maxWhy))
	}
	return list
}
