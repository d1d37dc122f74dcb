package workflow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// knownOf returns the knowledge of a machine that has recorded c, in the project of signed sessions.
func knownOf(c *workflow.Checkpoint) *workflow.Known {
	return &workflow.Known{Checkpoint: c, Project: here}
}

// newRecorded returns a signed session, and its machine's record of it.
func newRecorded(t *testing.T) (*workflow.Session, *workflow.Checkpoint) {
	t.Helper()
	s := newSigned(t, mine)
	c, ok := s.Checkpoint(workflow.Verification{})
	if !ok || c.Entries != 5 || c.Revision != s.Revision || c.Broken != 0 {
		t.Fatalf("%+v, %v", c, ok)
	}
	return s, &c
}

// TestCheckpoint compares sessions with their records.
func TestCheckpoint(t *testing.T) {
	w := workflow.Default()
	const other = machine("other")
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
		}, workflow.ChainPartly, 6},
		{"ahead without a key", func(s *workflow.Session, _ *workflow.Checkpoint) { step(t, w, s, nil, workflow.EventScoredReady, 9) }, workflow.ChainPartly, 6},
		{"of an older program", func(_ *workflow.Session, c *workflow.Checkpoint) { c.Head = "" }, workflow.ChainHolds, 0},
		{"behind", func(s *workflow.Session, c *workflow.Checkpoint) {
			later := reread(t, s)
			step(t, w, later, mine, workflow.EventScoredReady, 9)
			*c, _ = later.Checkpoint(workflow.Verification{})
		}, workflow.ChainChanged, 6},
		{"of another road", func(s *workflow.Session, c *workflow.Checkpoint) {
			later := reread(t, s)
			step(t, w, later, mine, workflow.EventScoredReady, 9)
			*c, _ = later.Checkpoint(workflow.Verification{})
			step(t, w, s, mine, workflow.EventScoredReady, 10)
		}, workflow.ChainChanged, 6},
		{"all signatures taken off", func(s *workflow.Session, _ *workflow.Checkpoint) {
			for i := range s.History {
				s.History[i].Signature = ""
			}
		}, workflow.ChainChanged, 5},
		{"an entry forged below the recorded one", func(s *workflow.Session, _ *workflow.Checkpoint) { s.History[1].Feedback = "yes" }, workflow.ChainChanged, 2},
		{"the revision lowered", func(s *workflow.Session, _ *workflow.Checkpoint) { s.Revision-- }, workflow.ChainChanged, 5},
		{"recorded with entries that do not count", func(_ *workflow.Session, c *workflow.Checkpoint) { c.Broken = 2 }, workflow.ChainHolds, 0},
		{"written over", func(_ *workflow.Session, c *workflow.Checkpoint) { *c = workflow.Checkpoint{Foreign: true} }, workflow.ChainChanged, 5},
		{"written over, of a session that this key never signed", func(s *workflow.Session, c *workflow.Checkpoint) {
			*c, *s = workflow.Checkpoint{Foreign: true}, *newSigned(t, other)
		}, workflow.ChainPartly, 1},
		{"recorded of no entry", func(_ *workflow.Session, c *workflow.Checkpoint) { c.Entries = 0 }, workflow.ChainChanged, 1},
	} {
		s, c := newRecorded(t)
		tt.change(s, c)
		if v := s.Verify(mine, knownOf(c)); v.Status != tt.status || v.Broken != tt.broken || (v.Problem == "") != (tt.status == workflow.ChainHolds) {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
	s, _ := newRecorded(t)
	if c, ok := s.Checkpoint(workflow.Verification{Status: workflow.ChainAdopted, Unvouched: []workflow.Span{{From: 2, To: 3}}}); !ok || c.Broken != 2 {
		t.Errorf("after an adoption: %+v", c) // whoever reads it checks all signatures
	}
	if _, ok := newSigned(t, nil).Checkpoint(workflow.Verification{}); ok {
		t.Error("a session without signatures is recorded")
	}
}

// adopt accepts a session, as a store does it.
func adopt(t *testing.T, s *workflow.Session, c *workflow.Checkpoint) *workflow.Session {
	t.Helper()
	v := s.Verify(mine, knownOf(c))
	if v.Sound() {
		t.Fatalf("%+v", v)
	}
	if c != nil {
		s.Revision = max(s.Revision, c.Revision)
	}
	if err := s.Adopt(mine, here, v, workflow.Transition{By: "terminal", At: time.Unix(99, 0).UTC()}); err != nil {
		t.Fatal(err)
	}
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
		"links and signatures": func(s *workflow.Session) {
			for i := range s.History {
				s.History[i].Prev, s.History[i].Signature = "", ""
			}
		},
		"the objective":     func(s *workflow.Session) { s.Objective = "x" },
		"the place":         func(s *workflow.Session) { s.CurrentStage = workflow.QA },
		"all entries":       func(s *workflow.Session) { s.History = nil },
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
		later, _ := s.Checkpoint(workflow.Verification{})
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
	if v := s.Verify(mine, knownOf(c)); v.Vouches(4) || v.Vouches(5) || !v.Vouches(3) {
		t.Errorf("%+v", v)
	}
	s = adopt(t, s, c)
	if v := s.Verify(mine, knownOf(nil)); v.Vouches(4) || !v.Vouches(6) || v.Status != workflow.ChainAdopted {
		t.Errorf("adopted: %+v", v)
	}
	// Nor does a step that goes on without one.
	s, c = newRecorded(t)
	s.History[3].Signature = ""
	sign := s.Signing(mine, s.Verify(mine, knownOf(c)))
	s.Note(workflow.Transition{Event: workflow.EventPolicyChanged})
	if err := sign(here); err != nil {
		t.Fatal(err)
	}
	s.Revision++
	if v := s.Verify(mine, knownOf(nil)); v.Vouches(4) || !v.Vouches(6) || !v.Changed() {
		t.Errorf("gone on: %+v", v)
	}
}
