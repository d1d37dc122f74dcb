package standing_test

import (
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/engine/internal/standing"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/workflowtest"
)

// at returns the standing of a session of a workflow of six stages at a stage and state.
func at(stage workflow.StageID, state workflow.State) *standing.Standing {
	w := workflowtest.Six()
	s := w.NewSession("id", "Build a clock", "/p", "test", workflow.Transition{}.At)
	s.CurrentStage, s.CurrentState = stage, state
	st, _ := w.Stage(stage)
	return &standing.Standing{Session: s, Workflow: w, Settings: w, Stage: st, Policy: st.Policy(), MaxRework: 2, MaxIterations: 3}
}

func TestRoute(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		state workflow.State
		mode  workflow.GateMode
		call  standing.Call
		want  standing.Route
	}{
		"nothing but words":            {workflow.AwaitingConfirmation, workflow.GateAuto, standing.Call{}, standing.ByWord},
		"relay takes words":            {workflow.AwaitingConfirmation, workflow.GateRelay, standing.Call{Asks: true, Forms: true, HostConfirm: true}, standing.ByWord},
		"a form":                       {workflow.AwaitingConfirmation, workflow.GateAuto, standing.Call{Asks: true, Forms: true}, standing.ByForm},
		"the form was closed":          {workflow.AwaitingConfirmation, workflow.GateAuto, standing.Call{Asks: true, Forms: true, Withheld: true}, standing.ByFormAgain},
		"nobody saw the form":          {workflow.AwaitingConfirmation, workflow.GateAuto, standing.Call{Asks: true, Forms: true, NoForms: true}, standing.ByWord},
		"nobody saw it, the host asks": {workflow.AwaitingConfirmation, workflow.GateAuto, standing.Call{Asks: true, Forms: true, NoForms: true, HostConfirm: true}, standing.ByHost},
		"strict without a person":      {workflow.AwaitingConfirmation, workflow.GateStrict, standing.Call{}, standing.ByOwnAct},
		"strict, nobody saw the form":  {workflow.AwaitingConfirmation, workflow.GateStrict, standing.Call{Asks: true, Forms: true, NoForms: true}, standing.ByOwnAct},
		"strict at a terminal":         {workflow.AwaitingConfirmation, workflow.GateStrict, standing.Call{Asks: true}, standing.ByWord},
		"questions come with the call": {workflow.Clarifying, workflow.GateAuto, standing.Call{Asks: true, Forms: true, HostConfirm: true}, standing.ByWord},
		"strict questions, no person":  {workflow.Clarifying, workflow.GateStrict, standing.Call{HostConfirm: true}, standing.ByOwnAct},
	} {
		s := at(workflow.PO, tt.state)
		s.Policy.Gate, s.Call = tt.mode, tt.call
		if got := s.Route(); got != tt.want {
			t.Errorf("%s: got route %d, want %d", name, got, tt.want)
		}
	}
}

