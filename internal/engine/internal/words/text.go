package words

import (
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
)

// sprintsAre says "sprint 2 is", "sprints 2, 3 are".
func sprintsAre(s *standing.Standing, numbers []int) string {
	if len(numbers) == 1 {
		return s.Say("%s is", sprintList(s, numbers))
	}
	return s.Say("%s are", sprintList(s, numbers))
}

// sprintList returns the names of sprints, for example "sprints 2, 3".
func sprintList(s *standing.Standing, numbers []int) string {
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = s.SprintName(n)
	}
	if len(numbers) == 1 {
		return s.Say("sprint %s", listShort(names))
	}
	return s.Say("sprints %s", listShort(names))
}

// sprintTitle returns the name of a sprint with its title, of which at most limit characters.
func sprintTitle(l lang.Language, sp workflow.Sprint, limit int) string {
	if !sp.Titled() {
		return l.Say("Sprint %s", sp.Name())
	}
	return l.Say("Sprint %s: %s", sp.Name(), Quoted(sp.Title, limit))
}

// planChanges names what a reopened plan changes of the sprints that were built.
func planChanges(s *standing.Standing) string {
	const short, most = 24, 10
	changes := s.PlanChanges()
	var out []string
	for i, c := range changes {
		if i == most {
			out = append(out, s.Say("… and %d more", len(changes)-i))
			break
		}
		was, gained := sprintTitle(s.Language, c.Was, short), verdict.List(c.Gained)
		switch {
		case c.Now == nil:
			out = append(out, s.Say("%s is no longer in the plan", was))
		case c.Now.Title != c.Was.Title:
			out = append(out, s.Say("%s is now %s: not built", was, sprintTitle(s.Language, *c.Now, short)))
		case c.IsSame():
			out = append(out, s.Say("%s is now sprint %s: still built", was, c.Now.Name()))
		case c.Now.Name() != c.Was.Name():
			out = append(out, s.Say("%s is now sprint %s and gains %s: not built", was, c.Now.Name(), gained))
		default:
			out = append(out, s.Say("%s gains %s: not built", was, gained))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return s.Say("**What was built:** %s.", strings.Join(out, "; "))
}

// Numbers lists numbers, with an end if there are many.
func Numbers(numbers []int) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = strconv.Itoa(n)
	}
	return listShort(parts)
}

// listShort joins texts, with an end if there are many.
func listShort(parts []string) string {
	const most = 30
	if len(parts) > most {
		return strings.Join(parts[:most], ", ") + ", …"
	}
	return strings.Join(parts, ", ")
}

// Quoted sets the assistant's words off from the server's: in quotation
// marks, in one line, without characters that steer a terminal or look like emphasis.
func Quoted(text string, limit int) string {
	return "“" + visible.Fit(plainMarks.Replace(visible.Line(text)), limit) + "”"
}

// plainMarks removes marks that would end the quotation and make the words look like the server's own.
var plainMarks = strings.NewReplacer("**", "", "__", "", "“", "'", "”", "'", "`", "'", "<", "‹", ">", "›", "](", "] (")

// plainSentences returns sentences of the server that quote the assistant's words: in one line each,
// without emphasis.
func plainSentences(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = visible.Fit(strings.NewReplacer("**", "", "__", "", "<", "‹", ">", "›").Replace(visible.Line(text)), 300)
	}
	return out
}

// addLabel puts a label before a text; "" if the text is empty.
func addLabel(label, what string) string {
	if what == "" {
		return ""
	}
	return label + what
}
