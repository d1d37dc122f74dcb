package sdk_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// agentFile is an agent in the form of the method's version 4.
const agentFile = "# writer\n\n```yaml\nagent:\n  name: Ada\n  id: writer\n  title: Technical Writer\npersona:\n  role: Writes short documents\ncommands:\n  - outline: Write an outline\n```\n"

// newClient returns a client with one agent and a model that follows a script.
func newClient(o sdk.Options, steps ...fake.Step) (*sdk.Client, func()) {
	folder, err := os.MkdirTemp("", "sdk-example-")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "writer.md"), []byte(agentFile), 0o600); err != nil {
		panic(err)
	}
	o.Provider, o.Prices, o.Folders = fake.New(steps...), fake.Prices(), []string{folder}
	c, err := sdk.New(o)
	if err != nil {
		panic(err)
	}
	return c, func() { c.Close(); _ = os.RemoveAll(folder) }
}

func ExampleClient_StartAgent() {
	client, end := newClient(sdk.Options{},
		fake.Call("write_file", map[string]string{"file_path": "/docs/outline.md", "content": "# Outline\n"}),
		fake.Text("The outline is in /docs/outline.md."))
	defer end()

	session, err := client.StartAgent(context.Background(), "writer", "*outline of a shop", sdk.SessionOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := session.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text)
	for _, d := range result.Documents {
		fmt.Printf("%s: %q\n", d.Path, d.Content)
	}
	// Output:
	// The outline is in /docs/outline.md.
	// /docs/outline.md: "# Outline\n"
}

func ExampleClient_StartConversation() {
	client, end := newClient(sdk.Options{}, fake.Text("Hello, I write."), fake.Text("In two days."))
	defer end()
	ctx := context.Background()

	conversation, err := client.StartConversation(ctx, "writer", sdk.ConversationOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, words := range []string{"Who are you", "When is it done"} {
		if err := conversation.Send(ctx, words); err != nil {
			fmt.Println(err)
			return
		}
		turn, err := conversation.Wait(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(turn.Response)
	}
	outcome, err := conversation.End(ctx)
	fmt.Println(len(outcome.Turns), "turns", err)
	// Output:
	// Hello, I write.
	// In two days.
	// 2 turns <nil>
}

func ExampleSession_Answer() {
	client, end := newClient(sdk.Options{},
		fake.Call("ask_user", map[string]any{"question": "Who reads it?", "options": []string{"developers", "everybody"}}),
		fake.Text("I write for developers."))
	defer end()

	session, err := client.StartAgent(context.Background(), "writer", "Write a guide", sdk.SessionOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	events := session.Events()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range events {
			if e.Type == sdk.EventQuestion {
				fmt.Println(e.Question.Question, e.Question.Options)
				_ = session.Answer(context.Background(), e.Question.ID, "developers")
			}
		}
	}()
	result, err := session.Run(context.Background())
	<-done
	fmt.Println(result.Text, err)
	// Output:
	// Who reads it? [developers everybody]
	// I write for developers. <nil>
}

// A question that nobody answers pauses the session. Another process goes on with it.
func ExampleClient_OpenSession() {
	store := sdk.NewMemStore() // by default a folder of the project, which lasts
	ctx := context.Background()
	client, end := newClient(sdk.Options{Store: store}, fake.Call("ask_user", map[string]any{"question": "Which colour?"}))
	session, err := client.StartAgent(ctx, "writer", "Describe the box", sdk.SessionOptions{PauseTimeout: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := session.Run(ctx)
	fmt.Println(result.Status, result.Questions[0].Question, err)
	end()

	client, end = newClient(sdk.Options{Store: store}, fake.Text("It is blue."))
	defer end()
	again, err := client.OpenSession(ctx, session.ID())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := again.Answer(ctx, "", "blue"); err != nil {
		fmt.Println(err)
		return
	}
	result, err = again.Resume(ctx)
	fmt.Println(result.Status, result.Text, err)
	// Output:
	// paused Which colour? <nil>
	// ended It is blue. <nil>
}

func ExampleSession_Costs() {
	call := fake.Text("Done.")
	call.Usage = provider.Usage{Input: 1000, Output: 500}
	client, end := newClient(sdk.Options{CostLimit: price.Dollar}, call)
	defer end()

	session, err := client.StartAgent(context.Background(), "writer", "Say done", sdk.SessionOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := session.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	costs := session.Costs()
	fmt.Println(costs.Spent, "of", costs.Limit)
	for _, line := range costs.Models {
		fmt.Println(line.Model, line.Calls, "call,", line.Usage.Prompt(), "tokens in,", line.Usage.Output, "out")
	}
	// Output:
	// $0.002 of $1.00
	// fake-1 1 call, 1000 tokens in, 500 out
}

func ExampleClient_Agents() {
	client, end := newClient(sdk.Options{})
	defer end()
	agent, err := client.Agent(context.Background(), "writer")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(agent.Name, "-", agent.Title)
	for _, c := range agent.Commands {
		fmt.Println(c.Code, "-", c.Description)
	}
	// Output:
	// Ada - Technical Writer
	// *outline - Write an outline
}

// The agent's files can be the caller's own.
func ExampleSessionOptions() {
	files := vfs.NewMem(nil)
	if err := files.Write("/notes.txt", []byte("Sell boxes.")); err != nil {
		fmt.Println(err)
		return
	}
	client, end := newClient(sdk.Options{}, fake.Call("read_file", map[string]string{"file_path": "/notes.txt"}), fake.Text("A shop for boxes."))
	defer end()
	session, err := client.StartAgent(context.Background(), "writer", "Sum up /notes.txt", sdk.SessionOptions{FS: files})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := session.Run(context.Background())
	fmt.Println(result.Text, err)
	// Output: A shop for boxes. <nil>
}
