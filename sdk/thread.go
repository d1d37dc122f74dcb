package sdk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// thread is a session or conversation: its state, and the work on it. At most one goroutine
// works on a turn; every other call only looks, or answers a question.
type thread struct {
	client *Client
	// parent is the session that a sub-agent works for; nil for a session of its own.
	parent *thread
	agent  *Agent
	menu   menu
	files  vfs.FS
	box    *toolbox
	budget *price.Budget
	events hub

	mu sync.Mutex
	state
	// working is true while a goroutine is at work on the turn, cancel ends it.
	// claimed is true once that goroutine holds the session against other processes.
	working, claimed bool
	cancel           context.CancelFunc
	// pausing is true if the work is to stop at the next safe point.
	pausing bool
	// failure is why the last turn ended early, was paused or could not be saved.
	failure error
	// changed is closed, and replaced, whenever somebody may wait for the change.
	changed chan struct{}
	// warned is true once the model's missing price was reported.
	warned bool

	// saving is held while the state is written. rights are those that were kept last.
	saving sync.Mutex
	rights string
}

// start makes a session that nobody has spoken to.
func (c *Client) start(ctx context.Context, kind, agentID string, o ConversationOptions) (*thread, error) {
	if c.o.Provider == nil {
		return nil, ErrNoProvider
	}
	if err := errors.Join(ctx.Err(), c.base.Err()); err != nil {
		return nil, err
	}
	agent, m := o.Agent, menu{}
	if agent != nil && agentID == "" {
		m = ownMenu(agent)
	} else if found, its, err := c.shelf.agent(agentID); err != nil {
		return nil, err
	} else {
		agent, m = found, its
	}
	limit := o.CostLimit
	if limit == 0 {
		limit = c.o.CostLimit
	}
	now, info := c.o.Clock().UTC(), c.o.Provider.Info()
	t := &thread{client: c, agent: agent, menu: m, budget: price.NewBudget(c.o.Prices, limit), changed: make(chan struct{})}
	if err := t.budget.Admit(info.Model, now); err != nil {
		return nil, err
	}
	t.state = state{
		Version: stateVersion, ID: c.o.NewID(), Kind: kind, Provider: info, Status: Idle, Created: now, Updated: now,
		Options: optionState{
			CostLimit: limit, PauseTimeout: orDefault(o.PauseTimeout, defaultPause), MaxTokens: orDefault(o.MaxTokens, defaultMaxTokens),
			Rounds: orDefault(o.Rounds, defaultRounds), Commands: o.Commands, SaveTurnsOnly: o.SaveTurnsOnly,
			PlainText: o.PlainText, NoQuestions: o.NoQuestions, ReadOnly: o.ReadOnly,
		},
	}
	if t.Options.MaxTokens < 0 || t.Options.Rounds < 0 || limit < 0 {
		return nil, errors.New("MaxTokens, Rounds and CostLimit cannot be negative")
	}
	if t.files = o.FS; t.files == nil {
		t.files = m.files(c.o.Clock)
	} else {
		t.FilesOf = "caller"
	}
	t.box = newToolbox(t, o.SessionOptions)
	var err error
	if t.box.context, err = contextText(o.Context); err != nil {
		return nil, err
	}
	if t.System, err = prompt(agent, m, t.box.tools(), o.SessionOptions); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(t.System))
	t.Agent = agentState{ID: agent.ID, Name: agent.Name, Hash: hex.EncodeToString(sum[:])}
	t.publish(Event{Type: EventStarted, Agent: agent.ID, Text: info.Model})
	return t, nil
}

