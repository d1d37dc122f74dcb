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
	// sampleLimit is the time that the model may take.
	sampleLimit = 2 * time.Minute
)

// prompt is a question to a model.
type prompt struct {
	system, message string
	tokens          int
}

// binding identifies the question: an answer counts for no other.
func (p prompt) binding() gate.Bound {
	return gate.Bound{SHA256: workflow.Hash([]byte(p.system + "\x00" + p.message))}
}

// sample is the answer that a call brings of the host's model, as far as there is one.
type sample struct {
	asked *form
	reply *mcp.CreateMessageResult
	late  bool
}

// hasModel reports whether the host of a request lets its model be asked. Legacy clients over HTTP
// are not: such a question would need a stream of their session that few of them open.
func hasModel(ctx context.Context) bool {
	_, overHTTP := httpguard.VisitorIn(ctx)
	return mcpwire.Capabilities(ctx).Sampling != nil && (server.IsModernRequest(ctx) || !overHTTP)
}

// readSample returns the answer to a question that a call brings; nil for a call that brings none.
func (c *callers) readSample(ctx context.Context, call mcp.CallToolRequest) *sample {
	if !strings.HasPrefix(call.Params.RequestState, samplePrefix) {
		return nil
	}
	s := &sample{asked: c.forms.take(call.Params.RequestState, mcpwire.ClientKey(ctx)), reply: server.SamplingResponse(call.Params.InputResponses, sampleKey)}
	s.late = s.asked != nil && c.forms.now().Sub(s.asked.asked) >= s.asked.limit
	return s
}

// answer returns the text of the answer and the name of its model; "" if it is not an answer
// to this question, or came too late. Any program may have made it up, but it only returns to
// the one that it came from.
func (s *sample) answer(to prompt) (text, model string) {
	if s == nil || s.asked == nil || s.reply == nil || s.late || s.asked.bound != to.binding() {
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

// askModel returns the question to the model of the host, for a call in a folder; nil if it
// cannot be asked now.
func (c *callers) askModel(ctx context.Context, folder string, q prompt) *mcp.CallToolResult {
	state, why := c.forms.add(samplePrefix, form{bound: q.binding(), cwd: folder, client: mcpwire.ClientKey(ctx), limit: sampleLimit, held: !server.IsModernRequest(ctx)})
	if state == "" {
		c.log.Info("the host's model was not asked", "why", why.String())
		return nil
	}
	return server.NewInputRequestBuilder(state).Sample(sampleKey, mcp.CreateMessageParams{
		SystemPrompt: q.system, MaxTokens: q.tokens,
		Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(q.message)}},
	}).ToolResult()
}
