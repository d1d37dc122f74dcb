// Package provider is the seam between agents and language models: neutral messages, tools and
// answers, and the interface of whatever carries them to a model.
//
// A [Provider] sends one [Request] and returns the whole [Response]; the pieces under way go to a function as
// [Delta] values. A message consists of blocks: text, the use of a tool, the result of a tool, or something
// only the provider understands, which is kept as it came and sent back unchanged.
//
// Implementations are in provider/anthropic (the Messages API), provider/openai (any server with
// the chat completions API) and provider/fake (a script, for tests).
package provider

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
)

// Provider sends requests to one model. Methods may be called at the same time.
type Provider interface {
	// Send returns the model's answer. on, if not nil, is called in order with the pieces of an answer under
	// way, and not after Send has returned. The error of a failed call is an *Error, or the context's own.
	Send(ctx context.Context, r Request, on func(Delta)) (*Response, error)
	// Info describes the model.
	Info() Info
}

// Info describes a model.
type Info struct {
	// Provider names the kind of server, for example "anthropic".
	Provider string `json:"provider"`
	// Model is the model's name in requests and in price lists.
	Model string `json:"model"`
}

// Request is all input of the model for a call.
type Request struct {
	// System is the system prompt.
	System string
	// Messages keep the rules of [Check].
	Messages []Message
	Tools    []Tool
	// MaxTokens bounds the answer.
	MaxTokens int
}

// Tool is a tool offered to the model.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Schema is the JSON Schema of the input, an object.
	Schema json.RawMessage `json:"input_schema"`
}

// Role is the sender of a message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is the part of one side in a turn.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"content"`
}

// Text returns the text blocks of a message, one below the other.
func (m Message) Text() string {
	var text string
	for _, b := range m.Blocks {
		if b.Type == Text && strings.TrimSpace(b.Text) != "" {
			if text != "" {
				text += "\n\n"
			}
			text += b.Text
		}
	}
	return text
}

// Uses returns the tool uses of a message.
func (m Message) Uses() []Block {
	var uses []Block
	for _, b := range m.Blocks {
		if b.Type == ToolUse {
			uses = append(uses, b)
		}
	}
	return uses
}

// Type is the kind of a block.
type Type string

// The kinds of blocks. Opaque is a block for the provider only, such as the signed thinking of a model.
const (
	Text       Type = "text"
	ToolUse    Type = "tool_use"
	ToolResult Type = "tool_result"
	Opaque     Type = "opaque"
)

// Block is a part of a message.
type Block struct {
	Type Type `json:"type"`
	// Text is the text of the block, or of a tool's result.
	Text string `json:"text,omitempty"`
	// ID ties the result of a tool to the use.
	ID string `json:"id,omitempty"`
	// Name and Input say which tool the model wants to use, and how. Input is the text of
	// the model, which may not be JSON.
	Name  string `json:"name,omitempty"`
	Input string `json:"input,omitempty"`
	// IsError is true for the result of a failed tool.
	IsError bool `json:"is_error,omitempty"`
	// Raw is the block as the provider sent it, if the other fields do not say all of it.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// TextBlock returns a text.
func TextBlock(text string) Block { return Block{Type: Text, Text: text} }

// Result returns the result of a tool's use.
func Result(id, text string, isError bool) Block {
	return Block{Type: ToolResult, ID: id, Text: text, IsError: isError}
}

// Stop is the reason why an answer ended.
type Stop string

// The reasons, in the words of the Messages API.
const (
	EndTurn       Stop = "end_turn"
	StopSequence  Stop = "stop_sequence"
	UsesTools     Stop = "tool_use"
	MaxTokens     Stop = "max_tokens"
	PauseTurn     Stop = "pause_turn"
	Refusal       Stop = "refusal"
	ContextWindow Stop = "model_context_window_exceeded"
)

// Response is a model's answer.
type Response struct {
	Message Message
	Stop    Stop
	Usage   Usage
	// Model is the model behind the answer, as the server names it.
	Model string
	// RequestID is the server's name for the call, for the support there.
	RequestID string
}

// Usage counts the tokens of a call.
type Usage struct {
	// Input counts tokens neither read from the server's cache nor written to it.
	Input        int64 `json:"input"`
	CacheWrite5m int64 `json:"cache_write_5m,omitempty"`
	CacheWrite1h int64 `json:"cache_write_1h,omitempty"`
	CacheRead    int64 `json:"cache_read,omitempty"`
	Output       int64 `json:"output"`
	// Estimated is true if the server did not count.
	Estimated bool `json:"estimated,omitempty"`
}

// Prompt returns all tokens of the input.
func (u Usage) Prompt() int64 { return u.Input + u.CacheWrite5m + u.CacheWrite1h + u.CacheRead }

// String writes the counts for people, for example "17,200 tokens in (15,000 from the cache), 660 out".
func (u Usage) String() string {
	var parts []string
	for _, part := range []struct {
		tokens int64
		words  string
	}{{u.CacheRead, "from the cache"}, {u.CacheWrite5m + u.CacheWrite1h, "written to it"}} {
		if part.tokens != 0 {
			parts = append(parts, groupDigits(part.tokens)+" "+part.words)
		}
	}
	text := groupDigits(u.Prompt()) + " tokens in"
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	text += ", " + groupDigits(u.Output) + " out"
	if u.Estimated {
		text += ", estimated"
	}
	return text
}

// groupDigits writes a number with a comma between thousands.
func groupDigits(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Combine makes one count of two, number by number. It is estimated if one of them is.
func (u Usage) Combine(v Usage, of func(a, b int64) int64) Usage {
	return Usage{
		Input: of(u.Input, v.Input), Output: of(u.Output, v.Output), CacheRead: of(u.CacheRead, v.CacheRead),
		CacheWrite5m: of(u.CacheWrite5m, v.CacheWrite5m), CacheWrite1h: of(u.CacheWrite1h, v.CacheWrite1h),
		Estimated: u.Estimated || v.Estimated,
	}
}

// Plus returns the sum of two counts.
func (u Usage) Plus(v Usage) Usage { return u.Combine(v, func(a, b int64) int64 { return a + b }) }

// Minus returns the difference of two counts, of which the second is a part of the first.
func (u Usage) Minus(v Usage) Usage { return u.Combine(v, func(a, b int64) int64 { return a - b }) }

// Delta is a piece of an answer under way. One field is set.
type Delta struct {
	// Text is the next piece of the answer's text.
	Text string
	// Tool is the name of a tool whose input the model begins to write.
	Tool string
	// Retry is set before a call is repeated. Earlier pieces do not count.
	Retry *Retry
}

// InputObject returns a model's input for a tool as a JSON object, which servers demand if it is sent back.
// Another input, for example a cut one, becomes {"invalid_json": "…"}, so that the model sees its own words.
func InputObject(input string) json.RawMessage {
	var object map[string]json.RawMessage
	switch {
	case strings.TrimSpace(input) == "":
		return json.RawMessage(`{}`)
	case json.Unmarshal([]byte(input), &object) == nil && object != nil:
		return json.RawMessage(input)
	}
	data, err := json.Marshal(map[string]string{"invalid_json": input})
	if err != nil {
		panic(err) // a map of strings is always written
	}
	return data
}
