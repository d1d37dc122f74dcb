package sdk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// start makes a session that nobody has spoken to.
func (c *Client) start(ctx context.Context, kind, agentID string, o ConversationOptions) (*thread, error) {
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
	model := c.model(agent)
	if model == nil {
		return nil, ErrNoProvider
	}
	limit := cmp.Or(o.CostLimit, c.o.CostLimit)
	now, info := c.o.Clock().UTC(), model.Info()
	t := &thread{client: c, model: model, agent: agent, menu: m, onQuestion: o.OnQuestion, budget: price.NewBudget(c.o.Prices, limit), changed: make(chan struct{})}
	if err := t.budget.Admit(info.Model, now); err != nil {
		return nil, err
	}
	t.state = state{
		Version: stateVersion, ID: c.o.NewID(), Kind: kind, Provider: info, Status: Idle, Created: now, Updated: now,
		Options: optionState{
			CostLimit: limit, PauseTimeout: cmp.Or(o.PauseTimeout, defaultPause), MaxTokens: cmp.Or(o.MaxTokens, defaultMaxTokens),
			Rounds: cmp.Or(o.Rounds, defaultRounds), Commands: o.Commands, SaveTurnsOnly: o.SaveTurnsOnly,
			PlainText: o.PlainText, NoQuestions: o.NoQuestions, ReadOnly: o.ReadOnly,
		},
	}
	if t.state.Options.MaxTokens < 0 || t.state.Options.Rounds < 0 || limit < 0 {
		return nil, errors.New("MaxTokens, Rounds and CostLimit cannot be negative")
	}
	if t.files = o.FS; t.files == nil {
		t.files = m.files(c.o.Clock)
	} else {
		t.state.FilesOf = "caller"
	}
	if err := t.equip(o.Run, o.Tools); err != nil {
		return nil, err
	}
	var err error
	if o.Output != nil {
		if t.output, err = o.Output.form(); err != nil {
			return nil, err
		}
		t.state.Options.Output = t.output.text
	}
	if t.context, err = contextText(o.Context); err != nil {
		return nil, err
	}
	if t.state.System, err = prompt(agent, m, t.builtIn(), o.SessionOptions); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(t.state.System))
	t.state.Agent = agentState{ID: agent.ID, Name: agent.Name, Hash: hex.EncodeToString(sum[:])}
	t.publish(Event{Type: EventStarted, Agent: agent.ID, Text: info.Model})
	return t, nil
}

// open reads a saved session.
func (c *Client) open(ctx context.Context, id string, o OpenOptions) (*thread, error) {
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
	// Its prompt is saved: an agent that was changed or removed since does not end a conversation.
	agent, m, err := c.shelf.agent(s.Agent.ID)
	if err != nil {
		agent = &Agent{AgentInfo: AgentInfo{ID: s.Agent.ID, Name: s.Agent.Name}}
	}
	model := c.model(agent)
	if model == nil {
		return nil, ErrNoProvider
	}
	if info := model.Info(); info != s.Provider {
		return nil, &StateError{id, fmt.Sprintf("it was begun with the model %s of %s, and its messages are good for "+
			"that alone; use it, or begin a new session with the documents of this one", s.Provider.Model, s.Provider.Provider)}
	}
	warning := c.admit(ctx, s, o)
	t := &thread{client: c, model: model, agent: agent, menu: m, state: *s, onQuestion: o.OnQuestion,
		budget: price.NewBudget(c.o.Prices, s.Options.CostLimit, s.Models...), changed: make(chan struct{})}
	if text := s.Options.Output; len(text) > 0 {
		t.output = &schema{text: text}
	}
	if err := t.budget.Admit(s.Provider.Model, c.o.Clock()); err != nil {
		return nil, err
	}
	switch {
	case o.FS != nil:
		t.files = o.FS
	case s.FilesOf != "":
		return nil, &StateError{id, "its files are those of a folder; open it with OpenWith and those files"}
	default:
		t.files = t.menu.files(c.o.Clock)
	}
	if err := s.restoreFiles(t.files); err != nil {
		return nil, err
	}
	if err := t.equip(o.Run, o.Tools); err != nil {
		return nil, err
	}
	if t.state.Status == Processing { // its process died
		t.state.Status = Paused
	}
	events, err := storedEvents(ctx, c.store, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	t.events.seq = t.state.Seq
	if n := len(events); n > 0 { // after a crash the last one can be behind that of the state, or before it
		t.events.seq = max(t.state.Seq, events[n-1].Seq)
	}
	if missing := slices.DeleteFunc(slices.Clone(s.Tools), t.offers); len(missing) > 0 {
		t.publish(Event{Type: EventWarning, Text: fmt.Sprintf("the session goes on without tools that it had: %s", strings.Join(missing, ", "))})
	}
	if warning != "" {
		t.publish(Event{Type: EventWarning, Text: warning})
	}
	return t, nil
}

// admit puts the rights of the record, and without one the least, in place of those that the file of
// a session claims. Of these, only lower ones count. warning names the others.
func (c *Client) admit(ctx context.Context, s *state, o OpenOptions) (warning string) {
	file, counted := s.Options, price.Most(s.Models, nil)
	record, recorded := c.record(ctx, s.ID)
	newest := recorded && record.Seq >= s.RightsSeq
	s.Models, s.RightsSeq = price.Most(record.Models, counted), max(s.RightsSeq, record.Seq)
	spent := price.NewBudget(c.o.Prices, 0, s.Models...).Report().Spent
	if s.Options = record.Options; !newest {
		s.Options = file.least(c.o.CostLimit)
		// A session whose limit was lost, or taken out of the file, looks as one that had none. If the
		// price of the model is not known, there was none.
		_, priced := c.o.Prices.Find(s.Provider.Model, c.o.Clock())
		if priced && c.o.Rights != nil && c.o.CostLimit == 0 {
			s.Options.CostLimit = max(spent, 1)
		}
	}
	says := file.differ(s.Options)
	s.Options.CostLimit = cmp.Or(s.Options.CostLimit, c.o.CostLimit)
	if newest && !slices.EqualFunc(counted, s.Models, price.Line.Same) {
		says = append(says, "other costs")
	}
	s.Options.allow(o, spent)
	text := fmt.Sprintf("%.400s", strings.Join(says, ", "))
	switch {
	case c.o.Rights == nil || len(says) == 0:
		return ""
	case newest:
		return fmt.Sprintf("The file of this session was changed: it says %s. What this machine has recorded counts instead.", text)
	}
	return fmt.Sprintf("This machine has no record of what this session may do. Its file says %s, which does not count "+
		"unless you allow it again; a limit replaces that of the session.", text)
}

// record returns what Rights has kept of a session.
func (c *Client) record(ctx context.Context, id string) (r rightsState, ok bool) {
	if c.o.Rights == nil || json.Unmarshal(c.o.Rights.Kept(ctx, id), &r) != nil {
		return rightsState{}, false
	}
	return r, true
}
