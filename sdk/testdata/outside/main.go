// Command outside plans a sale with a tool of its own, the tools of an MCP server, an answer of a Go type
// and a question to the person. A script plays the model.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
	"github.com/bmad-mcp/bmad-mcp/sdk/toolserver"
)

type item struct {
	Name string `json:"name" jsonschema:"the item's name in the catalogue"`
}

type plan struct {
	Item  string `json:"item"`
	Price int    `json:"price"`
	Until string `json:"until,omitempty"`
}

func main() {
	if len(os.Args) > 1 {
		serveCalendar()
		return
	}
	ctx := context.Background()
	self, err := os.Executable()
	exitOn(err)
	calendar, err := toolserver.Connect(ctx, toolserver.Options{Name: "calendar", Command: []string{self, "serve"}})
	exitOn(err)
	defer calendar.Close()

	stock := sdk.Tool[item, int]{Name: "stock", Description: "Count an item in the shop.", Idempotent: true,
		Run: func(_ context.Context, i item) (int, error) { return len(i.Name), nil }}
	model := fake.New(
		fake.Call("stock", item{Name: "boxes"}),
		fake.Call("calendar_next_holiday", nil),
		fake.Call("ask_user", map[string]any{"question": "Which price?"}),
		fake.Text(`{"item":"boxes","price":"twelve"}`), // goes back to the model
		fake.Text(`{"item":"boxes","price":12,"until":"12-25"}`))
	client, err := sdk.New(sdk.Options{Provider: model, Models: sdk.SmallModel(model, 1000), Prices: fake.Prices()})
	exitOn(err)
	defer client.Close()
	conversation, err := client.StartConversation(ctx, "", sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{
		Agent:      &sdk.Agent{AgentInfo: sdk.AgentInfo{ID: "seller", Name: "Ada"}, Persona: sdk.Persona{Role: "Plans sales"}},
		Tools:      append(calendar.Tools(), stock),
		OnQuestion: func(_ context.Context, q sdk.Question) (string, error) { fmt.Println(q.Question); return "12", nil },
	}})
	exitOn(err)
	sale, turn, err := sdk.Output[plan]{}.Ask(ctx, conversation, "Plan a sale")
	exitOn(err)
	for _, call := range turn.Tools {
		fmt.Println(call.Name, call.Result)
	}
	fmt.Printf("%+v after %d calls\n", sale, conversation.Costs().Models[0].Calls)
}

// serveCalendar is an MCP server with one tool.
func serveCalendar() {
	s := server.NewMCPServer("calendar", "1")
	s.AddTool(mcp.NewTool("next_holiday", mcp.WithReadOnlyHintAnnotation(true)),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("12-25"), nil
		})
	exitOn(server.ServeStdio(s))
}

func exitOn(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
