package workflow_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// signer signs with a key in memory.
type signer string

func (s signer) Key() string { return "key-" + string(s) }

func (s signer) Sign(message string) string {
	mac := hmac.New(sha256.New, []byte(s))
	mac.Write([]byte(message))
	return hex.EncodeToString(mac.Sum(nil))
}

const mine = signer("mine")

// here is the id of the project that sessions are sealed in.
const here = "local:here"

// newSealed returns a session of some sealed steps, as it comes from disk.
func newSealed(t *testing.T, by workflow.Signer) *workflow.Session {
	t.Helper()
	w := workflow.Default()
	s := w.NewSession("id", "objective", "/p", "test", time.Unix(1, 0).UTC())
	s.SealNew(by, here)
	for i, event := range []workflow.Event{workflow.EventQuestioned, workflow.EventAnswered, workflow.EventScoredReady, workflow.EventConfirmed} {
		step(t, w, s, by, event, i)
	}
	return reread(t, s)
}

func step(t *testing.T, w *workflow.Definition, s *workflow.Session, by workflow.Signer, event workflow.Event, i int) {
	t.Helper()
	seal := s.Seal(by, s.Verify(by, nil))
	score := 95.0
	s.Current().Score = &score
	grant := &workflow.Grant{Channel: workflow.ChannelRelayed, At: time.Unix(int64(i), 5e6).UTC()}
	err := w.Fire(context.Background(), s, workflow.Transition{Event: event, At: time.Unix(int64(i), 120e6).UTC(), Judged: s.Current().Judged(), Score: &score, Grant: grant, Feedback: "<&> 中文"}, "")
	if err != nil {
		t.Fatal(err)
	}
	seal(here)
	s.Revision++ // as a store does
}

