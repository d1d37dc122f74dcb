//go:build conformance

package conformance

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// Add adds the fixtures of suite 0.1.16, and of the requirements of 2025-11-25 and 2026-07-28
// of suite 0.2.0-alpha.12.
func Add(s *server.MCPServer) {
	s.AddTools(fixtureContentTools()...)
	s.AddTools(fixtureClientTools()...)
	s.AddTools(fixtureServerTools(s)...)
	s.AddTools(fixtureInputTools()...)
	s.AddTools(fixtureTaskTools()...)
	s.AddPrompts(fixturePrompts()...)
	addFixtureResources(s)
	// completion-complete: providers can only be set by options, so the values for the
	// fixture's argument are put into the finished result.
	if hooks := s.GetHooks(); hooks != nil {
		hooks.AddAfterComplete(func(_ context.Context, _ any, r *mcp.CompleteRequest, result *mcp.CompleteResult) {
			ref, ok := r.Params.Ref.(mcp.PromptReference)
			if !ok || ref.Name != "test_prompt_with_arguments" {
				return
			}
			result.Completion = mcp.Completion{Values: []string{}}
			for _, value := range []string{"testing", "testament", "other"} {
				if strings.HasPrefix(value, r.Params.Argument.Value) {
					result.Completion.Values = append(result.Completion.Values, value)
				}
			}
		})
	}
}

// fixtureTool makes a tool that changes nothing; schema "" takes no arguments.
func fixtureTool(name, description, schema string, handler server.ToolHandlerFunc) server.ServerTool {
	if schema == "" {
		schema = `{"type":"object","properties":{}}`
	}
	tool := mcp.NewToolWithRawSchema(name, description, json.RawMessage(schema))
	tool.Annotations.ReadOnlyHint = mcp.ToBoolPtr(true)
	return server.ServerTool{Tool: tool, Handler: handler}
}

// fixtureReply answers a call with the result of content. The content is made for each call, because the
// library changes results.
func fixtureReply(content func() []mcp.Content) server.ToolHandlerFunc {
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content()}, nil
	}
}

// fixturePNG and fixtureWAV are the smallest files of their kind, as base64.
func fixturePNG() string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func fixtureWAV() string {
	const rate, samples = 8000, 8
	b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, 36+samples)...)
	b = append(b, "WAVEfmt "...)
	for _, field := range []struct {
		size  int
		value uint32
	}{{4, 16}, {2, 1}, {2, 1}, {4, rate}, {4, rate}, {2, 1}, {2, 8}} { // mono PCM of one byte
		b = append(b, binary.LittleEndian.AppendUint32(nil, field.value)[:field.size]...)
	}
	b = append(b, "data"...)
	b = append(binary.LittleEndian.AppendUint32(b, samples), bytes.Repeat([]byte{0x80}, samples)...)
	return base64.StdEncoding.EncodeToString(b)
}

func fixtureText(uri, mimeType, text string) mcp.TextResourceContents {
	return mcp.TextResourceContents{URI: uri, MIMEType: mimeType, Text: text}
}

// fixtureContentTools serves the scenarios tools-call-simple-text, -image, -audio,
// -embedded-resource, -mixed-content and -error, server-sse-polling, and the schemas of
// json-schema-2020-12 and http-custom-header-server-validation.
func fixtureContentTools() []server.ServerTool {
	said := func(text string) server.ToolHandlerFunc {
		return fixtureReply(func() []mcp.Content { return []mcp.Content{mcp.NewTextContent(text)} })
	}
	return []server.ServerTool{
		fixtureTool("test_simple_text", "Returns one text.", "", said("This is a simple text response for testing.")),
		fixtureTool("test_image_content", "Returns one image.", "", fixtureReply(func() []mcp.Content {
			return []mcp.Content{mcp.NewImageContent(fixturePNG(), "image/png")}
		})),
		fixtureTool("test_audio_content", "Returns one sound.", "", fixtureReply(func() []mcp.Content {
			return []mcp.Content{mcp.NewAudioContent(fixtureWAV(), "audio/wav")}
		})),
		fixtureTool("test_embedded_resource", "Returns one resource.", "", fixtureReply(func() []mcp.Content {
			return []mcp.Content{mcp.NewEmbeddedResource(
				fixtureText("test://embedded-resource", "text/plain", "This is an embedded resource content."))}
		})),
		fixtureTool("test_multiple_content_types", "Returns a text, an image and a resource.", "", fixtureReply(func() []mcp.Content {
			return []mcp.Content{
				mcp.NewTextContent("Multiple content types test:"),
				mcp.NewImageContent(fixturePNG(), "image/png"),
				mcp.NewEmbeddedResource(
					fixtureText("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)),
			}
		})),
		fixtureTool("test_error_handling", "Always fails.", "", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
		}),
		// The tool should drop the stream and answer on the next one, but the library cannot. An answer
		// without a stream is accepted as well.
		fixtureTool("test_reconnection", "Answers at once.", "", said("Nothing to reconnect to.")),
		fixtureTool("json_schema_2020_12_tool", "Has a schema with every kind of keyword.", fixtureSchema2020, said("Valid.")),
		fixtureTool("test_header_param", "Has an argument that travels in a header too.",
			`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]}`, said("Received.")),
	}
}

const fixtureSchema2020 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object",
		"properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"}, "email": {"type": "string"}},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

