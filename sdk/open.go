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
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// newThread makes a session without a message yet.
func (c *Client) newThread(ctx context.Context, kind, agentID string, o ConversationOptions) (*thread, error) {
	if err := errors.Join(ctx.Err(), c.base.Err()); err != nil {
		return nil, err
	}
	agent, m := o.Agent, menu{}
	if agent != nil && agentID == "" {
		m = ownMenu(agent)
	} else if found, its, err := c.shelf.findAgent(agentID); err != nil {
		return nil, err
	} else {
		agent, m = found, its
	}
	model := c.providerOf(agent)
	if model == nil {
		return nil, ErrNoProvider
	}
	id := cmp.Or(o.ID, c.o.NewID())
	if err := checkID(id); o.ID != "" && err != nil {
		return nil, &StateError{o.ID, "an id has at most 64 lower-case letters, digits and -"}
	}
	limit := cmp.Or(o.CostLimit, c.o.CostLimit)
	now, info := c.o.Clock().UTC(), model.Info()
	t := &thread{client: c, model: model, agent: agent, menu: m, person: person{onQuestion: o.OnQuestion}, budget: price.NewBudget(c.o.Prices, limit), changed: make(chan struct{})}
	if err := t.budget.Admit(info.Model, now); err != nil {
		return nil, err
	}
	t.state = state{
		Job:     o.Job,
		Version: stateVersion, ID: id, Kind: kind, Provider: info, Status: Idle, Created: now, Updated: now,
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
		t.files = m.newFiles(c.o.Clock)
	} else {
		t.state.FilesOf = "caller"
	}
	if err := t.setTools(o.Run, o.Tools); err != nil {
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
	if t.state.System, err = systemPrompt(agent, m, t.builtIn(), o.SessionOptions); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(t.state.System))
	t.state.Agent = agentState{ID: agent.ID, Name: agent.Name, Hash: hex.EncodeToString(sum[:])}
	t.publish(Event{Type: EventStarted, Agent: agent.ID, Text: info.Model})
	return t, nil
}

// openThread reads a saved session.
func (c *Client) openThread(ctx context.Context, id string, o OpenOptions) (*thread, error) {
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
	// The prompt is saved: an agent changed or removed since does not end a conversation.
	agent, m, err := c.shelf.findAgent(s.Agent.ID)
	if err != nil {
		agent = &Agent{AgentInfo: AgentInfo{ID: s.Agent.ID, Name: s.Agent.Name}}
	}
	model := c.providerOf(agent)
	if model == nil {
		return nil, ErrNoProvider
	}
	if info := model.Info(); info != s.Provider {
		return nil, &StateError{id, fmt.Sprintf("it was begun with the model %s of %s, and its messages are good for "+
			"that alone; use it, or begin a new session with the documents of this one", s.Provider.Model, s.Provider.Provider)}
	}
	if model = c.openModel(agent, s, model); model == nil {
		return nil, &StateError{id, fmt.Sprintf("it is in the middle of work with the model %s, which is not chosen any more", s.Model.Model)}
	}
	warning := c.applyRights(ctx, s, o)
	t := &thread{client: c, model: model, agent: agent, menu: m, state: *s, person: person{onQuestion: o.OnQuestion},
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
		t.files = t.menu.newFiles(c.o.Clock)
	}
	if err := s.restoreFiles(t.files); err != nil {
		return nil, err
	}
	if err := t.setTools(o.Run, o.Tools); err != nil {
		return nil, err
	}
	if t.state.Status == Processing { // the process died
		t.state.Status = Paused
	}
	events, err := storedEvents(ctx, c.store, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	t.events.seq = t.state.Seq
	if n := len(events); n > 0 { // after a crash the last one can be behind or before the state's
		t.events.seq = max(t.state.Seq, events[n-1].Seq)
	}
	if missing := slices.DeleteFunc(slices.Clone(s.Tools), t.offersTool); len(missing) > 0 {
		t.publish(Event{Type: EventWarning, Text: fmt.Sprintf("the session goes on without tools that it had: %s", strings.Join(missing, ", "))})
	}
	if warning != "" {
		t.publish(Event{Type: EventWarning, Text: warning})
	}
	return t, nil
}

// openModel returns the model that a saved session goes on with: the chosen one, else the default if it can take
// the messages; nil if there is none.
func (c *Client) openModel(a *Agent, s *state, own provider.Provider) provider.Provider {
	if s.Use == nil {
		return own
	}
	model := c.modelFor(a, *s.Use)
	switch isBetweenSteps := s.Turn == nil && len(s.Job) > 0; {
	case model.Info() == s.Model:
		return model
	case isBetweenSteps, canCarry(s.Messages, s.Model, own.Info()):
		return own
	}
	return nil
}

// applyRights puts the rights of the record, or the least rights without one, in place of the file's. Of the
// file's, only lower ones count. warning names the others.
func (c *Client) applyRights(ctx context.Context, s *state, o OpenOptions) (warning string) {
	file, counted := s.Options, price.Most(s.Models, nil)
	record, recorded := c.keptRights(ctx, s.ID)
	newest := recorded && record.Seq >= s.RightsSeq
	s.Models, s.RightsSeq = price.Most(record.Models, counted), max(s.RightsSeq, record.Seq)
	spent := price.NewBudget(c.o.Prices, 0, s.Models...).Report().Spent
	if s.Options = record.Options; !newest {
		s.Options = file.leastOptions(c.o.CostLimit)
		// A session whose limit was lost, or taken out of the file, looks like one without a limit. If the
		// price of the model is not known, there was none.
		_, priced := c.o.Prices.Find(s.Provider.Model, c.o.Clock())
		if priced && c.o.Rights != nil && c.o.CostLimit == 0 {
			s.Options.CostLimit = max(spent, 1)
		}
	}
	says := file.describeDifference(s.Options)
	s.Options.CostLimit = cmp.Or(s.Options.CostLimit, c.o.CostLimit)
	if newest && !slices.EqualFunc(counted, s.Models, price.Line.Same) {
		says = append(says, "other costs")
	}
	s.Options.applyOverrides(o, spent)
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

// keptRights returns what Rights has kept of a session.
func (c *Client) keptRights(ctx context.Context, id string) (r rightsState, ok bool) {
	if c.o.Rights == nil || json.Unmarshal(c.o.Rights.Kept(ctx, id), &r) != nil {
		return rightsState{}, false
	}
	return r, true
}
