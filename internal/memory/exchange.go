package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/internal/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// Refused is the outcome of a note that is not imported.
const Refused = "refused"

// Source is a file to import.
type Source struct {
	// Name is for people, Data its content.
	Name string
	Data []byte
	// Type and Agent are for notes that name none.
	Type  notes.Type
	Agent string
	By    string
}

// Item is one note of an import.
type Item struct {
	Line   int        `json:"line"`
	Status string     `json:"status"`
	ID     string     `json:"id,omitempty"`
	Type   notes.Type `json:"type"`
	Agent  string     `json:"agent"`
	// Text is its beginning.
	Text string `json:"text"`
	// Why is the reason of a refusal.
	Why string `json:"why,omitempty"`
	err error
}

// Reason returns the reason why the item was refused, in a language.
func (i Item) Reason(l lang.Language) string { return fault.From(i.err).In(l) }

// Imported is the result of an import.
type Imported struct {
	Items []Item `json:"items"`
	// Count has the number of items of each status.
	Count map[string]int `json:"count"`
	// Applied is false for a trial, which writes nothing.
	Applied  bool            `json:"applied"`
	Problems []notes.Problem `json:"problems,omitempty"`
}

// SharedAgent is whom a note is for that names nobody.
const SharedAgent = "shared"

// Import takes the notes of a file, as an export of ours or of a kit has them, into the project.
// Nothing is written if apply is false.
func (b *Book) Import(ctx context.Context, src Source, apply bool) (out Imported, err error) {
	if err := b.Usable(); err != nil {
		return out, err
	}
	list, problems := src.notes()
	if len(list) == 0 && len(problems) == 0 {
		return out, fault.New(fault.InvalidArgument, "%s has no notes", src.Name).
			WithHint("import takes what memory export or a kit's export-md writes, memories.json, and lines of JSON")
	}
	err = b.notes.ChangeKnown(ctx, apply, func() error {
		out = Imported{Items: []Item{}, Count: map[string]int{}, Problems: problems}
		for _, d := range list {
			item := b.take(d)
			out.Items = append(out.Items, item)
			out.Count[item.Status]++
		}
		return nil
	})
	out.Applied = apply && err == nil
	return out, err
}

// imported is a note from a line of a file.
type imported struct {
	notes.Note
	line int
	// derived is true if the tags have been through another format, which keeps only a part of them.
	derived bool
}

// take takes in one note of an import.
func (b *Book) take(d imported) Item {
	item := Item{Line: d.line, Type: d.Type, Agent: d.Agent, Text: visible.Clip(oneLine(d.Text), notes.MaxAgent)}
	refuse := func(err error) Item {
		item.Status, item.Why, item.err = Refused, fault.From(err).Message, err
		return item
	}
	n, err := d.Checked()
	if err != nil {
		return refuse(err)
	}
	if e := b.notes.Saying(n.Type, n.Agent, n.Text); e != nil {
		if e.Deleted() {
			return refuse(fault.New(fault.Conflict, "the note was deleted; bmad-mcp memory restore %s brings it back", e.Key().ID))
		}
		if d.derived {
			n.Tags = nil
		}
	}
	done, err := b.keep(n)
	if err != nil {
		return refuse(err)
	}
	item.Status, item.ID = done.Status, done.ID
	return item
}

// notes reads the notes of the file.
func (src Source) notes() (out []imported, problems []notes.Problem) {
	for number, n := range notes.Lines(src.Data, cmp.Or(src.Type, notes.AgentLearnings)) { // lines of ours
		n.Agent, n.By = src.agent(n.Agent), cmp.Or(n.By, src.By)
		out = append(out, imported{line: number, Note: *n})
	}
	if len(out) > 0 {
		return out, nil
	}
	content, problems := grimoire.Parse(grimoire.Source{Path: src.Name, Kind: grimoire.Detect(src.Data)}, src.Data)
	for _, e := range content.Entries {
		d := imported{line: e.Line, derived: true, Note: notes.Note{
			Type: notes.Type(e.Type), Agent: src.agent(e.Agent), Text: e.Text, Tags: slices.Clip(e.Tags), By: src.By, CreatedAt: notes.At(e.Date),
		}}
		if f := e.Failure; f != nil {
			for _, tag := range []string{f.Category, f.Severity, f.ID, f.Status} {
				if tag != "" {
					d.Tags = append(d.Tags, tag)
				}
			}
		}
		out = append(out, d)
	}
	return out, problems
}

