package mcpserver

import (
	"context"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// sampleKey is the id of a question to the host's model.
	sampleKey = "answer"
	// sampleLimit is the time limit for the model.
	sampleLimit = 2 * time.Minute
)

// prompt is a question to a model.
type prompt struct {
	system, message string
	tokens          int
}

// boundTo identifies the question: an answer counts for no other.
func (p prompt) boundTo() gate.Bound {
	return gate.Bound{SHA256: workflow.Hash([]byte(p.system + "\x00" + p.message))}
}

// sample is an answer of the host's model, as it came with a call. asked is nil for an unknown question, and
// reply for a missing answer.
type sample struct {
	asked *form
	reply *mcp.CreateMessageResult
	late  bool
}

// hasModel reports whether the model of a request's host can be asked. It returns false for legacy clients
// over HTTP: the question would need a stream of the session, which few of them open.
func hasModel(ctx context.Context) bool {
	_, overHTTP := httpguard.VisitorIn(ctx)
	return mcpwire.Capabilities(ctx).Sampling != nil && (server.IsModernRequest(ctx) || !overHTTP)
}

// readSample returns the answer of the model in a call; nil for a call without one.
func (c *callers) readSample(ctx context.Context, call mcp.CallToolRequest) *sample {
	if !strings.HasPrefix(call.Params.RequestState, samplePrefix) {
		return nil
	}
	s := &sample{asked: c.forms.takeOpen(call.Params.RequestState, mcpwire.ClientKey(ctx)), reply: server.SamplingResponse(call.Params.InputResponses, sampleKey)}
	s.late = s.asked != nil && c.forms.now().Sub(s.asked.asked) >= s.asked.limit
	return s
}

// answerTo returns the text of the answer and the name of the model; "" for an answer to another question,
// and for a late one. A program may have made the answer up, but it only goes back to the same program.
func (s *sample) answerTo(to prompt) (text, model string) {
	if s == nil || s.asked == nil || s.reply == nil || s.late || s.asked.bound != to.boundTo() {
		return "", ""
	}
	return strings.TrimSpace(contentText(s.reply.Content)), s.reply.Model
}

// contentText returns the text in the content of an answer.
func contentText(content any) string {
	switch c := content.(type) {
	case mcp.TextContent:
		return c.Text
	case map[string]any:
		if text, ok := c["text"].(string); ok && c["type"] == "text" {
			return text
		}
	case []any:
		return joinParts(c)
	case []mcp.Content:
		return joinParts(c)
	}
	return ""
}

func joinParts[T any](parts []T) string {
	var all strings.Builder
	for _, part := range parts {
		all.WriteString(contentText(part))
	}
	return all.String()
}

// askModel returns the question to the model of the host, for a call in a folder; nil if it cannot be asked
// now.
func (c *callers) askModel(ctx context.Context, folder string, q prompt) *mcp.CallToolResult {
	state, why := c.forms.addForm(samplePrefix, form{
		bound: q.boundTo(), cwd: folder, client: mcpwire.ClientKey(ctx), limit: sampleLimit, held: !server.IsModernRequest(ctx),
	})
	if state == "" {
		c.log.Info("the host's model was not asked", "why", why.String())
		return nil
	}
	return server.NewInputRequestBuilder(state).Sample(sampleKey, mcp.CreateMessageParams{
		SystemPrompt: q.system, MaxTokens: q.tokens,
		Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(q.message)}},
	}).ToolResult()
}
