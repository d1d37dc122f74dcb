package headless

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func TestNext(t *testing.T) {
	t.Parallel()
	ready := facts{state: workflow.Generating}
	gate := facts{state: workflow.AwaitingConfirmation, ordinary: true}
	failed := facts{state: workflow.AwaitingApproval}
	asked := facts{state: workflow.Clarifying}
	with := func(f facts, change func(*facts)) facts { change(&f); return f }
	for name, tt := range map[string]struct {
		f    facts
		want step
	}{
		"a stage begins":                    {ready, work},
		"another round":                     {with(ready, func(f *facts) { f.state = workflow.Refining }), work},
		"complete":                          {facts{state: workflow.Completed, passed: true}, finish},
		"cancelled":                         {facts{state: workflow.Cancelled}, stopCancelled},
		"behind the stages":                 {facts{state: workflow.Generating, passed: true}, stopStages},
		"changed, before anything else":     {with(gate, func(f *facts) { f.changed, f.gates, f.person = true, Ask, true }), stopChanged},
		"an answer is kept":                 {with(ready, func(f *facts) { f.kept = true }), submitKept},
		"an answer is kept, in a pause":     {with(ready, func(f *facts) { f.kept, f.pauses, f.worked = true, true, 1 }), submitKept},
		"an answer is kept, at a gate":      {with(gate, func(f *facts) { f.kept = true }), stopGate},
		"a pause, first round":              {with(ready, func(f *facts) { f.pauses = true }), work},
		"a pause, later":                    {with(ready, func(f *facts) { f.pauses, f.worked = true, 1 }), stopPause},
		"a document is given":               {facts{state: workflow.Generating, given: true}, submitGiven},
		"it does not open the gate":         {facts{state: workflow.Refining, given: true, spent: true}, stopGiven},
		"gate, nobody said how":             {gate, stopGate},
		"gate, stop":                        {with(gate, func(f *facts) { f.gates, f.person = Stop, true }), stopGate},
		"gate, ask":                         {with(gate, func(f *facts) { f.gates, f.person = Ask, true }), decide},
		"gate, ask without a person":        {with(gate, func(f *facts) { f.gates = Ask }), stopGate},
		"gate, yes":                         {with(gate, func(f *facts) { f.gates = Yes }), sayYes},
		"gate, for other people, yes":       {with(gate, func(f *facts) { f.gates, f.barred = Yes, true }), stopGate},
		"gate, for other people":            {with(gate, func(f *facts) { f.gates, f.person, f.barred = Ask, true, true }), stopGate},
		"gate, yes, below the floor":        {with(gate, func(f *facts) { f.gates, f.below = Yes, true }), stopFloor},
		"gate, ask, below the floor":        {with(gate, func(f *facts) { f.gates, f.person, f.below = Ask, true, true }), decide},
		"gate, stop, below the floor":       {with(gate, func(f *facts) { f.gates, f.below = Stop, true }), stopGate},
		"gate, yes, strict":                 {with(gate, func(f *facts) { f.gates, f.strict = Yes, true }), stopGate},
		"edited, ask":                       {with(gate, func(f *facts) { f.gates, f.person, f.edited = Ask, true, true }), decide},
		"edited, yes":                       {with(gate, func(f *facts) { f.gates, f.edited = Yes, true }), stopEdited},
		"failed, yes":                       {with(failed, func(f *facts) { f.gates = Yes }), stopRisk},
		"failed, stop":                      {failed, stopRisk},
		"failed, ask":                       {with(failed, func(f *facts) { f.gates, f.person = Ask, true }), decide},
		"questions, stop":                   {asked, stopQuestions},
		"questions, yes":                    {with(asked, func(f *facts) { f.gates, f.person = Yes, true }), stopQuestions},
		"questions, ask":                    {with(asked, func(f *facts) { f.gates, f.person = Ask, true }), askQuestions},
		"questions, a file, yes":            {with(asked, func(f *facts) { f.gates, f.answers = Yes, true }), fileAnswers},
		"questions, a file before a person": {with(asked, func(f *facts) { f.gates, f.person, f.answers = Ask, true, true }), fileAnswers},
		"questions, a file, strict":         {with(asked, func(f *facts) { f.answers, f.strict = true, true }), stopQuestions},
	} {
		if got := nextStep(tt.f); got != tt.want {
			t.Errorf("%s: %s; want %s", name, got, tt.want)
		}
	}
}