// open reads a saved session.
func (c *Client) open(ctx context.Context, id string, o OpenOptions) (*thread, error) {
	files, run := o.FS, o.Run
	if err := checkID(id); err != nil {
		return nil, err
	}
	data, err := c.store.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := parseState(id, data)
	if err != nil {
		return nil, err
	}
	if c.o.Provider == nil {
		return nil, ErrNoProvider
	}
	if info := c.o.Provider.Info(); info != s.Provider {
		return nil, &StateError{id, fmt.Sprintf("it was begun with the model %s of %s, and its messages are good for that alone; use it, or begin a new session with the documents of this one", s.Provider.Model, s.Provider.Provider)}
	}
	by, kept := caller{limit: c.o.CostLimit, prices: c.o.Prices, records: c.o.Rights != nil}, (*rightsState)(nil)
	_, by.priced = c.o.Prices.Find(s.Provider.Model, c.o.Clock())
	if by.records {
		if found := (rightsState{}); json.Unmarshal(c.o.Rights.Kept(ctx, id), &found) == nil {
			kept = &found
		}
	}
	warning := s.admit(kept, by, o)
	t := &thread{client: c, state: *s, budget: price.NewBudget(c.o.Prices, s.Options.CostLimit, s.Models...), changed: make(chan struct{})}
	if err := t.budget.Admit(s.Provider.Model, c.o.Clock()); err != nil {
		return nil, err
	}
	// Its prompt is saved: an agent that was changed or removed since does not end a conversation.
	if t.agent, t.menu, err = c.shelf.agent(s.Agent.ID); err != nil {
		t.agent = &Agent{AgentInfo: AgentInfo{ID: s.Agent.ID, Name: s.Agent.Name}}
	}
	switch {
	case files != nil:
		t.files = files
	case s.FilesOf != "":
		return nil, &StateError{id, "its files are those of a folder; open it with OpenWith and those files"}
	default:
		t.files = t.menu.files(c.o.Clock)
	}
	if err := s.restoreFiles(t.files); err != nil {
		return nil, err
	}
	t.box = newToolbox(t, SessionOptions{Commands: s.Options.Commands, Run: run, NoQuestions: s.Options.NoQuestions, ReadOnly: s.Options.ReadOnly})
	if t.Status == Processing { // its process died
		t.Status = Paused
	}
	last, err := lastEvent(ctx, c.store, id)
	if err != nil {
		return nil, err
	}
	t.events.seq = max(t.Seq, last)
	if warning != "" {
		t.publish(Event{Type: EventWarning, Text: warning})
	}
	return t, nil
}

// begin takes the person's first words, without work.
func (t *thread) begin(ctx context.Context, words string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.take(ctx, words)
}

// take makes the person's words a turn. The caller holds the lock.
func (t *thread) take(ctx context.Context, words string) error {
	if err := t.waitForSave(ctx); err != nil {
		return err
	}
	switch {
	case t.Status == Ended:
		return ErrEnded
	case t.working || t.Status == Waiting || t.Status == Processing || t.Status == Paused:
		return ErrBusy
	case strings.TrimSpace(words) == "":
		return errors.New("the message is empty")
	}
	text, warning := t.menu.message(words)
	if t.box.context != "" && len(t.Turns) == 0 {
		text = t.box.context + "\n\n" + text
	}
	if t.Title == "" {
		t.Title = clip(words, 100)
	}
	now := t.client.o.Clock().UTC()
	t.Turn = &Turn{ID: fmt.Sprintf("turn-%d", len(t.Turns)+1), User: words, At: now}
	why := newWordsText
	if errors.Is(t.failure, context.Canceled) {
		why = cancelledText
	}
	t.Questions, t.Rounds, t.Pauses, t.Cut, t.failure = nil, 0, 0, false, nil
	t.say(why, provider.TextBlock(text))
	t.Status = Processing
	t.publish(Event{Type: EventTurnStarted, Text: words})
	if warning != "" {
		t.publish(Event{Type: EventWarning, Text: warning})
	}
	return nil
}

// waitForSave waits until a turn that is over is saved. The caller holds the lock.
func (t *thread) waitForSave(ctx context.Context) error {
	return t.until(ctx, func() bool { return !t.working || t.Turn != nil })
}

