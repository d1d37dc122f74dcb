package engine_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/permission"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// The people of these tests.
var (
	ann = workflow.Person{Subject: "ann", Name: "Ann Author <ann@example.org>"}
	bob = workflow.Person{Subject: "bob", Name: "Bob <bob@example.org>"}
	cat = workflow.Person{Subject: "cat"}
)

// TestPeopleAreRecorded checks that every entry and every decision says on whose behalf it was made, by keys that an
// older program keeps.
func TestPeopleAreRecorded(t *testing.T) {
	b := newBench(t)
	b.acting = ann
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	b.acting = bob
	b.settings("pause: stages\n") // whose note of the history is somebody's, too
	b.at("architect/generating", confirm(true))
	b.at("po/refining", request.Request{Action: workflow.ActionReopen, Stage: "po"})
	b.acting = workflow.Person{} // an older program
	b.at("po/cancelled", request.Request{Action: workflow.ActionCancel})

	s := b.stored()
	var got []string
	for _, e := range s.History {
		line := string(e.Event) + " " + e.Subject
		if e.Grant != nil {
			line += " " + e.Grant.Subject + " " + e.Grant.Name
		}
		got = append(got, line)
	}
	want := "started ann\nscored_ready ann\npolicy_changed bob\nconfirmed bob bob Bob <bob@example.org>\nreopened bob bob Bob <bob@example.org>\ncancelled   "
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if who, actor := s.History[3].Who(), s.History[3].Actor(); who != "Bob (bob)" || actor != "Bob (bob), test" || s.Last().Actor() != "test" {
		t.Errorf("%q, %q, %q", who, actor, s.Last().Actor())
	}
	data, err := store.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	var plain struct{ History []map[string]any }
	if err := json.Unmarshal(data, &plain); err != nil {
		t.Fatal(err)
	}
	grant, _ := plain.History[3]["grant"].(map[string]any)
	if plain.History[0]["subject"] != "ann" || plain.History[0]["name"] != ann.Name || grant["subject"] != "bob" || grant["name"] != bob.Name {
		t.Errorf("the keys are not flat: %v", plain.History)
	}
	if _, has := plain.History[5]["subject"]; has {
		t.Error("nobody has a subject")
	}
	if v := s.Verify(nil, nil); v.Status == workflow.ChainChanged {
		t.Errorf("%+v", v)
	}
}

// ruled returns a run whose first document waits at its gate, written by ann under the rules of the project's file.
func ruled(t *testing.T, rules string) *bench {
	t.Helper()
	b := newBench(t)
	b.settings(rules)
	b.acting = ann
	b.do(start("x"))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
	return b
}

// unmoved checks that something changes nothing on disk.
func (b *bench) unmoved(what string, do func()) {
	b.t.Helper()
	before := b.tree()
	do()
	if after := b.tree(); !maps.Equal(before, after) {
		for name, text := range after {
			if before[name] != text {
				b.t.Errorf("%s changed %s", what, name)
			}
		}
	}
}

