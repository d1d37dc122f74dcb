package start

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
)

// demoPerson fills in the forms of the demo: from the script, or the person at the terminal.
type demoPerson struct {
	shown *terminal.Terminal
	// next is the script's input.
	next map[string]any
	// terminal is nil if the script fills in the forms.
	terminal *terminal.Person
	// views reports whether the person wants to see the document first.
	views bool
}

// reading is the time of the scripted person, because the server does not accept a faster answer as a
// person's.
const reading = 1200 * time.Millisecond

// fillForm shows a form like a host in a terminal, and answers it.
func (p *demoPerson) fillForm(ctx context.Context, f mcpserver.Form) (mcpserver.FormAnswer, error) {
	width := 72
	fmt.Fprintf(p.shown.Out, "📝 ┌%s\n", strings.Repeat("─", width))
	frame := func(text string) {
		demoSay(p.shown, "   │ ", "   │ ", text)
	}
	frame(f.Message)
	answer := mcpserver.FormAnswer{Action: "accept", Content: map[string]any{}}
	fields, _ := f.Schema["properties"].(map[string]any)
	required, _ := f.Schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, _ := fields[name].(map[string]any)
		frame("")
		frame(fmt.Sprint(field["title"]))
		if text, ok := field["description"].(string); ok {
			frame(text)
		}
		values, labels := fieldChoices(field)
		for i, label := range labels {
			frame(fmt.Sprintf("  %d  %s", i+1, label))
		}
		text, err := p.fillField(ctx, name, values, slices.Contains(required, any(name)))
		if err != nil {
			_, err = terminal.AnswerAtEnd(ctx, err)
			fmt.Fprintln(p.shown.Out)
			return mcpserver.FormAnswer{Action: "cancel"}, err
		}
		if text != "" {
			answer.Content[name] = text
			p.views = text == "view"
		}
	}
	fmt.Fprintf(p.shown.Out, "   └%s\n", strings.Repeat("─", width))
	return answer, nil
}

// fillField returns the input for one field; "" leaves it empty, if it may be.
func (p *demoPerson) fillField(ctx context.Context, name string, values []string, required bool) (string, error) {
	for p.terminal != nil {
		text, err := p.terminal.Line(ctx, "   │ > ")
		isSkip, isText := text == "" && !required, text != "" && len(values) == 0
		if err != nil || isSkip || isText {
			return text, err
		}
		if n, convErr := strconv.Atoi(text); convErr == nil && n >= 1 && n <= len(values) {
			return values[n-1], nil
		}
		demoSay(p.shown, "   │ ", "   │ ", p.shown.Lang.Say("a number from 1 to %d, please", len(values)))
	}
	text, _ := p.next[name].(string)
	if text == "" {
		return "", nil
	}
	select {
	case <-time.After(reading):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	shown := text
	if i := slices.Index(values, text); i >= 0 {
		shown = strconv.Itoa(i + 1)
	}
	fmt.Fprintf(p.shown.Out, "   │ 🧑 %s\n", shown)
	return text, nil
}

// fieldChoices returns the choices of a field and their labels.
func fieldChoices(field map[string]any) (values, labels []string) {
	list, _ := field["oneOf"].([]any)
	for _, item := range list {
		choice, _ := item.(map[string]any)
		values, labels = append(values, fmt.Sprint(choice["const"])), append(labels, fmt.Sprint(choice["title"]))
	}
	return values, labels
}
