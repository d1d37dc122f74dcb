package sdk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
)

// Ask is Send, and returns its turn once it is over. If a question waits and no OnQuestion answers it, the
// error is [ErrQuestion]: Questions has it, Answer answers it, and Wait returns the turn. A turn that is
// paused has its reason, or [ErrPaused]. If the context ends, the turn goes on.
func (c *Conversation) Ask(ctx context.Context, text string) (*Turn, error) {
	return c.ask(ctx, text, c.t.output)
}

func (c *Conversation) ask(ctx context.Context, text string, form *schema) (*Turn, error) {
	n, err := c.send(ctx, text, form)
	if err != nil {
		return nil, err
	}
	return c.waitForTurn(ctx, n, c.t.onQuestion == nil)
}

// waitForTurn waits until the turn of an index is over and saved, or paused, whatever turns others begin then;
// with atQuestion also until the turn waits for an answer.
func (c *Conversation) waitForTurn(ctx context.Context, n int, atQuestion bool) (*Turn, error) {
	t := c.t
	t.mu.Lock()
	defer t.mu.Unlock()
	open := func() bool { return t.state.Turn != nil && len(t.state.Turns) == n }
	asked := func() bool { return atQuestion && open() && t.state.Status == Waiting }
	// The next turn begins once this one is saved.
	next := func() bool { return t.state.Turn != nil && len(t.state.Turns) > n || len(t.state.Turns) > n+1 }
	err := t.waitUntil(ctx, func() bool { return !t.working || asked() || next() })
	switch {
	case err != nil:
		return nil, err
	case n < 0:
		return &Turn{}, nil
	case asked() && t.working:
		return t.state.lastTurn(), ErrQuestion
	case open():
		return t.state.lastTurn(), cmp.Or(t.failure, ErrPaused)
	}
	turn := t.state.Turns[n]
	return &turn, turn.err
}

// Output has the model answer with a value of T, as JSON. The schema follows from T as a [Tool]'s from its
// input.
type Output[T any] struct{}

func (Output[T]) form() (*schema, error) { return schemaOf[T]() }

// Ask is [Conversation.Ask] for one answer of type T. The value is valid if the error is nil; an unfit answer
// is an [*OutputError].
func (o Output[T]) Ask(ctx context.Context, c *Conversation, text string) (value T, turn *Turn, err error) {
	form, err := o.form()
	if err != nil {
		return value, nil, err
	}
	if turn, err = c.ask(ctx, text, form); err != nil {
		return value, turn, err
	}
	value, err = o.Decode(turn.Output)
	return value, turn, err
}

// Decode returns the value of [Turn.Output] or [Result.Output].
func (Output[T]) Decode(output json.RawMessage) (value T, err error) {
	if len(output) == 0 {
		return value, errors.New("there is no output: the turn is not over, or was asked for text")
	}
	err = json.Unmarshal(output, &value)
	return value, err
}
