package mcpserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The names of fields. Hosts may sort fields by name.
const (
	decisionField = "decision"
	wordsField    = "feedback"
	// restField is the field about the questions left without an answer.
	restField = "rest"
)

// The values of choices besides the choices of a gate. notNow leaves the gate as it is, and so does
// viewFirst, to read the document. leaveOpen leaves a question open, in restField all questions without an
// answer, and skipRest skips these. ownWords asks for the answer in a second form.
const (
	notNow    = "not_now"
	viewFirst = "view"
	leaveOpen = "leave_open"
	skipRest  = "skip"
	ownWords  = "other"

	allowFolder, denyFolder = "allow", "deny"
)

// answerField names the field of the i-th question, and optionValue the i-th offered answer of a question.
// The assistant's ids are not used, because hosts need not take any text as a name.
func answerField(i int) string { return fmt.Sprintf("answer_%02d", i+1) }

func optionValue(i int) string { return fmt.Sprintf("option_%02d", i+1) }

// sheetOf returns the form of a question.
func (f formStyle) sheetOf(q gate.Question) sheet {
	if len(q.Questions) > 0 {
		return f.answersSheet(q)
	}
	return f.decisionSheet(q)
}

// headLines returns the first and the rest of a sheet about q; second is the line after the lead.
func headLines(q gate.Question, second string) (first, rest []string) {
	first = []string{q.Lead, second}
	// A cut path would lead nowhere.
	if page := q.Language.Say("Read it: %s", q.Page); q.Page != "" && visible.Columns(page) <= messageColumns {
		first = append(first, page)
	} else if q.Draft != "" {
		first = append(first, q.DraftLine())
	}
	place := q.Language.Say("Run “%s” · %s", q.TaskName, q.Title)
	if visible.Columns(place) > messageColumns {
		place = q.Title
	}
	rest = []string{place}
	if q.Text != "" {
		rest = append(rest, q.Text)
	}
	return first, rest
}

func formChoices(choices []gate.Choice) []choice {
	out := make([]choice, len(choices))
	for i, c := range choices {
		out[i] = choice{c.Value(), c.Label, c.Short}
	}
	return out
}

// decisionSheet asks for a decision, in one field. The words needed for some choices are asked for
// afterwards, by wordsSheet.
func (f formStyle) decisionSheet(q gate.Question) sheet {
	first, rest := headLines(q, q.Worst)
	neutral := []choice{{value: notNow, label: q.Language.Say("Not now: leave it as it is")}}
	if q.Draft != "" {
		neutral = slices.Insert(neutral, 0, choice{value: viewFirst, label: q.Language.Say("View the document first")})
	}
	text := ""
	for _, c := range q.Choices {
		if c.Short != "" && f.unset { // what the label has no room for
			text = c.Label
		}
	}
	return sheet{first: first, rest: rest, fields: []field{
		{name: decisionField, title: q.Language.Say("Your decision"), text: text, choices: f.orderChoices(formChoices(q.Choices), neutral...), required: true},
		{name: wordsField, former: true},
	}}
}

// wordsSheet asks for the words needed for a decision.
func wordsSheet(q gate.Question, chosen gate.Choice) sheet {
	_, rest := headLines(q, "")
	return sheet{
		first: []string{chosen.Words, q.Language.Say("You chose: %s", chosen.Label), q.Language.Say("If you close this form, nothing is decided.")},
		rest:  append([]string{q.Lead, q.Worst}, rest[:1]...),
		fields: []field{{
			name: wordsField, title: q.Language.Say("Your words"), required: true, most: request.MaxFeedback / 4,
		}},
	}
}

