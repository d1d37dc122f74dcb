package anthropic

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	api "github.com/anthropics/anthropic-sdk-go"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// object is a part of a request. It is written here and not by the library, which would write the
// kept blocks of the assistant anew, with other escapes.
type object = map[string]any

// message is a message of a request; the content are objects and kept blocks.
type message struct {
	Role    provider.Role `json:"role"`
	Content []any         `json:"content"`
}

// requestBody returns a request as JSON.
func (c *Client) requestBody(r provider.Request) ([]byte, error) {
	form := object{"model": c.model, "max_tokens": r.MaxTokens, "stream": true}
	if len(r.Tools) > 0 {
		form["tools"] = r.Tools
	}
	if strings.TrimSpace(r.System) != "" {
		system := object{"type": "text", "text": r.System}
		c.markForCache(system)
		form["system"] = []object{system}
	}
	var messages []message
	for _, m := range r.Messages {
		var content []any
		for _, b := range m.Blocks {
			if sent := blockForm(b); sent != nil {
				content = append(content, sent)
			}
		}
		last := len(messages) - 1
		switch {
		case len(content) == 0: // the server refuses a message without content
		case last >= 0 && messages[last].Role == m.Role:
			messages[last].Content = append(messages[last].Content, content...)
		default:
			messages = append(messages, message{Role: m.Role, Content: content})
		}
	}
	users := 0
	for _, m := range slices.Backward(messages) {
		if m.Role == provider.User {
			if users++; users <= 2 {
				c.markForCache(m.Content[len(m.Content)-1])
			}
		}
	}
	form["messages"] = messages
	var data bytes.Buffer
	out := json.NewEncoder(&data)
	out.SetEscapeHTML(false)
	err := out.Encode(form)
	return bytes.TrimSpace(data.Bytes()), err
}

// markForCache asks the server to keep everything up to a block: the end of the system prompt, which no
// turn changes, and the last but one of the user's messages, up to which the next call is the same.
func (c *Client) markForCache(block any) {
	if b, ok := block.(object); ok && c.cache {
		b["cache_control"] = object{"type": "ephemeral"}
	}
}

// blockForm returns the form of a block, or nil for one not to be sent: an empty text, or another provider's
// own.
func blockForm(b provider.Block) any {
	switch {
	case b.Raw != nil:
		return b.Raw
	case b.Type == provider.Text && strings.TrimSpace(b.Text) != "":
		return object{"type": "text", "text": b.Text}
	case b.Type == provider.ToolUse:
		return object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": provider.InputObject(b.Input)}
	case b.Type == provider.ToolResult:
		return object{"type": "tool_result", "tool_use_id": b.ID, "content": b.Text, "is_error": b.IsError}
	}
	return nil
}

// readBlock returns a block of an answer, with Raw if the other fields do not say all of it. input is the
// model's text for a tool, as it came.
func readBlock(b api.ContentBlockUnion, input string) (provider.Block, bool) {
	k := provider.Block{Type: provider.Opaque}
	switch b.Type {
	case "text":
		k = provider.TextBlock(b.Text)
	case "tool_use":
		if input == "" {
			input = string(b.Input)
		}
		k = provider.Block{Type: provider.ToolUse, ID: b.ID, Name: b.Name, Input: input}
		if !json.Valid([]byte(input)) {
			return k, true // cut off: the library has emptied the input in the raw block
		}
	}
	if !saysAll(k, b.RawJSON()) {
		var raw bytes.Buffer
		if json.Compact(&raw, []byte(b.RawJSON())) == nil {
			k.Raw = raw.Bytes()
		}
	}
	return k, k.Raw != nil || k.Type == provider.ToolUse || strings.TrimSpace(k.Text) != ""
}

// saysAll reports whether a block without Raw would be sent in the form in which it came. Fields with null or
// empty lists say nothing.
func saysAll(b provider.Block, raw string) bool {
	data, err := json.Marshal(blockForm(b))
	var sent, came map[string]any
	if err != nil || json.Unmarshal(data, &sent) != nil || json.Unmarshal([]byte(raw), &came) != nil {
		return false
	}
	for name, value := range came {
		list, isList := value.([]any)
		isEmptyList := isList && len(list) == 0
		if value == nil || isEmptyList {
			delete(came, name)
		}
	}
	if came["type"] == "text" && strings.TrimSpace(b.Text) == "" && len(came) == 2 {
		return true // an empty text, which is not sent
	}
	return reflect.DeepEqual(sent, came)
}
