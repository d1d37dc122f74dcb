package sdk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// takeSteps takes the steps of a turn, saving after each with an effect, until the turn is over. The caller
// holds the lock; a step leaves it only to wait for something outside.
func (t *thread) takeSteps(ctx context.Context) error {
	if err := t.save(ctx); err != nil {
		return err
	}
	for {
		if t.pausing {
			return errPaused
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		done, err := t.takeStep(ctx)
		if done || err != nil {
			return err
		}
		if t.state.Stop == "" && t.state.Options.SaveTurnsOnly {
			continue
		}
		if err := t.save(ctx); err != nil {
			return err
		}
	}
}

// maxPauses is how often in a row a server may ask to be called again.
const maxPauses = 5

// The loop's own texts for the model.
const (
	cutToolText = "Your answer was cut at its limit, so that this tool was not used. Use it again with less at once, " +
		"such as a file in several pieces."
	newWordsText = "the user said something else instead"
)

// takeStep takes the next step, which follows from the state alone, so that a turn goes on after anything. done
// is true at the end of the turn.
func (t *thread) takeStep(ctx context.Context) (done bool, err error) {
	uses := len(t.state.toolUses()) > 0
	switch t.state.Stop {
	case "":
		if help, asked := t.menu.helpFor(t.state.Turn.User); asked && t.state.Rounds == 0 { // it costs nothing
			t.state.addAnswer(&provider.Response{Message: provider.Message{Blocks: []provider.Block{provider.TextBlock(help)}}})
			return true, nil
		}
		if t.state.Rounds >= t.state.Options.Rounds {
			return false, t.askMore(ctx)
		}
		return false, t.callModel(ctx)
	case provider.Refusal:
		return true, &RefusalError{t.state.responseText()}
	case provider.ContextWindow:
		return true, ErrContextFull
	case provider.PauseTurn:
		if t.state.Pauses > maxPauses {
			return true, ErrTruncated
		}
		return false, t.callModel(ctx)
	case provider.MaxTokens:
		if t.state.Cut {
			return true, ErrTruncated
		}
		t.state.Cut = true
		if uses {
			t.state.addUserMessage(cutToolText)
		} else {
			t.state.addUserMessage("", provider.TextBlock(continueText))
		}
		return false, nil
	}
	if uses {
		return false, t.useTools(ctx)
	}
	switch done, err = t.finishOutput(); {
	case done && err == nil:
		return t.reviewOutput(ctx)
	case err == nil:
		t.chooseModel(UseRepair)
	}
	return done, err
}

// chooseModel chooses the model of the next call. The present one stays if the other cannot take the messages,
// or if the limit cannot hold for it. The caller holds the lock.
func (t *thread) chooseModel(kind UseKind) {
	if t.client.o.Models == nil {
		return
	}
	use := Use{Agent: t.agent.ID, Kind: kind, Turn: len(t.state.Turns) + 1,
		Prompt: estimateTokens(provider.Request{System: t.state.System, Messages: t.state.Messages, Tools: t.tools})}
	use.Left, use.Limited = t.budget.Left()
	model := t.client.modelFor(t.agent, use)
	if !canCarry(t.state.Messages, t.model.Info(), model.Info()) {
		return
	}
	if err := t.budget.Admit(model.Info().Model, t.client.o.Clock()); err != nil {
		t.publish(Event{Type: EventWarning, Text: fmt.Sprintf("the chosen model is not taken: %v", err)})
		return
	}
	t.model, t.state.Use, t.state.Model = model, &use, model.Info()
}

// callModel has the model answer.
func (t *thread) callModel(ctx context.Context) error {
	response, err := t.sendRequest(ctx, provider.Request{
		System: t.state.System, Messages: slices.Clone(t.state.Messages), Tools: t.tools, MaxTokens: t.state.Options.MaxTokens})
	if err != nil {
		return err
	}
	t.state.Rounds++
	if t.state.Pauses++; response.Stop != provider.PauseTurn {
		t.state.Pauses = 0
	}
	if response.Stop != provider.MaxTokens {
		t.state.Cut = false
	}
	t.state.addAnswer(response)
	return t.budget.Check()
}

// sendRequest sends a request within the budget, and counts it.
func (t *thread) sendRequest(ctx context.Context, r provider.Request) (response *provider.Response, err error) {
	e := price.Estimate{Prompt: estimateTokens(r)}
	r.MaxTokens, err = t.budget.Room(t.model.Info().Model, t.client.o.Clock(), e.Prompt, r.MaxTokens)
	if err != nil {
		return nil, err
	}
	t.withoutLock(func() { response, err = t.askModel(ctx, r) })
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	if len(response.Message.Blocks) > 0 { // some servers do not keep to the bound
		e.Answer = estimateTokens(provider.Request{Messages: []provider.Message{response.Message}})
		e.Output = max(int64(r.MaxTokens), e.Answer)
	}
	t.countCost(response, e)
	return response, nil
}

// askModel has the provider send a request. The provider may be the caller's own, with faults of its own.
func (t *thread) askModel(ctx context.Context, r provider.Request) (response *provider.Response, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &provider.Error{Message: fmt.Sprintf("the provider failed by a fault of its own: %v", cause)}
		}
	}()
	response, err = t.model.Send(ctx, r, t.publishDelta)
	if response == nil && err == nil {
		err = &provider.Error{Message: "the provider returned neither an answer nor an error"}
	}
	return response, err
}

