package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lesson"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// Type is the kind of a note.
type Type string

// The types of notes.
const (
	SharedContext  Type = lesson.SharedContext
	Decisions      Type = lesson.Decisions
	AgentLearnings Type = lesson.AgentLearnings
	Failures       Type = lesson.Failures
	Stories        Type = lesson.Stories
)

// Types lists the types of notes.
func Types() []Type { return []Type{SharedContext, Decisions, AgentLearnings, Failures, Stories} }

func (t Type) known() bool { return slices.Contains(Types(), t) }

// check refuses an unknown type.
func (t Type) check() error {
	if t.known() {
		return nil
	}
	names := lesson.Types()
	return fault.New(fault.InvalidArgument, "%q is not a type of notes", visible.Cut(string(t), maxTag, "…")).
		WithHint("use one of %s", strings.Join(names, ", ")).Suggest(string(t), names)
}

// Time is a moment as the files have it: RFC 3339 in UTC, in milliseconds.
type Time struct{ time.Time }

const timeFormat = "2006-01-02T15:04:05.000Z"

// at returns a moment as it is stored.
func at(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"` + timeFormat + `"`)), nil
}

// String is the moment as it is stored.
func (t Time) String() string { return t.UTC().Format(timeFormat) }

// Key identifies a note: the same text is another note under another type.
type Key struct {
	Type Type
	ID   string
}

// Note is one note, as a line of a file has it.
type Note struct {
	V         int      `json:"v"`
	ID        string   `json:"id"`
	Type      Type     `json:"type"`
	Agent     string   `json:"agent"`
	Text      string   `json:"text"`
	Tags      []string `json:"tags"`
	Project   string   `json:"project,omitempty"`
	CreatedAt Time     `json:"created_at"`
	UpdatedAt Time     `json:"updated_at"`
	By        string   `json:"by,omitempty"`
	Session   string   `json:"session,omitempty"`
	Finding   string   `json:"finding,omitempty"`
	ExpiresAt Time     `json:"expires_at,omitzero"`
}

// Who wrote a note, by its line, besides the names of clients.
const (
	// ByTerminal is a person at a terminal.
	ByTerminal = "terminal"
	// byRun is this program, from a run whose gates a person decided.
	byRun = "bmad-mcp"
)

// fromPerson reports whether a person has written the note, or let pass what it is from. Its line
// says so, which anyone can write who may change the file.
func (n *Note) fromPerson() bool { return n.By == ByTerminal || n.By == byRun && n.Session != "" }

// Key returns what identifies the note.
func (n *Note) Key() Key { return Key{n.Type, n.ID} }

// expiryTag begins a tag that says until when a note holds.
const expiryTag = "expires:"

// Expiry is when the note stops being found, by its field or its tag; zero for never.
func (n *Note) Expiry() time.Time {
	ends := n.ExpiresAt.Time
	for _, tag := range n.Tags {
		if day, ok := strings.CutPrefix(tag, expiryTag); ok {
			if t, err := time.Parse(time.DateOnly, day); err == nil && (ends.IsZero() || t.Before(ends)) {
				ends = t
			}
		}
	}
	return ends
}

// Expired reports whether the note is not found any more.
func (n *Note) Expired(now time.Time) bool {
	ends := n.Expiry()
	return !ends.IsZero() && !now.Before(ends)
}

// tombstone is the line that deletes a note.
type tombstone struct {
	V         int    `json:"v"`
	ID        string `json:"id"`
	Type      Type   `json:"type"`
	DeletedAt Time   `json:"deleted_at"`
	By        string `json:"by,omitempty"`
}

// format is the version of the lines.
const format = 1

// Limits of what is taken in.
const (
	maxText  = 4000
	maxTags  = 10
	maxTag   = 40
	maxAgent = 64
	maxName  = 200
	// MaxNotes is how many notes a project can have.
	MaxNotes = 50_000
)

// Draft is a note to remember.
type Draft struct {
	Type        Type
	Agent, Text string
	// Tags replace those of a note that exists; nil keeps them.
	Tags []string
	// By names who asks for it.
	By string
	// Session and Finding say what a note of a run is about.
	Session, Finding string
	ExpiresAt        time.Time
	// CreatedAt is when it was first noted elsewhere; zero for now.
	CreatedAt time.Time
	// derived is true where the tags are what another format keeps of them.
	derived bool
}

// checked returns the draft as it is stored, or why it is not taken.
func (d Draft) checked() (Draft, error) {
	if err := d.Type.check(); err != nil {
		return d, err
	}
	if err := CheckAgent(d.Agent); err != nil {
		return d, err
	}
	text, err := cleanText(d.Text)
	if err != nil {
		return d, err
	}
	d.Text = text
	if d.Tags, err = cleanTags(d.Tags); err != nil {
		return d, err
	}
	if err := untrusted.Check("text", d.Text); err != nil {
		return d, err
	}
	for _, tag := range d.Tags {
		if err := untrusted.Check("tags", tag); err != nil {
			return d, err
		}
	}
	d.By = visible.Cut(visible.Line(d.By), maxName, "…")
	d.Session = visible.Cut(visible.Line(d.Session), maxName, "…")
	d.Finding = visible.Cut(visible.Line(d.Finding), maxName, "…")
	return d, nil
}

// CheckAgent refuses a name that is not one of an agent, before any path is made of it.
func CheckAgent(name string) error {
	switch {
	case name == "":
		return fault.New(fault.InvalidArgument, "agent is missing").
			WithHint("name who the note is from or for, such as dev or architect")
	case len(name) > maxAgent, !utf8.ValidString(name), name == ".", name == "..",
		strings.ContainsFunc(name, func(r rune) bool { return !inName(r) }):
		return fault.New(fault.InvalidArgument, "%q is not the name of an agent", visible.Cut(visible.Line(name), maxAgent, "…")).
			WithHint("use letters, digits, dots, hyphens and underscores, at most %d bytes, such as dev or architect", maxAgent)
	}
	return nil
}

func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("._-", r)
}

// cleanText returns a text without characters that steer a terminal or the direction of
// writing, and without white space around it.
func cleanText(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", fault.New(fault.InvalidArgument, "text is not valid UTF-8").WithHint("pass it as UTF-8")
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if visible.Steers(string(r)) {
			return -1
		}
		return r
	}, text))
	switch {
	case text == "":
		return "", fault.New(fault.InvalidArgument, "text is empty").WithHint("say in one or two sentences what is to be remembered")
	case len(text) > maxText:
		return "", fault.New(fault.InvalidArgument, "text has %d bytes; a note has at most %d", len(text), maxText).
			WithHint("remember the lesson, not the document; name the document's path instead")
	}
	return text, nil
}

// cleanTags returns tags, each once; nil for nil.
func cleanTags(tags []string) ([]string, error) {
	if tags == nil {
		return nil, nil
	}
	out := []string{}
	for _, tag := range tags {
		tag = visible.Line(tag)
		switch {
		case tag == "" || slices.Contains(out, tag):
			continue
		case len(tag) > maxTag:
			return nil, fault.New(fault.InvalidArgument, "the tag %q has %d bytes; a tag has at most %d", visible.Cut(tag, maxTag, "…"), len(tag), maxTag).
				WithHint("shorten it, or say it in the text")
		}
		if day, ok := strings.CutPrefix(tag, expiryTag); ok {
			if _, err := time.Parse(time.DateOnly, day); err != nil {
				return nil, fault.New(fault.InvalidArgument, "the tag %q names no day", tag).WithHint("write it as expires:2026-12-31")
			}
		}
		out = append(out, tag)
	}
	if len(out) > maxTags {
		return nil, fault.New(fault.InvalidArgument, "the note has %d tags; at most %d are kept", len(out), maxTags).WithHint("keep those by which somebody will look for it")
	}
	return out, nil
}

// appOf is the name of a project in the ids of its notes, as the kits of the method make it.
func appOf(project string) string {
	return "bmad-" + strings.ReplaceAll(strings.ToLower(project), " ", "-")
}

// idRunes is how much of a text counts for its id.
const idRunes = 150

// idSource is what the id of a note is made of.
func idSource(project, agent, text string) string {
	head := []rune(text)
	return appOf(project) + ":" + agent + ":" + string(head[:min(len(head), idRunes)])
}

// idOf returns the id of a text, the same that the kits of the method give it.
func idOf(project, agent, text string) string {
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(idSource(project, agent, text))).String()
}

// ownID returns the id of a text whose first one another text has.
func ownID(project, agent, text string) string {
	sum := sha256.Sum256([]byte(text))
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(idSource(project, agent, text)+":"+hex.EncodeToString(sum[:]))).String()
}

// encode returns a value as one line, followed by the keys of an older line that this program
// does not know.
func encode(value any, older []byte) ([]byte, error) {
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

// unknownKeys returns what a line has besides.
func unknownKeys(raw []byte) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(bytes.TrimPrefix(raw, byteOrderMark), &all) // a line of another kind has none
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool {
		return slices.ContainsFunc(knownKeys, func(known string) bool { return strings.EqualFold(key, known) }) // as decode reads it
	})
	return all
}

// Suspicious reports whether the note addresses the model that reads it, in any of what is shown.
func (n *Note) Suspicious() bool {
	return untrusted.Suspicious(strings.Join(append([]string{n.Text, n.Agent, n.ID, n.By}, n.Tags...), "\n"))
}

// Masked returns the note without the credentials that somebody wrote into the file.
func (n Note) Masked() Note {
	n.Text = untrusted.Mask(n.Text)
	n.Tags = slices.Clone(n.Tags)
	for i, tag := range n.Tags {
		n.Tags[i] = untrusted.Mask(tag)
	}
	return n
}
