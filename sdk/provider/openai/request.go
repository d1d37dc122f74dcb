package openai

import (
	"encoding/json"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// The form of a request.
type (
	request struct {
		Model               string         `json:"model"`
		Messages            []message      `json:"messages"`
		Tools               []tool         `json:"tools,omitempty"`
		MaxTokens           int            `json:"max_tokens,omitempty"`
		MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
		Stream              bool           `json:"stream"`
		StreamOptions       map[string]any `json:"stream_options"`
	}
	message struct {
		Role       string `json:"role"`
		Content    string `json:"content"`
		ToolCalls  []call `json:"tool_calls,omitempty"`
		ToolCallID string `json:"tool_call_id,omitempty"`
	}
	tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		Arguments   *string         `json:"arguments,omitempty"`
	}
	call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
)

// body returns a request as JSON.
func (c *Client) body(r provider.Request) ([]byte, error) {
	form := request{Model: c.model, Stream: true, StreamOptions: map[string]any{"include_usage": true}}
	if c.own {
		form.MaxCompletionTokens = r.MaxTokens
	} else {
		form.MaxTokens = r.MaxTokens
	}
	for _, t := range r.Tools {
		form.Tools = append(form.Tools, tool{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	if strings.TrimSpace(r.System) != "" {
		form.Messages = []message{{Role: "system", Content: r.System}}
	}
	for _, m := range r.Messages {
		form.Messages = append(form.Messages, outgoing(m)...)
	}
	return json.Marshal(form)
}

// outgoing returns a message of ours as those of the API, in which each result of a tool is a
// message by itself. What only another provider understands is left out.
func outgoing(m provider.Message) (all []message) {
	said := message{Role: string(m.Role), Content: m.Text()}
	for _, b := range m.Blocks {
		switch b.Type {
		case provider.ToolUse:
			arguments := string(provider.InputObject(b.Input))
			said.ToolCalls = append(said.ToolCalls, call{ID: b.ID, Type: "function", Function: function{Name: b.Name, Arguments: &arguments}})
		case provider.ToolResult:
			text := b.Text
			if b.IsError {
				text = "Error: " + text // the API has no other place for it
			}
			all = append(all, message{Role: "tool", Content: text, ToolCallID: b.ID})
		}
	}
	if strings.TrimSpace(said.Content) != "" || len(said.ToolCalls) > 0 {
		all = append(all, said)
	}
	return all
}
