package sdk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Step is a message of a program that leads an agent through work in parts. The agent has forgotten the messages
// before: it knows Text and the files alone.
type Step struct {
	// Name is kept in [Turn.Step], for the program; Title in [Turn.User], for people.
	Name, Title string
	Text        string
	// Output is the type of the answer.
	Output AnyOutput
	// Review, if not nil, is put to the person with each answer as Context, until the reply is "go on"; any
	// other reply goes to the agent, which answers once more.
	Review *Question
}

// beginTurn takes the person's words or a step, without work, and returns the index of their turn. The answer is to be
// JSON of form, if it is not nil.
func (t *thread) beginTurn(ctx context.Context, words string, form *schema, step *Step) (turn int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err = t.takeWords(ctx, words, form, step)
	return len(t.state.Turns), err
}

// takeWords makes the person's words, or a program's step, a turn. The caller holds the lock.
func (t *thread) takeWords(ctx context.Context, words string, form *schema, step *Step) error {
	if err := t.waitUntilReady(ctx); err != nil {
		return err
	}
	if strings.TrimSpace(words) == "" {
		return errors.New("the message is empty")
	}
	text, warning, kind := "", "", UseTurn
	if step == nil {
		text, warning = t.menu.messageFor(words)
	} else {
		text, kind = step.Text, UseSection
		t.state.Messages, t.state.Results, t.state.Begun = nil, nil, nil
	}
	if t.context != "" && len(t.state.Turns) == 0 {
		text = t.context + "\n\n" + text
	}
	if t.state.Schema, t.form = nil, form; form != nil {
		t.state.Schema = form.text
		text += "\n\n" + outputText + string(form.text)
	}
	t.state.Title = cmp.Or(t.state.Title, clipLine(words, 100))
	t.state.Turn, t.state.Review = t.newTurn(words), nil
	if step != nil {
		t.state.Turn.Step, t.state.Review = step.Name, step.Review
	}
	why := newWordsText
	if errors.Is(t.failure, context.Canceled) {
		why = Cancelled
	}
	t.state.Questions, t.failure = nil, nil
	t.state.Rounds, t.state.Pauses, t.state.Repairs = 0, 0, 0
	t.state.Cut = false
	t.state.addUserMessage(why, provider.TextBlock(text))
	if t.parent != nil {
		kind = UseSubAgent
	}
	t.chooseModel(kind)
	t.state.Status = Processing
	t.publish(Event{Type: EventTurnStarted, Text: words, MessageID: messageIn(ctx)})
	if warning != "" {
		t.publish(Event{Type: EventWarning, Text: warning})
	}
	return nil
}

func (t *thread) newTurn(words string) *Turn {
	return &Turn{ID: fmt.Sprintf("turn-%d", len(t.state.Turns)+1), User: words, At: t.client.o.Clock().UTC()}
}

// waitUntilReady waits until a finished turn is saved, and returns an error if the session takes no words then.
// The caller holds the lock.
func (t *thread) waitUntilReady(ctx context.Context) error {
	if err := t.waitUntil(ctx, func() bool { return !t.working || t.state.Turn != nil }); err != nil {
		return err
	}
	switch {
	case t.state.Status == Ended:
		return ErrEnded
	case t.state.Turn != nil && t.state.Status == Paused:
		return ErrPaused
	case t.state.Turn != nil:
		return ErrBusy
	}
	return nil
}

// workInBackground works on the turn in the background.
func (t *thread) workInBackground() error {
	run, err := t.startWork(t.client.base)
	if err != nil || run == nil {
		return err
	}
	go func() {
		if err := run(); err != nil && !errors.Is(err, errPaused) {
			t.client.o.Log.Debug("a turn ended early", "session", t.state.ID, "error", err)
		}
	}()
	return nil
}

