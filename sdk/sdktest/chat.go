package sdktest

import (
	"encoding/json"
	"fmt"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// Dialect is the way in which a server speaks chat completions if servers differ.
type Dialect struct {
	// NoIDs and NoIndex leave out the fields that tell calls of tools apart; SameIndex numbers all of them 0.
	NoIDs, NoIndex, SameIndex bool
	// Whole sends the arguments of a tool in one piece, Object as an object instead of a text.
	Whole, Object bool
	// Stop ends with "stop" even if tools are called.
	Stop bool
	// NoUsage counts no tokens; NoDone ends without [DONE].
	NoUsage, NoDone bool
	// Reasoning, if set, is the name of the field in which thoughts are sent.
	Reasoning string
}

// The dialects of well-known servers.
var (
	OpenAI   = Dialect{}
	Ollama   = Dialect{SameIndex: true, Whole: true, Stop: true, Reasoning: "reasoning"}
	VLLM     = Dialect{NoIndex: true, Reasoning: "reasoning_content"}
	LMStudio = Dialect{NoIDs: true, Whole: true, Object: true, Stop: true, NoUsage: true, NoDone: true}
)

// chat is the API of chat completions.
type chat struct{ Dialect }

type chatForm struct {
	Model               string `json:"model"`
	Stream              bool   `json:"stream"`
	MaxTokens           int    `json:"max_tokens"`
	MaxCompletionTokens int    `json:"max_completion_tokens"`
	Tools               []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Messages []struct {
		Role       string     `json:"role"`
		Content    content    `json:"content"`
		ToolCallID string     `json:"tool_call_id"`
		ToolCalls  []chatCall `json:"tool_calls"`
	} `json:"messages"`
}

type chatCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (chat) readRequest(r *Request) error {
	var form chatForm
	if err := json.Unmarshal(r.Body, &form); err != nil {
		return fmt.Errorf("the body is not a valid request: %w", err)
	}
	r.Model, r.Stream, r.MaxTokens = form.Model, form.Stream, max(form.MaxTokens, form.MaxCompletionTokens)
	for i, t := range form.Tools {
		tool := provider.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters}
		if err := checkTool(tool); err != nil {
			return fmt.Errorf("tools.%d: %w", i, err)
		}
		r.Tools = append(r.Tools, tool)
	}
	var points int
	tools := false // the message before is the result of a tool
	for i, m := range form.Messages {
		text := m.Content.joinText(&points)
		switch m.Role {
		case "system", "developer":
			r.System += text
		case "tool", "user":
			b := provider.TextBlock(text)
			if m.Role == "tool" {
				b = provider.Result(m.ToolCallID, text, false)
			}
			if !tools {
				r.Messages = append(r.Messages, provider.Message{Role: provider.User})
			}
			last := &r.Messages[len(r.Messages)-1]
			last.Blocks = append(last.Blocks, b)
		case "assistant":
			blocks, err := callBlocks(text, m.ToolCalls)
			if err != nil {
				return fmt.Errorf("messages.%d: %w", i, err)
			}
			r.Messages = append(r.Messages, provider.Message{Role: provider.Assistant, Blocks: blocks})
		default:
			return fmt.Errorf("messages.%d: unexpected role %q", i, m.Role)
		}
		tools = m.Role == "tool"
	}
	if r.MaxTokens < 1 {
		return fmt.Errorf("max_tokens: field required, at least 1")
	}
	return fake.Check(r.Messages)
}

// callBlocks returns the blocks of an assistant's message.
func callBlocks(text string, all []chatCall) (blocks []provider.Block, err error) {
	if text != "" {
		blocks = append(blocks, provider.TextBlock(text))
	}
	for _, c := range all {
		var input map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.Function.Arguments), &input); err != nil || input == nil {
			return nil, fmt.Errorf("the arguments of %s are not a JSON object: %s", c.Function.Name, c.Function.Arguments)
		}
		blocks = append(blocks, provider.Block{Type: provider.ToolUse, ID: c.ID, Name: c.Function.Name, Input: c.Function.Arguments})
	}
	return blocks, nil
}

func (chat) errorBody(kind, message, _ string) any {
	return object{"error": object{"type": kind, "message": message, "code": nil}}
}

func (c chat) finishReason(s Step) string {
	switch s.Stop {
	case provider.UsesTools:
		if c.Stop {
			return "stop"
		}
		return "tool_calls"
	case provider.MaxTokens, provider.ContextWindow:
		return "length"
	case provider.Refusal:
		return "content_filter"
	}
	return "stop"
}

// callForm returns the form of a tool's use with a part of the arguments.
func (c chat) callForm(i int, b provider.Block, first bool, arguments string) object {
	function := object{"arguments": arguments}
	form := object{"type": "function", "function": function}
	if c.Object && json.Valid([]byte(arguments)) {
		function["arguments"] = json.RawMessage(arguments)
	}
	if first {
		function["name"] = b.Name
		if !c.NoIDs {
			form["id"] = b.ID
		}
	}
	if c.SameIndex {
		i = 0
	}
	if !c.NoIndex {
		form["index"] = i
	}
	return form
}

func usageOf(u provider.Usage) object {
	return object{
		"prompt_tokens": u.Prompt(), "completion_tokens": u.Output, "total_tokens": u.Prompt() + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead},
	}
}

func (c chat) wholeAnswer(r Request, s Step) any {
	message := object{"role": "assistant", "content": provider.Message{Blocks: s.Blocks}.Text()}
	if uses := (provider.Message{Blocks: s.Blocks}).Uses(); len(uses) > 0 {
		list := []object{}
		for i, b := range uses {
			list = append(list, c.callForm(i, b, true, b.Input))
		}
		message["tool_calls"] = list
	}
	form := object{"id": "chatcmpl-1", "object": "chat.completion", "model": r.Model, "choices": []object{{"index": 0, "message": message, "finish_reason": c.finishReason(s)}}}
	if !c.NoUsage {
		form["usage"] = usageOf(s.Usage)
	}
	return form
}

func (c chat) streamEvents(r Request, s Step) (events []event) {
	chunk := func(delta object, finish any) {
		events = append(events, event{data: object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": r.Model,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}}})
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	if c.Reasoning != "" {
		chunk(object{c.Reasoning: "The person wants an answer."}, nil)
	}
	uses := 0
	for _, b := range s.Blocks {
		switch b.Type {
		case provider.Text:
			for _, part := range cutIntoPieces(b.Text) {
				chunk(object{"content": part}, nil)
			}
		case provider.ToolUse:
			parts := append([]string{""}, cutIntoPieces(b.Input)...)
			if c.Whole {
				parts = []string{b.Input}
			}
			for n, part := range parts {
				chunk(object{"tool_calls": []object{c.callForm(uses, b, n == 0, part)}}, nil)
			}
			uses++
		}
	}
	chunk(object{}, c.finishReason(s))
	if !c.NoUsage {
		events = append(events, event{data: object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": r.Model, "choices": []object{}, "usage": usageOf(s.Usage)}})
	}
	if !c.NoDone {
		events = append(events, event{data: "[DONE]"})
	}
	return events
}