// agent returns a name from a file as one of an agent.
func (src Source) agent(name string) string {
	name = strings.Map(func(r rune) rune {
		if notes.InName(r) {
			return r
		}
		return '-'
	}, strings.TrimSpace(name))
	return cmp.Or(strings.Trim(name, "-."), src.Agent, SharedAgent)
}

// Formats lists the formats of an export.
func Formats() []string { return []string{"jsonl", "md", "museum", "learnings"} }

// Export returns the notes that a filter chooses, in a format: sorted by type, agent and date.
func (b *Book) Export(ctx context.Context, format string, f Filter) (string, error) {
	if !slices.Contains(Formats(), format) {
		return "", fault.New(fault.InvalidArgument, "%q is not a format of an export", visible.Clip(visible.Line(format), notes.MaxTag)).
			WithHint("use one of %s", strings.Join(Formats(), ", ")).Suggest(format, Formats())
	}
	list, err := b.List(ctx, f)
	if err != nil {
		return "", err
	}
	slices.SortFunc(list.Notes, func(a, b notes.Note) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Agent, b.Agent), a.CreatedAt.Time.Compare(b.CreatedAt.Time), cmp.Compare(a.ID, b.ID))
	})
	app := ""
	b.notes.Peek(func() { app = notes.AppOf(projectName(b.p, b.set)) })
	var out strings.Builder
	switch format {
	case "md":
		exportMarkdown(&out, app, date(notes.At(b.m.Now())), list.Notes)
	case "museum":
		exportMuseum(&out, app, list.Notes)
	case "learnings":
		exportList(&out, ofType(list.Notes, notes.AgentLearnings), "# Learnings — %s\n\n", false)
	default:
		for _, n := range list.Notes {
			encoded, err := notes.Line(&n)
			if err != nil {
				return "", err
			}
			out.Write(encoded)
		}
	}
	return out.String(), nil
}

// oneLine returns a text as an item of a list has it.
func oneLine(text string) string { return visible.Line(untrusted.Mask(text)) }

func dateMark(n *notes.Note) string { return "[" + date(n.CreatedAt) + "]" }

// exportList writes notes as items of lists, each below its agent in a heading of a format.
func exportList(out *strings.Builder, list []notes.Note, heading string, tagged bool) {
	for i, n := range list {
		if i == 0 || n.Agent != list[i-1].Agent {
			fmt.Fprintf(out, heading, n.Agent)
		}
		fmt.Fprintf(out, "- %s %s", dateMark(&n), oneLine(n.Text))
		for _, tag := range n.Tags {
			if tagged {
				fmt.Fprintf(out, " `%s`", strings.Join(strings.Fields(untrusted.Mask(tag)), "-"))
			}
		}
		out.WriteString("\n")
	}
}

// ofType returns the notes of a type.
func ofType(list []notes.Note, kind notes.Type) []notes.Note {
	return slices.DeleteFunc(slices.Clone(list), func(n notes.Note) bool { return n.Type != kind })
}

func exportMarkdown(out *strings.Builder, app, day string, list []notes.Note) {
	for _, kind := range notes.Types() {
		if some := ofType(list, kind); len(some) > 0 {
			fmt.Fprintf(out, "# %s — %s\n\n> Exporté : %s | Entrées : %d\n", kind, app, day, len(some))
			exportList(out, some, "\n## %s\n\n", true)
			out.WriteString("\n")
		}
	}
}

func exportMuseum(out *strings.Builder, app string, list []notes.Note) {
	fmt.Fprintf(out, "# Failure Museum — %s\n", app)
	for i, mark := range grimoire.Severities {
		fmt.Fprintf(out, "\n## %s\n", mark)
		for _, n := range ofType(list, notes.Failures) {
			f := exhibit(placed{Note: &n})
			if f.Severity != mark && (f.Severity != "" || i+1 < len(grimoire.Severities)) {
				continue // the mildest section has those that name no severity
			}
			title, rest, _ := strings.Cut(untrusted.Mask(n.Text), "\n")
			if f.Category != "" {
				title = f.Category + " — " + title
			}
			fmt.Fprintf(out, "\n### %s [%s] %s\n", dateMark(&n), n.Agent, visible.Line(title))
			if rest = visible.Line(rest); rest != "" {
				fmt.Fprintf(out, "**Leçon** : %s\n", rest)
			}
		}
	}
}
