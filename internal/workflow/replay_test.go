package workflow_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestMembersKeepTheRules: a step that a member has signed happens only if the rules of the reader allow it, whatever
// the member's program did.
func TestMembersKeepTheRules(t *testing.T) {
	const stage = workflow.PO
	relayed := granted("ben", "x", workflow.DecisionApprove)
	relayed.Channel = workflow.ChannelRelayed
	type entry struct {
		by       machine
		event    workflow.Event
		from, to string
		grant    *workflow.Grant
		judged   string
	}
	submitted := entry{ben, workflow.EventScoredReady, "po/generating", "po/awaiting_confirmation", nil, ""}
	passed := func(by machine, g *workflow.Grant) entry {
		return entry{by, workflow.EventConfirmed, "po/awaiting_confirmation", "architect/generating", g, ""}
	}
	yes := func(by machine, sha string) entry {
		return entry{by, workflow.EventGranted, "po/awaiting_confirmation", "po/awaiting_confirmation", granted(string(by), sha, workflow.DecisionApprove), ""}
	}
	approve := func(by machine) *workflow.Grant { return granted(string(by), "x", workflow.DecisionApprove) }
	const gate, next = "po/awaiting_confirmation", "architect/generating"
	note := func(judged string) entry { return entry{ben, workflow.EventPolicyChanged, gate, gate, nil, judged} }
	elsewhere := approve(ben)
	elsewhere.Stage = workflow.SM
	two, four, anaOnly := workflow.Policy{Quorum: 2}, workflow.Policy{FourEyes: new(true)}, workflow.Policy{Approvers: []string{"ana"}}
	for name, c := range map[string]struct {
		rules   workflow.Policy
		entries []entry
		sound   bool
	}{
		"his own yes, without rules":          {workflow.Policy{}, []entry{submitted, passed(ben, approve(ben))}, true},
		"no yes":                              {workflow.Policy{}, []entry{submitted, passed(ben, nil)}, false},
		"a no":                                {workflow.Policy{}, []entry{submitted, passed(ben, granted("ben", "x", workflow.DecisionChanges))}, false},
		"a yes to another stage":              {workflow.Policy{}, []entry{submitted, passed(ben, elsewhere)}, false},
		"an override":                         {workflow.Policy{}, []entry{submitted, passed(ben, granted("ben", "x", workflow.DecisionOverride))}, true},
		"one yes of two":                      {two, []entry{submitted, passed(ben, approve(ben))}, false},
		"two":                                 {two, []entry{submitted, yes(eve, "x"), passed(ben, approve(ben))}, true},
		"two of one person":                   {two, []entry{submitted, yes(ben, "x"), passed(ben, approve(ben))}, false},
		"one of them to another text":         {two, []entry{submitted, yes(eve, "y"), passed(ben, approve(ben))}, false},
		"his own work":                        {four, []entry{submitted, passed(ben, approve(ben))}, false},
		"another's work":                      {four, []entry{submitted, passed(eve, approve(eve))}, true},
		"not an approver":                     {anaOnly, []entry{submitted, passed(ben, approve(ben))}, false},
		"an approver's, by ana's own machine": {two, []entry{submitted, passed(ana, approve(ana))}, true}, // her program keeps her rules
		"his assistant's word":                {workflow.Policy{}, []entry{submitted, passed(ben, relayed)}, true},
		"his assistant's word, where a person's own act counts": {workflow.Policy{Gate: workflow.GateStrict}, []entry{submitted, passed(ben, relayed)}, false},
		"his own act, where only that counts":                   {workflow.Policy{Gate: workflow.GateStrict}, []entry{submitted, passed(ben, approve(ben))}, true},
		"a note of a policy between":                            {two, []entry{submitted, yes(eve, "x"), note(""), passed(ben, approve(ben))}, true},
		"a note that judges":                                    {two, []entry{submitted, yes(eve, "x"), note("x"), passed(ben, approve(ben))}, false},
		"past the gate at once":                                 {workflow.Policy{}, []entry{{ben, workflow.EventDelivered, "po/generating", next, nil, ""}}, false},
		"over a stage":                                          {workflow.Policy{}, []entry{submitted, {ben, workflow.EventConfirmed, gate, "sm/generating", approve(ben), ""}}, false},
		"to the end":                                            {workflow.Policy{}, []entry{submitted, {ben, workflow.EventFinished, gate, "po/completed", approve(ben), ""}}, false},
		"from a place where it was not":                         {workflow.Policy{}, []entry{passed(ben, approve(ben))}, false},
		"by a step that nobody knows":                           {workflow.Policy{}, []entry{{ben, "teleported", "po/generating", next, approve(ben), ""}}, false},
		"a note that moves":                                     {workflow.Policy{}, []entry{{ben, workflow.EventGranted, "po/generating", next, approve(ben), ""}}, false},
		"cancelled":                                             {workflow.Policy{}, []entry{{ben, workflow.EventCancelled, "po/generating", "po/cancelled", nil, ""}}, true},
		"reopened forward":                                      {workflow.Policy{}, []entry{{ben, workflow.EventReopened, "po/generating", "qa/refining", nil, ""}}, false},
	} {
		s := workflow.Default().NewSession("id", "x", "/p", "test", at0)
		s.History[0].Subject = "ana"
		if err := s.SignNew(ana, here); err != nil {
			t.Fatal(err)
		}
		for _, e := range c.entries {
			sign := s.Signing(e.by, workflow.Verification{})
			step := workflow.Transition{Event: e.event, From: e.from, To: e.to, Grant: e.grant, Judged: e.judged, Person: workflow.Person{Subject: string(e.by)}}
			step.Action = actionFor(e.event)
			if e.event == workflow.EventScoredReady {
				step.SHA256 = "x"
			}
			s.Append(step)
			place(s, e.to)
			if err := sign(here); err != nil {
				t.Fatal(err)
			}
			s.Revision++
		}
		known := workflow.Known{
			Project: here, Rules: map[workflow.StageID]workflow.Policy{stage: c.rules},
			Members: []workflow.Member{ben.member("ben"), eve.member("eve")},
		}
		if v := s.Verify(ana, &known); v.Sound() != c.sound || c.sound == (v.Problem != "") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestRunsOfMembersBegin: a run that a member has begun begins as every run does, by a workflow that may be followed here.
func TestRunsOfMembersBegin(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *workflow.Session)
		may    bool
		sound  bool
	}{
		"as every run":             {func(*workflow.Session) {}, true, true},
		"by another workflow":      {func(*workflow.Session) {}, false, false},
		"at a later stage":         {func(s *workflow.Session) { place(s, "dev/generating"); s.History[0].To = s.Place() }, true, false},
		"from another place":       {func(s *workflow.Session) { s.History[0].From = "po/generating" }, true, false},
		"with a document approved": {func(s *workflow.Session) { s.Record(workflow.PO).Approved = true }, true, false},
		"with answers":             {func(s *workflow.Session) { s.Record(workflow.PO).Answers = map[string]string{"q1": "yes"} }, true, false},
	} {
		s := workflow.Default().NewSession("id", "x", "/p", "test", at0)
		s.History[0].Subject = "ben"
		c.change(s)
		if err := s.SignNew(ben, here); err != nil {
			t.Fatal(err)
		}
		known := workflow.Known{
			Project: here, Members: []workflow.Member{ben.member("ben")}, MayFollow: func(d *workflow.Definition) bool { return c.may && d.Same(workflow.Default()) },
		}
		if v := s.Verify(ana, &known); v.Sound() != c.sound || c.sound == (v.Problem != "") {
			t.Errorf("%s: %+v", name, v)
		}
		if v := s.Verify(ben, &known); !v.Sound() {
			t.Errorf("%s, on the machine that has begun it: %+v", name, v)
		}
	}
}