// answersSheet asks for answers, with one field for each question. A question without offered answers is a
// text field in hosts that can leave it empty.
func (f formStyle) answersSheet(q gate.Question) sheet {
	l := q.Language
	first, rest := headLines(q, cmp.Or(f.longEnds(l, q.Questions), q.Worst))
	out := sheet{first: first, rest: rest}
	for i, question := range q.Questions {
		each := field{name: answerField(i), title: l.Say("%d of %d", i+1, len(q.Questions)), text: f.describeQuestion(l, question), most: request.MaxAnswer / 4}
		if !f.unset {
			each.choices = []choice{{value: leaveOpen, label: l.Say("Leave it open")}}
		}
		if len(question.Options) > 1 {
			for j, text := range question.Options {
				each.choices = append(each.choices, choice{value: optionValue(j), label: text})
			}
		}
		if len(each.choices) > 0 {
			each.choices = append(each.choices, choice{value: ownWords, label: l.Say("In my own words")})
		}
		out.fields = append(out.fields, each)
	}
	remaining := []choice{{value: leaveOpen, label: l.Say("Leave them open")}, {value: skipRest, label: l.Say("Skip them")}}
	out.fields = append(out.fields, field{
		name: restField, title: l.Say("Questions without an answer"),
		text:    l.Say("what happens to questions that you leave empty"),
		choices: append(remaining, formChoices(q.Choices)...),
	})
	return out
}

// ownWordsSheet asks for the answers to some questions in the person's own words.
func (f formStyle) ownWordsSheet(q gate.Question, to []int) sheet {
	l := q.Language
	out := sheet{first: []string{l.Say("In your own words. If you close this form, no answer is recorded.")}}
	asked := make([]workflow.Question, len(to))
	for n, i := range to {
		asked[n] = q.Questions[i]
		out.fields = append(out.fields, field{
			name: answerField(i), title: l.Say("%d of %d", n+1, len(to)), text: f.describeQuestion(l, asked[n]), required: true, most: request.MaxAnswer / 4,
		})
	}
	if ends := f.longEnds(l, asked); ends != "" {
		out.first = append(out.first, ends)
	}
	return out
}

// describeQuestion returns the description of a question's field, with the reason for the question if the
// host has room for more than a line.
func (f formStyle) describeQuestion(l lang.Language, question workflow.Question) string {
	text := visible.Line(question.Question)
	if !f.unset && question.Context != "" {
		text += " " + l.Say("Why: “%s”", visible.Line(question.Context))
	}
	return visible.Shorten(text, maxDescription, "…")
}

// longEnds returns the ends of questions cut by the host, as far as they fit into one line; "" if there are
// none. A question has to be read to the end before it is answered.
func (f formStyle) longEnds(l lang.Language, questions []workflow.Question) string {
	line := l.Say("Long questions end:")
	before := line
	for i, question := range questions {
		text := visible.Line(question.Question)
		if !f.unset || visible.Columns(text) <= descriptionColumns {
			continue
		}
		begin := visible.Wrap(text, descriptionColumns-10)[0] // a few words are in both
		end := fmt.Sprintf(" %d. “…%s”", i+1, strings.TrimLeft(strings.TrimPrefix(text, begin), " "))
		if visible.Columns(line+end) <= messageColumns {
			line += end
		}
	}
	if line == before {
		return ""
	}
	return line
}

// folderSheet asks whether a folder may be used. lines is the wrapped path of the folder.
func (f formStyle) folderSheet(l lang.Language, lines string) sheet {
	first := []string{l.Say("May bmad-mcp work in %s? It keeps its files there.", lines)}
	if strings.Contains(lines, "\n") || visible.Columns(first[0]) > messageColumns {
		first = append([]string{l.Say("May bmad-mcp work in this folder? It keeps its files there.")}, strings.Split(lines, "\n")...)
	}
	first = append(first, l.Say("Your assistant has named it; your host does not have it open."))
	decide := []choice{{value: allowFolder, label: l.Say("Yes, remember")}, {value: denyFolder, label: l.Say("No")}}
	choices := f.orderChoices(decide, choice{value: notNow, label: l.Say("Not now")})
	return sheet{first: first, fields: []field{{name: decisionField, title: l.Say("Your decision"), choices: choices, required: true}}}
}