// tree returns all files of the project, by their names.
func (b *bench) tree() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = string(data)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// TestFourEyes checks that who wrote a round cannot let it pass by any channel, and another person can.
func TestFourEyes(t *testing.T) {
	yes := func(via workflow.Channel) request.Request {
		r := confirm(true)
		r.Via = via
		return r
	}
	for name, try := range map[string]func(b *bench) request.Request{
		"the assistant's word": func(*bench) request.Request { return yes(workflow.ChannelRelayed) },
		"a script":             func(*bench) request.Request { return yes(workflow.ChannelScript) },
		"bmad-confirm":         func(*bench) request.Request { return yes(workflow.ChannelHostConfirmed) },
		"typed": func(b *bench) request.Request {
			b.types(workflow.ActionConfirm, workflow.DecisionApprove, "")
			return yes(workflow.ChannelRelayed)
		},
		"the terminal": func(*bench) request.Request {
			return request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionApprove, "")}}
		},
		"a form": func(*bench) request.Request {
			return relays(request.Request{Action: workflow.ActionConfirm}, personal(workflow.ChannelElicited, workflow.DecisionApprove, ""))
		},
		"a page": func(*bench) request.Request {
			return request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: personal(workflow.ChannelBrowser, workflow.DecisionApprove, "")}}
		},
		"a passkey": func(*bench) request.Request {
			return request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: personal(workflow.ChannelPasskey, workflow.DecisionApprove, "")}}
		},
		"looser settings": func(b *bench) request.Request {
			b.settings("four_eyes: false\n")
			return yes(workflow.ChannelScript)
		},
		"another name": func(b *bench) request.Request {
			b.acting.Name = bob.Name
			return yes(workflow.ChannelScript)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := ruled(t, "four_eyes: true\n")
			req := try(b)
			b.unmoved(name, func() { b.refused(req, fault.GatePending, "ann wrote this round") })
			b.acting = bob
			b.at("architect/generating", confirm(true))
			if g := b.stored().Last().Grant; g.Subject != "bob" {
				t.Errorf("decided by %q", g.Subject)
			}
		})
	}
}

// TestFourEyesOfAnotherRound checks who counts as the writer of a round: who handed in the newest one, and who lets an
// edited draft pass. Of a round of an older program nobody is known, so that nobody is another person.
func TestFourEyesOfAnotherRound(t *testing.T) {
	b := ruled(t, "four_eyes: true\n")
	b.acting = bob
	b.at("po/refining", confirm(false))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D2\nQuality Score: 96"))
	b.refused(confirm(true), fault.GatePending, "bob wrote this round")

	b.acting = cat
	work := ".bmad-task/work/x/po.md"
	b.write(work, "# D2, and more\nQuality Score: 96\n")
	edited := request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionApprove, "")}}
	b.unmoved("a yes to an own edit", func() {
		if hint := b.refused(edited, fault.GatePending, "nobody can let their own change pass"); !strings.Contains(hint, "say no, and have it handed in once more") {
			t.Error(hint)
		}
	})
	b.at("po/refining", confirm(false))
	b.at("po/awaiting_confirmation", byPath(workflow.PO, work))
	b.refused(confirm(true), fault.GatePending, "cat wrote this round")
	b.acting = ann
	b.at("architect/generating", confirm(true))

	b.acting = workflow.Person{}
	b.at("architect/awaiting_confirmation", submit(workflow.Architect, "# A\nQuality Score: 96"))
	b.refused(confirm(true), fault.GatePending, "nothing shows on whose behalf")
	b.acting = ann
	b.refused(confirm(true), fault.GatePending, "nothing shows who wrote this round")
}