// startWork reserves the work on the turn, and returns the function to do it; nil if there is none.
func (t *thread) startWork(ctx context.Context) (run func() error, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.working:
		return nil, ErrBusy
	case t.state.Turn == nil && t.state.Status == Ended:
		return nil, ErrEnded
	case t.state.Turn == nil:
		return nil, t.failure
	case !t.client.beginWork():
		return nil, ErrEnded
	}
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(t.client.base, cancel)
	resumed := t.state.Status == Paused || t.state.Status == Waiting
	t.working, t.cancel = true, cancel
	t.pausing, t.failure, t.broken = false, nil, nil
	t.state.Repairs = 0
	t.state.Status = Processing
	if len(t.state.Questions) > 0 {
		t.state.Status = Waiting
	}
	if resumed {
		t.publish(Event{Type: EventResumed, Text: t.state.Turn.User})
	}
	t.wakeWaiters()
	return func() error {
		defer t.client.work.Done()
		defer detach()
		defer cancel()
		return t.runTurn(ctx)
	}, nil
}

// runTurn works on the turn while the session is held against other processes, and leaves it saved.
func (t *thread) runTurn(ctx context.Context) error {
	began := t.client.o.Clock()
	unlock, err := t.lockSession(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.claimed = true
		t.wakeWaiters()
		answering, stop := context.WithCancel(ctx)
		if t.onQuestion != nil {
			go t.answerQuestions(answering)
		}
		err = t.takeSteps(ctx)
		stop()
		if errors.Is(err, errPaused) && t.broken != nil {
			err = t.broken
		}
		t.state.Turn.Took += t.client.o.Clock().Sub(began)
		t.endOrPauseTurn(err, t.goesOn(ctx, err))
		ctx = context.WithoutCancel(ctx)
		err = errors.Join(err, t.save(ctx), t.waitUntil(ctx, func() bool { return !t.writing }))
		if t.state.Turn == nil {
			t.state.Turns[len(t.state.Turns)-1].err = err
		}
		t.claimed = false
		t.withoutLock(func() { err = errors.Join(err, unlock()) })
	}
	t.working, t.cancel = false, nil
	if err != nil && !errors.Is(err, errPaused) && t.client.base.Err() == nil {
		t.failure = err
	}
	if t.state.Status == Processing || t.state.Status == Waiting { // it could not be claimed
		t.state.Status, t.failure = Paused, err
		t.publish(Event{Type: EventPaused, Text: err.Error()})
	}
	t.wakeWaiters()
	return err
}

// goesOn reports whether a stopped turn can go on from there: the program ends, the disk or the server does not
// answer, or money is missing. A conversation ends such a turn unless its program ends, since the person can
// speak again.
func (t *thread) goesOn(ctx context.Context, err error) bool {
	var store *StoreError
	var server *ProviderError
	var limit *CostLimitError
	var question *QuestionError
	var output *OutputError
	switch {
	case err == nil:
		return false
	case errors.Is(err, errPaused), errors.As(err, &question), errors.As(err, &store), t.client.base.Err() != nil:
		return true
	case t.state.Turn.Step != "":
		return ctx.Err() == nil && !IsUnfit(err)
	case t.state.Kind != kindSession:
		return false
	}
	canRetry := errors.As(err, &server) && server.Retryable
	return ctx.Err() != nil || canRetry || errors.As(err, &limit) || errors.As(err, &output)
}

// endOrPauseTurn ends a turn, or leaves it for later. The caller holds the lock.
func (t *thread) endOrPauseTurn(err error, later bool) {
	if later {
		t.state.Status = Paused
		e := Event{Type: EventPaused}
		if !errors.Is(err, errPaused) {
			e.Text = err.Error()
		}
		t.publish(e)
		return
	}
	turn, single := t.state.Turn, t.state.Kind == kindSession
	turn.Response = t.state.responseText()
	if err != nil {
		turn.Problem, turn.Unfit = err.Error(), IsUnfit(err)
		e := Event{Type: EventFailed, Text: turn.Problem}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			e.Text = Cancelled
		}
		t.publish(e)
	}
	t.failure, t.state.Turn, t.state.Questions, t.state.Status = err, nil, nil, Idle
	turn.err = err
	t.state.Turns = append(t.state.Turns, *turn)
	if err == nil {
		t.publish(Event{Type: EventTurnCompleted, Text: turn.Response})
		if q, asks := textQuestion(turn.Response); asks && !t.state.Options.PlainText && turn.Output == nil {
			q.ID = fmt.Sprintf("q%d-text", len(t.state.Turns))
			t.putQuestion(q)
		}
	}
	switch {
	case single && err != nil:
		t.state.Status = Failed
	case single:
		t.state.Status = Ended
		t.publish(Event{Type: EventCompleted, Text: turn.Response})
	default:
		t.publish(Event{Type: EventIdle})
	}
}

