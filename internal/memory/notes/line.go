package notes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
)

// Problem is an unusable part of a file. The rest of the file is used.
type Problem = grimoire.Problem

// maxWhy bounds the sentence of a problem, which can quote a file, in bytes.
const maxWhy = 300

// Spoken returns problems whose sentences are in a language already, as they are shown.
func Spoken(l lang.Language, list []Problem) []Problem {
	list = slices.Clone(list)
	for i, p := range list {
		list[i].Why = lang.T("%s", untrusted.Shown(p.Why.In(l), maxWhy))
	}
	return list
}

// line is one line of a file.
type line struct {
	// raw has no line break, and begins at start in the file. number counts from 1.
	raw           []byte
	start, number int
	part          *part
	// note is nil for a tombstone, and key is zero for a line that is neither.
	note *Note
	key  Key
	// stamp is when the line was true, by the writer's clock.
	stamp time.Time
	// why is the problem of a line that is neither.
	why lang.Text
}

// isUsable reports whether the line is a note or a tombstone.
func (l *line) isUsable() bool { return l.key != Key{} }

// maxLine is in bytes: several times the longest possible note.
const maxLine = 32 << 10

var byteOrderMark = []byte("\ufeff")

// parseLine reads one line of a file of a type.
func parseLine(raw []byte, kind Type) *line {
	l := &line{raw: raw}
	body := bytes.TrimSpace(bytes.TrimPrefix(raw, byteOrderMark))
	switch {
	case len(body) == 0:
	case len(raw) > maxLine:
		l.why = lang.T("the line has %d bytes; at most %d are read", len(raw), maxLine)
	case !utf8.Valid(body):
		l.why = lang.T("the line is not valid UTF-8")
	case conflictMarker(body):
		l.why = lang.T("a merge left its conflict marker here: keep the notes of both sides and remove this line")
	default:
		l.why = l.decodeBody(body, kind)
	}
	if !l.why.Empty() {
		l.key, l.note = Key{}, nil
	}
	return l
}

// conflictMarker reports whether git has written the line to show a conflict.
func conflictMarker(body []byte) bool {
	for _, mark := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		if bytes.HasPrefix(body, []byte(mark)) {
			return true
		}
	}
	return false
}

// stored is a line of any kind, read leniently: a person can have written it.
type stored struct {
	Note
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
	ExpiresAt string `json:"expires_at"`
	DeletedAt string `json:"deleted_at"`
}

func (l *line) decodeBody(body []byte, kind Type) (why lang.Text) {
	if body[0] != '{' {
		return lang.T("the line is not a JSON object")
	}
	s := &stored{}
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(body, s); errors.As(err, &odd) {
		return lang.T("the line has a value of another kind for %q than a note: %s", odd.Field[strings.LastIndexByte(odd.Field, '.')+1:], odd.Value)
	} else if err != nil {
		return lang.T("the line is not the JSON of a note: %v", err)
	}
	if s.Type == "" {
		s.Type = kind
	}
	switch {
	case s.V != format:
		return lang.T("the line has the format %d; this version of bmad-mcp reads format %d", s.V, format)
	case s.ID == "" || len(s.ID) > MaxName:
		return lang.T("the line has no usable id")
	case !s.Type.isType():
		return lang.T("the line has the unknown type %q", string(s.Type))
	}
	l.key = s.Key()
	if s.DeletedAt != "" {
		return parseTime(&l.stamp, "deleted_at", s.DeletedAt)
	}
	if strings.TrimSpace(s.Text) == "" {
		return lang.T("the note has no text")
	}
	n := s.Note
	n.Tags = slices.Clip(n.Tags)
	for _, f := range []struct {
		to   *time.Time
		key  string
		text string
	}{{&n.CreatedAt.Time, "created_at", s.CreatedAt}, {&n.UpdatedAt.Time, "updated_at", s.UpdatedAt}, {&n.ExpiresAt.Time, "expires_at", s.ExpiresAt}} {
		if f.text == "" {
			continue
		}
		if why := parseTime(f.to, f.key, f.text); !why.Empty() {
			return why
		}
	}
	if n.UpdatedAt.Time.IsZero() {
		n.UpdatedAt = n.CreatedAt
	}
	l.note, l.stamp = &n, n.UpdatedAt.Time
	return lang.Text{}
}

func parseTime(to *time.Time, key, text string) (why lang.Text) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		if t, err = time.Parse(time.DateOnly, text); err != nil {
			return lang.T("%s %q is not a time, such as %s", key, text, "2026-12-31T09:30:00Z")
		}
	}
	*to = t.UTC()
	return lang.Text{}
}