// publishDelta publishes a piece of an answer under way.
func (t *thread) publishDelta(d provider.Delta) {
	switch {
	case d.Retry != nil:
		t.lockAndPublish(Event{Type: EventRetry, Text: d.Retry.Because.Error(), Attempt: d.Retry.Attempt,
			AfterMS: d.Retry.After.Milliseconds()})
	case d.Text != "":
		t.lockAndPublish(Event{Type: EventTextDelta, Text: d.Text})
	}
}

// countCost adds the cost of a call.
func (t *thread) countCost(r *provider.Response, e price.Estimate) {
	model := t.model.Info().Model
	charge := t.budget.Spend(model, t.client.o.Clock(), r.Usage, e)
	own := t.client.providerOf(t.agent).Info().Model
	if cost, known := t.client.o.Prices.Cost(own, t.client.o.Clock(), charge.Usage); known && charge.Known && own != model {
		t.budget.AddSaved(model, cost-charge.Cost)
	}
	report := t.budget.Report()
	c := Cost{Spent: int64(report.Spent), Limit: int64(report.Limit), Prompt: charge.Usage.Prompt(), Output: charge.Usage.Output}
	if charge.Known {
		amount := int64(charge.Cost)
		c.Call = &amount
	}
	t.publish(Event{Type: EventCost, Cost: &c})
	t.state.Turn.Usage = t.state.Turn.Usage.Plus(charge.Usage)
	t.state.Turn.Spent += charge.Cost
	if charge.Percent > 0 {
		warning := c
		warning.Percent = charge.Percent
		t.publish(Event{Type: EventCostWarning, Cost: &warning})
	}
	if !charge.Known && !t.warned {
		t.warned = true
		t.publish(Event{Type: EventWarning, Text: fmt.Sprintf("the price of the model %q is not known: its calls are counted without one", model)})
	}
}

// bytesPerToken is deliberately small: an overrated prompt costs a shorter answer near the limit, an underrated
// one breaks the limit. English has about 4 bytes a token, Chinese 3.
const bytesPerToken = 3

// estimateTokens returns how many tokens a request has at most, about.
func estimateTokens(r provider.Request) int64 {
	bytes := len(r.System)
	for _, tool := range r.Tools {
		bytes += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			bytes += 20 + len(b.Text) + len(b.Name) + max(len(b.Input), len(b.Raw))
		}
	}
	return int64(bytes / bytesPerToken)
}

// useTools uses the tools of the last message, in their order, and puts the questions in it. Then it waits for
// the answers.
func (t *thread) useTools(ctx context.Context) error {
	for _, use := range t.state.toolUses() {
		if _, done := t.state.Results[use.ID]; done {
			continue
		}
		if use.Name == askUser && !t.state.Options.NoQuestions {
			t.askPerson(use)
			continue
		}
		if err := t.useTool(ctx, use); err != nil {
			return err
		}
	}
	if len(t.state.Questions) > 0 {
		if err := t.awaitAnswers(ctx); err != nil {
			return err
		}
	}
	t.state.addUserMessage("")
	return t.budget.Check()
}

