package workflow_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// machine signs with a key in memory, which follows from its name.
type machine string

func (m machine) signer() signature.Signer {
	seed := sha256.Sum256([]byte(m))
	s, err := signature.NewSigner(ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		panic(err)
	}
	return s
}

func (m machine) Public() signature.Key               { return m.signer().Public() }
func (m machine) Sign(message []byte) (string, error) { return m.signer().Sign(message) }
func (m machine) MAC(string) string                   { panic("the rules authenticate no records") }

func (m machine) member(subject string) workflow.Member {
	return workflow.Member{Key: m.Public(), Subject: subject}
}

const mine = machine("mine")

// here is the id of the project that sessions are signed in.
const here = "local:here"

// newSigned returns a session of some signed steps, as it comes from disk.
func newSigned(t *testing.T, by workflow.Signer) *workflow.Session {
	t.Helper()
	w := workflow.Default()
	s := w.NewSession("id", "objective", "/p", "test", time.Unix(1, 0).UTC())
	if err := s.SignNew(by, here); err != nil {
		t.Fatal(err)
	}
	for i, event := range []workflow.Event{workflow.EventQuestioned, workflow.EventAnswered, workflow.EventScoredReady, workflow.EventConfirmed} {
		step(t, w, s, by, event, i)
	}
	return reread(t, s)
}

func step(t *testing.T, w *workflow.Definition, s *workflow.Session, by workflow.Signer, event workflow.Event, i int) {
	t.Helper()
	sign := s.Signing(by, s.Verify(by, nil))
	score := 95.0
	s.Current().Score = &score
	grant := &workflow.Grant{Channel: workflow.ChannelRelayed, Decision: workflow.DecisionApprove, Stage: s.CurrentStage, At: time.Unix(int64(i), 5e6).UTC()}
	err := w.Fire(context.Background(), s, workflow.Transition{Event: event, At: time.Unix(int64(i), 120e6).UTC(), Judged: s.Current().Judged(), Score: &score, Grant: grant, Feedback: "<&> 中文"}, "")
	if err == nil {
		err = sign(here)
	}
	if err != nil {
		t.Fatal(err)
	}
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
	s := newSigned(t, mine)
	if v := s.Verify(mine, nil); v.Status != workflow.ChainHolds || v.Unvouched != nil || v.Entries != 5 || v.Problem != "" {
		t.Errorf("%+v", v)
	}
}

