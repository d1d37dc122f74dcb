package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/looplab/fsm"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// move is the change of the current stage when an event has fired.
type move string

const (
	stay   move = "same stage"
	next   move = "next stage"
	back   move = "back to the stage judged"
	jump   move = "earlier stage"
	finish move = "end"
)

type rule struct {
	event Event
	from  []State
	to    State
	move  move
}

var working = []State{Generating, Refining}

// table is the one transition table, with a row for every change of state.
var table = []rule{
	{EventQuestioned, working, Clarifying, stay},
	{EventScoredBelow, working, Refining, stay},
	{EventScoredReady, working, AwaitingConfirmation, stay},
	{EventPlanned, working, AwaitingApproval, stay},
	{EventScoped, working, AwaitingApproval, stay},
	{EventDelivered, working, Generating, next},
	{EventFailed, working, AwaitingApproval, stay},
	{EventDoubted, working, AwaitingApproval, stay},
	{EventReturned, working, Refining, stay},
	{EventBlocked, working, AwaitingApproval, stay},
	{EventExhausted, working, AwaitingApproval, stay},
	{EventAnswered, []State{Clarifying}, Refining, stay},
	{EventSkipped, []State{Clarifying}, AwaitingConfirmation, stay},
	{EventConfirmed, []State{AwaitingConfirmation}, Generating, next},
	{EventApproved, []State{AwaitingApproval}, Generating, next},
	{EventScopeApproved, []State{AwaitingApproval}, Generating, stay},
	{EventChangesRequested, []State{AwaitingConfirmation, AwaitingApproval, Refining}, Refining, stay},
	{EventSentBack, []State{AwaitingApproval}, Refining, back},
	{EventFinished, []State{Generating, Refining, AwaitingConfirmation, AwaitingApproval}, Completed, finish},
	{EventReopened, []State{Generating, Clarifying, Refining, AwaitingConfirmation, AwaitingApproval, Completed}, Refining, jump},
	{EventCancelled, []State{Generating, Clarifying, Refining, AwaitingConfirmation, AwaitingApproval}, Cancelled, stay},
}

// nextState fires one event on a machine that exists for this call only: a machine of this library
// becomes unusable after a cancelled context, and a kept one could diverge from the stored state.
func nextState(ctx context.Context, from State, e Event) (State, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	descs := make([]fsm.EventDesc, len(table))
	for i, r := range table {
		src := make([]string, len(r.from))
		for j, s := range r.from {
			src[j] = string(s)
		}
		descs[i] = fsm.EventDesc{Name: string(r.event), Src: src, Dst: string(r.to)}
	}
	m := fsm.NewFSM(string(from), descs, nil)
	err := m.Event(context.WithoutCancel(ctx), string(e))
	var same fsm.NoTransitionError
	if err != nil && !errors.As(err, &same) {
		return "", fault.New(fault.NotAllowed, "event %q cannot happen in state %q: %w", e, from, err)
	}
	return State(m.Current()), nil
}

// Fire moves the session by the event of entry, and adds entry to the history: state, stage, stage
// statuses and history change together. earlier is the stage to which [EventReopened] goes back. An
// event without a row for the current state is refused and changes nothing.
func (w *Definition) Fire(ctx context.Context, s *Session, entry Transition, earlier StageID) error {
	i := slices.IndexFunc(table, func(r rule) bool { return r.event == entry.Event })
	if i < 0 {
		return fault.Unexpected(fmt.Errorf("unknown event %q", entry.Event))
	}
	r := table[i]
	target := s.CurrentStage
	switch r.move {
	case next:
		st, ok := w.Next(s.CurrentStage)
		if !ok {
			return fault.Unexpected(fmt.Errorf("no stage after %q", s.CurrentStage))
		}
		target = st.ID
	case finish:
		if _, ok := w.Next(s.CurrentStage); ok {
			return fault.Unexpected(fmt.Errorf("%q is not the last stage", s.CurrentStage))
		}
	case back:
		st, _ := w.Stage(s.CurrentStage)
		target = st.SendsBackTo
	case jump:
		target = earlier
	}
	if w.Index(target) < 0 {
		return fault.Unexpected(fmt.Errorf("unknown stage %q", target))
	}
	to, err := nextState(ctx, s.CurrentState, entry.Event)
	if err != nil {
		return err
	}

	entry.From = s.Place()
	switch r.move {
	case next, finish:
		s.Current().Status = Done
	case back, jump:
		// Reopening work that failed, or whose pass is in doubt, counts as sending it back.
		st, _ := w.Stage(s.CurrentStage)
		failed := s.CurrentState == AwaitingApproval && st.Gate == GateVerdict && s.Current().Held()
		if r.move == back || failed {
			s.ReworkCount++
		}
		w.rewind(s, target)
	}
	if r.move == finish {
		s.MarkSprints(s.OpenSprints(SprintImplemented), SprintDone)
	}
	s.CurrentStage, s.CurrentState = target, to
	if to.Active() {
		s.Current().Status = InProgress
	}
	entry.To = s.Place()
	s.Append(entry)
	s.UpdatedAt = entry.At
	return nil
}

// rewind sets the stages after target back to pending; their artifacts become stale, because the
// documents behind them will change.
func (w *Definition) rewind(s *Session, target StageID) {
	for i, st := range w.Stages {
		r := s.Record(st.ID)
		if i < w.Index(target) {
			continue
		}
		r.Approved, r.Returned = false, nil
		if i > w.Index(target) {
			r.Status = Pending
			r.Feedback = ""
			r.DropOpenQuestions()
			if r.Artifact != nil {
				r.Artifact.Stale = true
			}
		}
	}
}
