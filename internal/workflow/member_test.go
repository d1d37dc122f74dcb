package workflow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// noteBy adds an entry of a person to a session, by a machine that knows some members.
func noteBy(t *testing.T, s *workflow.Session, by workflow.Signer, subject string, members ...workflow.Member) {
	t.Helper()
	who := workflow.Person{Subject: subject}
	sign := s.Signing(by, s.Verify(by, &workflow.Known{Project: here, Members: members}))
	s.Note(workflow.Transition{At: time.Unix(int64(len(s.History))*60, 0).UTC(), Action: workflow.ActionSubmit, Event: workflow.EventEdited, Person: who})
	if err := sign(here); err != nil {
		t.Fatal(err)
	}
	s.Revision++
}

// ofTwo returns a session that ana began, ben went on with, and ana again.
func ofTwo(t *testing.T) *workflow.Session {
	t.Helper()
	s := workflow.Default().NewSession("00000001-0000-4000-8000-000000000000", "x", "/p", "test", time.Unix(0, 0).UTC())
	s.History[0].Subject = "ana"
	if err := s.SignNew(ana, here); err != nil {
		t.Fatal(err)
	}
	noteBy(t, s, ben, "ben", ana.member("ana"))
	noteBy(t, s, ana, "ana", ben.member("ben"))
	return s
}

const ana, ben, eve = machine("ana"), machine("ben"), machine("eve")

// TestMembersCount: each of two machines finds the history whole if it knows whose the other's key is; one that does
// not know it names the key.
func TestMembersCount(t *testing.T) {
	s := ofTwo(t)
	for name, c := range map[string]struct {
		by      workflow.Signer
		members []workflow.Member
		status  workflow.ChainStatus
		unknown machine
	}{
		"ana, who knows ben":      {ana, []workflow.Member{ben.member("ben")}, workflow.ChainHolds, ""},
		"ben, who knows ana":      {ben, []workflow.Member{ana.member("ana")}, workflow.ChainHolds, ""},
		"eve, who knows both":     {eve, []workflow.Member{ana.member("ana"), ben.member("ben")}, workflow.ChainHolds, ""},
		"nobody, who knows both":  {nil, []workflow.Member{ana.member("ana"), ben.member("ben")}, workflow.ChainHolds, ""},
		"ben, who knows nobody":   {ben, nil, workflow.ChainPartly, ana},
		"eve, who knows nobody":   {eve, nil, workflow.ChainPartly, ben},
		"eve, who knows only ben": {eve, []workflow.Member{ben.member("ben")}, workflow.ChainPartly, ana},
		"ana's key is eve's":      {ben, []workflow.Member{ana.member("eve")}, workflow.ChainPartly, ana},
		"another key is ana's":    {ben, []workflow.Member{eve.member("ana")}, workflow.ChainPartly, ana},
		"a key of nobody":         {ben, []workflow.Member{ana.member("")}, workflow.ChainPartly, ana},
		"the key in another form": {ben, []workflow.Member{{Key: ana.Public() + " ana", Subject: "ana"}}, workflow.ChainPartly, ana},
	} {
		v := s.Verify(c.by, &workflow.Known{Project: here, Members: c.members})
		if v.Status != c.status || c.unknown != "" && !slices.Contains(v.Strangers, c.unknown.Public().Fingerprint()) {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if keys := s.History[1].Keys; len(keys) != 1 || keys[0] != ana.member("ana") || len(s.History[2].Keys) != 1 {
		t.Errorf("the history does not say whose keys its people went by: %+v", keys)
	}
}

// TestMembersForge: whatever a member changes in a history shows to the others, and nobody's key makes an entry count
// that names somebody else.
func TestMembersForge(t *testing.T) {
	both := []workflow.Member{ana.member("ana"), ben.member("ben")}
	grantOf := func(subject string) *workflow.Grant {
		return &workflow.Grant{Person: workflow.Person{Subject: subject}, Decision: workflow.DecisionApprove}
	}
	for name, c := range map[string]struct {
		forge  func(s *workflow.Session)
		status workflow.ChainStatus
		entry  int
	}{
		"an entry of ana":           {func(s *workflow.Session) { s.History[0].By = "x" }, workflow.ChainChanged, 1},
		"his own, not signed again": {func(s *workflow.Session) { s.History[1].Feedback = "yes" }, workflow.ChainChanged, 2},
		"his own, signed again":     {func(s *workflow.Session) { s.History[1].Feedback = "yes"; workflow.SignEntry(t, s, ben, 1) }, workflow.ChainChanged, 3},
		"ana's, signed by him":      {func(s *workflow.Session) { s.History[2].Feedback = "yes"; workflow.SignEntry(t, s, ben, 2) }, workflow.ChainPartly, 3},
		"one more in ana's name":    {func(s *workflow.Session) { noteBy(t, s, ben, "ana", both...) }, workflow.ChainPartly, 4},
		"one more of a stranger":    {func(s *workflow.Session) { noteBy(t, s, eve, "eve", both...) }, workflow.ChainPartly, 4},
		"a stranger in ana's name":  {func(s *workflow.Session) { noteBy(t, s, eve, "ana", both...) }, workflow.ChainPartly, 4},
		"his entry, ana's decision": {func(s *workflow.Session) {
			s.History[2].Grant, s.History[2].Subject = grantOf("ana"), "ben"
			workflow.SignEntry(t, s, ben, 2)
		}, workflow.ChainChanged, 3},
		"the signature of another":     {func(s *workflow.Session) { s.History[2].Signature = s.History[1].Signature }, workflow.ChainPartly, 3},
		"ana's entry at another place": {func(s *workflow.Session) { s.History[1] = s.History[2] }, workflow.ChainChanged, 2},
	} {
		s := ofTwo(t)
		c.forge(s)
		v := s.Verify(eve, &workflow.Known{Project: here, Members: both})
		if name == "one more of a stranger" || name == "a stranger in ana's name" {
			v = s.Verify(ana, &workflow.Known{Project: here, Members: both})
		}
		if v.Status != c.status || v.Broken != c.entry || v.Problem == "" || v.Vouches(c.entry) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestAdoptionBySomebodyElse: it accepts nothing here if it matters who says yes.
func TestAdoptionBySomebodyElse(t *testing.T) {
	s := ofTwo(t)
	s.Objective = "another"
	known := workflow.Known{Project: here, Members: []workflow.Member{ana.member("ana")}}
	who := workflow.Transition{Person: workflow.Person{Subject: "ben"}}
	if err := s.Adopt(ben, here, s.Verify(ben, &known), who); err != nil {
		t.Fatal(err)
	}
	s.Revision++
	known.Members = []workflow.Member{ben.member("ben")}
	if v := s.Verify(ana, &known); v.Status != workflow.ChainAdopted {
		t.Errorf("where anybody may say yes: %+v", v)
	}
	known.Rules = map[workflow.StageID]workflow.Policy{workflow.PO: {Quorum: 2}}
	if v := s.Verify(ana, &known); v.Sound() {
		t.Errorf("where it matters who does: %+v", v)
	}
	if err := s.Adopt(ana, here, s.Verify(ana, &known), workflow.Transition{Person: workflow.Person{Subject: "ana"}}); err != nil {
		t.Fatal(err)
	}
	s.Revision++
	if v := s.Verify(ana, &known); v.Status != workflow.ChainAdopted {
		t.Errorf("once she has looked at it herself: %+v", v)
	}
}
