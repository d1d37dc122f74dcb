package workflow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// knownOf returns the knowledge of a machine that has recorded c, in the project of sealed sessions.
func knownOf(c *workflow.Checkpoint) *workflow.Known {
	return &workflow.Known{Checkpoint: c, Project: here}
}

// newRecorded returns a sealed session, and its machine's record of it.
func newRecorded(t *testing.T) (*workflow.Session, *workflow.Checkpoint) {
	t.Helper()
	s := newSealed(t, mine)
	c, ok := s.Checkpoint(mine, "")
	if !ok || c.Entries != 5 || c.Revision != s.Revision || c.Broken != 0 {
		t.Fatalf("%+v, %v", c, ok)
	}
	return s, &c
}

// TestCheckpoint compares sessions with their records.
func TestCheckpoint(t *testing.T) {
	w := workflow.Default()
	const other = signer("other")
	for _, tt := range []struct {
		name   string
		change func(s *workflow.Session, c *workflow.Checkpoint)
		status workflow.ChainStatus
		broken int
	}{
		{"nothing", func(*workflow.Session, *workflow.Checkpoint) {}, workflow.ChainHolds, 0},
		{"ahead by one", func(s *workflow.Session, _ *workflow.Checkpoint) { step(t, w, s, mine, workflow.EventScoredReady, 9) }, workflow.ChainHolds, 0},
		{"ahead by another machine's", func(s *workflow.Session, _ *workflow.Checkpoint) {
			step(t, w, s, other, workflow.EventScoredReady, 9)
		}, workflow.ChainPartly, 0},
		{"ahead without a key", func(s *workflow.Session, _ *workflow.Checkpoint) { step(t, w, s, nil, workflow.EventScoredReady, 9) }, workflow.ChainPartly, 0},
		{"ahead by an entry without a link", func(s *workflow.Session, _ *workflow.Checkpoint) {
			s.History = append(s.History, workflow.Transition{From: s.Place(), To: s.Place()})
			s.Revision++
		}, workflow.ChainChanged, 6},
		{"behind", func(s *workflow.Session, c *workflow.Checkpoint) {
			later := reread(t, s)
			step(t, w, later, mine, workflow.EventScoredReady, 9)
			*c, _ = later.Checkpoint(mine, "")
		}, workflow.ChainChanged, 6},
		{"of another road", func(s *workflow.Session, c *workflow.Checkpoint) {
			later := reread(t, s)
			step(t, w, later, mine, workflow.EventScoredReady, 9)
			*c, _ = later.Checkpoint(mine, "")
			step(t, w, s, mine, workflow.EventScoredReady, 10)
		}, workflow.ChainChanged, 6},
		{"unsealed", func(s *workflow.Session, _ *workflow.Checkpoint) { s.Seals = nil }, workflow.ChainChanged, 5},
		{"the revision lowered", func(s *workflow.Session, _ *workflow.Checkpoint) { s.Revision-- }, workflow.ChainChanged, 5},
		{"recorded as broken", func(_ *workflow.Session, c *workflow.Checkpoint) { c.Broken = 2 }, workflow.ChainChanged, 2},
		{"written over", func(_ *workflow.Session, c *workflow.Checkpoint) { *c = workflow.Checkpoint{Foreign: true} }, workflow.ChainChanged, 5},
		{"written over, of a session that this key never sealed", func(s *workflow.Session, c *workflow.Checkpoint) {
			*c, s.Seals = workflow.Checkpoint{Foreign: true}, nil
		}, workflow.ChainPartly, 0},
		{"recorded of no entry", func(_ *workflow.Session, c *workflow.Checkpoint) { c.Entries = 0 }, workflow.ChainChanged, 1},
	} {
		s, c := newRecorded(t)
		tt.change(s, c)
		if v := s.Verify(mine, knownOf(c)); v.Status != tt.status || v.Broken != tt.broken || (v.Problem == "") != (tt.status == workflow.ChainHolds) {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
	s, _ := newRecorded(t)
	for name, by := range map[string]workflow.Signer{"no key": nil, "another key": other} {
		if _, ok := s.Checkpoint(by, ""); ok {
			t.Errorf("%s records it", name)
		}
	}
}

// adopt accepts a session, as a store does it.
func adopt(t *testing.T, s *workflow.Session, c *workflow.Checkpoint) *workflow.Session {
	t.Helper()
	v := s.Verify(mine, knownOf(c))
	if !v.Changed() {
		t.Fatalf("%+v", v)
	}
	if c != nil {
		s.Revision = max(s.Revision, c.Revision)
	}
	s.Adopt(mine, here, v, workflow.Transition{By: "terminal", At: time.Unix(99, 0).UTC()})
	s.Revision++
	return reread(t, s)
}

// TestAdoption checks that an accepted session counts as it is, and may not change again.
func TestAdoption(t *testing.T) {
	w := workflow.Default()
	ways := map[string]func(s *workflow.Session){
		"an entry":   func(s *workflow.Session) { s.History[2].Feedback = "x" },
		"the newest": func(s *workflow.Session) { s.History[4].Feedback = "x" },
		"an entry less": func(s *workflow.Session) {
			s.History = s.History[:4]
			s.CurrentStage, s.CurrentState = workflow.PO, workflow.AwaitingConfirmation
		},
		"links and seals": func(s *workflow.Session) {
			s.Seals = nil
			for i := range s.History {
				s.History[i].Prev = ""
			}
		},
		"the objective":     func(s *workflow.Session) { s.Objective = "x" },
		"the place":         func(s *workflow.Session) { s.CurrentStage = workflow.QA },
		"all entries":       func(s *workflow.Session) { s.History, s.Seals = nil, nil },
		"the first, thrice": func(s *workflow.Session) { s.History = slices.Insert(s.History, 0, s.History[0], s.History[0]) },
	}
	for name, change := range ways {
		s, c := newRecorded(t)
		change(s)
		s = adopt(t, s, c)
		at := len(s.History)
		want := func(when string, by workflow.Signer, c *workflow.Checkpoint, status workflow.ChainStatus) {
			t.Helper()
			v := s.Verify(by, knownOf(c))
			if v.Status != status || status == workflow.ChainAdopted && (v.Adopted == nil || v.Adopted.Entry != at || v.Problem != "") {
				t.Errorf("%s, %s: %+v", name, when, v)
			}
		}
		want("adopted, and not recorded yet", mine, c, workflow.ChainAdopted)
		later, _ := s.Checkpoint(mine, "")
		want("recorded", mine, &later, workflow.ChainAdopted)
		if e := s.Last(); e.Event != workflow.EventAdopted || e.Adoption.Problem == "" || e.From != e.To || s.Moved().Event == workflow.EventAdopted {
			t.Errorf("%s: %+v", name, e)
		}
		if s.CurrentStage == workflow.Architect {
			step(t, w, s, mine, workflow.EventScoredReady, 20)
			want("a step later", mine, &later, workflow.ChainAdopted)
		}
		// Another change shows, and can be accepted again.
		if at > 1 {
			s.History[0].By = "me"
			want("its past changed", mine, &later, workflow.ChainChanged)
			s = adopt(t, s, &later)
			at = len(s.History)
			want("adopted again", mine, &later, workflow.ChainAdopted)
		}
	}
}

// TestForgedGrantsStayUnvouched checks that an acceptance does not make them a person's.
func TestForgedGrantsStayUnvouched(t *testing.T) {
	s, c := newRecorded(t)
	s.History[3].Grant.Channel = workflow.ChannelElicited
	if v := s.Verify(mine, knownOf(c)); v.Vouches(4) || !v.Vouches(5) {
		t.Errorf("%+v", v)
	}
	s = adopt(t, s, c)
	if v := s.Verify(mine, knownOf(nil)); v.Vouches(4) || !v.Vouches(6) || v.Status != workflow.ChainAdopted {
		t.Errorf("adopted: %+v", v)
	}
	// Nor does a step that goes on without one.
	s, c = newRecorded(t)
	s.Seals = nil
	seal := s.Seal(mine, s.Verify(mine, knownOf(c)))
	s.Append(workflow.Transition{From: s.Place(), To: s.Place()})
	seal(here)
	s.Revision++
	if v := s.Verify(mine, knownOf(nil)); v.Vouches(4) || !v.Vouches(6) || !v.Changed() {
		t.Errorf("gone on: %+v", v)
	}
}