// TestFourEyesOfAnEditedSession checks that a session in which somebody has put another writer waits for a person, and
// that to adopt it makes nobody another person.
func TestFourEyesOfAnEditedSession(t *testing.T) {
	b := ruled(t, "four_eyes: true\n")
	file := ".bmad-task/session-" + b.session + ".json"
	text := b.read(file)
	b.write(file, strings.ReplaceAll(text, `"subject": "ann"`, `"subject": "eve"`))
	b.refused(confirm(true), fault.Conflict, "changed by other hands")
	_, err := b.engine.Adopt(b.t.Context(), request.Request{
		Address: project.Address{Cwd: b.dir, Session: b.session}, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionAdopt, "")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []workflow.Person{ann, bob} {
		b.acting = who
		b.refused(confirm(true), fault.GatePending, "nothing shows who wrote this round")
	}
	b.at("po/refining", confirm(false))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D2\nQuality Score: 96"))
	b.acting = ann
	b.at("architect/generating", confirm(true))
}

// TestApprovers checks that only the yes of those who are named counts, and anybody's no does.
func TestApprovers(t *testing.T) {
	b := ruled(t, "stages: {po: {approvers: [bob, cat]}}\n")
	b.unmoved("a yes of ann", func() {
		if hint := b.refused(confirm(true), fault.GatePending, "ann is not among those who can let this pass"); !strings.Contains(hint, "those who can: bob, cat") {
			t.Error(hint)
		}
	})
	r := b.do(request.Request{Action: workflow.ActionStatus})
	if n := r.Gate.Needs; n == nil || !slices.Equal(n.Approvers, []string{"bob", "cat"}) || n.FourEyes || n.Quorum != 1 || n.Missing != 1 || r.NextCall != nil || !slices.Equal(r.PendingUserActions, []string{"reject"}) {
		t.Errorf("%+v, %v, %v", n, r.NextCall, r.PendingUserActions)
	}
	b.at("po/refining", confirm(false))
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D2\nQuality Score: 96"))
	b.settings("stages: {po: {approvers: [ann, cat]}}\n") // the gate that is pending keeps those that it had
	b.refused(confirm(true), fault.GatePending, "ann is not among")
	b.acting = bob
	b.refused(confirm(true), fault.GatePending, "bob is not among")
	b.acting = cat
	b.at("architect/generating", confirm(true))
}

// TestQuorum checks that a gate collects the yeses of several people for one text, each once.
func TestQuorum(t *testing.T) {
	b := ruled(t, "quorum: 3\nfour_eyes: true\n")
	b.acting = bob
	r := b.at("po/awaiting_confirmation", confirm(true))
	if !strings.Contains(r.UserMessage, "The yes of Bob (bob) counts.") || !strings.Contains(r.UserMessage, "It needs the yes of 3 people. Given: Bob (bob) on 2026-") || !strings.Contains(r.UserMessage, "Missing: 2.") {
		t.Error(r.UserMessage)
	}
	b.unmoved("the same yes", func() { b.refused(confirm(true), fault.GatePending, "the yes of bob counts already") })
	if n := b.do(request.Request{Action: workflow.ActionStatus}).Gate.Needs; n.Missing != 2 || len(n.Given) != 1 || n.Given[0].Person != bob || n.Given[0].At.IsZero() {
		t.Errorf("%+v", n)
	}

	// A no of anybody sends it back, and another round empties the quorum.
	b.acting = cat
	b.at("po/refining", confirm(false))
	b.acting = ann
	b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96\n\nMore."))
	dan, eve := workflow.Person{Subject: "dan"}, workflow.Person{Subject: "eve"}
	for i, who := range []workflow.Person{bob, dan} {
		b.acting = who
		b.at("po/awaiting_confirmation", confirm(true))
		if n := b.do(request.Request{Action: workflow.ActionStatus}).Gate.Needs; n.Missing != 2-i {
			t.Errorf("%+v", n)
		}
	}
	b.unmoved("a yes of the writer", func() {
		b.acting = ann
		b.refused(confirm(true), fault.GatePending, "ann wrote this round")
	})
	b.acting = eve
	b.at("architect/generating", confirm(true))
	var given []string
	for _, e := range b.stored().History {
		if e.Grant != nil {
			given = append(given, string(e.Event)+" "+e.Grant.Subject)
		}
	}
	if want := "granted bob, changes_requested cat, granted bob, granted dan, confirmed eve"; strings.Join(given, ", ") != want {
		t.Errorf("got %v", given)
	}
}

// TestEditEmptiesTheQuorum checks that yeses to a text do not count for another one.
func TestEditEmptiesTheQuorum(t *testing.T) {
	b := ruled(t, "quorum: 2\n")
	b.acting = bob
	b.at("po/awaiting_confirmation", confirm(true))
	b.write(".bmad-task/work/x/po.md", "# D, otherwise\n")
	edited := request.Request{Action: workflow.ActionConfirm, Caller: request.Caller{Ask: personal(workflow.ChannelTerminal, workflow.DecisionApprove, "")}}
	b.acting = cat
	b.at("po/awaiting_confirmation", edited)
	if n := b.do(request.Request{Action: workflow.ActionStatus}).Gate.Needs; n.Missing != 1 || len(n.Given) != 1 || n.Given[0].Subject != "cat" {
		t.Errorf("%+v", n)
	}
	b.acting = bob
	b.at("architect/generating", confirm(true))
	if saved := b.read(".claude/specs/x/01-product-requirements.md"); !strings.Contains(saved, "otherwise") {
		t.Error(saved)
	}
}

// TestTwoMachinesOfATeam checks that people with keys and state folders of their own decide on one run.
func TestTwoMachinesOfATeam(t *testing.T) {
	b := ruled(t, "quorum: 2\n")
	anns := b.state
	b.state, b.acting = t.TempDir(), bob
	b.restart()
	b.unmoved("a step of bob, who does not know ann's key", func() {
		if hint := b.refused(confirm(true), fault.Conflict, "is not known here to be that of ann"); !strings.Contains(hint, "bmad-mcp allow") {
			t.Error(hint)
		}
	})
	b.knows("ann")
	b.at("po/awaiting_confirmation", confirm(true))
	b.state, b.acting = anns, ann
	b.restart()
	b.refused(confirm(true), fault.Conflict, "is not known here to be that of bob")
	b.knows("bob")
	b.at("architect/generating", confirm(true))
	if keys := b.stored().Last().Keys; len(keys) != 1 || keys[0].Subject != "bob" {
		t.Errorf("her step does not say by whose key she went: %+v", keys)
	}
	listed := func() workflow.Verification {
		v, err := b.engine.Changed(ctx, project.Address{Cwd: b.dir}, []workflow.Summary{{SessionID: b.session}}, false)
		if err != nil {
			t.Fatal(err)
		}
		return v[b.session]
	}
	if v := listed(); !v.Sound() {
		t.Errorf("a list doubts a run of known keys: %+v", v)
	}
	if err := os.Remove(filepath.Join(b.state, "allowed.json")); err != nil {
		t.Fatal(err)
	}
	if v := listed(); v.Sound() {
		t.Error("a list trusts the record of a run although a key does not count any more")
	}
}

// team is a store in memory whose members have roles; "" is that of its owner.
type team struct {
	*storetest.Mem
	role string
}

func (t team) Role() string { return t.role }

// member is a person with an account, a role and a machine, by the number of its key; 0 has no key.
type member struct {
	account, role string
	machine       int
}

// TestMembersOfATeam checks who counts as another person in the store of a team, where an account is only a label.
func TestMembersOfATeam(t *testing.T) {
	const none = ""
	for name, tt := range map[string]struct {
		rules      string
		writes     member
		says       member
		refused    string // a part of the refusal
		afterwards string // the subject of the yes; "KEY" is the key of the machine
	}{
		"two roots in containers, by keys":  {"four_eyes: true\n", member{"root", none, 1}, member{"root", none, 2}, "", "KEY"},
		"two roots in containers, by roles": {"four_eyes: true\n", member{"root", "anna", 1}, member{"root", "ben", 2}, "", "ben"},
		"two accounts of one machine":       {"four_eyes: true\n", member{"ann", none, 1}, member{"bob", none, 1}, "wrote this round", ""},
		"two roles of one machine":          {"four_eyes: true\n", member{"ann", "anna", 1}, member{"bob", "ben", 1}, "wrote this round", ""},
		"a role and the owner's, of one":    {"four_eyes: true\n", member{"ann", none, 1}, member{"ann", "anna", 1}, "wrote this round", ""},
		"two machines of one role":          {"four_eyes: true\n", member{"ann", "anna", 1}, member{"root", "anna", 2}, "anna wrote this round", ""},
		"an account called as an approver":  {"approvers: [bob]\n", member{"ann", "anna", 1}, member{"bob", "mallory", 2}, "mallory is not among", ""},
		"an account without a role":         {"approvers: [bob]\n", member{"ann", "anna", 1}, member{"bob", none, 2}, "is not among", ""},
		"an approver by role":               {"approvers: [ben]\n", member{"ann", "anna", 1}, member{"x", "ben", 2}, "", "ben"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.environ = []string{"BMAD_STORE=postgres://db/team", "BMAD_PROJECT=relay"}
			b.settings(tt.rules)
			kept, machines := storetest.NewMem(), map[int]string{0: "", 1: t.TempDir(), 2: t.TempDir()}
			be := func(m member) {
				b.acting = workflow.Person{Subject: m.account, Name: m.account + " <x@example.org>"}
				b.state = machines[m.machine]
				b.backend = func(store.Place) (store.Backend, error) { return team{kept, m.role}, nil }
				b.restart()
			}
			be(tt.writes)
			b.do(start("x"))
			b.at("po/awaiting_confirmation", submit(workflow.PO, "# D\nQuality Score: 96"))
			be(tt.says)
			if tt.says.machine > 1 {
				for _, m := range b.stored().Signers() {
					b.knows(m.Subject)
				}
			}
			if tt.refused != "" {
				b.refused(confirm(true), fault.GatePending, tt.refused)
				return
			}
			b.at("architect/generating", confirm(true))
			g := b.stored().Last().Grant
			if tt.afterwards == "KEY" {
				tt.afterwards = g.Key
			}
			if g.Subject != tt.afterwards || g.Subject == "" || g.Account != tt.says.account {
				t.Errorf("decided by %+v", g.Person)
			}
		})
	}
}