// TestYesOpensOrdinaryGatesOnly goes through every combination of facts: a yes of the command line
// is said at an ordinary gate that is neither strict nor edited nor below its floor, and nowhere else.
func TestYesOpensOrdinaryGatesOnly(t *testing.T) {
	t.Parallel()
	said := 0
	for _, state := range workflow.States() {
		for bits := range 1 << 11 {
			bit := func(n int) bool { return bits>>n&1 == 1 }
			f := facts{
				state: state, gates: Yes, passed: bit(1), changed: bit(2), ordinary: bit(3), edited: bit(4), strict: bit(5),
				person: bit(6), answers: bit(7), kept: bit(8), given: bit(9), spent: bit(10), below: bit(0),
			}
			switch got := nextStep(f); got {
			case sayYes:
				said++
				if !state.Gated() || !f.ordinary || f.edited || f.below || f.strict || f.changed {
					t.Errorf("%+v: yes is said", f)
				}
			case decide, askQuestions:
				t.Errorf("%+v: the person is asked, who has said yes beforehand", f)
			}
		}
	}
	if said == 0 {
		t.Error("yes was never said")
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	d := workflow.Default()
	stage := func(id workflow.StageID) workflow.Stage { st, _ := d.Stage(id); return st }
	for name, tt := range map[string]struct {
		stage     workflow.StageID
		flags     Flags
		available []string
		builder   string
		want, why string
		refused   string
	}{
		"the workflow's":          {stage: "po", available: []string{"claude", "codex"}, want: "claude", why: "the workflow names it for this stage"},
		"the workflow's for dev":  {stage: "dev", available: []string{"claude", "codex"}, want: "codex", why: "the workflow names it for this stage"},
		"only the other":          {stage: "dev", available: []string{"claude", "api"}, want: "claude", why: "the workflow names codex, which is not here"},
		"a judge is another":      {stage: "review", available: []string{"claude", "codex"}, builder: "codex", want: "claude", why: "the work that it judges is by codex"},
		"a judge, named":          {stage: "qa", available: []string{"claude", "codex"}, builder: "claude", want: "codex", why: "the work that it judges is by claude"},
		"a judge, one engine":     {stage: "review", available: []string{"claude"}, builder: "claude", want: "claude", why: "the workflow names codex, which is not here"},
		"only an API":             {stage: "po", available: []string{"api"}, want: "api", why: "the workflow names claude, which is not here"},
		"asked for":               {stage: "po", flags: Flags{Engine: "codex"}, available: []string{"claude", "codex"}, want: "codex", why: "--engine asks for it"},
		"asked for, for a stage":  {stage: "po", flags: Flags{Engine: "codex", EngineFor: map[workflow.StageID]string{"po": "claude"}}, available: []string{"claude", "codex"}, want: "claude", why: "--engine-for asks for it"},
		"auto for a stage":        {stage: "po", flags: Flags{Engine: "codex", EngineFor: map[workflow.StageID]string{"po": Auto}}, available: []string{"claude", "codex"}, want: "claude", why: "the workflow names it for this stage"},
		"asked for, and not here": {stage: "po", flags: Flags{Engine: "codex"}, available: []string{"claude"}, refused: `the worker "codex" cannot be used`},
		"none":                    {stage: "po", refused: "there is no worker"},
	} {
		got, why, err := chooseEngine(stage(tt.stage), "build it", tt.flags, tt.available, tt.builder)
		if tt.refused != "" {
			if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %v; want %s", name, err, tt.refused)
			}
			continue
		}
		if err != nil || got != tt.want || why.String() != tt.why {
			t.Errorf("%s: %s because %s, %v; want %s because %s", name, got, why, err, tt.want, tt.why)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	long := "# A document\n\n" + strings.Repeat("It says what is built, for whom and why. ", 8)
	for name, tt := range map[string]struct {
		stage            workflow.StageID
		text             string
		changes, changed bool
		want             string // "" if it is submitted
	}{
		"a document":                  {stage: "po", text: long},
		"a short one with a block":    {stage: "po", text: "# P\n\n```json\n{\"quality_score\": 60, \"questions\": [{\"id\": \"q1\", \"question\": \"who?\"}]}\n```\n"},
		"empty":                       {stage: "po", text: " \n", want: "the answer is empty"},
		"a stray word":                {stage: "po", text: "side", want: `the answer "side" is not the document`},
		"an error that looks like it": {stage: "po", text: "API Error: " + long, want: "the answer is an error of the model's server"},
		"a verdict":                   {stage: "review", text: "# R\n\nStatus: fail\n"},
		"a report without a block":    {stage: "review", text: long},
		"a block alone":               {stage: "review", text: `{"findings": [], "no_checks": "read only"}`},
		"no report":                   {stage: "review", text: "Done.", want: `the answer "Done." is not the document of the stage`},
		"work":                        {stage: "dev", text: long, changes: true, changed: true},
		"work without a change":       {stage: "dev", text: long, changes: true, want: "no file of the project has changed"},
		"work that cannot be done":    {stage: "dev", text: "BLOCKED: no compiler\n\n" + long, changes: true},
	} {
		st, _ := workflow.Default().Stage(tt.stage)
		got := whyNotSubmit(st, tt.text, tt.changes, tt.changed).String()
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q; want %q", name, got, tt.want)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	d := workflow.Default()
	last := len(d.Stages) - 1
	for text, want := range map[string][2]int{
		"": {0, last}, "po..qa": {0, last}, "po": {0, 0}, "po,architect": {0, 1}, "architect, po": {0, 1}, "dev..": {3, last}, "..sm": {0, 2}, "dev..dev": {3, 3},
		"po,dev": {-1, 0}, "qa..po": {-1, 0}, "build": {-1, 0}, "po..build": {-1, 0},
	} {
		from, to, err := parseSpan(d, text)
		if want[0] < 0 {
			if !fault.Is(err, fault.InvalidArgument) {
				t.Errorf("%q: %d, %d, %v; want a refusal", text, from, to, err)
			}
		} else if err != nil || from != want[0] || to != want[1] {
			t.Errorf("%q: %d, %d, %v; want %v", text, from, to, err, want)
		}
	}
}

func TestFlagsAreKept(t *testing.T) {
	t.Parallel()
	before := Flags{Engine: "codex", Model: "m", Budget: 5, Minutes: 3, Stages: "po..sm", Commands: []string{"go test"}, Dirty: true, EngineFor: map[workflow.StageID]string{"po": "claude"}}
	same, other := Flags{}.withDefaults(before), Flags{Engine: "claude", Budget: 9, Commands: []string{"make"}}.withDefaults(before)
	if same.Engine != "codex" || same.Budget != 5 || same.Minutes != 3 || same.Stages != "po..sm" || !same.Dirty || same.EngineFor["po"] != "claude" || !slices.Equal(same.Commands, before.Commands) {
		t.Errorf("%+v", same)
	}
	if other.Engine != "claude" || other.Budget != 9 || other.Model != "m" || other.Commands[0] != "make" {
		t.Errorf("%+v", other)
	}
}
