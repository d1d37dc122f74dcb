package sdktest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// messages is the Messages API.
type messages struct{}

type (
	messagesForm struct {
		Model        string          `json:"model"`
		MaxTokens    int             `json:"max_tokens"`
		Stream       bool            `json:"stream"`
		System       content         `json:"system"`
		CacheControl json.RawMessage `json:"cache_control"`
		Tools        []struct {
			provider.Tool
			Type         string          `json:"type"`
			CacheControl json.RawMessage `json:"cache_control"`
		} `json:"tools"`
		Messages []struct {
			Role    provider.Role `json:"role"`
			Content content       `json:"content"`
		} `json:"messages"`
	}
	// content is a text or a list of blocks.
	content []block
	block   struct {
		Type         string          `json:"type"`
		Text         string          `json:"text"`
		ID           string          `json:"id"`
		ToolUseID    string          `json:"tool_use_id"`
		Name         string          `json:"name"`
		Input        json.RawMessage `json:"input"`
		Content      json.RawMessage `json:"content"`
		IsError      bool            `json:"is_error"`
		CacheControl json.RawMessage `json:"cache_control"`
		raw          json.RawMessage
	}
)

// UnmarshalJSON reads both forms.
func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return err
	}
	for _, raw := range raws {
		b := block{raw: raw}
		if err := json.Unmarshal(raw, &b); err != nil {
			return err
		}
		*c = append(*c, b)
	}
	return nil
}

// named matches the names and ids of tools on servers.
var named = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

// maxCachePoints is how many parts of a request may be marked for the cache.
const maxCachePoints = 4

func (messages) readRequest(r *Request) error {
	for _, name := range []string{"Anthropic-Version", "Content-Type"} {
		if r.Header.Get(name) == "" {
			return fmt.Errorf("%s: header is required", strings.ToLower(name))
		}
	}
	var form messagesForm
	if err := json.Unmarshal(r.Body, &form); err != nil {
		return fmt.Errorf("the body is not a valid request: %w", err)
	}
	r.Model, r.Stream, r.MaxTokens = form.Model, form.Stream, form.MaxTokens
	points := len(form.CacheControl)
	if points > 0 {
		points = 1
	}
	r.System = form.System.joinText(&points)
	for i, t := range form.Tools {
		if t.Type == "" || t.Type == "custom" {
			if err := checkTool(t.Tool); err != nil {
				return fmt.Errorf("tools.%d: %w", i, err)
			}
		}
		if t.CacheControl != nil {
			points++
		}
		r.Tools = append(r.Tools, t.Tool)
	}
	for i, m := range form.Messages {
		if m.Role == "system" && i > 0 { // later instructions, for the newer models
			r.System += "\n\n" + m.Content.joinText(&points)
			continue
		}
		if m.Role != provider.User && m.Role != provider.Assistant {
			return fmt.Errorf("messages.%d: unexpected role %q", i, m.Role)
		}
		blocks, err := m.Content.toBlocks(&points)
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		r.Messages = append(r.Messages, provider.Message{Role: m.Role, Blocks: blocks})
	}
	switch {
	case r.MaxTokens < 1:
		return fmt.Errorf("max_tokens: field required, at least 1")
	case points > maxCachePoints:
		return fmt.Errorf("a maximum of %d blocks with cache_control may be provided. Found %d", maxCachePoints, points)
	}
	return fake.Check(r.Messages)
}

func checkTool(t provider.Tool) error {
	var schema struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(t.Schema, &schema); err != nil || schema.Type != "object" {
		return fmt.Errorf("input_schema.type: must be \"object\"")
	}
	if !named.MatchString(t.Name) {
		return fmt.Errorf("name: %q must match %s", t.Name, named)
	}
	return nil
}

