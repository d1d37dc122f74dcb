package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// Refused is the outcome of a note that is not imported.
const Refused = "refused"

// Source is a file to import.
type Source struct {
	// Name is for people, Data what it has.
	Name string
	Data []byte
	// Type and Agent are for notes that name none.
	Type  Type
	Agent string
	By    string
}

// Item is one note of an import.
type Item struct {
	Line   int    `json:"line"`
	Status string `json:"status"`
	ID     string `json:"id,omitempty"`
	Type   Type   `json:"type"`
	Agent  string `json:"agent"`
	// Text is its beginning.
	Text string `json:"text"`
	// Why is the reason of a refusal.
	Why string `json:"why,omitempty"`
	err error
}

// Reason is why the item was refused, in a language.
func (i Item) Reason(l lang.Language) string { return fault.From(i.err).In(l) }

// Imported is the result of an import.
type Imported struct {
	Items []Item `json:"items"`
	// Count has the number of items of each status.
	Count map[string]int `json:"count"`
	// Applied is false for a trial, which writes nothing.
	Applied  bool      `json:"applied"`
	Problems []Problem `json:"problems,omitempty"`
}

// SharedAgent is whom a note is for that names nobody.
const SharedAgent = "shared"

// Import takes the notes of a file, as an export of ours or of a kit has them, into the project.
// Without apply nothing is written.
func (b *Book) Import(ctx context.Context, src Source, apply bool) (out Imported, err error) {
	if err := b.allowed(); err != nil {
		return out, err
	}
	drafts, lines, problems := src.drafts()
	if len(drafts) == 0 && len(problems) == 0 {
		return out, fault.New(fault.InvalidArgument, "%s has no notes", src.Name).
			WithHint("import takes what memory export or a kit's export-md writes, memories.json, and lines of JSON")
	}
	plan := func() error {
		out = Imported{Items: []Item{}, Count: map[string]int{}, Problems: problems}
		for i, d := range drafts {
			item := take(b, d)
			item.Line = lines[i]
			out.Items = append(out.Items, item)
			out.Count[item.Status]++
		}
		return nil
	}
	err = b.changeKnown(ctx, apply, plan)
	out.Applied = apply && err == nil
	return out, err
}

// take takes in one note of an import.
func take(b *Book, d Draft) Item {
	item := Item{Type: d.Type, Agent: d.Agent, Text: visible.Clip(oneLine(d.Text), maxAgent)}
	refuse := func(err error) Item {
		item.Status, item.Why, item.err = Refused, fault.From(err).Message, err
		return item
	}
	d, err := d.checked()
	if err != nil {
		return refuse(err)
	}
	e := b.notes.saying(&Note{Type: d.Type, Agent: d.Agent, Text: d.Text})
	if e != nil && d.derived {
		d.Tags = nil
	}
	if e != nil && e.deleted() {
		return refuse(fault.New(fault.Conflict, "the note was deleted; bmad-mcp memory restore %s brings it back", e.note.key.ID))
	}
	done, err := b.remember(d)
	if err != nil {
		return refuse(err)
	}
	item.Status, item.ID = done.Status, done.ID
	return item
}

// drafts reads the notes of the file, with their lines.
func (src Source) drafts() (drafts []Draft, lines []int, problems []Problem) {
	data := bytes.TrimPrefix(src.Data, byteOrderMark)
	number := 0
	for raw := range bytes.Lines(data) { // lines of ours
		number++
		l := parseLine(bytes.TrimSpace(raw), cmp.Or(src.Type, AgentLearnings))
		if l.note == nil {
			continue
		}
		n := l.note
		drafts = append(drafts, Draft{Type: n.Type, Agent: src.agent(n.Agent), Text: n.Text, Tags: n.Tags, By: cmp.Or(n.By, src.By), Session: n.Session, Finding: n.Finding, ExpiresAt: n.ExpiresAt.Time, CreatedAt: n.CreatedAt.Time})
		lines = append(lines, number)
	}
	if len(drafts) > 0 {
		return drafts, lines, nil
	}
	content, problems := grimoire.Parse(grimoire.Source{Path: src.Name, Kind: grimoire.Detect(data)}, data)
	for _, e := range content.Entries {
		d := Draft{Type: Type(e.Type), Agent: src.agent(e.Agent), Text: e.Text, Tags: slices.Clip(e.Tags), By: src.By, CreatedAt: e.Date, derived: true}
		if f := e.Failure; f != nil {
			for _, tag := range []string{f.Category, f.Severity, f.ID, f.Status} {
				if tag != "" {
					d.Tags = append(d.Tags, tag)
				}
			}
		}
		drafts, lines = append(drafts, d), append(lines, e.Line)
	}
	return drafts, lines, problems
}

// agent is a name from a file as one of an agent.
func (src Source) agent(name string) string {
	name = strings.Map(func(r rune) rune {
		if inName(r) {
			return r
		}
		return '-'
	}, strings.TrimSpace(name))
	return cmp.Or(strings.Trim(name, "-."), src.Agent, SharedAgent)
}