// fixtureStep is the pause between two notifications of one call.
const fixtureStep = 50 * time.Millisecond

// fixtureServerTools serves tools-call-with-logging, tools-call-with-progress and the
// probes of server-stateless.
func fixtureServerTools(s *server.MCPServer) []server.ServerTool {
	logging := func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if i > 0 {
				time.Sleep(fixtureStep)
			}
			// Sent if the client asked for this level: once by logging/setLevel, or with
			// the request since 2026-07-28.
			err := s.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "fixtures", text))
			if err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("Logged."), nil
	}
	progress := func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i, done := range []int{0, 50, 100} {
			if i > 0 {
				time.Sleep(fixtureStep)
			}
			if call.Params.Meta == nil || call.Params.Meta.ProgressToken == nil {
				continue
			}
			err := s.SendNotificationToClient(ctx, string(mcp.MethodNotificationProgress), map[string]any{
				"progressToken": call.Params.Meta.ProgressToken, "progress": done, "total": 100,
			})
			if err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("Done."), nil
	}
	sampler := func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := fixtureNeeds(ctx, "sampling"); err != nil {
			return nil, err
		}
		return mcp.NewToolResultText("The client can sample."), nil
	}
	// Both lists change and change back, so each call announces a change, and a list read later is the same
	// as before (tools-list compares them).
	changeTools := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddTools(fixtureTool("test_passing_tool", "Is gone in a moment.", "", fixtureReply(func() []mcp.Content { return nil })))
		s.DeleteTools("test_passing_tool")
		return mcp.NewToolResultText("Changed the tools."), nil
	}
	changePrompts := func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddPrompt(mcp.NewPrompt("test_passing_prompt", mcp.WithPromptDescription("Is gone in a moment.")),
			fixtureMessages(func(mcp.GetPromptParams) []mcp.Content { return nil }))
		s.DeletePrompts("test_passing_prompt")
		return mcp.NewToolResultText("Changed the prompts."), nil
	}
	return []server.ServerTool{
		fixtureTool("test_tool_with_logging", "Logs three times.", "", logging),
		fixtureTool("test_logging_tool", "Logs three times.", "", logging),
		fixtureTool("test_tool_with_progress", "Reports its progress.", "", progress),
		fixtureTool("test_missing_capability", "Needs a client that samples.", "", sampler),
		fixtureTool("test_trigger_tool_change", "Changes the list of tools.", "", changeTools),
		fixtureTool("test_trigger_prompt_change", "Changes the list of prompts.", "", changePrompts),
	}
}

// fixtureMessages makes a prompt of messages of the user.
func fixtureMessages(content func(mcp.GetPromptParams) []mcp.Content) server.PromptHandlerFunc {
	return func(_ context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		result := &mcp.GetPromptResult{Messages: []mcp.PromptMessage{}}
		for _, c := range content(request.Params) {
			result.Messages = append(result.Messages, mcp.NewPromptMessage(mcp.RoleUser, c))
		}
		return result, nil
	}
}

