package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/grimoire"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/untrusted"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// exporters write notes, sorted by type, agent and date, in the formats of the kits.
var exporters = map[string]func(app string, day string, list []notes.Note) (string, error){
	"jsonl": exportLines, "md": exportMarkdown, "museum": exportMuseum, "learnings": exportLearnings,
}

// Formats lists the formats of an export.
func Formats() []string { return []string{"jsonl", "md", "museum", "learnings"} }

// Export returns the notes that a filter chooses, in a format.
func (b *Book) Export(ctx context.Context, format string, f Filter) (string, error) {
	export := exporters[format]
	if export == nil {
		return "", fault.New(fault.InvalidArgument, "%q is not a format of an export", visible.Clip(visible.Line(format), notes.MaxTag)).
			WithHint("use one of %s", strings.Join(Formats(), ", ")).Suggest(format, Formats())
	}
	list, err := b.List(ctx, f)
	if err != nil {
		return "", err
	}
	slices.SortFunc(list.Notes, func(a, b notes.Note) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Agent, b.Agent), a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.ID, b.ID))
	})
	app := ""
	b.notes.Peek(func() { app = notes.AppOf(projectName(b.p, b.set)) })
	return export(app, date(notes.At(b.m.Now())), list.Notes)
}

func exportLines(_, _ string, list []notes.Note) (string, error) {
	var out strings.Builder
	for _, n := range list {
		encoded, err := notes.Line(&n)
		if err != nil {
			return "", err
		}
		out.Write(encoded)
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

func exportMarkdown(app, day string, list []notes.Note) (string, error) {
	var out strings.Builder
	for _, kind := range notes.Types() {
		if some := ofType(list, kind); len(some) > 0 {
			fmt.Fprintf(&out, "# %s — %s\n\n> Exporté : %s | Entrées : %d\n", kind, app, day, len(some))
			exportList(&out, some, "\n## %s\n\n", true)
			out.WriteString("\n")
		}
	}
	return out.String(), nil
}

func exportMuseum(app, _ string, list []notes.Note) (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "# Failure Museum — %s\n", app)
	for i, mark := range grimoire.Severities {
		fmt.Fprintf(&out, "\n## %s\n", mark)
		for _, n := range ofType(list, notes.Failures) {
			f := exhibit(placed{Note: &n})
			if f.Severity != mark && (f.Severity != "" || i+1 < len(grimoire.Severities)) {
				continue // the mildest section has those that name no severity
			}
			title, rest, _ := strings.Cut(untrusted.Mask(n.Text), "\n")
			if f.Category != "" {
				title = f.Category + " — " + title
			}
			fmt.Fprintf(&out, "\n### %s [%s] %s\n", dateMark(&n), n.Agent, visible.Line(title))
			if rest = visible.Line(rest); rest != "" {
				fmt.Fprintf(&out, "**Leçon** : %s\n", rest)
			}
		}
	}
	return out.String(), nil
}

func exportLearnings(_, _ string, list []notes.Note) (string, error) {
	var out strings.Builder
	exportList(&out, ofType(list, notes.AgentLearnings), "# Learnings — %s\n\n", false)
	return out.String(), nil
}
