package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// notNow is the choice that leaves a gate as it is.
const notNow = "not_now"

// viewFirst is the choice to read the document before deciding; it leaves the gate too.
const viewFirst = "view"

// answerField names the field of the i-th question: ids are the assistant's, and hosts
// need not take any text as a field's name. otherField takes the answer that is not among
// the offered ones.
func answerField(i int) string { return fmt.Sprintf("answer_%02d", i+1) }

func otherField(i int) string { return answerField(i) + "_other" }

// other is the choice of an answer that is not among the offered ones, option that of the i-th.
const other = "other"

func option(i int) string { return fmt.Sprintf("option_%02d", i+1) }

// restField is the field for the questions that the person gives no answer to, with the choices to
// leave them open or to skip them; takeField the one to take a document that has reached its gate.
// Hosts may sort fields by name.
const (
	restField = "rest"
	leaveRest = "leave_open"
	skipRest  = "skip"
	takeField = "take"
)

// Limits of the texts of a form, in characters.
const (
	maxFormText  = 3000
	maxFormTitle = 300
)

// The columns that Claude Code 2.1 shows in a terminal of 80: of a line of the message, and of a
// field's description, which is one line.
const (
	messageColumns     = 74
	descriptionColumns = 68
)

// formStyle is the kind of form schema that a client's protocol has.
type formStyle struct {
	// titled is true for clients that know enumerations with titles as the protocol now has them.
	titled bool
}

func styleOf(ctx context.Context) formStyle {
	return formStyle{titled: server.RequestProtocolVersion(ctx) >= "2025-11-25"}
}

// params is the form of a question. Claude Code 2.1 shows three lines of the message, 49
// columns of a field's title and one line of its description, each cut: the decision, its
// worst consequence and the draft come first.
func (f formStyle) params(q engine.Question) mcp.ElicitationParams {
	lines := []string{q.Lead, cmp.Or(longEnds(q.Language, q.Questions), q.Worst)}
	// A path that is cut leads nowhere; a link that fits is one click.
	if page := q.Language.Say("Read it: %s", q.Page); q.Page != "" && visible.Columns(page) <= messageColumns {
		lines = append(lines, page)
	} else if q.Draft != "" {
		lines = append(lines, q.DraftLine())
	}
	lines = append(lines, "", q.Language.Say("Task “%s” · %s", q.TaskName, q.Title))
	if q.Text != "" {
		lines = append(lines, q.Text)
	}
	if len(q.Questions) > 0 {
		lines = append(lines, "", q.Language.Say("The assistant asks:"))
	}
	for i, question := range q.Questions {
		lines = append(lines, fmt.Sprintf("%d. “%s”", i+1, visible.Line(question.Question)))
		if question.Context != "" {
			lines = append(lines, q.Language.Say("   why: “%s”", visible.Line(question.Context)))
		}
	}
	if len(q.Choices) > 0 {
		lines = append(lines, "", q.Language.Say("Declining or closing the form decides nothing."))
	}
	p := mcp.ElicitationParams{Message: visible.Clipped(visible.Text(strings.Join(lines, "\n")), maxFormText)}
	if len(q.Questions) > 0 {
		p.RequestedSchema = f.answerSchema(q)
	} else {
		p.RequestedSchema = f.decisionSchema(q)
	}
	return p
}

// choose makes a field a choice, in the form that the client's protocol has.
func (f formStyle) choose(field map[string]any, values, labels []string) map[string]any {
	if !f.titled {
		field["enum"], field["enumNames"] = values, labels
		return field
	}
	one := make([]map[string]any, len(values))
	for i := range values {
		one[i] = map[string]any{"const": values[i], "title": labels[i]}
	}
	field["oneOf"] = one
	return field
}