// TestGateFacts: what a decision overrides, whether it needs a reason, and which drafts cannot
// be taken.
func TestGateFacts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stage   workflow.StageID
		state   workflow.State
		verdict workflow.Verdict
		rework  int
		draft   standing.Draft

		overrides, blocked, reason, unusable bool
	}{
		"score reached":          {stage: workflow.PO, state: workflow.AwaitingConfirmation},
		"score reached, edited":  {stage: workflow.PO, state: workflow.AwaitingConfirmation, draft: standing.Draft{Edited: true, Edit: &standing.Edit{}}},
		"score reached, unknown": {stage: workflow.PO, state: workflow.AwaitingConfirmation, draft: standing.Draft{Edited: true}, unusable: true},
		"score reached, missing": {stage: workflow.PO, state: workflow.AwaitingConfirmation, draft: standing.Draft{Missing: true}, unusable: true},
		"rounds spent":           {stage: workflow.PO, state: workflow.AwaitingApproval, overrides: true, reason: true},
		"rounds spent, edited":   {stage: workflow.PO, state: workflow.AwaitingApproval, draft: standing.Draft{Edited: true, Edit: &standing.Edit{}}, overrides: true, reason: true},
		"plan":                   {stage: workflow.SM, state: workflow.AwaitingApproval},
		"plan, edited":           {stage: workflow.SM, state: workflow.AwaitingApproval, draft: standing.Draft{Edited: true, Edit: &standing.Edit{}}},
		"failed":                 {stage: workflow.Review, state: workflow.AwaitingApproval, verdict: workflow.Fail, rework: 1, overrides: true},
		"failed once too often":  {stage: workflow.Review, state: workflow.AwaitingApproval, verdict: workflow.Fail, rework: 2, overrides: true, reason: true},
		"failed, edited":         {stage: workflow.Review, state: workflow.AwaitingApproval, verdict: workflow.Fail, draft: standing.Draft{Edited: true}, overrides: true, unusable: true},
		"blocked":                {stage: workflow.Review, state: workflow.AwaitingApproval, verdict: workflow.Blocked, blocked: true},
		"blocked, draft missing": {stage: workflow.Review, state: workflow.AwaitingApproval, verdict: workflow.Blocked, draft: standing.Draft{Missing: true}, blocked: true},
		"at work, draft edited":  {stage: workflow.PO, state: workflow.Refining, draft: standing.Draft{Edited: true, Missing: true}},
	} {
		s := at(tt.stage, tt.state)
		s.Session.ReworkCount, s.Draft, s.Session.Current().Verdict = tt.rework, tt.draft, tt.verdict
		got := [4]bool{s.Overrides(), s.Blocked(), s.NeedsReason(), s.Unusable()}
		if want := [4]bool{tt.overrides, tt.blocked, tt.reason, tt.unusable}; got != want {
			t.Errorf("%s: overrides, blocked, needs a reason, unusable: got %v, want %v", name, got, want)
		}
	}
}

func TestRoundsBelow(t *testing.T) {
	t.Parallel()
	entry := func(e workflow.Event) workflow.Transition {
		t := workflow.Transition{Event: e, Action: workflow.ActionSubmit}
		switch e {
		case workflow.EventAnswered:
			t.Action = workflow.ActionAnswer
		case workflow.EventChangesRequested:
			t.Action = workflow.ActionConfirm
		}
		return t
	}
	for name, tt := range map[string]struct {
		events []workflow.Event
		want   int
	}{
		"none":                      {nil, 0},
		"three":                     {[]workflow.Event{workflow.EventScoredBelow, workflow.EventScoredBelow, workflow.EventExhausted}, 3},
		"a decision begins anew":    {[]workflow.Event{workflow.EventScoredBelow, workflow.EventChangesRequested, workflow.EventScoredBelow}, 1},
		"answers do not":            {[]workflow.Event{workflow.EventScoredBelow, workflow.EventQuestioned, workflow.EventAnswered, workflow.EventScoredBelow}, 3},
		"neither does a new policy": {[]workflow.Event{workflow.EventScoredBelow, workflow.EventPolicyChanged, workflow.EventScoredBelow}, 2},
	} {
		s := at(workflow.PO, workflow.Refining)
		s.Session.History = nil
		for _, e := range tt.events {
			s.Session.History = append(s.Session.History, entry(e))
		}
		if got := s.RoundsBelow(); got != tt.want {
			t.Errorf("%s: got %d rounds, want %d", name, got, tt.want)
		}
	}
}