// TestMembersTouchWhatTheirStepIsAbout: a step that a member has signed changes nothing else, neither openly nor silently.
func TestMembersTouchWhatTheirStepIsAbout(t *testing.T) {
	doc := func(sha string) *workflow.ContentRef { return &workflow.ContentRef{FilePath: "x", SHA256: sha} }
	note := workflow.Transition{Event: workflow.EventPolicyChanged}
	submit := workflow.Transition{Action: workflow.ActionSubmit, Event: workflow.EventScoredReady, To: "architect/awaiting_confirmation"}
	back := workflow.Transition{Event: workflow.EventReopened, To: "po/refining"}
	for name, c := range map[string]struct {
		change func(s *workflow.Session)
		step   workflow.Transition
		sound  bool
	}{
		"nothing":                                {func(*workflow.Session) {}, note, true},
		"the objective":                          {func(s *workflow.Session) { s.Objective = "another" }, note, false},
		"the name":                               {func(s *workflow.Session) { s.TaskName = "another" }, note, false},
		"a gate of the workflow":                 {func(s *workflow.Session) { s.Workflow.Stages[2].Gate = workflow.GateNone }, note, false},
		"the objective, with a step":             {func(s *workflow.Session) { s.Objective = "another" }, submit, false},
		"an approved document, with a note":      {func(s *workflow.Session) { s.Record(workflow.PO).FinalResultRef = doc("b") }, note, false},
		"an approved document, with a step":      {func(s *workflow.Session) { s.Record(workflow.PO).FinalResultRef = doc("b") }, submit, false},
		"an approved document, taken back":       {func(s *workflow.Session) { s.Record(workflow.PO).FinalResultRef = doc("b") }, back, true},
		"a saved document":                       {func(s *workflow.Session) { s.Record(workflow.PO).Artifact.SHA256 = "b" }, submit, false},
		"answers":                                {func(s *workflow.Session) { s.Record(workflow.PO).Answers["q1"] = "no" }, submit, false},
		"the channel of an answer":               {func(s *workflow.Session) { s.Record(workflow.PO).AnswerChannels["q1"] = workflow.ChannelElicited }, note, false},
		"the record of a stage taken out":        {func(s *workflow.Session) { delete(s.Stages, workflow.PO) }, note, false},
		"the document of the stage handed in":    {func(s *workflow.Session) { s.Record(workflow.Architect).FinalResultRef = doc("b") }, submit, true},
		"the document of the stage, with a note": {func(s *workflow.Session) { s.Record(workflow.Architect).FinalResultRef = doc("b") }, note, false},
		"a later stage":                          {func(s *workflow.Session) { s.Record(workflow.QA).Approved = true }, submit, false},
	} {
		for _, silently := range []bool{false, true} {
			s := workflow.Default().NewSession("id", "x", "/p", "test", at0)
			s.History[0].Subject = "ana"
			if err := s.SignNew(ana, here); err != nil {
				t.Fatal(err)
			}
			po := s.Record(workflow.PO)
			for _, e := range []workflow.Transition{
				{Event: workflow.EventScoredReady, To: "po/awaiting_confirmation", SHA256: "a"},
				{Event: workflow.EventConfirmed, To: "architect/generating", Grant: &workflow.Grant{Decision: workflow.DecisionApprove, Stage: workflow.PO, SHA256: "a"}},
			} {
				sign := s.Signing(ana, workflow.Verification{})
				po.Status, po.Answers, po.AnswerChannels = workflow.Done, map[string]string{"q1": "yes"}, map[string]workflow.Channel{"q1": workflow.ChannelRelayed}
				po.FinalResultRef, po.Artifact = doc("a"), &workflow.Artifact{Path: "y", SHA256: "a"}
				e.Action = actionFor(e.Event)
				if e.From, e.Subject = s.Place(), "ana"; e.Grant != nil {
					e.Grant.Subject = "ana"
					s.Record(workflow.Architect).Status = workflow.InProgress
				}
				s.Append(e)
				place(s, e.To)
				if err := sign(here); err != nil {
					t.Fatal(err)
				}
				s.Revision++
			}
			c.change(s)
			sign := s.Signing(ben, workflow.Verification{})
			step := c.step
			step.From, step.Subject, step.Action = s.Place(), "ben", actionFor(step.Event)
			if step.To == "" {
				step.To = step.From
			}
			s.Append(step)
			place(s, step.To)
			if err := sign(here); err != nil {
				t.Fatal(err)
			}
			if last := len(s.History) - 1; silently {
				s.History[last].Parts = nil
				workflow.SignEntry(t, s, ben, last)
			}
			s.Revision++
			known := workflow.Known{Project: here, Members: []workflow.Member{ben.member("ben")}}
			want := c.sound && (!silently || name == "nothing")
			if v := s.Verify(ana, &known); v.Sound() != want || want == (v.Problem != "") {
				t.Errorf("%s, silently %v: %+v", name, silently, v)
			}
			if v := s.Verify(ben, &workflow.Known{Project: here, Members: []workflow.Member{ana.member("ana")}}); !silently && !v.Sound() {
				t.Errorf("%s: the machine that has done it says %+v", name, v)
			}
		}
	}
}

