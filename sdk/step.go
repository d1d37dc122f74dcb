package sdk

import (
	"context"
	"encoding/json"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// SendStep is [Conversation.Send] for a step. A schema that cannot be used is an error before anything is sent. A turn
// that ends early is paused, for Resume, unless the model has answered: see [Turn.Unfit].
func (c *Conversation) SendStep(ctx context.Context, s Step) error {
	form, err := s.Output.form()
	if err == nil {
		_, err = c.t.beginTurn(ctx, s.Title, form, &s)
	}
	if err != nil {
		return err
	}
	return c.t.workInBackground()
}

// ShowDrafts sets the function that writes an answer under review for the person; without it they see the JSON.
func (c *Conversation) ShowDrafts(show func(output json.RawMessage) string) { c.t.showDraft = show }

// Job returns [ConversationOptions.Job].
func (c *Conversation) Job() json.RawMessage { return c.t.state.Job }

// AsksNobody reports whether the conversation was begun with NoQuestions.
func (c *Conversation) AsksNobody() bool { return c.t.state.Options.NoQuestions }

// Write makes or replaces a file of the agent, as a document of the program. The name is absolute.
func (c *Conversation) Write(name string, data []byte) error { return c.t.writeDocument(name, data) }

// EstimateStep returns the tokens and the cost of a step with a text if the model answers once, at its greatest length, with
// nothing from a cache; known is false if the price of the model is not known. Nothing is called.
func (c *Conversation) EstimateStep(text string) (e price.Estimate, cost price.Money, known bool) {
	message := provider.Message{Blocks: []provider.Block{provider.TextBlock(text)}}
	e.Prompt = estimateTokens(provider.Request{System: c.t.state.System, Tools: c.t.tools, Messages: []provider.Message{message}})
	e.Output = int64(c.t.state.Options.MaxTokens)
	use := provider.Usage{CacheWrite5m: e.Prompt, Output: e.Output}
	cost, known = c.t.client.o.Prices.Cost(c.t.state.Provider.Model, c.t.client.o.Clock(), use)
	return e, cost, known
}
