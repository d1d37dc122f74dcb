package sdk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// work takes the steps of a turn, saving if something was done, until it is over.
func (t *thread) work(ctx context.Context) error {
	if err := t.save(ctx); err != nil {
		return err
	}
	for {
		t.mu.Lock()
		pausing, next := t.pausing, t.next()
		t.mu.Unlock()
		if pausing {
			return errPaused
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		done, err := t.step(ctx, next)
		if done || err != nil {
			return err
		}
		if next == moveTools && t.Options.SaveTurnsOnly {
			continue
		}
		if err := t.save(ctx); err != nil {
			return err
		}
	}
}

// step takes one step; done is true at the end of the turn.
func (t *thread) step(ctx context.Context, next move) (done bool, err error) {
	switch next {
	case moveCall:
		return false, t.call(ctx)
	case moveTools:
		return false, t.useTools(ctx)
	case moveAskMore:
		return false, t.askMore(ctx)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch next {
	case moveCutTools:
		t.Cut = true
		t.say(cutToolText)
		return false, nil
	case moveContinue:
		t.Cut = true
		t.say("", provider.TextBlock(continueText))
		return false, nil
	case moveRefused:
		return true, &RefusalError{t.response()}
	case moveTruncated:
		return true, ErrTruncated
	case moveFull:
		return true, ErrContextFull
	case moveDone:
		return true, nil
	}
	return true, fmt.Errorf("the step %d is unknown", next)
}

// call has the model answer.
func (t *thread) call(ctx context.Context) error {
	t.mu.Lock()
	r := provider.Request{System: t.System, Messages: append([]provider.Message(nil), t.Messages...), Tools: t.box.all, MaxTokens: t.Options.MaxTokens}
	t.mu.Unlock()
	response, err := t.send(ctx, r)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Rounds++
	if response.Stop == provider.PauseTurn {
		t.Pauses++
	} else {
		t.Pauses = 0
	}
	if response.Stop != provider.MaxTokens {
		t.Cut = false
	}
	t.hear(response)
	return t.budget.Check()
}

// send sends a request within the budget, and counts it.
func (t *thread) send(ctx context.Context, r provider.Request) (*provider.Response, error) {
	model := t.Provider.Model
	e := price.Estimate{Prompt: estimate(r)}
	room, err := t.budget.Room(model, t.client.o.Clock(), e.Prompt, r.MaxTokens)
	if err != nil {
		return nil, err
	}
	r.MaxTokens = room
	response, err := t.client.o.Provider.Send(ctx, r, func(d provider.Delta) {
		switch {
		case d.Retry != nil:
			t.event(Event{Type: EventRetry, Text: d.Retry.Because.Error(), Attempt: d.Retry.Attempt, AfterMS: d.Retry.After.Milliseconds()})
		case d.Text != "":
			t.event(Event{Type: EventTextDelta, Text: d.Text})
		}
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	if len(response.Message.Blocks) > 0 { // some servers do not keep to the bound
		e.Output = max(int64(room), estimate(provider.Request{Messages: []provider.Message{response.Message}}))
	}
	t.count(response, e)
	return response, nil
}

// count adds the cost of a call.
func (t *thread) count(r *provider.Response, e price.Estimate) {
	charge := t.budget.Spend(t.Provider.Model, t.client.o.Clock(), r.Usage, e)
	report := t.budget.Report()
	t.mu.Lock()
	defer t.mu.Unlock()
	c := Cost{Spent: int64(report.Spent), Limit: int64(report.Limit), Prompt: charge.Usage.Prompt(), Output: charge.Usage.Output}
	if charge.Known {
		amount := int64(charge.Cost)
		c.Call = &amount
	}
	t.publish(Event{Type: EventCost, Cost: &c})
	t.Turn.Usage = t.Turn.Usage.Plus(charge.Usage)
	t.Turn.Spent += charge.Cost
	if charge.Percent > 0 {
		warning := c
		warning.Percent = charge.Percent
		t.publish(Event{Type: EventCostWarning, Cost: &warning})
	}
	if !charge.Known && !t.warned {
		t.warned = true
		t.publish(Event{Type: EventWarning, Text: fmt.Sprintf("the price of the model %q is not known: its calls are counted without one", t.Provider.Model)})
	}
}

// bytesPerToken is deliberately small: a prompt that is thought too long costs a shorter answer
// near the limit, one that is thought too short breaks the limit. English has about 4 bytes a
// token, Chinese 3.
const bytesPerToken = 3

// estimate returns how many tokens a request has at most, about.
func estimate(r provider.Request) int64 {
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

// useTools uses the tools that the last message asks for, in their order, and puts its questions.
// Then it waits for the answers.
func (t *thread) useTools(ctx context.Context) error {
	t.mu.Lock()
	open := t.open()
	t.mu.Unlock()
	for _, use := range open {
		if use.Name == askUser && !t.Options.NoQuestions {
			t.ask(use)
			continue
		}
		t.use(ctx, use)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	t.mu.Lock()
	waits := len(t.Questions) > 0
	t.mu.Unlock()
	if waits {
		if err := t.await(ctx); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.say("")
	return t.budget.Check()
}

// use uses one tool.
func (t *thread) use(ctx context.Context, use provider.Block) {
	call := ToolCall{Name: use.Name, Input: clip(use.Input, 300)}
	started := call
	t.event(Event{Type: EventToolStarted, Tool: &started})
	text, failed := t.box.execute(ctx, use)
	if ctx.Err() != nil { // it is used again, or refused with the person's next words
		return
	}
	call.Result, call.Failed = clip(text, 300), failed
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(use.ID, provider.Result(use.ID, text, failed))
	t.Turn.Tools = append(t.Turn.Tools, call)
	t.publish(Event{Type: EventToolFinished, Tool: &call})
}

// ask puts the question of a tool's use to the person, unless that was done before.
func (t *thread) ask(use provider.Block) {
	q, err := parseQuestion(use)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.keep(use.ID, provider.Result(use.ID, err.Error(), true))
		return
	}
	if !slices.ContainsFunc(t.Questions, func(open Question) bool { return open.ID == q.ID }) {
		t.put(q)
	}
}

// put puts a question to the person. The caller holds the lock.
func (t *thread) put(q Question) {
	t.Questions = append(t.Questions, q)
	t.publish(Event{Type: EventQuestion, Question: &q})
}

// askMore asks whether a turn of many calls goes on.
func (t *thread) askMore(ctx context.Context) error {
	t.mu.Lock()
	if t.Options.NoQuestions {
		t.mu.Unlock()
		return fmt.Errorf("%w after %d calls of the model", ErrStopped, t.Options.Rounds)
	}
	if len(t.Questions) == 0 && t.Results[fromRounds].Text == "" {
		t.put(Question{ID: fmt.Sprintf("q%d-rounds-%d", len(t.Turns)+1, t.events.seq+1), Source: fromRounds, Options: []string{"go on", "stop"},
			Question: fmt.Sprintf("The agent has called the model %d times for this. Shall it go on?", t.Rounds)})
	}
	t.mu.Unlock()
	if err := t.await(ctx); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	word := t.Results[fromRounds].Text
	delete(t.Results, fromRounds)
	if isOneOf(word, "stop", "no", "n", "end", "cancel", "停", "停止", "不", "否") {
		return ErrStopped
	}
	t.Rounds = 0
	return nil
}

// await waits until every question is answered, or the work is to pause.
func (t *thread) await(ctx context.Context) error {
	t.mu.Lock()
	if len(t.Questions) > 0 {
		t.Status = Waiting
		t.wake()
	}
	t.mu.Unlock()
	if err := t.save(ctx); err != nil {
		return err
	}
	var late <-chan time.Time
	if t.Options.PauseTimeout > 0 {
		timer := time.NewTimer(t.Options.PauseTimeout)
		defer timer.Stop()
		late = timer.C
	}
	for {
		t.mu.Lock()
		open, pausing, changed := len(t.Questions), t.pausing, t.changed
		if open == 0 {
			t.Status = Processing
		}
		t.mu.Unlock()
		if open == 0 {
			return nil
		}
		if pausing {
			return errPaused
		}
		select {
		case <-changed:
		case <-late:
			return errPaused
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// errPaused ends the work on a turn that is to go on later.
var errPaused = errors.New("paused")
