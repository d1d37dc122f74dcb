//go:build conformance

package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// fixtureWait bounds how long a client may take to answer.
const fixtureWait = 10 * time.Second

// fixtureForm returns an elicitation whose schema has the given properties.
func fixtureForm(message, properties string, required ...string) mcp.ElicitationParams {
	schema := map[string]any{"type": "object", "properties": json.RawMessage(properties)}
	if len(required) > 0 {
		schema["required"] = required
	}
	return mcp.ElicitationParams{Message: message, RequestedSchema: schema}
}

func fixtureSample(text string, tokens int) mcp.CreateMessageParams {
	return mcp.CreateMessageParams{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(text)}},
		MaxTokens: tokens,
	}
}

// fixtureClientTools serves the scenarios of the protocols before 2026-07-28 in which the
// server sends a request of its own: tools-call-sampling, tools-call-elicitation,
// elicitation-sep1034-defaults and elicitation-sep1330-enums. Elicitations travel on the
// stream of the call; sampling requests travel on the session's GET stream, which needs
// sessions.
func fixtureClientTools() []server.ServerTool {
	elicit := func(form func(mcp.CallToolRequest) mcp.ElicitationParams, format string) server.ToolHandlerFunc {
		return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if mcpwire.Capabilities(ctx).Elicitation == nil {
				return mcp.NewToolResultError("The client has no elicitation."), nil
			}
			ctx, cancel := context.WithTimeout(ctx, fixtureWait)
			defer cancel()
			answer, err := server.ServerFromContext(ctx).RequestElicitation(ctx, mcp.ElicitationRequest{Params: form(call)})
			if err != nil {
				return mcp.NewToolResultErrorFromErr("The client did not answer", err), nil
			}
			content, err := json.Marshal(answer.Content)
			return mcp.NewToolResultText(fmt.Sprintf(format, answer.Action, content)), err
		}
	}
	fixed := func(properties string) func(mcp.CallToolRequest) mcp.ElicitationParams {
		return func(mcp.CallToolRequest) mcp.ElicitationParams {
			return fixtureForm("Please look at these fields.", properties)
		}
	}
	asked := func(call mcp.CallToolRequest) mcp.ElicitationParams {
		return fixtureForm(call.GetString("message", ""),
			`{"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}}`,
			"username", "email")
	}
	sample := func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if mcpwire.Capabilities(ctx).Sampling == nil {
			return mcp.NewToolResultError("The client has no sampling."), nil
		}
		ctx, cancel := context.WithTimeout(ctx, fixtureWait)
		defer cancel()
		answer, err := server.ServerFromContext(ctx).RequestSampling(ctx, //nolint:staticcheck // the suite asks older servers for it
			mcp.CreateMessageRequest{CreateMessageParams: fixtureSample(call.GetString("prompt", ""), 100)})
		if err != nil {
			return mcp.NewToolResultErrorFromErr("The client did not answer", err), nil
		}
		return mcp.NewToolResultText("LLM response: " + mcp.GetTextFromContent(answer.Content)), nil
	}
	const done = "Elicitation completed: action=%s, content=%s"
	return []server.ServerTool{
		fixtureTool("test_sampling", "Lets the client's model answer.",
			`{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, sample),
		fixtureTool("test_elicitation", "Asks the user.",
			`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`,
			elicit(asked, "User response: action=%s, content=%s")),
		fixtureTool("test_elicitation_sep1034_defaults", "Asks with defaults.", "", elicit(fixed(`{
			"name": {"type": "string", "default": "John Doe"},
			"age": {"type": "integer", "default": 30},
			"score": {"type": "number", "default": 95.5},
			"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
			"verified": {"type": "boolean", "default": true}
		}`), done)),
		fixtureTool("test_elicitation_sep1330_enums", "Asks with every kind of choice.", "", elicit(fixed(`{
			"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
			"titledSingle": {"type": "string", "oneOf": [
				{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"},
				{"const": "value3", "title": "Third Option"}]},
			"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
				"enumNames": ["Option One", "Option Two", "Option Three"]},
			"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
			"titledMulti": {"type": "array", "items": {"anyOf": [
				{"const": "value1", "title": "First Choice"}, {"const": "value2", "title": "Second Choice"},
				{"const": "value3", "title": "Third Choice"}]}}
		}`), done)),
	}
}

// fixtureAnswer returns the field of a form the user accepted, or nil: the answer of
// the client may be of any shape (input-required-result-validate-input).
func fixtureAnswer(p mcp.MultiRoundTripParams, id, field string) any {
	answer := server.ElicitationResponse(p.InputResponses, id)
	if answer == nil || answer.Action != mcp.ElicitationResponseActionAccept {
		return nil
	}
	content, _ := answer.Content.(map[string]any)
	return content[field]
}

const (
	fixtureName    = `{"name":{"type":"string"}}`
	fixtureOK      = `{"ok":{"type":"boolean"}}`
	fixtureColor   = `{"color":{"type":"string"}}`
	fixtureContext = `{"context":{"type":"string"}}`
)

// fixtureAskingPrompt serves input-required-result-non-tool-request.
func fixtureAskingPrompt(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if err := fixtureNeeds(ctx, "elicitation"); err != nil {
		return nil, err
	}
	text, ok := fixtureAnswer(request.Params.MultiRoundTripParams, "user_context", "context").(string)
	if !ok {
		return server.NewInputRequestBuilder("").
			Elicit("user_context", fixtureForm("What context should the prompt use?", fixtureContext, "context")).PromptResult(), nil
	}
	return mcp.NewGetPromptResult("", []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Use this context: "+text)),
	}), nil
}

// fixtureInputTools serves the scenarios input-required-result-*, and with
// test_streaming_elicitation one of server-stateless.
func fixtureInputTools() []server.ServerTool { //nolint:gocyclo // a list of small tools
	// asking is a tool that needs capabilities, checks the request state of a retry if it is sealed, and asks
	// again until finish has all input.
	type asking struct {
		name, needs string
		sealed      bool
		ask         func(*server.InputRequestBuilder)
		finish      func(mcp.MultiRoundTripParams) (text string, done bool)
	}
	tool := func(t asking) server.ServerTool {
		return fixtureTool(t.name, "Asks the client before it answers.", "", func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			params := call.Params.MultiRoundTripParams
			if t.needs != "" {
				if err := fixtureNeeds(ctx, t.needs); err != nil {
					return nil, err
				}
			}
			if t.sealed && (params.RequestState != "" || len(params.InputResponses) > 0) {
				if err := fixtureSealed(params.RequestState); err != nil {
					return nil, err
				}
			}
			if text, done := t.finish(params); done {
				return mcp.NewToolResultText(text), nil
			}
			b := server.NewInputRequestBuilder("")
			if t.sealed {
				b.RequestState(fixtureSeal(t.name))
			}
			t.ask(b)
			return b.ToolResult(), nil
		})
	}
	askName := func(b *server.InputRequestBuilder) {
		b.Elicit("user_name", fixtureForm("What is your name?", fixtureName, "name"))
	}
	confirm := func(b *server.InputRequestBuilder) {
		b.Elicit("confirm", fixtureForm("Please confirm", fixtureOK, "ok"))
	}
	greet := func(p mcp.MultiRoundTripParams) (string, bool) {
		name, ok := fixtureAnswer(p, "user_name", "name").(string)
		return "Hello, " + name + "!", ok
	}
	confirmed := func(p mcp.MultiRoundTripParams) (string, bool) {
		ok, answered := fixtureAnswer(p, "confirm", "ok").(bool)
		return fmt.Sprintf("state-ok, confirmed: %t", ok), answered
	}
	sampled := func(id string) func(mcp.MultiRoundTripParams) (string, bool) {
		return func(p mcp.MultiRoundTripParams) (string, bool) {
			answer := server.SamplingResponse(p.InputResponses, id)
			if answer == nil {
				return "", false
			}
			return "LLM response: " + mcp.GetTextFromContent(answer.Content), true
		}
	}
	listed := func(p mcp.MultiRoundTripParams) (string, bool) {
		answer := server.RootsResponse(p.InputResponses, "client_roots")
		if answer == nil {
			return "", false
		}
		text := "Roots:"
		for _, root := range answer.Roots {
			text += " " + root.URI
		}
		return text, true
	}
	return []server.ServerTool{
		tool(asking{name: "test_input_required_result_elicitation", needs: "elicitation", ask: askName, finish: greet}),
		tool(asking{name: "test_streaming_elicitation", needs: "elicitation", ask: askName, finish: greet}),
		tool(asking{name: "test_input_required_result_sampling", needs: "sampling", ask: func(b *server.InputRequestBuilder) {
			b.Sample("capital_question", fixtureSample("What is the capital of France?", 100))
		}, finish: sampled("capital_question")}),
		tool(asking{name: "test_input_required_result_list_roots", needs: "roots", ask: func(b *server.InputRequestBuilder) {
			b.Roots("client_roots")
		}, finish: listed}),
		tool(asking{name: "test_input_required_result_request_state", needs: "elicitation", sealed: true, ask: confirm, finish: confirmed}),
		tool(asking{name: "test_input_required_result_tampered_state", needs: "elicitation", sealed: true, ask: confirm, finish: confirmed}),
		tool(asking{name: "test_input_required_result_multiple_inputs", sealed: true, ask: func(b *server.InputRequestBuilder) {
			askName(b)
			b.Sample("greeting", fixtureSample("Generate a greeting", 50)).Roots("client_roots")
		}, finish: func(p mcp.MultiRoundTripParams) (string, bool) {
			hello, named := greet(p)
			text, generated := sampled("greeting")(p)
			roots, rooted := listed(p)
			return hello + " " + text + " " + roots, named && generated && rooted
		}}),
		// Only capabilities of the client are used (input-required-result-capability-check).
		fixtureTool("test_input_required_result_capabilities", "Asks for what the client can do.", "",
			func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if len(call.Params.InputResponses) > 0 {
					return mcp.NewToolResultText("Answered."), nil
				}
				b := server.NewInputRequestBuilder("")
				if fixtureNeeds(ctx, "elicitation") == nil {
					askName(b)
				}
				if fixtureNeeds(ctx, "sampling") == nil {
					b.Sample("greeting", fixtureSample("Generate a greeting", 50))
				}
				return b.ToolResult(), nil
			}),
		// Two rounds, told apart by the state (input-required-result-multi-round).
		fixtureTool("test_input_required_result_multi_round", "Asks twice.", "",
			func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if err := fixtureNeeds(ctx, "elicitation"); err != nil {
					return nil, err
				}
				params := call.Params.MultiRoundTripParams
				if params.RequestState == fixtureSeal("two") {
					if color, ok := fixtureAnswer(params, "step2", "color").(string); ok {
						return mcp.NewToolResultText("Your color is " + color + "."), nil
					}
				}
				if params.RequestState == fixtureSeal("one") {
					if _, ok := fixtureAnswer(params, "step1", "name").(string); ok {
						return server.NewInputRequestBuilder(fixtureSeal("two")).Elicit("step2",
							fixtureForm("Step 2: What is your favorite color?", fixtureColor, "color")).ToolResult(), nil
					}
				}
				return server.NewInputRequestBuilder(fixtureSeal("one")).Elicit("step1",
					fixtureForm("Step 1: What is your name?", fixtureName, "name")).ToolResult(), nil
			}),
	}
}