// TestStoreThatCannotTellItsMembersApart checks that a store whose members share a role, and have no keys, says so at each
// gate, and that nothing goes on under rules about people.
func TestStoreThatCannotTellItsMembersApart(t *testing.T) {
	const sentence = "cannot tell its members apart"
	for name, tt := range map[string]struct {
		rules, role, state string
		told               bool
	}{
		"shared, no key":       {"gate: auto\n", "", "", true},
		"roles, no key":        {"gate: auto\n", "anna", "", false},
		"shared, a key":        {"gate: auto\n", "", t.TempDir(), false},
		"shared, four eyes":    {"four_eyes: true\n", "", "", true},
		"shared, a quorum":     {"quorum: 2\n", "", "", true},
		"shared, approvers":    {"approvers: [ann]\n", "", "", true},
		"files, no key, alone": {"gate: auto\n", "files", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.settings(tt.rules)
			b.acting, b.state = ann, tt.state
			if kept := storetest.NewMem(); tt.role != "files" {
				b.environ = []string{"BMAD_STORE=postgres://db/team", "BMAD_PROJECT=relay"}
				b.backend = func(store.Place) (store.Backend, error) { return team{kept, tt.role}, nil }
			}
			b.restart()
			b.do(start("x"))
			handed := submit(workflow.PO, "# D\nQuality Score: 96")
			if !strings.HasPrefix(tt.rules, "gate") {
				if hint := b.refused(handed, fault.Conflict, "entry 1 has no signature"); !strings.Contains(hint, sentence) {
					t.Error(hint)
				}
				return
			}
			b.at("po/awaiting_confirmation", handed)
			b.restart()
			for _, r := range []*reply.Reply{b.do(status("")), b.do(request.Request{Action: workflow.ActionResume})} {
				if told := strings.Contains(r.UserMessage, sentence); told != tt.told {
					t.Errorf("the gate says %s", r.UserMessage)
				}
			}
			b.at("architect/generating", confirm(true))
		})
	}
}

