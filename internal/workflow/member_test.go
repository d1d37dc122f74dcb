package workflow_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// notary is a signer with a public key.
type notary struct{ signer }

func (n notary) private() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(n.signer))
	return ed25519.NewKeyFromSeed(seed[:])
}

func (n notary) Public() ed25519.PublicKey { return n.private().Public().(ed25519.PublicKey) }

func (n notary) Notarize(message string) []byte { return ed25519.Sign(n.private(), []byte(message)) }

func (n notary) member(name string) workflow.Member {
	return workflow.NewMember(n.Public(), name, "")
}

// note adds an entry to a session by a machine that knows some members.
func note(s *workflow.Session, by workflow.Signer, members ...workflow.Member) {
	seal := s.Seal(by, s.Verify(by, &workflow.Known{Project: here, Members: members}))
	s.Note(workflow.Transition{At: time.Unix(int64(len(s.History))*60, 0).UTC(), Action: workflow.ActionSubmit, Event: workflow.EventEdited})
	seal(here)
	s.Revision++
}

// ofTwo returns a session that ana began, ben went on with, and ana again.
func ofTwo(t *testing.T, ana, ben notary) *workflow.Session {
	t.Helper()
	s := workflow.Default().NewSession("00000001-0000-4000-8000-000000000000", "x", "/p", "test", time.Unix(0, 0).UTC())
	s.SealNew(ana, here)
	s.Revision = 1
	note(s, ben, ana.member("ana"))
	note(s, ana, ben.member("ben"))
	return s
}

// TestMembersVouch: each of two machines finds the history whole if it knows the other's key; one that does
// not know it names the key.
func TestMembersVouch(t *testing.T) {
	ana, ben, eve := notary{"ana"}, notary{"ben"}, notary{"eve"}
	s := ofTwo(t, ana, ben)
	for name, c := range map[string]struct {
		by      workflow.Signer
		members []workflow.Member
		status  workflow.ChainStatus
		says    string
	}{
		"ana, who knows ben":      {ana, []workflow.Member{ben.member("ben")}, workflow.ChainHolds, ""},
		"ben, who knows ana":      {ben, []workflow.Member{ana.member("ana")}, workflow.ChainHolds, ""},
		"eve, who knows both":     {eve, []workflow.Member{ana.member("ana"), ben.member("ben")}, workflow.ChainHolds, ""},
		"nobody, who knows both":  {nil, []workflow.Member{ana.member("ana"), ben.member("ben")}, workflow.ChainHolds, ""},
		"ben, who knows nobody":   {ben, nil, workflow.ChainPartly, ana.member("").Key},
		"eve, who knows nobody":   {eve, nil, workflow.ChainPartly, ben.member("").Key},
		"eve, who knows only ben": {eve, []workflow.Member{ben.member("ben")}, workflow.ChainPartly, ana.member("").Key},
		"another key of the name": {ben, []workflow.Member{{Key: ana.member("").Key, Public: eve.member("").Public, Subject: "ana"}}, workflow.ChainPartly, ana.member("").Key},
	} {
		v := s.Verify(c.by, &workflow.Known{Project: here, Members: c.members})
		if v.Status != c.status || c.says != "" && !slices.Contains(v.Strangers, c.says) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestMembersSeals: whatever is changed in a history that members have sealed shows to each of them, and
// nobody's seal vouches for what another has forged.
func TestMembersSeals(t *testing.T) {
	ana, ben, eve := notary{"ana"}, notary{"ben"}, notary{"eve"}
	both := []workflow.Member{ana.member("ana"), ben.member("ben")}
	sealOf := func(s *workflow.Session, n notary) *workflow.Seal {
		return &s.Seals[slices.IndexFunc(s.Seals, func(seal workflow.Seal) bool { return seal.Key == n.member("").Key })]
	}
	for name, forge := range map[string]func(s *workflow.Session){
		"an entry":            func(s *workflow.Session) { s.History[1].Feedback = "yes" },
		"the newest":          func(s *workflow.Session) { s.History[2].Feedback = "yes" },
		"an entry is gone":    func(s *workflow.Session) { s.History = s.History[:2] },
		"a seal moved on":     func(s *workflow.Session) { sealOf(s, ben).Entries = 3 },
		"a seal of zero":      func(s *workflow.Session) { sealOf(s, ben).Entries = 0 },
		"a seal that vouches": func(s *workflow.Session) { sealOf(s, ana).Unvouched = []workflow.Span{{From: 1, To: 1}} },
		"a signature":         func(s *workflow.Session) { sealOf(s, ana).Signature = sealOf(s, ben).Signature },
		"not base64":          func(s *workflow.Session) { sealOf(s, ana).Signature = "!" },
		"signed by eve": func(s *workflow.Session) {
			note(s, eve, both...)
			seal := sealOf(s, eve)
			seal.Key, seal.Public = ana.member("").Key, ana.member("").Public
		},
	} {
		s := ofTwo(t, ana, ben)
		forge(s)
		if v := s.Verify(eve, &workflow.Known{Project: here, Members: both}); !v.Changed() || v.Problem == "" {
			t.Errorf("%s: %+v", name, v)
		}
	}
	s := ofTwo(t, ana, ben)
	note(s, eve, both...)
	if v := s.Verify(ana, &workflow.Known{Project: here, Members: both}); v.Status != workflow.ChainPartly || v.Vouches(4) || !v.Vouches(3) || !slices.Contains(v.Strangers, eve.member("").Key) {
		t.Errorf("an entry of a stranger: %+v", v)
	}
}

// TestPublicSealsSurvive: an older program keeps them as they are.
func TestPublicSealsSurvive(t *testing.T) {
	s := ofTwo(t, notary{"ana"}, notary{"ben"})
	data, err := json.Marshal(s.Seals)
	if err != nil || strings.Count(string(data), `"public":`) != 2 || len(s.Seals) != 4 {
		t.Errorf("%s, %v", data, err)
	}
}