// joinText returns the text blocks, and counts the points of the cache.
func (c content) joinText(points *int) string {
	var texts []string
	for _, b := range c {
		if b.CacheControl != nil {
			*points++
		}
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func (c content) toBlocks(points *int) ([]provider.Block, error) {
	var all []provider.Block
	for j, b := range c {
		if b.CacheControl != nil {
			*points++
		}
		switch b.Type {
		case "text":
			all = append(all, provider.TextBlock(b.Text))
		case "tool_use":
			var input map[string]json.RawMessage
			if err := json.Unmarshal(b.Input, &input); err != nil || input == nil {
				return nil, fmt.Errorf("content.%d.tool_use.input: input should be a valid dictionary", j)
			}
			if !named.MatchString(b.ID) || !named.MatchString(b.Name) {
				return nil, fmt.Errorf("content.%d.tool_use: id %q and name %q must match %s", j, b.ID, b.Name, named)
			}
			all = append(all, provider.Block{Type: provider.ToolUse, ID: b.ID, Name: b.Name, Input: string(b.Input)})
		case "tool_result":
			var inner content
			if b.Content != nil {
				if err := json.Unmarshal(b.Content, &inner); err != nil {
					return nil, fmt.Errorf("content.%d.tool_result.content: %w", j, err)
				}
			}
			all = append(all, provider.Result(b.ToolUseID, inner.joinText(points), b.IsError))
		case "":
			return nil, fmt.Errorf("content.%d.type: field required", j)
		default:
			all = append(all, provider.Block{Type: provider.Opaque, Raw: b.raw})
		}
	}
	return all, nil
}

type object = map[string]any

func (messages) errorBody(kind, message, id string) any {
	return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": id}
}

func (messages) usageForm(u provider.Usage, output int64) object {
	return object{
		"input_tokens": u.Input, "output_tokens": output, "cache_read_input_tokens": u.CacheRead,
		"cache_creation_input_tokens": u.CacheWrite5m + u.CacheWrite1h,
		"cache_creation":              object{"ephemeral_5m_input_tokens": u.CacheWrite5m, "ephemeral_1h_input_tokens": u.CacheWrite1h},
	}
}

func (m messages) wholeAnswer(r Request, s Step) any {
	blocks := []any{}
	for _, b := range s.Blocks {
		form := blockForm(b)
		if input, ok := form["input"].(string); ok {
			form["input"] = object{}
			if json.Valid([]byte(input)) {
				form["input"] = json.RawMessage(input)
			}
		}
		blocks = append(blocks, form)
	}
	return object{
		"id": fmt.Sprintf("msg_%d", len(r.Messages)), "type": "message", "role": "assistant", "model": r.Model, "content": blocks,
		"stop_reason": s.Stop, "stop_sequence": nil, "usage": m.usageForm(s.Usage, s.Usage.Output),
	}
}

// blockForm returns a block as an object, with the input of a tool as text.
func blockForm(b provider.Block) object {
	switch {
	case b.Raw != nil:
		form := object{}
		if err := json.Unmarshal(b.Raw, &form); err != nil {
			panic(fmt.Sprintf("sdktest: the raw block of a step is not a JSON object: %v", err)) // a mistake in the test's own script
		}
		return form
	case b.Type == provider.ToolUse:
		return object{"type": b.Type, "id": b.ID, "name": b.Name, "input": b.Input}
	}
	return object{"type": b.Type, "text": b.Text}
}

func (m messages) streamEvents(r Request, s Step) []event {
	start := m.wholeAnswer(r, Step{Usage: s.Usage}).(object)
	start["stop_reason"], start["usage"] = nil, m.usageForm(s.Usage, 1)
	events := []event{{"message_start", object{"type": "message_start", "message": start}}}
	for i, b := range s.Blocks {
		add := func(kind string, more object) {
			more["type"], more["index"] = kind, i
			events = append(events, event{kind, more})
		}
		form := blockForm(b)
		deltas := cutIntoDeltas(form)
		if b.Raw != nil && len(deltas) == 0 {
			add("content_block_start", object{"content_block": b.Raw})
		} else {
			add("content_block_start", object{"content_block": form})
		}
		for _, d := range deltas {
			add("content_block_delta", object{"delta": d})
		}
		add("content_block_stop", object{})
	}
	last := object{"type": "message_delta", "delta": object{"stop_reason": s.Stop, "stop_sequence": nil}, "usage": object{"output_tokens": s.Usage.Output}}
	return append(events, event{"message_delta", last}, event{"message_stop", object{"type": "message_stop"}})
}

// cutIntoDeltas empties the fields of a block that arrive in pieces, and returns the pieces.
func cutIntoDeltas(form object) (deltas []object) {
	for _, field := range []struct{ name, kind, key string }{
		{"thinking", "thinking_delta", "thinking"}, {"signature", "signature_delta", "signature"},
		{"text", "text_delta", "text"}, {"input", "input_json_delta", "partial_json"},
	} {
		value, ok := form[field.name]
		if !ok {
			continue
		}
		text, isText := value.(string)
		form[field.name] = ""
		if field.name == "input" {
			form["input"] = object{}
		}
		if !isText {
			text = encode(value)
		}
		for _, part := range cutIntoPieces(text) {
			deltas = append(deltas, object{"type": field.kind, field.key: part})
		}
	}
	if list, ok := form["citations"].([]any); ok {
		form["citations"] = []any{}
		for _, c := range list {
			deltas = append(deltas, object{"type": "citations_delta", "citation": c})
		}
	}
	return deltas
}
