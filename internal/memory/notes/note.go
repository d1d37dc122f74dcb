// Package notes is the format of a project's memory: notes as lines of files for people to read, review and
// merge.
//
//	<folder>/structured/<type>.jsonl           one note a line, at most 128 kB; then <type>-000001.jsonl …
//	<folder>/structured/.gitattributes         merges the lines of two branches
//	.bmad-task/locks/memory.lock               held while a note is written
//
// A [Set] has the notes as of the last reading. They are a fold of all lines that does not depend on their
// order, so that git's union of two branches means the same on both sides. An unreadable line is a [Problem],
// hides no other, and is never dropped. A [Folder] keeps a set and the files alike.
package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/lesson"
)

// Limits of a note: MaxText to MaxName in bytes.
const (
	MaxText  = 4000
	MaxTags  = 10
	MaxTag   = 40
	MaxAgent = 64
	// MaxName is for ids and names, for example of clients.
	MaxName = 200
	// MaxNotes is how many notes a project can have.
	MaxNotes = 50_000
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

func (t Type) isType() bool { return slices.Contains(Types(), t) }

// Check returns an error if the type is unknown.
func (t Type) Check() error {
	if t.isType() {
		return nil
	}
	names := lesson.Types()
	return fault.New(fault.InvalidArgument, "%q is not a type of notes", visible.Cut(string(t), MaxTag, "…")).
		WithHint("use one of %s", strings.Join(names, ", ")).Suggest(string(t), names)
}

// Time is a moment as the files have it: RFC 3339 in UTC, in milliseconds.
type Time struct{ Time time.Time }

const timeFormat = "2006-01-02T15:04:05.000Z"

// At returns a moment as it is stored.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.Time.UTC().Format(`"` + timeFormat + `"`)), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(data []byte) error { return t.Time.UnmarshalJSON(data) }

// IsZero reports whether there is no moment, which then has no key in the file.
func (t Time) IsZero() bool { return t.Time.IsZero() }

// String returns the moment as it is stored.
func (t Time) String() string { return t.Time.UTC().Format(timeFormat) }

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

// Like is a note of another program on a server, with the likeness to a query, from -1 to 1.
type Like struct {
	Note
	Cosine float64
}

// Who wrote a note, by its line, besides the names of clients.
const (
	// ByTerminal is a person at a terminal.
	ByTerminal = "terminal"
	// ByRun is this program, from a run whose gates a person decided.
	ByRun = "bmad-mcp"
)

// FromPerson reports whether a person has written the note, or approved the work behind it. The line says so,
// and anyone who may change the file can write that.
func (n *Note) FromPerson() bool {
	return n.By == ByTerminal || n.By == ByRun && n.Session != ""
}

// Key returns the key of the note.
func (n *Note) Key() Key { return Key{n.Type, n.ID} }

// expiryTag begins a tag with the day until which a note holds.
const expiryTag = "expires:"

// Expiry returns the time when the note stops being found, by the field or the tag; zero if never.
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

// Expired reports whether the note has expired and is not found.
func (n *Note) Expired(now time.Time) bool {
	ends := n.Expiry()
	return !ends.IsZero() && !now.Before(ends)
}

// Suspicious reports whether the note addresses the model reading it, in any part shown to one.
func (n *Note) Suspicious() bool {
	return untrusted.Suspicious(strings.Join(append([]string{n.Text, n.Agent, n.ID, n.By}, n.Tags...), "\n"))
}

// Masked returns the note without credentials in the file's text.
func (n Note) Masked() Note {
	n.Text = untrusted.Mask(n.Text)
	n.Tags = slices.Clone(n.Tags)
	for i, tag := range n.Tags {
		n.Tags[i] = untrusted.Mask(tag)
	}
	return n
}

// AppOf returns the name of a project in the ids of notes, as the kits of the method make it.
func AppOf(project string) string {
	return "bmad-" + strings.ReplaceAll(strings.ToLower(project), " ", "-")
}

// idRunes is how much of a text counts for the id.
const idRunes = 150

// idSource returns the text behind the id of a note.
func idSource(project, agent, text string) string {
	head := []rune(text)
	return AppOf(project) + ":" + agent + ":" + string(head[:min(len(head), idRunes)])
}

// idOf returns the id of a text, the same as the kits of the method give it.
func idOf(project, agent, text string) string {
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(idSource(project, agent, text))).String()
}

// ownID returns the id of a text whose first one another text has.
func ownID(project, agent, text string) string {
	sum := sha256.Sum256([]byte(text))
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(idSource(project, agent, text)+":"+hex.EncodeToString(sum[:]))).String()
}

// Checked returns a note to keep as it is stored, or why it is not taken.
func (n Note) Checked() (Note, error) {
	if err := n.Type.Check(); err != nil {
		return n, err
	}
	if err := CheckAgent(n.Agent); err != nil {
		return n, err
	}
	var err error
	if n.Text, err = cleanText(n.Text); err != nil {
		return n, err
	}
	if n.Tags, err = cleanTags(n.Tags); err != nil {
		return n, err
	}
	if err := untrusted.Check("text", n.Text); err != nil {
		return n, err
	}
	for _, tag := range n.Tags {
		if err := untrusted.Check("tags", tag); err != nil {
			return n, err
		}
	}
	for _, name := range []*string{&n.By, &n.Session, &n.Finding} {
		*name = visible.Cut(visible.Line(*name), MaxName, "…")
	}
	return n, nil
}

// CheckAgent refuses a name unfit for an agent, before any path is made of it.
func CheckAgent(name string) error {
	switch {
	case name == "":
		return fault.New(fault.InvalidArgument, "agent is missing").
			WithHint("name who the note is from or for, such as dev or architect")
	case len(name) > MaxAgent, !utf8.ValidString(name), name == ".", name == "..",
		strings.ContainsFunc(name, func(r rune) bool { return !inName(r) }):
		return fault.New(fault.InvalidArgument, "%q is not the name of an agent", visible.Cut(visible.Line(name), MaxAgent, "…")).
			WithHint("use letters, digits, dots, hyphens and underscores, at most %d bytes, such as dev or architect", MaxAgent)
	}
	return nil
}

// inName reports whether the name of an agent can have a character.
func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || strings.ContainsRune("._-", r)
}

// cleanText returns a text without characters that steer a terminal or the direction of writing, and without
// white space around it.
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
	case len(text) > MaxText:
		return "", fault.New(fault.InvalidArgument, "text has %d bytes; a note has at most %d", len(text), MaxText).
			WithHint("remember the lesson, not the document; name the document's path instead")
	}
	return text, nil
}

// cleanTags returns tags, each once; nil if tags is nil.
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
		case len(tag) > MaxTag:
			return nil, fault.New(fault.InvalidArgument, "the tag %q has %d bytes; a tag has at most %d", visible.Cut(tag, MaxTag, "…"), len(tag), MaxTag).
				WithHint("shorten it, or say it in the text")
		}
		if day, ok := strings.CutPrefix(tag, expiryTag); ok {
			if _, err := time.Parse(time.DateOnly, day); err != nil {
				return nil, fault.New(fault.InvalidArgument, "the tag %q names no day", tag).WithHint("write it as expires:2026-12-31")
			}
		}
		out = append(out, tag)
	}
	if len(out) > MaxTags {
		return nil, fault.New(fault.InvalidArgument, "the note has %d tags; at most %d are kept", len(out), MaxTags).WithHint("keep those by which somebody will look for it")
	}
	return out, nil
}