func reread(t *testing.T, s *workflow.Session) *workflow.Session {
	t.Helper()
	data, err := workflow.MarshalIndent(s)
	if err != nil {
		t.Fatal(err)
	}
	var out workflow.Session
	if err := workflow.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestUntouchedHistoryHolds(t *testing.T) {
	s := newSealed(t, mine)
	if v := s.Verify(mine, nil); v.Status != workflow.ChainHolds || v.Unvouched != nil || v.Entries != 5 || v.Problem != "" {
		t.Errorf("%+v", v)
	}
	if len(s.Seals) != 1 {
		t.Errorf("%d seals", len(s.Seals))
	}
}

// TestTamperingShows changes a history in every way that there is, without the key.
func TestTamperingShows(t *testing.T) {
	// relink makes the links fit again, as a program without the key can.
	relink := func(s *workflow.Session) {
		changed := *s
		changed.History = nil
		for _, e := range s.History {
			e.Prev = ""
			changed.Append(e)
		}
		s.History = changed.History
	}
	tests := []struct {
		name   string
		change func(s *workflow.Session)
		broken int // entry, counted from 1; 0: nothing vouches for it
	}{
		{"a score", func(s *workflow.Session) { n := 99.0; s.History[2].Score = &n }, 3},
		{"who decided", func(s *workflow.Session) { s.History[3].Grant.Channel = workflow.ChannelElicited }, 4},
		{"the newest entry", func(s *workflow.Session) { s.History[4].Feedback = "" }, 5},
		{"the first entry", func(s *workflow.Session) { s.History[0].By = "me" }, 1},
		{"an unknown key", func(s *workflow.Session) { s.History[1].Extra = workflow.Extra{"x": json.RawMessage("1")} }, 2},
		{"an entry taken out", func(s *workflow.Session) { s.History = append(s.History[:2:2], s.History[3:]...) }, 2},
		{"entries changed about", func(s *workflow.Session) { s.History[1], s.History[2] = s.History[2], s.History[1] }, 1},
		{"the newest taken out", func(s *workflow.Session) { s.History = s.History[:4] }, 5},
		{"an entry put in", func(s *workflow.Session) { s.History = append(s.History, s.History[4]) }, 5},
		{"the evidence of an earlier stage", func(s *workflow.Session) { s.Record(workflow.PO).Evidence = &workflow.Evidence{ExitCode: 0} }, 5},
		{"the policy of a gate", func(s *workflow.Session) { s.Record(workflow.PO).Policy = &workflow.Policy{Gate: workflow.GateRelay} }, 5},
		{"all of the history", func(s *workflow.Session) { s.History, s.Seals = nil, nil }, 0},
		{"the beginning, with the seal", func(s *workflow.Session) { s.History, s.Seals = s.History[3:], nil }, 0},
		{"links taken out", func(s *workflow.Session) {
			for i := range s.History {
				s.History[i].Prev = ""
			}
		}, 5},
		{"linked anew", func(s *workflow.Session) { s.History[2].Feedback = "x"; relink(s) }, 5},
		{"one more, linked", func(s *workflow.Session) { s.Append(s.History[4]) }, 0},
		{"the seal", func(s *workflow.Session) { s.Seals[0].Entries = 4 }, 4},
		{"the seal's mark", func(s *workflow.Session) { s.Seals[0].Unvouched = []workflow.Span{{From: 1, To: 1}} }, 5},
		{"a second seal", func(s *workflow.Session) {
			s.Seals = append([]workflow.Seal{{Key: mine.Key(), Entries: 1}}, s.Seals...)
		}, 1},
		{"linked anew, without the seal", func(s *workflow.Session) { s.History[2].Feedback = "x"; relink(s); s.Seals = nil }, 0},
		{"the score at the gate", func(s *workflow.Session) {
			s.History, s.Seals = s.History[:4], nil
			s.CurrentStage, s.CurrentState = workflow.PO, workflow.AwaitingConfirmation
			n := 99.0
			s.Current().Score = &n
		}, 4},
		{"the seal taken off", func(s *workflow.Session) { s.Seals = nil }, 0},
		{"another session's id", func(s *workflow.Session) { s.SessionID = "other" }, 5},
		{"the session moved by hand", func(s *workflow.Session) { s.CurrentState = workflow.Completed }, 5},
	}
	for _, tt := range tests {
		s := newSealed(t, mine)
		tt.change(s)
		v := s.Verify(mine, nil)
		want := workflow.ChainChanged
		if tt.broken == 0 {
			want = workflow.ChainPartly
		}
		if v.Status != want || v.Broken != tt.broken || v.Problem == "" {
			t.Errorf("%s: %+v", tt.name, v)
		}
		if tt.broken > 0 && tt.broken <= len(s.History) && (v.BrokenAt == nil || !v.BrokenAt.Equal(s.History[tt.broken-1].At)) {
			t.Errorf("%s: broken at %v", tt.name, v.BrokenAt)
		}
		// The next entry, sealed with the key, does not make it sound.
		again := reread(t, s)
		seal := again.Seal(mine, again.Verify(mine, nil))
		again.Append(workflow.Transition{From: "a", To: again.Place()})
		seal(here)
		again.Revision++
		if v := again.Verify(mine, nil); v.Status != want {
			t.Errorf("%s: after the next entry: %+v", tt.name, v)
		}
		again.Seals = slices.DeleteFunc(again.Seals, func(seal workflow.Seal) bool { return seal.Key == mine.Key() })
		if v := again.Verify(mine, nil); v.Status == workflow.ChainHolds {
			t.Errorf("%s: sound without its seal: %+v", tt.name, v)
		}
	}
}

// TestOtherKeysStay checks that a project that goes from machine to machine keeps their seals, and
// each key says what it vouches for.
func TestOtherKeysStay(t *testing.T) {
	s := newSealed(t, mine)
	const other = signer("other")
	want := func(by workflow.Signer, status workflow.ChainStatus, others int, spans ...workflow.Span) {
		t.Helper()
		v := s.Verify(by, nil)
		if v.Status != status || len(v.OtherKeys) != others || !reflect.DeepEqual(v.Unvouched, spans) || v.Broken != 0 {
			t.Errorf("%+v", v)
		}
	}
	want(other, workflow.ChainPartly, 1, workflow.Span{From: 1, To: 5})
	step(t, workflow.Default(), s, other, workflow.EventScoredReady, 9)
	want(other, workflow.ChainPartly, 1, workflow.Span{From: 1, To: 5})
	want(mine, workflow.ChainPartly, 1, workflow.Span{From: 6, To: 6})
	want(nil, workflow.ChainPartly, 2, workflow.Span{From: 1, To: 6})
	step(t, workflow.Default(), s, mine, workflow.EventConfirmed, 10)
	want(mine, workflow.ChainPartly, 1, workflow.Span{From: 6, To: 6})
	want(other, workflow.ChainPartly, 1, workflow.Span{From: 1, To: 5}, workflow.Span{From: 7, To: 7})
}

// TestOldHistoryIsLinkedFromNowOn checks that entries of programs that kept no links stay as they
// are.
func TestOldHistoryIsLinkedFromNowOn(t *testing.T) {
	s := newSealed(t, mine)
	s.Seals = nil
	for i := range s.History {
		s.History[i].Prev = ""
	}
	step(t, workflow.Default(), s, mine, workflow.EventScoredReady, 9)
	s = reread(t, s)
	if v := s.Verify(mine, nil); v.Status != workflow.ChainPartly || !reflect.DeepEqual(v.Unvouched, []workflow.Span{{From: 1, To: 5}}) {
		t.Errorf("%+v", v)
	}
	// One more by such a program, and one by ours.
	s.History = append(s.History, workflow.Transition{Event: workflow.EventReopened, From: s.Place(), To: s.Place()})
	step(t, workflow.Default(), s, mine, workflow.EventConfirmed, 10)
	if v := s.Verify(mine, nil); v.Status != workflow.ChainPartly || !reflect.DeepEqual(v.Unvouched, []workflow.Span{{From: 1, To: 7}}) {
		t.Errorf("%+v", v)
	}
	s.History[6].Feedback = "x"
	if v := s.Verify(mine, nil); v.Status != workflow.ChainChanged || v.Broken != 7 {
		t.Errorf("%+v", v)
	}
}
