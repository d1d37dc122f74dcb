//go:build conformance

package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
)

// fixtureTaskTools serves the scenarios tasks-*.
func fixtureTaskTools() []server.ServerTool {
	return []server.ServerTool{
		fixtureTool("greet", "Answers at once.", `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`,
			func(_ context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return mcp.NewToolResultText("Hello, " + call.GetString("name", "") + "!"), nil
			}),
		fixtureTool("slow_compute", "Takes as long as it is told, as a task where the client takes one.",
			`{"type":"object","properties":{"seconds":{"type":"number"},"label":{"type":"string"}}}`, fixtureSlow),
		fixtureTool("failing_job", "Fails after a second, and only as a task.", "", fixtureTask(func(ctx context.Context) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("The job failed."), fixtureSleep(ctx, time.Second)
		})),
		fixtureTool("protocol_error_job", "Ends in an error of the protocol, and only as a task.", "", fixtureTask(func(context.Context) (*mcp.CallToolResult, error) {
			return nil, errors.New("the job broke")
		})),
		fixtureTool("confirm_delete", "Asks before it goes on, as a task.", `{"type":"object","properties":{"filename":{"type":"string"}}}`,
			fixtureAskingTask(func(call mcp.CallToolRequest) (*server.InputRequestBuilder, string) {
				const confirm = `{"confirm":{"type":"boolean"}}`
				if fixtureAnswer(call.Params.MultiRoundTripParams, "confirm", "confirm") == nil {
					return server.NewInputRequestBuilder("").Elicit("confirm", fixtureForm("Delete "+call.GetString("filename", "")+"?", confirm, "confirm")), ""
				}
				return nil, "Deleted."
			})),
		fixtureTool("multi_input", "Asks two things at once, as a task.", "",
			fixtureAskingTask(func(call mcp.CallToolRequest) (*server.InputRequestBuilder, string) {
				p := call.Params.MultiRoundTripParams
				if fixtureAnswer(p, "first", "name") == nil || fixtureAnswer(p, "second", "name") == nil {
					return server.NewInputRequestBuilder("").Elicit("first", fixtureForm("What is the first name?", fixtureName, "name")).
						Elicit("second", fixtureForm("What is the second name?", fixtureName, "name")), ""
				}
				return nil, "Both are known."
			})),
		fixtureTool("test_tool_with_task", "Asks for a name, and greets as a task.", "", fixtureGreetingTask),
	}
}

// fixtureTask makes a handler of work done as a task only.
func fixtureTask(work func(context.Context) (*mcp.CallToolResult, error)) server.ToolHandlerFunc {
	return func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if !mcpwire.Detach(ctx, "at work") {
			return nil, mcpwire.TasksNeeded()
		}
		return work(ctx)
	}
}

// fixtureAskingTask makes a handler of work done as a task only, which asks until it has a text.
func fixtureAskingTask(next func(mcp.CallToolRequest) (ask *server.InputRequestBuilder, text string)) server.ToolHandlerFunc {
	return func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return fixtureTask(func(context.Context) (*mcp.CallToolResult, error) {
			ask, text := next(call)
			if ask != nil {
				return ask.ToolResult(), nil
			}
			return mcp.NewToolResultText(text), nil
		})(ctx, call)
	}
}

func fixtureSlow(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	mcpwire.Detach(ctx, "computing")
	seconds := call.GetFloat("seconds", 0)
	if err := fixtureSleep(ctx, time.Duration(seconds*float64(time.Second))); err != nil {
		return nil, err
	}
	return mcp.NewToolResultText(fmt.Sprintf("%s took %v s.", call.GetString("label", "It"), seconds)), nil
}

// fixtureGreetingTask has its answer before it becomes a task.
func fixtureGreetingTask(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	name, ok := fixtureAnswer(call.Params.MultiRoundTripParams, "user_name", "name").(string)
	if !ok {
		return server.NewInputRequestBuilder("").Elicit("user_name", fixtureForm("What is your name?", fixtureName, "name")).ToolResult(), nil
	}
	return fixtureTask(func(context.Context) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("Hello, " + name + "!"), nil
	})(ctx, call)
}

// fixtureSleep waits until the time is over, or the work is cancelled.
func fixtureSleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