var knownKeys = []string{"v", "id", "type", "agent", "text", "tags", "project", "created_at", "updated_at", "by", "session", "finding", "expires_at", "deleted_at"}

// tombstone is the line of a note's deletion.
type tombstone struct {
	V         int    `json:"v"`
	ID        string `json:"id"`
	Type      Type   `json:"type"`
	DeletedAt Time   `json:"deleted_at"`
	By        string `json:"by,omitempty"`
}

// format is the version of the lines.
const format = 1

// encodeLine returns a value as one line, followed by unknown keys of an older line.
func encodeLine(value any, older []byte) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	line := bytes.TrimRight(out.Bytes(), "\n")
	unknown := unknownKeys(older)
	for _, key := range slices.Sorted(maps.Keys(unknown)) {
		if name, err := json.Marshal(key); err == nil {
			line = slices.Concat(line[:len(line)-1], []byte{','}, name, []byte{':'}, unknown[key], []byte{'}'})
		}
	}
	return append(line, '\n'), nil
}

// unknownKeys returns the other keys of a line.
func unknownKeys(raw []byte) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(bytes.TrimPrefix(raw, byteOrderMark), &all) // a line of another kind has none
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool {
		return slices.ContainsFunc(knownKeys, func(known string) bool { return strings.EqualFold(key, known) }) // as decode reads it
	})
	return all
}

// Entry is the meaning of all lines of one key together.
type Entry struct {
	lines []*line
	// note is the latest line with a text, tomb the latest deletion; either may be nil.
	note, tomb *line
	// hidden are notes with another text of the same beginning: two branches have given both one id.
	hidden []*line
}

// Key returns the key of the note.
func (e *Entry) Key() Key { return e.topLine().key }

// Deleted reports whether a deletion counts.
func (e *Entry) Deleted() bool {
	return e.tomb != nil && (e.note == nil || compareLines(e.tomb, e.note) > 0)
}

// Note returns the note, or nil if there is none or it was deleted.
func (e *Entry) Note() *Note {
	if e.Deleted() {
		return nil
	}
	return e.Last()
}

// Last returns the note, also a deleted one; nil if the text is gone.
func (e *Entry) Last() *Note {
	if e.note == nil {
		return nil
	}
	return e.note.note
}

// Place returns the file of the note, by the name in the folder, and the number of the line.
func (e *Entry) Place() (file string, number int) { return e.topLine().part.name, e.topLine().number }

// topLine returns the line of the note, or of the deletion if the text is gone.
func (e *Entry) topLine() *line {
	if e.note == nil {
		return e.tomb
	}
	return e.note
}

// foldLines decides which lines of a key count. The result does not depend on their order.
func (e *Entry) foldLines() {
	e.note, e.tomb, e.hidden = nil, nil, nil
	for _, l := range e.lines {
		to := &e.note
		if l.note == nil {
			to = &e.tomb
		}
		if *to == nil || compareLines(l, *to) > 0 {
			*to = l
		}
	}
	if len(e.lines) < 2 || e.note == nil {
		return
	}
	texts := map[string]bool{e.note.note.Text: true}
	source := idSource("", e.note.note.Agent, e.note.note.Text)
	for _, l := range e.lines {
		n := l.note
		isDeleted := e.tomb != nil && compareLines(e.tomb, l) > 0
		if n == nil || texts[n.Text] || isDeleted {
			continue
		}
		if idSource("", n.Agent, n.Text) == source {
			texts[n.Text] = true
			e.hidden = append(e.hidden, l)
		}
	}
}

// stampAfter returns now, or later than every line of the entry: a slow clock must not make a new line the
// older one.
func (e *Entry) stampAfter(now time.Time) Time {
	stamp := At(now)
	for _, l := range e.lines {
		if !l.stamp.Before(stamp.Time) {
			stamp = At(l.stamp.Add(time.Millisecond))
		}
	}
	return stamp
}

// compareLines orders the lines of a key: by time; at the same time a deletion wins, else the greater content,
// so that every reader chooses the same.
func compareLines(a, b *line) int {
	deletes := 0
	switch {
	case a.note == nil && b.note != nil:
		deletes = 1
	case a.note != nil && b.note == nil:
		deletes = -1
	}
	return cmp.Or(a.stamp.Compare(b.stamp), deletes, bytes.Compare(a.raw, b.raw))
}
