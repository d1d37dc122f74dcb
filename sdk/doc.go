// Package sdk runs agents of the BMAD method without a host: it carries their conversations to a
// model, gives them files and tools, asks the person, and counts the costs.
//
// # A first session
//
// A [Client] needs a provider, which carries requests to a model, and a project with an
// installation of the method. [Client.StartAgent] prepares one command for an agent, and
// [Session.Run] carries it out:
//
//	p, err := anthropic.New(anthropic.Options{}) // its DefaultModel, with the key of ANTHROPIC_API_KEY
//	…
//	client, err := sdk.New(sdk.Options{Provider: p, Project: "/home/me/shop", CostLimit: 2 * price.Dollar})
//	…
//	defer client.Close()
//	session, err := client.StartAgent(ctx, "pm", "*create-prd", sdk.SessionOptions{})
//	…
//	result, err := session.Run(ctx)
//	for _, d := range result.Documents {
//		fmt.Println(d.Path)
//	}
//
// # Agents
//
// [Client.Agents] lists the agents of every installation: of the project, the home folder, npm packages of the
// scopes @bmad-…, and the folders added by [Client.LoadAgents]. An item of an agent's menu, written *code,
// /code or code, stands for a workflow or task; *help shows the menu without a call of the model.
//
// # Conversations
//
// A [Conversation] takes turns: [Conversation.Ask] returns the finished [Turn]. [Conversation.Send]
// returns at once, and [Conversation.Wait] waits for the turn. Messages and files last until
// [Conversation.End].
//
// # Events
//
// [Session.Stream] and [Conversation.Stream] do the work in a loop over the events:
//
//	for e, err := range conversation.Stream(ctx, "Write the PRD") {
//		…
//	}
//
// Events gives them as a channel beside the work, for any number of readers.
//
// # Questions
//
// An agent asks with a tool, and the work waits. The function [SessionOptions.OnQuestion] answers, or the event
// [EventQuestion] announces the question and [Session.Answer] answers it by id, so that several can be open. A
// question older than PauseTimeout pauses the session: it is saved, and [Client.OpenSession] goes on with it in
// any process, with the answer to the very use of the tool that asked. In a conversation, a question at the end
// of a text is announced, too; any message answers it.
//
// # Tools of your own
//
// A [Tool] has a Go function for the model, whose input is a struct:
//
//	stock := sdk.Tool[Item, int]{
//		Name: "stock", Description: "Say how many of an item the shop has.", Idempotent: true,
//		Run: func(ctx context.Context, i Item) (int, error) { return shop.Count(ctx, i.Name) },
//	}
//	session, err := client.StartAgent(ctx, "pm", "Plan the sale", sdk.SessionOptions{Tools: []sdk.AnyTool{stock}})
//
// Package toolserver has the tools of MCP servers. Tools are not saved: [OpenOptions] takes them again.
//
// # Answers of a type
//
// With [SessionOptions.Output], or by [Output.Ask] for one turn, the model answers with JSON of a Go
// type:
//
//	plan, turn, err := sdk.Output[Plan]{}.Ask(ctx, conversation, "Plan the sale")
//
// # Documents by a template
//
// Package template writes the document of a template of the method, section by section, by steps of a conversation
// ([Conversation.SendStep]); [Client.Template] finds the file.
//
// # A choice of models
//
// [Options.Models] chooses the model for a turn, a section, a sub-agent or a repair, and [SmallModel] is a choice
// ready made. The savings by the list of prices are in [price.Report].
//
// # Files
//
// An agent sees absolute paths in a file system of package vfs. By default changes stay in memory, over the
// files of the method; [vfs.OpenDir] lets the agent work on a folder of the disk, and [vfs.NewOverlay] shows
// the difference before it is applied.
//
// # Money
//
// A limit holds for a session with all sub-agents. It needs a model with a known price; an answer is cut short
// if the rest of the limit allows no more, and refused if it allows less than 1,000 tokens. A session without
// money left is paused; [Client.OpenWith] goes on with more. Amounts are in nano-dollars, by the dated list of
// package price.
//
// # Persistence
//
// A session is saved after each round of tools, each question and each turn, with the messages as the provider
// sent them, the files and the costs: in the project's folder .bmad-task/conversations, or in memory if there
// is no project. Whatever ends the program, the session goes on behind the last saved step. An interrupted tool
// is used again then, and a sub-agent starts over; but a tool of your own that is not idempotent, and an edit
// of a file outside the session, are recorded before they begin and never repeated: the model reads that they
// may have done the work. One process at a time works on a session.
//
// # Testing
//
// Package provider/fake plays a model by a script, and package sdktest a model's server. Both
// enforce the rules of real servers for conversations.
//
// # Invariants
//
//   - A conversation is saved after each step, as the provider sent it, and its next step
//     follows from that state alone; one process at a time works on it (TestCrash, TestState).
//   - A tool of the caller's that may have done its work is not used again (TestCrashAtAnOwnTool).
//   - Keys of models come from the environment and are never written (TestNoKeyIsRecorded).
package sdk