// fixturePrompts serves the scenarios prompts-get-* and input-required-result-non-tool-request.
func fixturePrompts() []server.ServerPrompt {
	required := func(names ...string) (options []mcp.PromptOption) {
		for _, name := range names {
			options = append(options, mcp.WithArgument(name, mcp.RequiredArgument()))
		}
		return options
	}
	prompt := func(name, description string, handler server.PromptHandlerFunc, arguments ...string) server.ServerPrompt {
		options := append(required(arguments...), mcp.WithPromptDescription(description))
		return server.ServerPrompt{Prompt: mcp.NewPrompt(name, options...), Handler: handler}
	}
	return []server.ServerPrompt{
		prompt("test_simple_prompt", "One text.", fixtureMessages(func(mcp.GetPromptParams) []mcp.Content {
			return []mcp.Content{mcp.NewTextContent("This is a simple prompt for testing.")}
		})),
		prompt("test_prompt_with_arguments", "A text with two arguments.", fixtureMessages(func(p mcp.GetPromptParams) []mcp.Content {
			return []mcp.Content{mcp.NewTextContent(
				fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", p.Arguments["arg1"], p.Arguments["arg2"]))}
		}), "arg1", "arg2"),
		prompt("test_prompt_with_embedded_resource", "A resource.", fixtureMessages(func(p mcp.GetPromptParams) []mcp.Content {
			return []mcp.Content{
				mcp.NewEmbeddedResource(fixtureText(p.Arguments["resourceUri"], "text/plain", "Embedded resource content for testing.")),
				mcp.NewTextContent("Please process the embedded resource above."),
			}
		}), "resourceUri"),
		prompt("test_prompt_with_image", "An image.", fixtureMessages(func(mcp.GetPromptParams) []mcp.Content {
			return []mcp.Content{mcp.NewImageContent(fixturePNG(), "image/png"), mcp.NewTextContent("Please analyze the image above.")}
		})),
		prompt("test_input_required_result_prompt", "Asks for its context first.", fixtureAskingPrompt),
	}
}

// addFixtureResources serves resources-read-*, resources-templates-read and
// resources-subscribe; nobody changes the watched resource.
func addFixtureResources(s *server.MCPServer) {
	add := func(name, mimeType string, contents mcp.ResourceContents) {
		s.AddResource(mcp.NewResource("test://"+name, name, mcp.WithResourceDescription("A fixture."), mcp.WithMIMEType(mimeType)),
			func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return []mcp.ResourceContents{contents}, nil
			})
	}
	add("static-text", "text/plain", fixtureText("test://static-text", "text/plain", "This is the content of the static text resource."))
	add("static-binary", "image/png", mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: fixturePNG()})
	add("watched-resource", "text/plain", fixtureText("test://watched-resource", "text/plain", "This never changes."))
	s.AddResourceTemplate(
		mcp.NewResourceTemplate("test://template/{id}/data", "template",
			mcp.WithTemplateDescription("A fixture."), mcp.WithTemplateMIMEType("application/json")),
		func(_ context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			id, _ := request.Params.Arguments["id"].([]string) // each variable may have many values
			text, err := json.Marshal(map[string]any{
				"id": strings.Join(id, ","), "templateTest": true, "data": "Data for ID: " + strings.Join(id, ","),
			})
			return []mcp.ResourceContents{fixtureText(request.Params.URI, "application/json", string(text))}, err
		})
}

// fixtureNeeds refuses a client without a capability (server-stateless).
func fixtureNeeds(ctx context.Context, names ...string) error {
	declared := map[string]json.RawMessage{}
	b, err := json.Marshal(mcpwire.Capabilities(ctx))
	if err == nil {
		err = json.Unmarshal(b, &declared)
	}
	if err != nil {
		return err
	}
	missing := map[string]any{}
	for _, name := range names {
		if declared[name] == nil {
			missing[name] = struct{}{}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return mcpwire.Error{
		Text: "the client lacks a capability this needs",
		Code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, Data: map[string]any{"requiredCapabilities": missing},
	}
}

var fixtureSecret = rand.Text()

// fixtureSeal signs a request state, and fixtureSealed checks the signature.
func fixtureSeal(state string) string {
	mac := hmac.New(sha256.New, []byte(fixtureSecret))
	mac.Write([]byte(state))
	return state + "." + hex.EncodeToString(mac.Sum(nil))
}

func fixtureSealed(state string) error {
	plain, _, _ := strings.Cut(state, ".")
	if hmac.Equal([]byte(state), []byte(fixtureSeal(plain))) {
		return nil
	}
	return mcpwire.Error{Text: "the request state is not ours", Code: mcp.INVALID_PARAMS}
}
