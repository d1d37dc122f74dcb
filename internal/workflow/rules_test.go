package workflow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func encoded(t *testing.T, v any) string {
	t.Helper()
	data, err := workflow.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestStricter checks that of two policies each rule is the stricter one, whichever stands first.
func TestStricter(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	type p = workflow.Policy
	for name, tt := range map[string]struct {
		loose, strict p
		want          string
	}{
		"gate":           {p{Gate: workflow.GateRelay}, p{Gate: workflow.GateAuto}, `{"gate":"auto"}`},
		"gate, unknown":  {p{Gate: "new"}, p{Gate: workflow.GateStrict}, `{"gate":"strict"}`},
		"scoring":        {p{Scoring: workflow.ScoringClaimed}, p{Scoring: workflow.ScoringAudited}, `{"gate":"","scoring":"audited"}`},
		"pause":          {p{Pause: workflow.PauseGates}, p{Pause: workflow.PauseStages}, `{"gate":"","pause":"stages"}`},
		"proved":         {p{Proved: workflow.ProvedNone}, p{Proved: workflow.ProvedSome}, `{"gate":"","proved":"some"}`},
		"all proved":     {p{Proved: workflow.ProvedSome}, p{Proved: workflow.ProvedAll}, `{"gate":"","proved":"all"}`},
		"score":          {p{GateScore: ptr(90)}, p{GateScore: ptr(91)}, `{"gate":"","gate_score":91}`},
		"no score":       {p{}, p{GateScore: ptr(1)}, `{"gate":"","gate_score":1}`},
		"floor":          {p{AuditFloor: ptr(60)}, p{AuditFloor: ptr(61)}, `{"gate":"","audit_floor":61}`},
		"four eyes":      {p{FourEyes: &no}, p{FourEyes: &yes}, `{"gate":"","four_eyes":true}`},
		"unset eyes":     {p{}, p{FourEyes: &yes}, `{"gate":"","four_eyes":true}`},
		"no eyes":        {p{}, p{FourEyes: &no}, `{"gate":"","four_eyes":false}`},
		"quorum":         {p{Quorum: 2}, p{Quorum: 3}, `{"gate":"","quorum":3}`},
		"approvers":      {p{}, p{Approvers: []string{"ann"}}, `{"gate":"","approvers":["ann"]}`},
		"some approvers": {p{Approvers: []string{"ann", "bob"}}, p{Approvers: []string{"bob", "cat"}}, `{"gate":"","approvers":["bob"]}`},
		"none in both":   {p{Approvers: []string{"ann"}}, p{Approvers: []string{"bob"}}, `{"gate":"","approvers":[]}`},
	} {
		for _, got := range []p{tt.loose.Stricter(tt.strict), tt.strict.Stricter(tt.loose)} {
			if got := encoded(t, got); got != tt.want {
				t.Errorf("%s: got %s, want %s", name, got, tt.want)
			}
		}
	}
	for name, tt := range map[string]struct {
		policy workflow.Policy
		want   string // watched, ruled
	}{
		"none": {p{}, "false false"}, "approvers": {p{Approvers: []string{}}, "false true"}, "four eyes": {p{FourEyes: &yes}, "true true"},
		"not four eyes": {p{FourEyes: &no}, "false false"}, "one": {p{Quorum: 1}, "false false"}, "two": {p{Quorum: 2}, "false true"},
	} {
		if got := fmt.Sprint(tt.policy.Watched(), " ", tt.policy.Ruled()); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	if a, b := (p{Quorum: 2, Extra: workflow.Extra{"x": []byte("1")}}), (p{Quorum: 2}); !a.Same(b) || a.Same(p{Quorum: 3}) {
		t.Error("policies are compared by their known keys")
	}
	audited := p{GateScore: ptr(90), Scoring: workflow.ScoringAudited}
	for name, tt := range map[string]struct {
		policy           p
		claimed, audited *float64
		want             bool
	}{
		"reached": {p{GateScore: ptr(90)}, ptr(90), nil, true}, "below": {p{GateScore: ptr(90)}, ptr(89.9), ptr(100), false}, "no gate": {p{}, ptr(90), nil, false}, "no claim": {audited, nil, ptr(95), false},
		"audited": {audited, ptr(90), ptr(90), true}, "audit below": {audited, ptr(95), ptr(89), false}, "no audit": {audited, ptr(95), nil, false},
	} {
		if got := tt.policy.Met(tt.claimed, tt.audited); got != tt.want {
			t.Errorf("met, %s: got %v, want %v", name, got, tt.want)
		}
	}
}

// TestVocabulary checks the words of states, channels, people, and changed texts.
func TestWordsOfTheRules(t *testing.T) {
	t.Parallel()
	for state, want := range map[workflow.State]string{
		workflow.Generating:           "true false false [submit status resume reopen cancel] [submit status resume cancel]",
		workflow.Clarifying:           "true false true [answer status resume reopen cancel] [answer status resume cancel]",
		workflow.Refining:             "true false false [submit status resume reopen cancel] [submit status resume cancel]",
		workflow.AwaitingConfirmation: "true true true [confirm status resume reopen cancel] [confirm status resume cancel]",
		workflow.AwaitingApproval:     "true true true [approve status resume reopen cancel] [approve status resume cancel]",
		workflow.Completed:            "false false false [status reopen] [status reopen]",
		workflow.Cancelled:            "false false false [status] [status]",
		"other":                       "true false false [status] [status]",
	} {
		first := sessionAt(workflow.Default(), workflow.PO, state)
		if got := fmt.Sprint(state.Active(), state.Gated(), state.WaitsForHuman(), state.Allowed(), workflow.Default().Allowed(first)); got != want {
			t.Errorf("%s: got %s, want %s", state, got, want)
		}
	}
	if got := fmt.Sprint(workflow.Default().Allowed(sessionAt(workflow.Default(), workflow.SM, workflow.Generating))); got != "[submit status resume reopen cancel]" {
		t.Errorf("at a later stage: %s", got)
	}
	for channel, want := range map[workflow.Channel]string{
		workflow.ChannelElicited: "high true", workflow.ChannelPasskey: "high true", workflow.ChannelHostConfirmed: "medium true", workflow.ChannelBrowser: "medium true",
		workflow.ChannelTerminal: "medium true", workflow.ChannelTyped: "medium true", workflow.ChannelScript: "low false", workflow.ChannelRelayed: "low false", "": "low false", "new": "low false",
	} {
		if got := fmt.Sprint(channel.Assurance(), " ", channel.Personal()); got != want {
			t.Errorf("%s: got %s, want %s", channel, got, want)
		}
	}
	for verdict, want := range map[workflow.Verdict]bool{workflow.Pass: true, workflow.PassWithRisk: true, workflow.Fail: false, workflow.Blocked: false, "": false} {
		if got := verdict.Passes(); got != want {
			t.Errorf("%s passes: %v", verdict, got)
		}
	}
	for _, tt := range []struct {
		from, to int
		want     string
	}{{0, 0, ""}, {0, 4, ""}, {3, 0, "3"}, {3, 3, "3"}, {3, 4, "3-4"}} {
		if got := (workflow.Comment{From: tt.from, To: tt.to}).Lines(); got != tt.want {
			t.Errorf("lines %d to %d: got %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
	for want, p := range map[string]workflow.Person{"": {Name: "Ann <a@b>"}, "ann": {Subject: "ann"}, "Ann Li (ann)": {Subject: "ann", Name: "Ann Li <a@b>"}} {
		actor := strings.TrimPrefix(want+", ", ", ") + "host"
		if got := (workflow.Transition{By: "host", Person: p}).Actor(); p.Who() != want || got != actor {
			t.Errorf("%+v: %q and %q, want %q and %q", p, p.Who(), got, want, actor)
		}
	}
	list := []workflow.Alteration{{Path: "a", Missing: true}, {Path: "b"}, {Path: "c", SHA256: "x"}}
	if got, want := workflow.AlterationsText(list).String(), "a is gone since it was approved; b cannot be read since it was approved; c was edited after it was approved"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestStages checks which stage verifies, judges and owes what, and the rules that a stage has by itself.
func TestStageRules(t *testing.T) {
	t.Parallel()
	w := workflow.Default()
	var got []string
	for _, st := range w.Stages {
		judges := make([]string, 0)
		for _, j := range w.JudgesOf(st.ID) {
			judges = append(judges, string(j.ID))
		}
		got = append(got, fmt.Sprintf("%s owes %s, verified by %s, judged by %v, audited %v, floored %v, gated %v", st.ID, st.Owed(), st.VerifiedBy(), judges, st.Audited(), st.Floored(), w.Gated(st)))
	}
	want := []string{
		"po owes findings, verified by po, judged by [], audited true, floored true, gated true",
		"architect owes findings, verified by architect, judged by [], audited true, floored true, gated true",
		"sm owes findings, verified by sm, judged by [], audited true, floored true, gated true",
		"dev owes findings, verified by dev, judged by [review qa], audited true, floored false, gated false",
		"review owes findings, verified by dev, judged by [], audited false, floored false, gated true",
		"qa owes criteria, verified by qa, judged by [], audited false, floored false, gated true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if st := (workflow.Stage{ID: "check", Prompt: "qa"}); st.Owed() != workflow.OwesCriteria {
		t.Error("a stage that acts by the prompt of QA owes criteria")
	}
	yes, no := true, false
	for name, tt := range map[string]struct {
		stage workflow.StageID
		rules workflow.Policy
		want  string
	}{
		"document":        {workflow.PO, workflow.Policy{}, `{"gate":"auto","scoring":"claimed","gate_score":90,"audit_floor":60}`},
		"document, ruled": {workflow.PO, workflow.Policy{Gate: "strict", GateScore: ptr(95), Scoring: "audited", AuditFloor: ptr(0), Pause: "stages", FourEyes: &yes, Quorum: 2, Approvers: []string{"a"}}, `{"gate":"strict","scoring":"audited","pause":"stages","gate_score":95,"audit_floor":0,"approvers":["a"],"four_eyes":true,"quorum":2}`},
		"usual pause":     {workflow.PO, workflow.Policy{Pause: "gates", FourEyes: &no}, `{"gate":"auto","scoring":"claimed","gate_score":90,"audit_floor":60}`},
		"plan":            {workflow.SM, workflow.Policy{GateScore: ptr(95)}, `{"gate":"auto","audit_floor":60}`},
		"build":           {workflow.Dev, workflow.Policy{AuditFloor: ptr(5)}, `{"gate":"auto"}`},
		"verdict":         {workflow.QA, workflow.Policy{Proved: "none"}, `{"gate":"auto"}`},
		"verdict, proved": {workflow.QA, workflow.Policy{Proved: "all"}, `{"gate":"auto","proved":"all"}`},
	} {
		st, _ := w.Stage(tt.stage)
		if got := encoded(t, st.Under(tt.rules).Policy()); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
	for _, known := range workflow.Builtins() {
		if known.Name != "fix" {
			continue
		}
		s := sessionAt(known, workflow.Dev, workflow.Generating)
		st, scope := known.First(), known.Current(s)
		if got := fmt.Sprintf("%v %v %s %s %q %v %s", known.Scoping(s), known.Gated(st), scope.Gate, scope.DocumentName, scope.Artifact, scope.Verify, scope.RubricName()); got != `true true approval scope "" false document` {
			t.Errorf("a build without a scope: %s", got)
		}
		s.Current().ApprovedScope = &workflow.ContentRef{}
		if known.Scoping(s) || known.Current(s).Gate != workflow.GateNone {
			t.Error("a build with an approved scope asks for one")
		}
	}
	if plan, ok := w.OfKind(workflow.KindPlan); !ok || plan.ID != workflow.SM {
		t.Errorf("the plan is %q", plan.ID)
	}
	if all := workflow.StagesOf(w, nil, w); len(all) != 6 || w.Index("none") != -1 {
		t.Errorf("%d stages", len(all))
	}
}

// TestRecords checks what a record says about its round, and what a session says about its gates.
func TestRecords(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rec  workflow.Record
		want string // doubted, held, spent
	}{
		"pass":               {workflow.Record{Verdict: workflow.Pass}, "false false false"},
		"pass, doubted":      {workflow.Record{Verdict: workflow.Pass, Objections: []string{"o"}}, "true true false"},
		"fail":               {workflow.Record{Verdict: workflow.Fail, Objections: []string{"o"}}, "false true false"},
		"blocked":            {workflow.Record{Verdict: workflow.Blocked, Objections: []string{"o"}}, "false false false"},
		"returned":           {workflow.Record{Returned: []string{"r"}}, "false false true"},
		"returned, then not": {workflow.Record{Returned: []string{"r"}, Verdict: workflow.Fail}, "false true false"},
	} {
		if got := fmt.Sprint(tt.rec.Doubted(), tt.rec.Held(), tt.rec.Spent()); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	rec := workflow.Record{
		Questions: []workflow.Question{{ID: "q1"}, {ID: "q2", Status: workflow.QuestionAnswered}, {ID: "q4", Status: workflow.QuestionLater}}, Asked: []workflow.Question{{ID: "q0"}}, Extra: workflow.Extra{"draft": []byte(`"text"`)},
		FinalResultRef: &workflow.ContentRef{FilePath: "f"}, ApprovedScope: &workflow.ContentRef{FilePath: "s"},
	}
	names := func(list []workflow.Question) (out string) {
		for _, q := range list {
			out += q.ID
		}
		return out
	}
	if got := fmt.Sprint(names(rec.OpenQuestions()), names(rec.SettledQuestions()), rec.KnowsQuestion("q0"), rec.KnowsQuestion("q2"), rec.KnowsQuestion("q3"), names(rec.LaterQuestions()), " ", rec.InlineDraft(), len(rec.Refs())); got != "q1q0q2true true falseq4 text2" {
		t.Errorf("questions and texts: %s", got)
	}
	entry := func(e workflow.Event, stage string) workflow.Transition {
		return workflow.Transition{Event: e, From: stage + "/x"}
	}
	for name, tt := range map[string]struct {
		history []workflow.Transition
		want    int
	}{
		"none":        {nil, 0},
		"two":         {[]workflow.Transition{entry(workflow.EventReturned, "qa"), entry(workflow.EventReturned, "qa")}, 2},
		"since":       {[]workflow.Transition{entry(workflow.EventReturned, "qa"), entry(workflow.EventFailed, "qa"), entry(workflow.EventReturned, "qa")}, 1},
		"with notes":  {[]workflow.Transition{entry(workflow.EventReturned, "qa"), entry(workflow.EventPolicyChanged, "qa"), entry(workflow.EventAdopted, "qa"), entry(workflow.EventGranted, "qa")}, 1},
		"of another":  {[]workflow.Transition{entry(workflow.EventReturned, "review")}, 0},
		"and of this": {[]workflow.Transition{entry(workflow.EventReturned, "qa"), entry(workflow.EventReturned, "review")}, 0},
	} {
		s := sessionAt(workflow.Default(), workflow.QA, workflow.Refining)
		s.History = tt.history
		if got := s.Returns(); got != tt.want {
			t.Errorf("%s: %d returns, want %d", name, got, tt.want)
		}
	}
	for name, tt := range map[string]struct {
		change func(s *workflow.Session)
		stages []workflow.Stage
		want   bool
	}{
		"neither":       {func(*workflow.Session) {}, workflow.Default().Stages, false},
		"the settings":  {func(*workflow.Session) {}, []workflow.Stage{{ID: workflow.QA, Rules: workflow.Policy{Gate: workflow.GateStrict}}}, true},
		"the run":       {func(s *workflow.Session) { s.Policy = map[workflow.StageID]workflow.Policy{workflow.QA: {Quorum: 2}} }, workflow.Default().Stages, true},
		"a record":      {func(s *workflow.Session) { s.Record(workflow.PO).Policy = &workflow.Policy{Gate: workflow.GateStrict} }, workflow.Default().Stages, true},
		"another stage": {func(s *workflow.Session) { s.Record("old").Policy = &workflow.Policy{Gate: workflow.GateStrict} }, workflow.Default().Stages, false},
	} {
		s := sessionAt(workflow.Default(), workflow.QA, workflow.Refining)
		tt.change(s)
		if got := s.Strict(tt.stages); got != tt.want {
			t.Errorf("strict by %s: %v", name, got)
		}
	}
	met := sessionAt(workflow.Default(), workflow.PO, workflow.Clarifying)
	met.Current().ClaimedScore, met.Current().Policy = ptr(90), &workflow.Policy{GateScore: ptr(90)}
	below := sessionAt(workflow.Default(), workflow.PO, workflow.Clarifying)
	below.Current().ClaimedScore, below.Current().Policy = ptr(90), &workflow.Policy{GateScore: ptr(91)}
	working := sessionAt(workflow.Default(), workflow.PO, workflow.Refining)
	working.Current().ClaimedScore, working.Current().Policy = ptr(90), &workflow.Policy{GateScore: ptr(90)}
	if got := fmt.Sprint(met.GateMet(), below.GateMet(), working.GateMet()); got != "true false false" {
		t.Errorf("gates that are met: %s", got)
	}
	kept := map[workflow.StageID]workflow.VerifyCommand{workflow.Dev: {Command: "a"}}
	met.KeepVerify(map[workflow.StageID]workflow.VerifyCommand{workflow.Dev: {Command: "edited"}})
	if met.KeptVerify()[workflow.Dev].Command != "edited" {
		t.Error("without an entry the run's own commands count")
	}
	met.Append(workflow.Transition{VerifyCommands: kept})
	met.Append(workflow.Transition{})
	if met.KeptVerify()[workflow.Dev].Command != "a" {
		t.Error("the commands of the newest entry that has any count")
	}
	ann := workflow.Person{Subject: "ann"}
	if met.BegunBy(ann, "") || met.BegunBy(workflow.Person{}, "") {
		t.Error("begun by nobody")
	}
	if met.History[0].Person = ann; !met.BegunBy(ann, "") || met.BegunBy(workflow.Person{Subject: "bob"}, "") {
		t.Error("begun by ann")
	}
	if met.BegunBy(ann, ana.Public()) {
		t.Error("an entry that nobody has signed says who has begun it")
	}
	if err := met.SignNew(ana, ""); err != nil {
		t.Fatal(err)
	}
	if !met.BegunBy(ann, ana.Public()) || met.BegunBy(ann, ben.Public()) {
		t.Error("begun by ann on her machine")
	}
	if got := workflow.BegunUnder(met); got != ana.Public() {
		t.Errorf("begun under %s", got)
	}
	theirs := sessionAt(workflow.Default(), workflow.SM, workflow.Generating)
	if theirs.Append(workflow.Transition{}); workflow.BegunUnder(theirs) != "" {
		t.Error("an unsigned start is by somebody")
	}
	if err := theirs.SignNew(ben, ""); err != nil {
		t.Fatal(err)
	}
	if met.History[0].Signature = theirs.History[0].Signature; workflow.BegunUnder(met) != "" {
		t.Error("the signature of another run says who has begun this one")
	}
}

// TestApproved checks which texts count as approved, and which changes of them a person has accepted.
func TestApproved(t *testing.T) {
	t.Parallel()
	session := func() *workflow.Session {
		s := sessionAt(workflow.Default(), workflow.SM, workflow.Generating)
		po := s.Record(workflow.PO)
		po.Status, po.Artifact, po.FinalResultRef = workflow.Done, &workflow.Artifact{Path: "a", SHA256: "1"}, &workflow.ContentRef{FilePath: "r", SHA256: "2"}
		s.Record(workflow.Dev).ApprovedScope = &workflow.ContentRef{FilePath: "s", SHA256: "3"}
		return s
	}
	accepted := func(texts ...workflow.Alteration) workflow.Transition {
		return workflow.Transition{Event: workflow.EventAdopted, From: "sm/x", To: "sm/x", Adoption: &workflow.Adoption{Texts: texts}}
	}
	for name, tt := range map[string]struct {
		change func(s *workflow.Session)
		find   string // of each text: modified, gone or same
		v      workflow.Verification
		want   string
	}{
		"as approved":  {nil, "same", workflow.Verification{}, "[a r] []"},
		"modified":     {nil, "modified", workflow.Verification{}, "[a r] [{po a false x false} {po r false x true}]"},
		"gone":         {nil, "gone", workflow.Verification{}, "[a r] [{po a true x false} {po r true x true}]"},
		"stale":        {func(s *workflow.Session) { s.Record(workflow.PO).Artifact.Stale = true }, "gone", workflow.Verification{}, "[] []"},
		"reopened":     {func(s *workflow.Session) { s.Record(workflow.PO).Status = workflow.InProgress }, "gone", workflow.Verification{}, "[] []"},
		"a scope":      {func(s *workflow.Session) { s.Record(workflow.Dev).Status = workflow.InProgress }, "same", workflow.Verification{}, "[a r s] []"},
		"without hash": {func(s *workflow.Session) { s.Record(workflow.PO).Artifact.SHA256 = "" }, "gone", workflow.Verification{}, "[a r] [{po r true x true}]"},
		"accepted": {func(s *workflow.Session) {
			s.Append(accepted(workflow.Alteration{Path: "a", SHA256: "x"}, workflow.Alteration{Path: "r", SHA256: "x"}))
		}, "modified", workflow.Verification{}, "[a r] []"},
		"accepted as modified": {func(s *workflow.Session) {
			s.Append(accepted(workflow.Alteration{Path: "a", SHA256: "x"}, workflow.Alteration{Path: "r", SHA256: "x"}))
		}, "gone", workflow.Verification{}, "[a r] [{po a true x false} {po r true x true}]"},
		"accepted another": {func(s *workflow.Session) { s.Append(accepted(workflow.Alteration{Path: "a", SHA256: "y"})) }, "modified", workflow.Verification{}, "[a r] [{po a false x false} {po r false x true}]"},
		"accepted, not vouched": {func(s *workflow.Session) {
			s.Append(accepted(workflow.Alteration{Path: "a", SHA256: "x"}, workflow.Alteration{Path: "r", SHA256: "x"}))
		}, "modified", workflow.Verification{Unvouched: []workflow.Span{{From: 2, To: 2}}}, "[a r] [{po a false x false} {po r false x true}]"},
		"accepted before": {func(s *workflow.Session) {
			s.Append(accepted(workflow.Alteration{Path: "a", SHA256: "x"}, workflow.Alteration{Path: "r", SHA256: "x"}))
			s.Append(workflow.Transition{From: "po/refining", To: "po/awaiting_confirmation"})
		}, "modified", workflow.Verification{}, "[a r] [{po a false x false} {po r false x true}]"},
	} {
		s := session()
		if tt.change != nil {
			tt.change(s)
		}
		var approved, altered []string
		for _, text := range s.Approved() {
			approved = append(approved, text.FilePath)
		}
		for _, a := range s.Altered(tt.v, func(workflow.ApprovedText) (string, bool, bool) { return "x", tt.find == "modified", tt.find == "gone" }) {
			altered = append(altered, fmt.Sprint("{", a.Stage, " ", a.Path, " ", a.Missing, " ", a.SHA256, " ", a.Record, "}"))
		}
		if got := fmt.Sprint(approved, " ", altered); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

// TestYeses checks who counts as the writer of a round, and which yeses count for a text.
func TestYeses(t *testing.T) {
	t.Parallel()
	submit := func(who string) workflow.Transition {
		return workflow.Transition{Event: workflow.EventScoredReady, From: "po/generating", Person: workflow.Person{Subject: who}}
	}
	yes := func(who, sum string) workflow.Transition {
		return workflow.Transition{Event: workflow.EventGranted, From: "po/x", Grant: &workflow.Grant{Person: workflow.Person{Subject: who}, SHA256: sum}}
	}
	note := workflow.Transition{Action: workflow.ActionSubmit, Event: workflow.EventPolicyChanged, From: "po/x", Person: workflow.Person{Subject: "eve"}}
	for name, tt := range map[string]struct {
		history []workflow.Transition
		want    string // writers, those whose yes to "h" counts
	}{
		"none":          {nil, `[""] []`},
		"ann":           {[]workflow.Transition{submit("bob"), submit("ann")}, `["ann"] []`},
		"adopted since": {[]workflow.Transition{submit("ann"), {Event: workflow.EventAdopted}}, `["" "ann"] []`},
		"of another":    {[]workflow.Transition{submit("ann"), {Event: workflow.EventScoredReady, From: "qa/x", Person: workflow.Person{Subject: "bob"}}}, `["ann"] []`},
		"a note":        {[]workflow.Transition{submit("ann"), note}, `["ann"] []`},
		"yeses":         {[]workflow.Transition{submit("ann"), yes("bob", "h"), note, yes("cat", "h")}, `["ann"] [bob cat]`},
		"twice":         {[]workflow.Transition{submit("ann"), yes("bob", "h"), yes("bob", "h")}, `["ann"] [bob]`},
		"another text":  {[]workflow.Transition{submit("ann"), yes("bob", "g"), yes("", "h")}, `["ann"] []`},
		"another round": {[]workflow.Transition{yes("bob", "h"), submit("ann")}, `["ann"] []`},
	} {
		s := sessionAt(workflow.Default(), workflow.PO, workflow.AwaitingConfirmation)
		s.History = tt.history
		given := []string{}
		for _, g := range workflow.GivenAt(s.History, "h", workflow.Person{}) {
			given = append(given, g.Subject)
		}
		writers := []string{}
		for _, w := range workflow.WritersAt(s.History, s.CurrentStage, workflow.Person{}) {
			writers = append(writers, w.Subject)
		}
		if got := fmt.Sprintf("%q %v", writers, given); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

// TestRewind checks what going back to a stage changes in each record, and when it counts as rework.
func TestRewind(t *testing.T) {
	t.Parallel()
	w := workflow.Default()
	for name, tt := range map[string]struct {
		stage   workflow.StageID
		verdict workflow.Verdict
		state   workflow.State
		event   workflow.Event
		target  workflow.StageID
		want    string // place, rework, and of sm, dev and qa the status, feedback, returns and open questions
	}{
		"sent back":     {workflow.QA, workflow.Fail, workflow.AwaitingApproval, workflow.EventSentBack, "", "dev/refining 1 [completed sm 1 1] [in_progress dev 0 1] [pending  0 0]"},
		"reopened":      {workflow.Review, workflow.Pass, workflow.Generating, workflow.EventReopened, workflow.SM, "sm/refining 0 [in_progress sm 0 1] [pending  0 0] [pending  0 0]"},
		"after a fail":  {workflow.QA, workflow.Fail, workflow.AwaitingApproval, workflow.EventReopened, workflow.SM, "sm/refining 1 [in_progress sm 0 1] [pending  0 0] [pending  0 0]"},
		"after a pass":  {workflow.QA, workflow.Pass, workflow.AwaitingApproval, workflow.EventReopened, workflow.SM, "sm/refining 0 [in_progress sm 0 1] [pending  0 0] [pending  0 0]"},
		"fail, at work": {workflow.QA, workflow.Fail, workflow.Refining, workflow.EventReopened, workflow.SM, "sm/refining 0 [in_progress sm 0 1] [pending  0 0] [pending  0 0]"},
	} {
		s := sessionAt(w, tt.stage, tt.state)
		for _, st := range w.Stages {
			rec := s.Record(st.ID)
			rec.Status, rec.Feedback, rec.Returned, rec.Questions = workflow.Done, string(st.ID), []string{"r"}, []workflow.Question{{ID: "q"}}
		}
		s.Current().Verdict = tt.verdict
		if err := w.Fire(t.Context(), s, workflow.Transition{Event: tt.event, At: at}, tt.target); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := fmt.Sprint(s.Place(), " ", s.ReworkCount)
		for _, id := range []workflow.StageID{workflow.SM, workflow.Dev, workflow.QA} {
			rec := s.Record(id)
			got += fmt.Sprint(" [", rec.Status, " ", rec.Feedback, " ", len(rec.Returned), " ", len(rec.OpenQuestions()), "]")
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	s := sessionAt(w, workflow.QA, workflow.AwaitingApproval)
	s.Sprints = []workflow.Sprint{{Number: 1, Status: workflow.SprintImplemented}, {Number: 2, Status: workflow.SprintPending}}
	if err := w.Fire(t.Context(), s, workflow.Transition{Event: workflow.EventFinished, At: at}, ""); err != nil || s.Sprints[0].Status != workflow.SprintDone || s.Sprints[1].Status != workflow.SprintPending || s.Place() != "qa/completed" {
		t.Errorf("finished: %s with %+v (%v)", s.Place(), s.Sprints, err)
	}
}

// TestDeclined checks that a request which is declined without a reason counts as unmentioned, and which requests
// belong to a round.
func TestDeclined(t *testing.T) {
	t.Parallel()
	s := sessionAt(workflow.Default(), workflow.PO, workflow.Refining)
	s.Current().AddRequests([]workflow.Comment{{ID: "a"}, {ID: "b"}, {ID: "c"}}, workflow.ChangeRequest{Round: 2})
	s.Record(workflow.Dev).AddRequests([]workflow.Comment{{ID: "d"}}, workflow.ChangeRequest{Round: 2, Stage: workflow.PO})
	s.Record(workflow.Dev).AddRequests([]workflow.Comment{{ID: "e"}}, workflow.ChangeRequest{Round: 2})
	s.Current().AddRequests([]workflow.Comment{{ID: "f"}}, workflow.ChangeRequest{Round: 1})
	if got := s.Current().Unmentioned([]workflow.Resolution{{ID: "a"}, {ID: "b", Declined: true}, {ID: "c", Declined: true, How: "no"}}); !slices.Equal(got, []string{"b", "f"}) {
		t.Errorf("unmentioned: %v", got)
	}
	var ids []string
	for _, c := range s.RoundRequests(workflow.PO, 2) {
		ids = append(ids, c.ID)
	}
	if !slices.Equal(ids, []string{"a", "b", "c", "d"}) {
		t.Errorf("of round 2: %v", ids)
	}
}

// TestCheckpointReasons checks the sentences by which a machine's record tells what has happened to a session.
func TestCheckpointReasons(t *testing.T) {
	t.Parallel()
	w := workflow.Default()
	for name, tt := range map[string]struct {
		change func(s *workflow.Session, c *workflow.Checkpoint)
		want   string
	}{
		"behind": {func(s *workflow.Session, c *workflow.Checkpoint) {
			later := reread(t, s)
			step(t, w, later, mine, workflow.EventScoredReady, 9)
			*c, _ = later.Checkpoint(workflow.Verification{})
		}, "this machine recorded 6 entries (?) and the file has 5: it is an older copy, or the newest were removed"},
		"revision": {func(s *workflow.Session, _ *workflow.Checkpoint) { s.Revision-- }, "its revision is ? with 5 entries; this machine recorded revision ? with 5 (?)"},
	} {
		s, c := newRecorded(t)
		tt.change(s, c)
		got := s.Verify(mine, knownOf(c)).Problem
		for part := range strings.SplitSeq(tt.want, "?") {
			_, rest, found := strings.Cut(got, part)
			if !found {
				t.Errorf("%s: got %q, want %q", name, s.Verify(mine, knownOf(c)).Problem, tt.want)
				break
			}
			got = rest
		}
	}
	for n, want := range map[int]int{20: 0, 21: 1} {
		text := "name: own\nstages:\n  - id: " + strings.Repeat("a", n) + "\n    kind: document\n"
		if _, problems := workflow.Read("own", []byte(text)); len(problems) != want {
			t.Errorf("an id of %d letters: %v", n, problems)
		}
	}
}

// TestStatedVerdictIsKept: a policy of an older version, by which a stated verdict counts, is written as it was read
// and rules nothing.
func TestStatedVerdictIsKept(t *testing.T) {
	const text = `{"gate":"auto","verdict":"stated","proved":"all"}`
	var p workflow.Policy
	if err := workflow.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	if again, err := workflow.Marshal(p); err != nil || string(again) != text || !p.Same(workflow.Policy{Gate: workflow.GateAuto, Proved: workflow.ProvedAll}) {
		t.Errorf("got %s, %v", again, err)
	}
}

// TestTooFew: a gate that wants more approvers than are left for a text never opens; without a list anybody may become one.
func TestTooFew(t *testing.T) {
	t.Parallel()
	ann, both := []string{"ann"}, []string{"ann", "bob"}
	for name, tt := range map[string]struct {
		policy     workflow.Policy
		ever, anns bool // for any text, and for one of ann
	}{
		"nothing asked":         {workflow.Policy{}, false, false},
		"anybody":               {workflow.Policy{FourEyes: new(true), Quorum: 20}, false, false},
		"one of two":            {workflow.Policy{Approvers: both}, false, false},
		"one of two, four eyes": {workflow.Policy{Approvers: both, FourEyes: new(true)}, false, false},
		"two of two":            {workflow.Policy{Approvers: both, Quorum: 2}, false, false},
		"two of two, four eyes": {workflow.Policy{Approvers: both, Quorum: 2, FourEyes: new(true)}, false, true},
		"two of one":            {workflow.Policy{Approvers: ann, Quorum: 2}, true, true},
		"one, four eyes":        {workflow.Policy{Approvers: ann, FourEyes: new(true)}, false, true},
		"nobody":                {workflow.Policy{Approvers: []string{}}, true, true},
	} {
		if ever, of := tt.policy.TooFew(), tt.policy.TooFew("ann"); ever != tt.ever || of != tt.anns {
			t.Errorf("%s: got %v for any text, %v for one of ann", name, ever, of)
		}
	}
}
