package template_test

import (
	"context"
	"fmt"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
	"github.com/bmad-mcp/bmad-mcp/sdk/template"
)

func Example() {
	model := fake.New(fake.Text(`{"goals":"- Sell bread","{{project_name}}":"Crumb"}`))
	client, err := sdk.New(sdk.Options{Provider: model, Prices: fake.Prices()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	order := template.Order{Words: "a shop for bread", Template: []byte(`
template:
  output: {title: "{{project_name}} Brief", filename: docs/brief.md}
sections:
  - {id: goals, title: Goals, type: bullet-list}
`)}
	how := sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{Agent: &sdk.Agent{AgentInfo: sdk.AgentInfo{ID: "writer"}}}}
	job, err := template.Start(context.Background(), client, "", order, how)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.Estimate().Calls, "call")
	result, err := job.Run(context.Background())
	fmt.Println(result.Path, result.Done, err)
	fmt.Print(result.Text)
	// Output:
	// 1 call
	// /docs/brief.md true <nil>
	// # Crumb Brief
	//
	// ## Goals
	//
	// - Sell bread
}