// until waits until something holds. The caller holds the lock, under which it is looked at.
func (t *thread) until(ctx context.Context, holds func() bool) error {
	for !holds() {
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		t.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// publish adds the fields that every event has.
func (t *thread) publish(e Event) {
	if t.parent != nil {
		if e.Type != EventTurnStarted {
			e.Agent = t.Agent.ID
			t.parent.event(e)
		}
		return
	}
	e.At = t.client.o.Clock().UTC()
	if e.Turn == 0 {
		if e.Turn = len(t.Turns); t.Turn != nil {
			e.Turn++
		}
	}
	t.events.publish(e)
}

// wake tells all who wait that something has changed. The caller holds the lock.
func (t *thread) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// goOn works on the turn until it is over, paused or given up. Only one call works at a time.
func (t *thread) goOn(ctx context.Context) error {
	run, err := t.enter(ctx)
	if err != nil || run == nil {
		return err
	}
	return run()
}

// spawn works on the turn in the background.
func (t *thread) spawn() error {
	run, err := t.enter(t.client.base)
	if err != nil || run == nil {
		return err
	}
	go func() {
		if err := run(); err != nil && !errors.Is(err, errPaused) {
			t.client.o.Log.Debug("a turn ended early", "session", t.ID, "error", err)
		}
	}()
	return nil
}

// enter takes the work on the turn, and returns the function that does it; nil if there is none.
func (t *thread) enter(ctx context.Context) (run func() error, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.working:
		return nil, ErrBusy
	case t.Turn == nil && t.Status == Ended:
		return nil, ErrEnded
	case t.Turn == nil:
		return nil, t.failure
	case !t.client.enter():
		return nil, ErrEnded
	}
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(t.client.base, cancel)
	resumed := t.Status == Paused || t.Status == Waiting
	t.working, t.cancel, t.pausing, t.failure = true, cancel, false, nil
	t.Status = Processing
	if len(t.Questions) > 0 {
		t.Status = Waiting
	}
	if resumed {
		t.publish(Event{Type: EventResumed})
	}
	t.wake()
	return func() error {
		defer t.client.work.Done()
		defer detach()
		defer cancel()
		return t.run(ctx)
	}, nil
}

// run works on the turn under the session's lock, and leaves it saved.
func (t *thread) run(ctx context.Context) error {
	began := t.client.o.Clock()
	unlock, err := t.claim(ctx)
	if err == nil {
		t.mu.Lock()
		t.claimed = true
		t.wake()
		t.mu.Unlock()
		err = t.work(ctx)
		t.mu.Lock()
		if t.Turn != nil {
			t.Turn.Took += t.client.o.Clock().Sub(began)
		}
		t.settle(err, t.goesOn(ctx, err))
		t.mu.Unlock()
		err = errors.Join(err, t.save(context.WithoutCancel(ctx)))
		t.saving.Lock() // a save by another call is written under the lock, or takes it anew
		t.mu.Lock()
		t.claimed = false
		t.mu.Unlock()
		err = errors.Join(err, unlock())
		t.saving.Unlock()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.working, t.cancel = false, nil
	if err != nil && !errors.Is(err, errPaused) && t.client.base.Err() == nil {
		t.failure = err
	}
	if t.Status == Processing || t.Status == Waiting { // it could not be claimed
		t.Status, t.failure = Paused, err
		t.publish(Event{Type: EventPaused, Text: err.Error()})
	}
	t.wake()
	return err
}

// errPaused ends the work on a turn that is to go on later.
var errPaused = errors.New("paused")

// goesOn reports whether a turn that has stopped can go on from there: the program ends, the disk
// or the server does not answer, or money is missing. A conversation ends such a turn if its
// program does not end, since the person can speak again.
func (t *thread) goesOn(ctx context.Context, err error) bool {
	var store *StoreError
	var server *ProviderError
	var limit *CostLimitError
	switch {
	case err == nil:
		return false
	case errors.Is(err, errPaused), errors.As(err, &store), t.client.base.Err() != nil:
		return true
	case t.Kind != kindSession:
		return false
	}
	return ctx.Err() != nil || errors.As(err, &server) && server.Retryable || errors.As(err, &limit)
}

// settle ends a turn, or leaves it for later. The caller holds the lock.
func (t *thread) settle(err error, later bool) {
	switch {
	case later:
		t.Status = Paused
		e := Event{Type: EventPaused}
		if !errors.Is(err, errPaused) {
			e.Text = err.Error()
		}
		t.publish(e)
		return
	case err != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		t.publish(Event{Type: EventFailed, Text: cancelledText})
	case err != nil:
		t.publish(Event{Type: EventFailed, Text: err.Error()})
	}
	turn := t.Turn
	if turn == nil {
		return
	}
	turn.Response = t.response()
	if err != nil {
		turn.Problem = err.Error()
	}
	t.failure, t.Turn = err, nil
	t.Questions = nil
	t.Status = Idle
	if err != nil && t.Kind == kindSession {
		t.Status = Failed
	}
	e := Event{Type: EventTurnCompleted, Text: turn.Response, Turn: len(t.Turns) + 1}
	t.Turns = append(t.Turns, *turn)
	if err == nil {
		t.publish(e)
	}
	if err == nil && !t.Options.PlainText {
		t.askText(turn.Response)
	}
	if err == nil && t.Kind == kindSession {
		t.Status = Ended
		t.publish(Event{Type: EventCompleted, Text: turn.Response})
	}
	if t.Status == Idle {
		t.publish(Event{Type: EventIdle})
	}
}

// askText announces the question that a text ends with.
func (t *thread) askText(text string) {
	if q, ok := textQuestion(text); ok {
		q.ID = fmt.Sprintf("q%d-text", len(t.Turns))
		t.Questions = append(t.Questions, q)
		t.publish(Event{Type: EventQuestion, Question: &q})
	}
}

// clip shortens a text to a line.
func clip(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