// TestTamperingShows changes a history in every way that there is, without the key.
func TestTamperingShows(t *testing.T) {
	const other = machine("other")
	resign := func(s *workflow.Session, by workflow.Signer, from int) {
		kept := s.History[from:]
		s.History = s.History[:from:from]
		sign := s.Signing(by, workflow.Verification{})
		for _, e := range kept {
			s.Append(e)
		}
		s.Revision--
		if err := sign(here); err != nil {
			t.Fatal(err)
		}
		s.Revision++
	}
	tests := []struct {
		name   string
		change func(s *workflow.Session)
		status workflow.ChainStatus
		broken int // entry, counted from 1
	}{
		{"a score", func(s *workflow.Session) { n := 99.0; s.History[2].Score = &n }, workflow.ChainChanged, 3},
		{"who decided", func(s *workflow.Session) { s.History[3].Grant.Channel = workflow.ChannelElicited }, workflow.ChainChanged, 4},
		{"the newest entry", func(s *workflow.Session) { s.History[4].Feedback = "" }, workflow.ChainChanged, 5},
		{"the first entry", func(s *workflow.Session) { s.History[0].By = "me" }, workflow.ChainChanged, 1},
		{"an unknown key of an entry", func(s *workflow.Session) { s.History[1].Extra = workflow.Extra{"x": json.RawMessage("1")} }, workflow.ChainChanged, 2},
		{"an entry taken out", func(s *workflow.Session) { s.History = append(s.History[:2:2], s.History[3:]...) }, workflow.ChainChanged, 3},
		{"entries changed about", func(s *workflow.Session) { s.History[1], s.History[2] = s.History[2], s.History[1] }, workflow.ChainChanged, 2},
		{"the newest taken out", func(s *workflow.Session) { s.History = s.History[:4] }, workflow.ChainChanged, 4},
		{"the newest once more", func(s *workflow.Session) { s.History = append(s.History, s.History[4]) }, workflow.ChainChanged, 6},
		{"the newest once more, linked", func(s *workflow.Session) {
			again := s.History[4]
			again.Prev = workflow.EntryHash(s.History[4])
			s.History = append(s.History, again)
		}, workflow.ChainChanged, 6},
		{"the evidence of an earlier stage", func(s *workflow.Session) { s.Record(workflow.PO).Evidence = &workflow.Evidence{ExitCode: 0} }, workflow.ChainChanged, 5},
		{"the policy of a gate", func(s *workflow.Session) { s.Record(workflow.PO).Policy = &workflow.Policy{Gate: workflow.GateRelay} }, workflow.ChainChanged, 5},
		{"the name", func(s *workflow.Session) { s.TaskName = "fix-a-typo" }, workflow.ChainChanged, 5},
		{"all of the history", func(s *workflow.Session) { s.History = nil }, workflow.ChainPartly, 0},
		{"the beginning", func(s *workflow.Session) { s.History = s.History[3:] }, workflow.ChainChanged, 1},
		{"links taken out", func(s *workflow.Session) {
			for i := range s.History {
				s.History[i].Prev = ""
			}
		}, workflow.ChainChanged, 2},
		{"all signatures taken off", func(s *workflow.Session) {
			for i := range s.History {
				s.History[i].Signature = ""
			}
		}, workflow.ChainPartly, 1},
		{"a yes without a signature", func(s *workflow.Session) {
			s.Note(workflow.Transition{Event: workflow.EventGranted, Grant: s.History[3].Grant, Prev: workflow.EntryHash(s.History[4])})
		}, workflow.ChainPartly, 6},
		{"a signature of another entry", func(s *workflow.Session) { s.History[3].Signature = s.History[2].Signature }, workflow.ChainChanged, 4},
		{"a signature that is none", func(s *workflow.Session) { s.History[3].Signature = "!" }, workflow.ChainChanged, 4},
		{"signed by another key, from an entry on", func(s *workflow.Session) { s.History[2].Feedback = "x"; resign(s, other, 2) }, workflow.ChainPartly, 3},
		{"the score at the gate", func(s *workflow.Session) {
			s.History = s.History[:4]
			s.CurrentStage, s.CurrentState = workflow.PO, workflow.AwaitingConfirmation
			n := 99.0
			s.Current().Score = &n
		}, workflow.ChainChanged, 4},
		{"another session's id", func(s *workflow.Session) { s.SessionID = "other" }, workflow.ChainChanged, 1},
		{"the run moved by hand", func(s *workflow.Session) { s.CurrentState = workflow.Completed }, workflow.ChainChanged, 5},
		{"of a program that covers other keys", func(s *workflow.Session) {
			s.History[4].Standing = "00000000:" + strings.Repeat("0", 64)
			s.Revision--
			s.History[4].Prev = workflow.EntryHash(s.History[3])
			workflow.SignEntry(t, s, mine, 4)
			s.Revision++
		}, workflow.ChainPartly, 5},
	}
	for _, tt := range tests {
		s := newSigned(t, mine)
		tt.change(s)
		v := s.Verify(mine, nil)
		if v.Status != tt.status || v.Broken != tt.broken || v.Problem == "" || v.Sound() {
			t.Errorf("%s: %+v", tt.name, v)
		}
		if tt.broken > 0 && tt.broken <= len(s.History) && (v.BrokenAt == nil || !v.BrokenAt.Equal(s.History[tt.broken-1].At)) {
			t.Errorf("%s: broken at %v", tt.name, v.BrokenAt)
		}
		if tt.status == workflow.ChainPartly && tt.broken != 1 {
			continue
		}
		// The next entry, signed with the key, does not make it sound.
		again := reread(t, s)
		sign := again.Signing(mine, again.Verify(mine, nil))
		again.Note(workflow.Transition{Event: workflow.EventPolicyChanged})
		if err := sign(here); err != nil {
			t.Fatal(err)
		}
		again.Revision++
		if v := again.Verify(mine, nil); v.Status != tt.status {
			t.Errorf("%s: after the next entry: %+v", tt.name, v)
		}
		again.History[len(again.History)-1].Found = ""
		if v := again.Verify(mine, nil); v.Sound() {
			t.Errorf("%s: sound without what was found: %+v", tt.name, v)
		}
	}
}

// TestOldHistoryIsSignedFromNowOn checks that entries of programs that signed none stay as they
// are, and do not count.
func TestOldHistoryIsSignedFromNowOn(t *testing.T) {
	s := newSigned(t, nil)
	s.Seals = []json.RawMessage{json.RawMessage(`{"key":"k"}`)}
	step(t, workflow.Default(), s, mine, workflow.EventScoredReady, 9)
	s = reread(t, s)
	if v := s.Verify(mine, nil); v.Status != workflow.ChainPartly || !reflect.DeepEqual(v.Unvouched, []workflow.Span{{From: 1, To: 5}}) || len(s.Seals) != 0 {
		t.Errorf("%+v", v)
	}
	// One more by such a program, and one by ours.
	s.History = append(s.History, workflow.Transition{Event: workflow.EventReopened, From: s.Place(), To: s.Place()})
	step(t, workflow.Default(), s, mine, workflow.EventConfirmed, 10)
	if v := s.Verify(mine, nil); v.Status != workflow.ChainPartly || !reflect.DeepEqual(v.Unvouched, []workflow.Span{{From: 1, To: 5}, {From: 7, To: 7}}) {
		t.Errorf("%+v", v)
	}
	s.History[6].Feedback = "x"
	if v := s.Verify(mine, nil); v.Status != workflow.ChainChanged || v.Broken != 8 {
		t.Errorf("%+v", v)
	}
}