// answerWithoutModel adds a turn with a ready answer, and returns the turn's index.
func (t *thread) answerWithoutModel(ctx context.Context, words, text string) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.waitUntilReady(ctx); err != nil {
		return 0, err
	}
	turn, n := t.newTurn(words), len(t.state.Turns)
	turn.Response = text
	t.state.Turns, t.failure = append(t.state.Turns, *turn), nil
	t.publish(Event{Type: EventTurnStarted, Text: words, MessageID: messageIn(ctx)})
	t.publish(Event{Type: EventTurnCompleted, Text: text})
	t.publish(Event{Type: EventIdle})
	return n, t.saveUnlessWorking(ctx)
}

// endSession ends the session for good.
func (t *thread) endSession(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.waitUntilReady(ctx); err != nil {
		return err
	}
	before := t.state.Status
	t.state.Status, t.state.Questions = Ended, nil
	t.publish(Event{Type: EventCompleted})
	if err := t.saveUnlessWorking(ctx); err != nil {
		t.state.Status = before
		return err
	}
	t.events.close()
	return nil
}

// answer answers a question, the oldest if no id is given. more is true if a turn waits to
// go on and nobody works on it.
func (t *thread) answer(ctx context.Context, id, text string) (more bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.IndexFunc(t.state.Questions, func(q Question) bool { return id == "" || q.ID == id })
	switch {
	case at < 0:
		return false, ErrNoQuestion
	case strings.TrimSpace(text) == "":
		return false, errors.New("the answer is empty")
	}
	q := t.state.Questions[at]
	t.state.Questions = slices.Delete(slices.Clone(t.state.Questions), at, at+1)
	t.publish(Event{Type: EventAnswered, Text: text, Question: &q, MessageID: messageIn(ctx)})
	switch q.Source {
	case fromText:
		err = t.takeWords(ctx, text, t.output, nil)
		return err == nil, err
	case fromRounds, fromReview:
		t.state.keepResult(q.Source, provider.TextBlock(text))
	default:
		t.state.keepResult(q.ID, provider.Result(q.ID, text, false))
	}
	more = len(t.state.Questions) == 0 && !t.working
	t.wakeWaiters()
	return more, t.saveUnlessWorking(ctx)
}

// answerQuestions has the caller's function answer each question of the work. A question without an answer
// pauses the work, unless somebody else has answered it.
func (t *thread) answerQuestions(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.waitUntil(ctx, func() bool { return t.state.Status == Waiting && len(t.state.Questions) > 0 }) == nil {
		q := t.state.Questions[0]
		open := func() bool {
			return slices.ContainsFunc(t.state.Questions, func(o Question) bool { return o.ID == q.ID })
		}
		asking, answered := context.WithCancel(ctx)
		go func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			_ = t.waitUntil(asking, func() bool { return !open() })
			answered()
		}()
		var text string
		var err error
		t.withoutLock(func() { text, err = t.askCaller(asking, q) })
		answered()
		workEnded := ctx.Err() != nil && err != nil
		switch {
		case workEnded || t.client.base.Err() != nil:
			return // without the answer
		case !open():
			continue
		case err == nil:
			t.withoutLock(func() { _, err = t.answer(context.WithoutCancel(ctx), q.ID, text) })
			if errors.Is(err, ErrNoQuestion) {
				continue
			}
		}
		if err != nil {
			t.broken, t.pausing = &QuestionError{q, err}, true
			t.wakeWaiters()
			return
		}
	}
}

// askCaller calls the caller's function.
func (t *thread) askCaller(ctx context.Context, q Question) (text string, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("OnQuestion failed by a fault of its own: %v", cause)
		}
	}()
	return t.onQuestion(ctx, q)
}
