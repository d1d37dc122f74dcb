package mcpserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// TestActionsOfAnAgent: the description of an agent's tool names what it offers, and stays short.
func TestActionsOfAnAgent(t *testing.T) {
	a := namedAgent{"bmm-pm", catalog.Item{Name: "pm", Title: "Product Manager", Description: strings.Repeat("many things ", 200)}}
	if got := a.asTool(nil).description; strings.Contains(got, "Available") || len(got) < maxOwnDescription-9 || len(got) > maxOwnDescription+9 {
		t.Errorf("without a menu: %q", got)
	}
	var menu []string
	for n := range 50 {
		menu = append(menu, fmt.Sprintf("%d %s", n, strings.Repeat("é", n*10)))
	}
	_, actions, _ := strings.Cut(a.asTool(menu).description, "\n\nAvailable actions:\n")
	lines := strings.Split(actions, "\n")
	if len(lines) != maxActions || lines[1] != "• 1 éééééééééé" || len(lines[11]) > maxAction+9 {
		t.Errorf("of a long menu: %q", lines)
	}
}