// useTool uses one tool, unless it may have been used before.
func (t *thread) useTool(ctx context.Context, use provider.Block) error {
	call := ToolCall{Name: use.Name, Input: clipLine(use.Input, 300)}
	text := interruptedText
	if call.Failed = slices.Contains(t.state.Begun, use.ID); !call.Failed {
		started, once := call, t.mustNotRepeat(use)
		t.publish(Event{Type: EventToolStarted, Tool: &started})
		if once {
			if err := t.recordBegun(ctx, use.ID); err != nil {
				return err
			}
		}
		t.withoutLock(func() { text, call.Failed = t.execute(ctx, use) })
		if t.broken != nil {
			return t.broken
		}
		// Another one is used again, or refused with the person's next words.
		if done := once && !call.Failed; ctx.Err() != nil && !done {
			return ctx.Err()
		}
	}
	call.Result = clipLine(text, 300)
	t.state.keepResult(use.ID, provider.Result(use.ID, text, call.Failed))
	t.state.Turn.Tools = append(t.state.Turn.Tools, call)
	t.publish(Event{Type: EventToolFinished, Tool: &call})
	return ctx.Err()
}

// askPerson puts the question of a tool's use to the person, unless it is open already.
func (t *thread) askPerson(use provider.Block) {
	q, err := parseQuestion(use)
	switch {
	case err != nil:
		t.state.keepResult(use.ID, provider.Result(use.ID, err.Error(), true))
	case !slices.ContainsFunc(t.state.Questions, func(open Question) bool { return open.ID == q.ID }):
		t.putQuestion(q)
	}
}

// putQuestion puts a question to the person.
func (t *thread) putQuestion(q Question) {
	t.state.Questions = append(t.state.Questions, q)
	t.publish(Event{Type: EventQuestion, Question: &q})
}

// askMore asks whether a turn of many calls goes on.
func (t *thread) askMore(ctx context.Context) error {
	if t.state.Options.NoQuestions {
		return fmt.Errorf("%w after %d calls of the model", ErrStopped, t.state.Options.Rounds)
	}
	word, err := t.askOwn(ctx, Question{Source: fromRounds, Options: []string{"go on", "stop"},
		Question: fmt.Sprintf("The agent has called the model %d times for this. Shall it go on?", t.state.Rounds)})
	if err != nil {
		return err
	}
	if isOneOf(word, "stop", "no", "n", "end", "cancel", "停", "停止", "不", "否") {
		return ErrStopped
	}
	t.state.Rounds = 0
	return nil
}

// askOwn puts a question of the loop's own, and returns the answer.
func (t *thread) askOwn(ctx context.Context, q Question) (words string, err error) {
	if len(t.state.Questions) == 0 && t.state.Results[q.Source].Text == "" {
		q.ID = fmt.Sprintf("q%d-%s-%d", len(t.state.Turns)+1, q.Source, t.events.seq+1)
		t.putQuestion(q)
	}
	if err := t.awaitAnswers(ctx); err != nil {
		return "", err
	}
	words = t.state.Results[q.Source].Text
	delete(t.state.Results, q.Source)
	return words, nil
}

// reviseText asks for another draft.
const reviseText = "The person has read your draft, and says:\n\n%s\n\nAnswer with the whole JSON value again, changed accordingly."

// reviewOutput has the person accept an answer, or say what to change in it.
func (t *thread) reviewOutput(ctx context.Context) (done bool, err error) {
	if t.state.Review == nil || t.state.Options.NoQuestions {
		return true, nil
	}
	q := *t.state.Review
	q.Source, q.Options, q.Context = fromReview, append([]string{"go on"}, q.Options...), string(t.state.Turn.Output)
	if t.showDraft != nil {
		q.Context = t.showDraft(t.state.Turn.Output)
	}
	words, err := t.askOwn(ctx, q)
	if err != nil {
		return false, err
	}
	if isOneOf(words, "go on", "proceed to next section", "ok", "yes", "y", "accept", "继续", "好", "好的", "可以", "是") {
		return true, nil
	}
	t.state.Turn.Output, t.state.Repairs = nil, 0
	t.state.addUserMessage("", provider.TextBlock(fmt.Sprintf(reviseText, words)))
	return false, nil
}

// awaitAnswers waits until every question is answered, or the work is to pause.
func (t *thread) awaitAnswers(ctx context.Context) error {
	if len(t.state.Questions) > 0 {
		t.state.Status = Waiting
		t.wakeWaiters()
	}
	if err := t.save(ctx); err != nil {
		return err
	}
	waiting := ctx
	if t.state.Options.PauseTimeout > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, t.state.Options.PauseTimeout)
		defer cancel()
	}
	err := t.waitUntil(waiting, func() bool { return len(t.state.Questions) == 0 || t.pausing })
	switch {
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case len(t.state.Questions) > 0:
		return errPaused
	}
	t.state.Status = Processing
	return nil
}

// errPaused ends the work on a turn until Resume.
var errPaused = errors.New("paused")
