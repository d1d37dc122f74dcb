package notes

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Set is the notes of one folder as they were read last.
type Set struct {
	mu      sync.Mutex
	parts   map[string]*part
	entries map[Key]*Entry
	// alike finds the keys of notes by their texts, because clones in folders of different names have
	// given one text two ids, and by their findings in a session. It is nil until somebody looks for one.
	alike map[sum][]Key
	// hiding has the entries with notes hidden by another.
	hiding map[Key]*Entry
	// oldest is the note with the project's name; nil if it has to be looked for.
	oldest *Note
	// changed has the notes changed since the last call of Changed.
	changed map[Key]bool
	// edits are the edits of a change, in the order of writing.
	edits []edit
	// temps are files left by a killed process, or under way in another one; the owner of the lock knows which.
	temps []string
	// attributes is the version of the file that makes git merge lines, after the check of it.
	attributes durable.Version
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{
		parts: map[string]*part{}, entries: map[Key]*Entry{},
		hiding: map[Key]*Entry{}, changed: map[Key]bool{},
	}
}

// Peek runs a function on the set as it is, without a look at the files.
func (s *Set) Peek(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// Entries yields all entries, in no order, also of deleted notes.
func (s *Set) Entries() iter.Seq[*Entry] { return maps.Values(s.entries) }

// Len returns the number of entries.
func (s *Set) Len() int { return len(s.entries) }

// Get returns the entry of a key, or nil.
func (s *Set) Get(key Key) *Entry { return s.entries[key] }

// Changed returns the keys of notes that have come, gone or changed since the last call.
func (s *Set) Changed() []Key {
	out := slices.Collect(maps.Keys(s.changed))
	clear(s.changed)
	return out
}

// Files returns the number of files.
func (s *Set) Files() int { return len(s.parts) }

// Find returns the entry of an id or of the beginning of one; kind may be "".
func (s *Set) Find(kind Type, ref string) (*Entry, error) {
	if kind != "" {
		if err := kind.Check(); err != nil {
			return nil, err
		}
	}
	ref = strings.ToLower(strings.TrimSpace(ref))
	var found []Key
	for key := range s.entries {
		if (kind == "" || kind == key.Type) && refersTo(ref, strings.ToLower(key.ID)) {
			found = append(found, key)
		}
	}
	switch len(found) {
	case 0:
		return nil, fault.New(fault.NotFound, "no note has the id %q", visible.Cut(visible.Line(ref), MaxName, "…")).
			WithHint("bmad-mcp memory list shows the ids; the first %d characters of one are enough", minRef)
	case 1:
		return s.entries[found[0]], nil
	}
	var names []string
	for _, key := range found {
		names = append(names, string(key.Type)+" "+key.ID)
	}
	slices.Sort(names)
	return nil, fault.New(fault.Conflict, "%q is the id of %d notes: %s", visible.Cut(visible.Line(ref), MaxName, "…"), len(found), strings.Join(names, ", ")).
		WithHint("give the whole id, or the type with --type")
}

// minRef is how much of an id names a note.
const minRef = 8

// refersTo reports whether a reference is an id, or enough of the beginning.
func refersTo(ref, id string) bool {
	return id == ref || len(ref) >= minRef && strings.HasPrefix(id, ref)
}

// setPart puts a part in the place of its older version. Equal lines at both ends are not read again.
func (s *Set) setPart(p *part, data []byte) {
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
	fresh := len(raws) - head - tail
	if len(s.entries)+len(s.changed) == 0 { // room for all at once
		s.entries, s.changed = make(map[Key]*Entry, fresh), make(map[Key]bool, fresh)
	}
	dirty, start := make(map[Key]bool, fresh), 0
	for i, raw := range raws {
		var l *line
		switch {
		case i < head:
			l = old[i]
		case i >= len(raws)-tail:
			l = old[i+len(old)-len(raws)]
		default:
			if l = parseLine(raw, p.kind); l.isUsable() {
				if s.entries[l.key] == nil {
					s.entries[l.key] = &Entry{}
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
		s.refoldKey(key)
	}
}

// refoldKey decides anew which lines of a key count.
func (s *Set) refoldKey(key Key) {
	e := s.entries[key]
	s.changed[key] = true
	if e.note != nil {
		for _, sum := range s.sumsOf(e.note.note) {
			s.alike[sum] = slices.DeleteFunc(s.alike[sum], func(k Key) bool { return k == key })
			if len(s.alike[sum]) == 0 {
				delete(s.alike, sum)
			}
		}
		s.forgetOldest(e.note.note)
	}
	if e.foldLines(); len(e.lines) == 0 {
		delete(s.entries, key)
	}
	if delete(s.hiding, key); len(e.hidden) > 0 {
		s.hiding[key] = e
	}
	if e.note == nil {
		return
	}
	s.addAlike(key, e.note.note)
	s.forgetOldest(e.note.note)
}

func (s *Set) addAlike(key Key, n *Note) {
	for _, sum := range s.sumsOf(n) {
		s.alike[sum] = append(s.alike[sum], key)
	}
}

// firstOf returns the entry of a sum that counts: of the undeleted ones, else of all, the one with the least id;
// nil if there is none.
func (s *Set) firstOf(of sum) (found *Entry) {
	if s.alike == nil {
		s.alike = map[sum][]Key{}
		for key, e := range s.entries {
			if e.note != nil {
				s.addAlike(key, e.note.note)
			}
		}
	}
	byID := func(a, b Key) int { return cmp.Compare(a.ID, b.ID) }
	for _, key := range slices.SortedFunc(slices.Values(s.alike[of]), byID) {
		if e := s.entries[key]; found == nil || found.Deleted() && !e.Deleted() {
			found = e
		}
	}
	return found
}

// Saying returns the entry of a text of an agent under a type, deleted ones as well.
func (s *Set) Saying(kind Type, agent, text string) *Entry {
	return s.firstOf(sumOf(string(kind), agent, text))
}

// Known returns the entry of a finding of a session, deleted ones as well.
func (s *Set) Known(session, finding string) *Entry { return s.firstOf(sumOf(session, finding)) }

// sum stands for the text of a note and the agent, or for the finding.
type sum [16]byte

func sumOf(parts ...string) sum {
	all := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sum(all[:16])
}

// sumsOf returns the sums by which a note is found; none if nobody has looked for one yet.
func (s *Set) sumsOf(n *Note) []sum {
	if s.alike == nil {
		return nil
	}
	out := []sum{sumOf(string(n.Type), n.Agent, n.Text)}
	if n.Finding != "" {
		out = append(out, sumOf(n.Session, n.Finding))
	}
	return out
}

// sortedParts returns the parts in the order of their names.
func (s *Set) sortedParts() []*part {
	return slices.SortedFunc(maps.Values(s.parts), func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number))
	})
}

// Project returns the name of the project in ids: the oldest note's, so that a clone in a folder of another
// name gives the same ids; "" if no note has one.
func (s *Set) Project() string {
	if s.oldest == nil {
		s.oldest = &Note{}
		for _, e := range s.entries {
			if e.note != nil && e.note.note.Project != "" && (s.oldest.Project == "" || compareAge(e.note.note, s.oldest) < 0) {
				s.oldest = e.note.note
			}
		}
	}
	return s.oldest.Project
}

func compareAge(a, b *Note) int {
	return cmp.Or(a.CreatedAt.Time.Compare(b.CreatedAt.Time), cmp.Compare(a.Project, b.Project))
}

// forgetOldest forgets the oldest note if a note that comes or goes could be it.
func (s *Set) forgetOldest(n *Note) {
	if s.oldest != nil && (s.oldest.Project == "" || compareAge(n, s.oldest) <= 0) {
		s.oldest = nil
	}
}

// edit gives a part new bytes; none remove it.
type edit struct {
	part string
	data []byte
}

// addEdit gives a part new bytes, which the change writes at the end. The next reading reads the part again, so
// that an unwritten edit is forgotten.
func (s *Set) addEdit(p *part, data []byte) {
	s.setPart(&part{name: p.name, kind: p.kind, number: p.number}, data)
	s.edits = append(slices.DeleteFunc(s.edits, func(e edit) bool { return e.part == p.name }), edit{p.name, data})
}

// putLine writes a line of a type: in the place of an older one if there is room, else at the end of the last
// part. An older line that stays becomes part of the history. The result is the name of the part.
func (s *Set) putLine(kind Type, value any, older *line) (name string, err error) {
	var raw []byte
	if older != nil {
		raw = older.raw
	}
	encoded, err := encodeLine(value, raw)
	if err != nil {
		return "", err
	}
	if older != nil && len(older.part.data)-len(raw)+len(encoded) <= max(partLimit, len(older.part.data)) {
		s.replaceLines(map[*line][]byte{older: encoded})
		return older.part.name, nil
	}
	last := &part{kind: kind, name: PartName(kind, 0)}
	for _, p := range s.parts {
		if p.kind == kind && p.number >= last.number {
			last = p
		}
	}
	if last.err != nil {
		return "", last.err
	}
	if !hasRoom(last.data, encoded) {
		last = &part{kind: kind, number: last.number + 1, name: PartName(kind, last.number+1)}
	}
	s.addEdit(last, appendLine(last.data, encoded))
	return last.name, nil
}

// replaceLines puts other lines in the place of some; an empty one removes a line. All other bytes stay. A part
// that gets a line is written before parts that only lose some, so that a deletion counts wherever the rest is
// cut.
func (s *Set) replaceLines(changes map[*line][]byte) {
	gets, touched := map[*part]int{}, map[*part]bool{}
	for l, data := range changes {
		touched[l.part] = true
		gets[l.part] += len(data)
	}
	parts := s.sortedParts()
	slices.SortStableFunc(parts, func(a, b *part) int { return cmp.Compare(min(gets[b], 1), min(gets[a], 1)) })
	for _, p := range parts {
		if !touched[p] {
			continue
		}
		var out []byte
		end := 0
		for _, l := range p.lines {
			if replacement, changed := changes[l]; changed {
				out = append(append(out, p.data[end:l.start]...), replacement...)
				end = min(l.start+len(l.raw)+1, len(p.data))
			}
		}
		s.addEdit(p, append(out, p.data[end:]...))
	}
}

const (
	// partLimit is in bytes: the cost of a write does not grow with the project.
	partLimit = 128 << 10
	// maxPart bounds the part of a file that is read: a union of branches can be longer than partLimit.
	maxPart = 16 << 20
)

// part is one file of notes.
type part struct {
	name   string
	kind   Type
	number int // 0 for the first

	data  []byte
	lines []*line
	bad   []*line // unusable ones
	// version is the version of the file at the reading; settled is true if it shows every change since.
	version durable.Version
	settled bool
	// err says why the file cannot be read.
	err error
}

// parsePart returns the type and number of a file of notes.
func parsePart(name string) (kind Type, n int, ok bool) {
	for _, kind := range Types() {
		if rest, ok := strings.CutPrefix(name, string(kind)); ok {
			n, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimSuffix(rest, ".jsonl"), "-")) // the first has none
			return kind, n, n >= 0 && name == PartName(kind, n)
		}
	}
	return "", 0, false
}

var newline = []byte("\n")

// PartName returns the name of the n-th file, after the first one.
func PartName[S ~string](first S, n int) string {
	if n == 0 {
		return string(first) + ".jsonl"
	}
	return fmt.Sprintf("%s-%06d.jsonl", first, n)
}

// appendLine returns data with a line after it, which a missing line break does not join.
func appendLine(data, line []byte) []byte {
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(slices.Clip(data), '\n')
	}
	return slices.Concat(data, line)
}

// hasRoom reports whether a part has room for a line.
func hasRoom(part, line []byte) bool { return len(part) == 0 || len(part)+1+len(line) <= partLimit }
