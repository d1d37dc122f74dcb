package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// chunk is a part of an answer, or a whole one of a server without streams.
type chunk struct {
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Delta        piece  `json:"delta"`
		Message      piece  `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage `json:"usage"`
}

// usage is the server's count. Nothing in it makes an answer unreadable, which is paid for by then.
type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// UnmarshalJSON reads a count. An unreadable one is negative, which no budget takes for a count.
func (u *usage) UnmarshalJSON(data []byte) error {
	type plain usage
	if json.Unmarshal(data, (*plain)(u)) != nil {
		*u = usage{Prompt: -1, Completion: -1}
	}
	return nil
}

type piece struct {
	Content string     `json:"content"`
	Refusal string     `json:"refusal"`
	Calls   []callPart `json:"tool_calls"`
}

type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments are a text, or a part of one; some servers send the object itself.
type arguments string

// UnmarshalJSON reads both forms.
func (a *arguments) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*a = arguments(text)
		return nil
	}
	var object bytes.Buffer
	err := json.Compact(&object, data)
	*a = arguments(object.String())
	return err
}

// reader puts an answer together.
type reader struct {
	on      func(provider.Delta)
	before  []provider.Message
	model   string
	text    strings.Builder
	calls   []*started
	finish  string
	refused bool
	// ended is true once the answer is complete, except perhaps for the count.
	ended bool
	usage provider.Usage
}

// started is a tool's use with the input on its way.
type started struct {
	index int
	block provider.Block
}

func (a *reader) addChunk(c chunk) {
	if c.Model != "" {
		a.model = c.Model
	}
	if u := c.Usage; u != nil {
		a.usage = provider.Usage{Input: max(u.Prompt-u.Details.Cached, 0), CacheRead: u.Details.Cached, Output: u.Completion}
	}
	if len(c.Choices) == 0 {
		return
	}
	first := c.Choices[0]
	for _, p := range []piece{first.Delta, first.Message} {
		a.refused = a.refused || p.Refusal != ""
		if text := p.Content + p.Refusal; text != "" {
			a.text.WriteString(text)
			a.announce(provider.Delta{Text: text})
		}
		for _, part := range p.Calls {
			a.addCallPart(part)
		}
	}
	if first.FinishReason != "" {
		a.finish, a.ended = first.FinishReason, true
	}
}

func (a *reader) announce(d provider.Delta) {
	if a.on != nil {
		a.on(d)
	}
}

// addCallPart adds a part to its tool use.
func (a *reader) addCallPart(part callPart) {
	s := a.findCall(part)
	if s == nil {
		s = &started{index: len(a.calls), block: provider.Block{Type: provider.ToolUse, ID: part.ID, Name: part.Function.Name}}
		if part.Index != nil {
			s.index = *part.Index
		}
		a.calls = append(a.calls, s)
		a.announce(provider.Delta{Tool: s.block.Name})
	}
	s.block.Input += string(part.Function.Arguments)
}

// findCall finds the use continued by a part: by index and id, as far as the part has them, else the newest. A
// part with another id, or with a name if the input is complete, begins a new use, because some servers give
// all uses the same index, or none.
func (a *reader) findCall(part callPart) *started {
	for i := len(a.calls) - 1; i >= 0; i-- {
		s := a.calls[i]
		switch {
		case part.Index != nil && *part.Index != s.index:
			continue
		case part.ID != "" && part.ID == s.block.ID:
			return s
		case part.ID != "" && s.block.ID != "":
			continue
		case part.Function.Name != "" && (part.Function.Name != s.block.Name || json.Valid([]byte(s.block.Input))):
			continue
		}
		return s
	}
	return nil
}

// wholeResponse returns the whole answer.
func (a *reader) wholeResponse(id string) *provider.Response {
	r := &provider.Response{Message: provider.Message{Role: provider.Assistant}, Usage: a.usage, Model: a.model, RequestID: id}
	if strings.TrimSpace(a.text.String()) != "" {
		r.Message.Blocks = append(r.Message.Blocks, provider.TextBlock(a.text.String()))
	}
	seen := map[string]bool{"": true} // some servers number each answer from the start, or give no ids
	for _, m := range a.before {
		for _, b := range m.Uses() {
			seen[b.ID] = true
		}
	}
	for i, s := range a.calls {
		if seen[s.block.ID] {
			s.block.ID = fmt.Sprintf("call_%d_%d", len(a.before), i)
		}
		seen[s.block.ID] = true
		r.Message.Blocks = append(r.Message.Blocks, s.block)
	}
	switch {
	case a.refused || a.finish == "content_filter":
		r.Stop = provider.Refusal
	case a.finish == "length":
		r.Stop = provider.MaxTokens
	case len(a.calls) > 0:
		r.Stop = provider.UsesTools
	default:
		r.Stop = provider.EndTurn
	}
	return r
}
