package mcpserver

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// The room for a form in a terminal of 80 columns and 24 rows: Claude Code 2.1.329 three rows of the message,
// in 73 columns; Claude Code 2.1.197 and Codex 0.169 the whole message, above the fields, so more than 11
// rows push the first ones or the choices off the screen. Of a field, Claude Code shows one row of the
// description and 40 columns of a choice.
const (
	messageRows, messageColumns     = 11, 73
	descriptionColumns, labelLength = 68, 40
)

// sheet is a form as data. [formStyle.elicitation] turns it into a question to the client, and readAnswer
// reads the answer.
type sheet struct {
	// first are the essential lines, of one row each unless they quote something long; rest follows as far as
	// there is room. whole are the texts that the fields have no room for; none of them is cut.
	first, rest, whole []string
	fields             []field
}

// field is one field of a form: a choice if it has choices, else a text.
type field struct {
	name, title, text string
	choices           []choice
	required          bool
	// most is the greatest number of characters of a text.
	most int
	// former marks a field of an older version of the form: it is not shown, but an answer may have it.
	former bool
}

type choice struct {
	value, label string
	// short takes the place of a label that does not fit; without it, the label is cut.
	short string
}

// formStyle describes how a client shows forms.
type formStyle struct {
	// titled reports whether the client knows the protocol's present form of enumerations with titles.
	titled bool
	// unset reports whether the host preselects nothing. In other hosts, Enter alone sends the first choice,
	// and a text cannot be left empty.
	unset bool
}

// unsetHosts are the clients known to preselect nothing: Claude Code and the demo.
var unsetHosts = []string{"claude-code", demoName}

func styleOf(ctx context.Context) formStyle {
	return formStyle{titled: server.RequestProtocolVersion(ctx) >= "2025-11-25", unset: slices.Contains(unsetHosts, mcpwire.ClientInfo(ctx).Name)}
}

// orderChoices puts choices in the order for the host: if Enter alone sends the first one, a neutral choice
// comes first.
func (f formStyle) orderChoices(decide []choice, neutral ...choice) []choice {
	if f.unset {
		return append(decide, neutral...)
	}
	return slices.Concat(neutral[:1], decide, neutral[1:])
}

// elicitation returns a form as a question to the client. No field has a default, because a host may accept a
// form by itself.
func (f formStyle) elicitation(s sheet) mcp.ElicitationParams {
	properties, required := map[string]any{}, []string{}
	for _, each := range s.fields {
		if each.former {
			continue
		}
		properties[each.name] = f.fieldSchema(each)
		if each.required {
			required = append(required, each.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return mcp.ElicitationParams{Message: s.messageText(), RequestedSchema: schema}
}

func (f formStyle) fieldSchema(of field) map[string]any {
	out := map[string]any{"type": "string", "title": of.title}
	if of.text != "" {
		out["description"] = visible.Line(of.text)
	}
	if len(of.choices) == 0 {
		out["maxLength"] = of.most
		if of.required {
			out["minLength"] = 1
		}
		return out
	}
	values, labels, one := make([]string, len(of.choices)), make([]string, len(of.choices)), make([]map[string]any, len(of.choices))
	for i, c := range of.choices {
		values[i], labels[i] = c.value, visible.Line(c.label)
		if f.unset && visible.Columns(labels[i]) > labelLength {
			labels[i] = visible.Shorten(cmp.Or(c.short, labels[i]), labelLength, "…")
		}
		one[i] = map[string]any{"const": values[i], "title": labels[i]}
	}
	if f.titled {
		out["oneOf"] = one
	} else {
		out["enum"], out["enumNames"] = values, labels
	}
	return out
}

// messageText returns the text above the fields. Continuation rows of a long line are indented, so that none
// looks like a line of its own.
func (s sheet) messageText() string {
	lines := slices.Clone(s.first)
	if len(s.rest) > 0 {
		lines = append(lines, "")
	}
	for _, text := range s.rest {
		lines = append(lines, strings.Split(text, "\n")...)
	}
	rows := wrapLines(lines)
	if len(rows) > messageRows {
		rows = rows[:messageRows]
		rows[messageRows-1] = visible.Shorten(rows[messageRows-1], messageColumns-2, "") + " …"
	}
	if len(s.whole) > 0 {
		rows = append(append(rows, ""), wrapLines(s.whole)...)
	}
	return strings.Join(rows, "\n")
}

// wrapLines returns lines in rows of a message.
func wrapLines(lines []string) (rows []string) {
	for _, line := range lines {
		if slices.Contains(rows, strings.TrimSuffix(line, ".")) && line != "" {
			continue // said by an earlier row
		}
		if line = visible.Text(line); visible.Columns(line) <= messageColumns {
			rows = append(rows, line)
			continue
		}
		for i, row := range visible.Wrap(line, messageColumns-2) {
			if i > 0 {
				row = "  " + row
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// readAnswer returns the values of an answer by field name. A program may have made the answer up, so it may
// have only fields and choices of the form; for anything else, why names the problem.
func (s sheet) readAnswer(content any) (filled map[string]string, why lang.Text) {
	filled = map[string]string{}
	given, ok := content.(map[string]any)
	if !ok && content != nil {
		return nil, lang.T("it is not an object")
	}
	for name, value := range given {
		i := slices.IndexFunc(s.fields, func(f field) bool { return f.name == name })
		text, isText := value.(string)
		switch {
		case i < 0:
			return nil, lang.T("the form has no field %q", visible.Fit(name, 200))
		case value == nil:
			continue
		case !isText:
			return nil, lang.T("the field %q is not a text", name)
		}
		if text = visible.Trim(text); text == "" {
			continue
		}
		offered := s.fields[i].choices
		if len(offered) > 0 && !slices.ContainsFunc(offered, func(c choice) bool { return c.value == text }) {
			return nil, lang.T("%q is not a choice of the field %q", visible.Fit(text, 200), name)
		}
		filled[name] = text
	}
	for _, f := range s.fields {
		if f.required && filled[f.name] == "" {
			return nil, lang.T("the field %q is empty", f.name)
		}
	}
	return filled, why
}
