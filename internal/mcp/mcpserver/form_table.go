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
	// restField is the field that takes the document without answers.
	restField = "rest"
)

// The values of choices besides the choices of a gate. notNow leaves the gate as it is, and so does
// viewFirst, to read the document. leaveOpen leaves a question open, as openText does in a field for text, skipOne
// skips it, and ownWords asks for the answer in a second form. In restField, leaveOpen has the answers count.
const (
	notNow    = "not_now"
	viewFirst = "view"
	leaveOpen = "leave_open"
	skipOne   = "skip"
	openText  = "-"
	ownWords  = "other"

	allowFolder, denyFolder = "allow", "deny"
)

// answerField names the field of the i-th question, and optionValue the i-th offered answer of a question.
// The assistant's ids are not used, because hosts need not take any text as a name.
func answerField(i int) string { return fmt.Sprintf("answer_%02d", i+1) }

// optionNumber marks the i-th offered answer in a list.
func optionNumber(i int) string { return fmt.Sprintf("(%d)", i+1) }

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

// answersSheet asks for answers, with one field for each question. A question without an answer stays open, and the
// word skip skips it. If the document has reached its gate, one more field takes it as it is.
func (f formStyle) answersSheet(q gate.Question) sheet {
	l := q.Language
	out := f.questionsSheet(q, q.Questions, false)
	head, rest := headLines(q, q.Worst)
	out.first, out.rest = slices.Concat(head[:1], out.first, head[1:]), rest
	for i, question := range q.Questions {
		if len(question.Options) < 2 {
			continue
		}
		each := &out.fields[i]
		if !f.unset {
			each.choices = []choice{{value: leaveOpen, label: l.Say("Leave it open")}}
		}
		for j, text := range question.Options {
			label := choice{value: optionValue(j), label: text}
			if f.unset && visible.Columns(visible.Line(text)) > labelLength { // by the number it is found in the message
				label.label = optionNumber(j) + " " + text
			}
			each.choices = append(each.choices, label)
		}
		each.choices = append(each.choices, choice{value: ownWords, label: l.Say("In my own words")}, choice{value: skipOne, label: l.Say("Skip it")})
	}
	if len(q.Choices) > 0 {
		take := field{name: restField, title: l.Say("Or without answers"), choices: formChoices(q.Choices)}
		if !f.unset {
			take.choices = slices.Insert(take.choices, 0, choice{value: leaveOpen, label: l.Say("No: my answers count")})
		}
		out.fields = append(out.fields, take)
	}
	return out
}

// ownWordsSheet asks for the answers to some questions in the person's own words.
func (f formStyle) ownWordsSheet(q gate.Question, to []int) sheet {
	asked := make([]workflow.Question, len(to))
	for n, i := range to {
		asked[n] = q.Questions[i]
	}
	out := f.questionsSheet(q, asked, true)
	out.first = append([]string{q.Language.Say("In your own words. If you close this form, no answer is recorded.")}, out.first...)
	for n, i := range to {
		out.fields[n].name = answerField(i)
	}
	return out
}

// questionsSheet returns text fields for questions. A person answers only what they can read: a host that shows all
// of a description gets the whole question with the reason for it. Of a host with one row, the message has the
// reason, and a question or an offered answer that is cut; the first line then says where it stands whole.
func (f formStyle) questionsSheet(q gate.Question, questions []workflow.Question, required bool) sheet {
	l, out, isCut := q.Language, sheet{}, false
	for i, question := range questions {
		text, why := visible.Line(question.Question), ""
		if question.Context != "" {
			why = l.Say("Why: “%s”", visible.Line(question.Context))
		}
		each := field{name: answerField(i), title: l.Say("%d of %d", i+1, len(questions)), required: required, most: request.MaxAnswer / 4}
		each.text = strings.TrimSpace(text + " " + why)
		if f.unset && visible.Columns(each.text) > descriptionColumns {
			each.text = visible.Shorten(text, descriptionColumns, "…")
			if why != "" {
				out.first = append(out.first, fmt.Sprintf("%d. %s", i+1, visible.Shorten(why, messageColumns-4, "…")))
			}
		}
		isLong := visible.Columns(text) > descriptionColumns
		for _, option := range question.Options {
			isLong = isLong || visible.Columns(visible.Line(option)) > labelLength
		}
		if f.unset && isLong {
			isCut = true
			out.whole = append(out.whole, strings.TrimSpace(fmt.Sprintf("%d. %s %s", i+1, text, why)))
			for j, option := range question.Options {
				out.whole = append(out.whole, fmt.Sprintf("   %s %s", optionNumber(j), visible.Line(option)))
			}
		}
		if !required && !f.unset {
			each.text = l.Say("%s (type skip to skip it, - to leave it open)", each.text)
		}
		out.fields = append(out.fields, each)
	}
	if isCut {
		line := l.Say("Long questions are cut here. In whole: %s", cmp.Or(q.Page, "bmad-mcp decide "+q.TaskName))
		if visible.Columns(line) > messageColumns { // a command over two rows cannot be copied
			line = l.Say("Long questions are cut here. In whole: %s", "bmad-mcp decide")
		}
		out.first = slices.Insert(out.first, 0, line)
	}
	return out
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
