package anthropic

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	api "github.com/anthropics/anthropic-sdk-go"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// The form of a request. It is written here and not by the library, which would write the kept
// blocks of the assistant anew, with other escapes.
type (
	request struct {
		Model     string          `json:"model"`
		MaxTokens int             `json:"max_tokens"`
		Stream    bool            `json:"stream"`
		Tools     []provider.Tool `json:"tools,omitempty"`
		System    []*block        `json:"system,omitempty"`
		Messages  []message       `json:"messages"`
	}
	message struct {
		Role    provider.Role `json:"role"`
		Content []any         `json:"content"`
	}
	block struct {
		Type         provider.Type   `json:"type"`
		Text         string          `json:"text,omitempty"`
		ID           string          `json:"id,omitempty"`
		Name         string          `json:"name,omitempty"`
		Input        json.RawMessage `json:"input,omitempty"`
		ToolUseID    string          `json:"tool_use_id,omitempty"`
		Content      string          `json:"content,omitempty"`
		IsError      bool            `json:"is_error,omitempty"`
		CacheControl *cacheControl   `json:"cache_control,omitempty"`
	}
	cacheControl struct {
		Type string `json:"type"`
	}
)

// body returns a request as JSON.
func (c *Client) body(r provider.Request) ([]byte, error) {
	form := request{Model: c.model, MaxTokens: r.MaxTokens, Stream: true, Tools: r.Tools}
	if strings.TrimSpace(r.System) != "" {
		form.System = []*block{{Type: provider.Text, Text: r.System}}
	}
	for _, m := range r.Messages {
		var content []any
		for _, b := range m.Blocks {
			if sent := outgoing(b); sent != nil {
				content = append(content, sent)
			}
		}
		last := len(form.Messages) - 1
		switch {
		case len(content) == 0: // the server refuses a message without content
		case last >= 0 && form.Messages[last].Role == m.Role:
			form.Messages[last].Content = append(form.Messages[last].Content, content...)
		default:
			form.Messages = append(form.Messages, message{Role: m.Role, Content: content})
		}
	}
	if c.cache {
		mark(form)
	}
	var data bytes.Buffer
	out := json.NewEncoder(&data)
	out.SetEscapeHTML(false)
	err := out.Encode(form)
	return bytes.TrimSpace(data.Bytes()), err
}

// mark asks the server to keep what comes up to two points: the end of the system prompt, which no
// turn changes, and the last but one of the user's messages, up to which the next call is the same.
func mark(form request) {
	keep := &cacheControl{Type: "ephemeral"}
	for _, b := range form.System {
		b.CacheControl = keep
	}
	users := 0
	for i := len(form.Messages) - 1; i >= 0; i-- {
		m := form.Messages[i]
		if m.Role != provider.User {
			continue
		}
		if users++; users == 2 {
			if b, ok := m.Content[len(m.Content)-1].(*block); ok {
				b.CacheControl = keep
			}
			return
		}
	}
}

// outgoing returns the form of a block, or nil for one that cannot be sent: an empty text, or one
// that only another provider understands.
func outgoing(b provider.Block) any {
	switch {
	case b.Raw != nil:
		return b.Raw
	case b.Type == provider.Text && strings.TrimSpace(b.Text) != "":
		return &block{Type: b.Type, Text: b.Text}
	case b.Type == provider.ToolUse:
		return &block{Type: b.Type, ID: b.ID, Name: b.Name, Input: provider.InputObject(b.Input)}
	case b.Type == provider.ToolResult:
		return &block{Type: b.Type, ToolUseID: b.ID, Content: b.Text, IsError: b.IsError}
	}
	return nil
}

// kept returns a block of an answer, with Raw where its other fields do not say all of it. input
// is what the model wrote to a tool, as it came.
func kept(b api.ContentBlockUnion, input string) (provider.Block, bool) {
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
	if !says(k, b.RawJSON()) {
		var raw bytes.Buffer
		if json.Compact(&raw, []byte(b.RawJSON())) == nil {
			k.Raw = raw.Bytes()
		}
	}
	return k, k.Raw != nil || k.Type == provider.ToolUse || strings.TrimSpace(k.Text) != ""
}

// says reports whether a block without Raw would be sent as what it came as. Fields that are null
// or empty lists say nothing.
func says(b provider.Block, raw string) bool {
	data, err := json.Marshal(outgoing(b))
	var sent, came map[string]any
	if err != nil || json.Unmarshal(data, &sent) != nil || json.Unmarshal([]byte(raw), &came) != nil {
		return false
	}
	for name, value := range came {
		if list, ok := value.([]any); value == nil || ok && len(list) == 0 {
			delete(came, name)
		}
	}
	if came["type"] == "text" && strings.TrimSpace(b.Text) == "" && len(came) == 2 {
		return true // an empty text, which is not sent
	}
	return reflect.DeepEqual(sent, came)
}
