package fake_test

import (
	"context"
	"fmt"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// A model that reads a file and then answers, as its caller sees it.
func Example() {
	model := fake.New(
		fake.Call("read_file", map[string]string{"file_path": "/prd.md"}),
		fake.Text("The document is complete."),
	)
	r := provider.Request{MaxTokens: 1000, Messages: []provider.Message{
		{Role: provider.User, Blocks: []provider.Block{provider.TextBlock("Check the PRD.")}},
	}}
	answer, err := model.Send(context.Background(), r, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	use := answer.Message.Uses()[0]
	fmt.Println(use.Name, use.Input)

	r.Messages = append(r.Messages, answer.Message,
		provider.Message{Role: provider.User, Blocks: []provider.Block{provider.Result(use.ID, "# PRD", false)}})
	answer, err = model.Send(context.Background(), r, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Message.Text())
	// Output:
	// read_file {"file_path":"/prd.md"}
	// The document is complete.
}
