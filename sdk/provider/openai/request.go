package openai

import (
	"encoding/json"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// object is a part of a request.
type object = map[string]any

// requestBody returns a request as JSON.
func (c *Client) requestBody(r provider.Request) ([]byte, error) {
	form := object{"model": c.model, "stream": true, "stream_options": object{"include_usage": true}, c.bound: r.MaxTokens}
	var tools, messages []object
	for _, t := range r.Tools {
		tools = append(tools, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
	}
	if len(tools) > 0 {
		form["tools"] = tools
	}
	if strings.TrimSpace(r.System) != "" {
		messages = append(messages, object{"role": "system", "content": r.System})
	}
	for _, m := range r.Messages {
		messages = append(messages, toMessages(m)...)
	}
	form["messages"] = messages
	return json.Marshal(form)
}

// toMessages returns a message of ours as messages of the API, in which each result of a tool is a message by
// itself. Blocks of other providers are left out.
func toMessages(m provider.Message) (all []object) {
	var calls []object
	for _, b := range m.Blocks {
		switch b.Type {
		case provider.ToolUse:
			calls = append(calls, object{"id": b.ID, "type": "function", "function": object{"name": b.Name, "arguments": string(provider.InputObject(b.Input))}})
		case provider.ToolResult:
			text := b.Text
			if b.IsError {
				text = "Error: " + text // the API has no other place for it
			}
			all = append(all, object{"role": "tool", "content": text, "tool_call_id": b.ID})
		}
	}
	said := object{"role": m.Role, "content": m.Text()}
	if len(calls) > 0 {
		said["tool_calls"] = calls
	}
	if len(calls) > 0 || m.Text() != "" {
		all = append(all, said)
	}
	return all
}