var at0 = time.Unix(0, 0).UTC()

// place puts a session at a stage and state, as the history writes them.
func place(s *workflow.Session, at string) {
	stage, state, _ := strings.Cut(at, "/")
	s.CurrentStage, s.CurrentState = workflow.StageID(stage), workflow.State(state)
}

// actionFor returns the action of an event.
func actionFor(e workflow.Event) workflow.Action {
	switch e {
	case workflow.EventConfirmed, workflow.EventGranted, workflow.EventFinished:
		return workflow.ActionConfirm
	case workflow.EventReopened:
		return workflow.ActionReopen
	case workflow.EventCancelled:
		return workflow.ActionCancel
	}
	return workflow.ActionSubmit
}

// TestMembersBringNoDocumentBesideTheirStep checks that an entry of somebody else is by the action of its event, is about
// the document that waits, and loosens no rule.
func TestMembersBringNoDocumentBesideTheirStep(t *testing.T) {
	t.Parallel()
	const gate, next = "po/awaiting_confirmation", "architect/generating"
	two := map[workflow.StageID]workflow.Policy{workflow.PO: {Quorum: 2}}
	for name, c := range map[string]struct {
		step  workflow.Transition
		after func(s *workflow.Session)
		sound bool
	}{
		"a yes to the document":               {workflow.Transition{Event: workflow.EventConfirmed, Action: workflow.ActionConfirm, To: next, Grant: granted("ben", "a", workflow.DecisionApprove), SHA256: "a"}, nil, true},
		"a yes to another":                    {workflow.Transition{Event: workflow.EventConfirmed, Action: workflow.ActionConfirm, To: next, Grant: granted("ben", "b", workflow.DecisionApprove), SHA256: "b"}, nil, false},
		"a yes to no document":                {workflow.Transition{Event: workflow.EventConfirmed, Action: workflow.ActionConfirm, To: next, Grant: granted("ben", "", workflow.DecisionApprove)}, nil, false},
		"a yes that judges another":           {workflow.Transition{Event: workflow.EventConfirmed, Action: workflow.ActionConfirm, To: next, Grant: granted("ben", "a", workflow.DecisionApprove), Judged: "x"}, nil, false},
		"a yes by the action of a document":   {workflow.Transition{Event: workflow.EventConfirmed, Action: workflow.ActionSubmit, To: next, Grant: granted("ben", "a", workflow.DecisionApprove)}, nil, false},
		"a document by the action of a yes":   {workflow.Transition{Event: workflow.EventEdited, Action: workflow.ActionConfirm, SHA256: "b"}, nil, false},
		"a note":                              {workflow.Transition{Event: workflow.EventPolicyChanged, Action: workflow.ActionConfirm}, nil, true},
		"sprints beside a note":               {workflow.Transition{Event: workflow.EventPolicyChanged, Action: workflow.ActionConfirm}, func(s *workflow.Session) { s.Sprints = []workflow.Sprint{{Number: 1}} }, false},
		"rules that are accepted":             {workflow.Transition{Event: workflow.EventAdopted, Action: workflow.ActionAdopt, Adoption: &workflow.Adoption{}}, func(s *workflow.Session) { s.Policy = two }, true},
		"rules beside a yes":                  {workflow.Transition{Event: workflow.EventGranted, Action: workflow.ActionConfirm, Grant: granted("ben", "a", workflow.DecisionApprove)}, func(s *workflow.Session) { s.Policy = two }, false},
		"artifacts beside a yes of several":   {workflow.Transition{Event: workflow.EventGranted, Action: workflow.ActionConfirm, Grant: granted("ben", "a", workflow.DecisionApprove)}, func(s *workflow.Session) { s.Artifacts = []string{"x"} }, false},
		"an event of a document that answers": {workflow.Transition{Event: workflow.EventAnswered, Action: workflow.ActionAnswer, To: "po/refining"}, nil, false},
	} {
		s := workflow.Default().NewSession("id", "x", "/p", "test", at0)
		s.History[0].Subject = "ana"
		if err := s.SignNew(ana, here); err != nil {
			t.Fatal(err)
		}
		sign := s.Signing(ana, workflow.Verification{})
		s.Append(workflow.Transition{Event: workflow.EventScoredReady, Action: workflow.ActionSubmit, From: s.Place(), To: gate, SHA256: "a", Person: workflow.Person{Subject: "ana"}})
		place(s, gate)
		if err := sign(here); err != nil {
			t.Fatal(err)
		}
		s.Revision++
		sign = s.Signing(ben, workflow.Verification{})
		step := c.step
		if step.From, step.Subject = gate, "ben"; step.To == "" {
			step.To = gate
		}
		if c.after != nil {
			c.after(s)
		}
		s.Append(step)
		place(s, step.To)
		if err := sign(here); err != nil {
			t.Fatal(err)
		}
		s.Revision++
		known := workflow.Known{Project: here, Members: []workflow.Member{ben.member("ben")}}
		if v := s.Verify(ana, &known); v.Sound() != c.sound {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestKeptRules checks which rules a run keeps: the strictest of its entries since its person has accepted others.
func TestKeptRules(t *testing.T) {
	t.Parallel()
	quorum := func(n int) map[workflow.StageID]workflow.Policy {
		return map[workflow.StageID]workflow.Policy{workflow.PO: {Quorum: n}}
	}
	for name, c := range map[string]struct {
		accepts workflow.Signer // who adopts the rules at last; nil is nobody
		want    int
	}{"nobody accepts others": {nil, 3}, "she does": {ana, 1}, "a colleague does": {ben, 3}} {
		s := workflow.Default().NewSession("id", "x", "/p", "test", at0)
		s.History[0].Subject, s.History[0].Rules, s.Policy = "ana", quorum(3), quorum(3)
		if err := s.SignNew(ana, here); err != nil {
			t.Fatal(err)
		}
		note := workflow.Transition{Event: workflow.EventPolicyChanged, Action: workflow.ActionSubmit, Rules: quorum(1), Person: workflow.Person{Subject: "ben"}}
		by := workflow.Signer(ben)
		if c.accepts != nil {
			note.Event, note.Action, by = workflow.EventAdopted, workflow.ActionAdopt, c.accepts
		}
		if by == workflow.Signer(ana) {
			note.Subject = "ana"
		}
		sign := s.Signing(by, workflow.Verification{})
		s.Policy = quorum(1) // a colleague's program can say so
		s.Note(note)
		if err := sign(here); err != nil {
			t.Fatal(err)
		}
		s.Revision++
		v := s.Verify(ana, &workflow.Known{Project: here, Members: []workflow.Member{ben.member("ben")}})
		if got := v.Kept[workflow.PO].Quorum; got != c.want {
			t.Errorf("%s: a quorum of %d is kept, want %d", name, got, c.want)
		}
	}
}

// granted returns a decision of an account on a text at the gate of PO.
func granted(subject, sha string, d workflow.Decision) *workflow.Grant {
	return &workflow.Grant{Person: workflow.Person{Subject: subject}, Channel: workflow.ChannelTerminal, Stage: workflow.PO, Decision: d, SHA256: sha}
}