func TestDefaultScope(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status []workflow.SprintStatus
		want   []int
	}{
		"no plan":      {nil, nil},
		"rework first": {[]workflow.SprintStatus{workflow.SprintDone, workflow.SprintImplemented, workflow.SprintPending}, []int{2}},
		"open next":    {[]workflow.SprintStatus{workflow.SprintDone, workflow.SprintPending, workflow.SprintPending}, []int{2, 3}},
		"else all":     {[]workflow.SprintStatus{workflow.SprintDone, workflow.SprintDone}, []int{1, 2}},
	} {
		s := at(workflow.Dev, workflow.Generating)
		for i, status := range tt.status {
			s.Session.Sprints = append(s.Session.Sprints, workflow.Sprint{Number: i + 1, Status: status})
		}
		got := s.DefaultScope()
		if len(got) != len(tt.want) {
			t.Errorf("%s: got sprints %v, want %v", name, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: got sprints %v, want %v", name, got, tt.want)
			}
		}
	}
}

// TestDocument checks that a stage's document is its draft while it is at work, else its artifact,
// unless that is gone.
func TestDocument(t *testing.T) {
	t.Parallel()
	artifact := &workflow.Artifact{Path: "a.md", Size: 3, SHA256: "aa"}
	for name, tt := range map[string]struct {
		stage  workflow.StageID
		status workflow.Status
		ref    bool
		saved  standing.File
		want   string
		edited bool
	}{
		"nothing yet":            {stage: workflow.Architect, want: ""},
		"the draft":              {stage: workflow.PO, ref: true, want: "work.md"},
		"the artifact":           {stage: workflow.Architect, status: workflow.Done, ref: true, saved: standing.File{Size: 5}, want: "a.md"},
		"the artifact, edited":   {stage: workflow.Architect, status: workflow.Done, ref: true, saved: standing.File{Size: 5, Modified: true}, want: "a.md", edited: true},
		"the artifact is gone":   {stage: workflow.Architect, status: workflow.Done, ref: true, saved: standing.File{Missing: true}, want: "round.md"},
		"edited before a reopen": {stage: workflow.Architect, status: workflow.InProgress, ref: true, saved: standing.File{Modified: true}, want: "a.md", edited: true},
		"worked on since":        {stage: workflow.Architect, status: workflow.InProgress, ref: true, saved: standing.File{Size: 5}, want: "round.md"},
	} {
		s := at(workflow.PO, workflow.Refining)
		s.Draft = standing.Draft{Path: "work.md", Size: 7}
		st, _ := s.Workflow.Stage(tt.stage)
		rec := s.Session.Record(tt.stage)
		if rec.Status = tt.status; tt.ref {
			rec.FinalResultRef = &workflow.ContentRef{FilePath: "round.md"}
		}
		if tt.status != "" {
			rec.Artifact, s.Saved = artifact, map[string]standing.File{"a.md": tt.saved}
		}
		got, path, edited := s.Document(st), "", false
		if got != nil {
			path, edited = got.Path, got.Modified
		}
		if path != tt.want || edited != tt.edited {
			t.Errorf("%s: got %q, edited %v; want %q, edited %v", name, path, edited, tt.want, tt.edited)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	const before = "# A\none\ntwo\n# B\nthree\n"
	for name, tt := range map[string]struct {
		after          string
		added, removed int
		sections       []string
	}{
		"the same":              {before, 0, 0, nil},
		"space at its end":      {before + "\n\n", 0, 0, nil},
		"another order":         {"# B\nthree\n# A\none\ntwo\n", 2, 2, []string{"A"}},
		"a line more":           {"# A\none\ntwo\n# B\nthree\nfour\n", 1, 0, []string{"B"}},
		"a section less":        {"# A\none\ntwo\n", 0, 2, []string{"B"}},
		"a line twice":          {"# A\none\none\ntwo\n# B\nthree\n", 1, 0, []string{"A"}},
		"no heading in a fence": {"# A\none\ntwo\n```\n# C\n```\n# B\nthree\n", 3, 0, []string{"A"}},
	} {
		got := standing.Compare(before, tt.after)
		if got.Added != tt.added || got.Removed != tt.removed {
			t.Errorf("%s: got %d added, %d removed; want %d, %d", name, got.Added, got.Removed, tt.added, tt.removed)
		}
		if !slices.Equal(got.Sections, tt.sections) {
			t.Errorf("%s: got sections %q, want %q", name, got.Sections, tt.sections)
		}
	}
}

func TestEditedLines(t *testing.T) {
	t.Parallel()
	const before = "# A\n\none two three\nfour\n\n## B\nfive\n"
	for name, tt := range map[string]struct {
		after string
		want  []standing.EditedLine
	}{
		"nothing":          {before, nil},
		"white space":      {"# A\n\none  two three \nfour\n\n\n## B\nfive\n", nil},
		"a word":           {"# A\n\none too three\nfour\n\n## B\nfive\n", []standing.EditedLine{{Before: "one two three", After: "one too three", At: 5}}},
		"a line more":      {before + "six\n", []standing.EditedLine{{After: "six"}}},
		"a line less":      {"# A\n\none two three\n\n## B\nfive\n", []standing.EditedLine{{Before: "four"}}},
		"all of it":        {"", []standing.EditedLine{{Before: "# A"}, {Before: "one two three"}, {Before: "four"}, {Before: "## B"}, {Before: "five"}}},
		"another sentence": {"# A\n\nseven\nfour\n\n## B\nfive\n", []standing.EditedLine{{Before: "one two three"}, {After: "seven"}}},
	} {
		if got := standing.EditedLines(before, tt.after); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestTakenBack(t *testing.T) {
	t.Parallel()
	const before = "# A\none two\nthree\nfour\n"
	word := []standing.EditedLine{{Before: "one two", After: "one too", At: 5}}
	for name, tt := range map[string]struct {
		edited, later string
		want          []standing.EditedLine
	}{
		"kept":                      {"# A\none too\nthree\nfour\n", "# A\nmore\none too\nthree\n", nil},
		"the old text":              {"# A\none too\nthree\nfour\n", before, word},
		"the old line, elsewhere":   {"# A\none too\nthree\nfour\n", "# A\n## More\nfour\none two\n", word},
		"reworded":                  {"# A\none too\nthree\nfour\n", "# A\none too many\nthree\nfour\n", nil},
		"both stand there":          {"# A\none too\nthree\nfour\n", "# A\none too\none two\n", nil},
		"the section is gone":       {"# A\none too\nthree\nfour\n", "# A\nother\n", nil},
		"a new line is gone":        {before + "five six\n", before, []standing.EditedLine{{After: "five six"}}},
		"a new line is reworded":    {before + "five six\n", before + "five seven\n", nil},
		"a deleted line is back":    {"# A\none two\nfour\n", before, []standing.EditedLine{{Before: "three"}}},
		"a deleted line stays away": {"# A\none two\nfour\n", "# A\none two\nfour\nfive\n", nil},
		"one of two alike":          {before + "four\n", before, []standing.EditedLine{{After: "four"}}},
	} {
		if got := standing.TakenBack(before, tt.edited, tt.later); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

// TestWants checks that a document that a stage cannot do without comes before the word that its
// round may begin.
func TestWants(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stage workflow.StageID
		state workflow.State
		event workflow.Event // the last one
		want  standing.Want
	}{
		"a stage begins":         {workflow.PO, workflow.Generating, workflow.EventStarted, standing.WantsStart},
		"a build begins":         {workflow.Dev, workflow.Generating, workflow.EventApproved, standing.WantsScope},
		"a no without a word":    {workflow.PO, workflow.Refining, workflow.EventChangesRequested, standing.WantsChange},
		"a round below the gate": {workflow.PO, workflow.Refining, workflow.EventScoredBelow, standing.WantsStart},
		"a gate":                 {workflow.PO, workflow.AwaitingConfirmation, workflow.EventScoredReady, standing.WantsNothing},
	} {
		s := at(tt.stage, tt.state)
		s.Policy.Pause = workflow.PauseStages
		s.Session.History = append(s.Session.History, workflow.Transition{Event: tt.event})
		if got := s.Wants(); got != tt.want {
			t.Errorf("%s: got %d, want %d", name, got, tt.want)
		}
	}
}