// knows has the person say that the keys which name an account in the run are of that account.
func (b *bench) knows(subject string) {
	b.t.Helper()
	for _, m := range b.stored().Signers() {
		if m.Subject != subject {
			continue
		}
		a := permission.MemberOf(b.dir, m)
		a.At = b.clock
		if err := trust.UserState(b.state).Allow(ctx, a); err != nil {
			b.t.Fatal(err)
		}
	}
}

// TestMemberWithAProgramOfTheirOwn checks that a colleague who may write the run, and signs with their own key, makes
// no quorum, speaks in nobody else's name, and takes no rule away.
func TestMemberWithAProgramOfTheirOwn(t *testing.T) {
	for name, forge := range map[string]func(s *workflow.Session, yes workflow.Grant) *workflow.Transition{
		"one yes of two": func(_ *workflow.Session, yes workflow.Grant) *workflow.Transition {
			return &workflow.Transition{Event: workflow.EventConfirmed, From: "po/awaiting_confirmation", To: "architect/generating", Person: bob, Grant: &yes}
		},
		"ann's yes": func(_ *workflow.Session, yes workflow.Grant) *workflow.Transition {
			yes.Person = ann
			return &workflow.Transition{Event: workflow.EventGranted, From: "po/awaiting_confirmation", To: "po/awaiting_confirmation", Person: ann, Grant: &yes}
		},
		"cat's yes": func(_ *workflow.Session, yes workflow.Grant) *workflow.Transition {
			yes.Person = cat
			return &workflow.Transition{Event: workflow.EventGranted, From: "po/awaiting_confirmation", To: "po/awaiting_confirmation", Person: cat, Grant: &yes}
		},
		"his entry with cat's yes in it": func(_ *workflow.Session, yes workflow.Grant) *workflow.Transition {
			yes.Person = cat
			return &workflow.Transition{Event: workflow.EventGranted, From: "po/awaiting_confirmation", To: "po/awaiting_confirmation", Person: bob, Grant: &yes}
		},
		"past the gate": func(*workflow.Session, workflow.Grant) *workflow.Transition {
			return &workflow.Transition{Event: workflow.EventDelivered, From: "po/awaiting_confirmation", To: "architect/generating", Person: bob}
		},
		"adopted in his own name": func(s *workflow.Session, _ workflow.Grant) *workflow.Transition {
			s.CurrentStage, s.CurrentState = workflow.Architect, workflow.Generating
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := ruled(t, "quorum: 2\n")
			anns := b.state
			b.state, b.acting = t.TempDir(), bob
			b.restart()
			b.knows("ann")
			b.at("po/awaiting_confirmation", confirm(true)) // his one yes
			signer, err := trust.UserState(b.state).ReadSigner()
			if err != nil {
				t.Fatal(err)
			}
			s := b.stored()
			yes := *s.Last().Grant
			sign := s.Signing(signer, workflow.Verification{})
			if e := forge(s, yes); e != nil {
				s.Append(*e)
				stage, state, _ := strings.Cut(e.To, "/")
				s.CurrentStage, s.CurrentState = workflow.StageID(stage), workflow.State(state)
				err = sign("")
			} else {
				err = s.Adopt(signer, "", workflow.Verification{Status: workflow.ChainChanged, Problem: "x", Broken: 1}, workflow.Transition{Person: bob})
			}
			if err != nil {
				t.Fatal(err)
			}
			s.Revision++
			data, err := store.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			b.write(".bmad-task/session-"+b.session+".json", string(data))
			b.state, b.acting = anns, ann
			b.restart()
			b.knows("bob")
			b.unmoved(name, func() {
				b.refused(submit(workflow.Architect, "# A\nQuality Score: 96"), fault.Conflict, "")
				if r := b.do(status("")); !slices.Equal(r.PendingUserActions, []string{"adopt"}) {
					t.Errorf("%s/%s, %v\n%s", r.Stage, r.State, r.PendingUserActions, r.UserMessage)
				}
			})
		})
	}
}

// TestPendingGateKeepsItsPeople checks that the project's file, changed while a gate is pending, opens it for nobody.
func TestPendingGateKeepsItsPeople(t *testing.T) {
	for rules, want := range map[string]string{
		"approvers: [ann, cat]\n": "nobody", "approvers: [bob, ann]\n": "bob", "quorum: 1\nfour_eyes: false\n": "bob", "": "bob",
	} {
		b := ruled(t, "approvers: [bob]\nfour_eyes: true\n")
		b.settings(rules)
		for _, who := range []workflow.Person{ann, cat, bob} {
			b.acting = who
			if who.Subject == want {
				b.at("architect/generating", confirm(true))
				continue
			}
			b.unmoved(rules, func() { b.refused(confirm(true), fault.GatePending, who.Subject+" ") })
		}
	}
}