func (f formStyle) decisionSchema(q engine.Question) map[string]any {
	var values, labels []string
	for _, choice := range q.Choices {
		values, labels = append(values, choice.Value()), append(labels, visible.Line(choice.Label))
	}
	if q.Draft != "" {
		values, labels = append(values, viewFirst), append(labels, q.Language.Say("View the document first"))
	}
	values, labels = append(values, notNow), append(labels, q.Language.Say("Not now: leave it as it is"))
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"decision": f.choose(map[string]any{"type": "string", "title": q.Language.Say("Your decision"), "description": q.Language.Say("Accept sends it. Decline and Esc decide nothing.")}, values, labels),
			"feedback": map[string]any{"type": "string", "title": q.Language.Say("Feedback"), "description": q.Language.Say("what to change, or why, in your own words"), "maxLength": engine.MaxFeedback / 4},
		},
		"required": []string{"decision"},
	}
}

func (f formStyle) answerSchema(q engine.Question) map[string]any {
	fields := map[string]any{}
	for i, question := range q.Questions {
		title := q.Language.Say("%d of %d", i+1, len(q.Questions))
		field := map[string]any{"type": "string", "title": title, "description": visible.Clipped(visible.Line(question.Question), maxFormTitle)}
		fields[answerField(i)] = field
		if len(question.Options) < 2 {
			field["maxLength"] = engine.MaxAnswer / 4
			continue
		}
		var values, labels []string
		for j, text := range question.Options {
			values, labels = append(values, option(j)), append(labels, visible.Line(text))
		}
		f.choose(field, append(values, other), append(labels, q.Language.Say("Something else: write it below")))
		fields[otherField(i)] = map[string]any{"type": "string", "title": q.Language.Say("%s, in your words", title), "description": q.Language.Say("instead of an answer above, or in addition to it"), "maxLength": engine.MaxAnswer / 4}
	}
	fields[restField] = f.choose(map[string]any{"type": "string", "title": q.Language.Say("Questions without an answer"), "description": q.Language.Say("what happens to questions that you leave empty")},
		[]string{leaveRest, skipRest}, []string{q.Language.Say("Leave them open"), q.Language.Say("Skip them")})
	for _, choice := range q.Choices {
		fields[takeField] = f.choose(map[string]any{"type": "string", "title": q.Language.Say("Or take the document"), "description": q.Language.Say("it has reached its gate; this counts only if you answer nothing")},
			[]string{notNow, choice.Value()}, []string{q.Language.Say("No: go on with my answers"), visible.Line(choice.Label)})
	}
	return map[string]any{"type": "object", "properties": fields}
}

// longEnds returns the ends of the questions that a host may cut, as far as one line has room
// for them; "" where there are none. A question has to be read to its end before it is answered.
func longEnds(l lang.Language, questions []workflow.Question) string {
	line := l.Say("Long questions end:")
	before := line
	for i, question := range questions {
		text := visible.Line(question.Question)
		if visible.Columns(text) <= descriptionColumns {
			continue
		}
		begin := visible.Cut(text, descriptionColumns-10, "") // a few words that both have
		if at := strings.LastIndexByte(begin, ' '); at > len(begin)*3/4 {
			begin = begin[:at+1]
		}
		end := fmt.Sprintf(" %d. “…%s”", i+1, strings.TrimPrefix(text, begin))
		if visible.Columns(line+end) <= messageColumns {
			line += end
		}
	}
	if line == before {
		return ""
	}
	return line
}

// answered returns the answer to the i-th question in a form's content; "" if it was left open.
func answered(content map[string]any, i int, question workflow.Question) string {
	text, _ := content[answerField(i)].(string)
	if len(question.Options) < 2 {
		return text
	}
	chosen := ""
	for j, offered := range question.Options {
		if text == option(j) {
			chosen = offered
		}
	}
	own, _ := content[otherField(i)].(string)
	if own = strings.TrimSpace(own); chosen != "" && own != "" {
		return chosen + ". " + own
	}
	return cmp.Or(chosen, own)
}
