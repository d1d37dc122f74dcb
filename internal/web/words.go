package web

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/story"
)

// describeDecision says who decided, how, and in which time; unconfirmed marks a decision that the history
// does not vouch for.
func describeDecision(l lang.Language, g *workflow.Grant, unconfirmed bool) string {
	text := story.Means(l, g, unconfirmed)
	if g == nil || unconfirmed || g.Who() == "" {
		return text
	}
	return l.Say("%s: %s", g.Who(), text)
}
