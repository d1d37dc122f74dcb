package audit_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/audit"
)

func own(text string) fstest.MapFS {
	return fstest.MapFS{"po.yaml": &fstest.MapFile{Data: []byte(text)}}
}

const good = `stage: po
checks:
  - id: NO-BELL
    kind: section
    severity: minor
    points: 1.5
    name: Bell
    problem: 'no "{name}"'
    fix: ring it
`

func TestOwnRubric(t *testing.T) {
	r, err := audit.Load(own(good), workflow.Default(), stageOf(workflow.PO))
	if err != nil {
		t.Fatal(err)
	}
	a := r.Audit("# Title\n\n## Door\n\ntext\n", audit.Background{})
	if a.Score != 98.5 || len(a.Findings) != 1 || a.Findings[0].Problem != `no "Bell"` || a.Summary != `no "Bell"` {
		t.Errorf("%+v", a)
	}
	if a := r.Audit("# Title\n\n## Bell\n\ntext\n", audit.Background{}); a.Score != 100 || a.Findings != nil || a.Summary != "" {
		t.Errorf("%+v", a)
	}
	// A folder without the stage's file leaves the built-in rubric.
	if r, err := audit.Load(own(good), workflow.Default(), stageOf(workflow.Dev)); err != nil || r.Stage != workflow.Dev || r.Audit("x", audit.Background{}).Score > 50 {
		t.Errorf("%v %v", r.Stage, err)
	}
}

func TestRubricMistakes(t *testing.T) {
	for want, text := range map[string]string{
		"po.yaml, line 1: a rubric begins with stage: and checks:":                             "",
		"po.yaml, line 3: a second document begins (--- or ...), and only one is read":         "checks: {}\n---\nstage: po\n",
		"po.yaml, line 1: it has no checks":                                                    "stage: po\n",
		`po.yaml, line 1: it is for stage "qa" and is used for "po"`:                           "stage: qa\n",
		`po.yaml, line 2: unknown key "check"; valid are stage, checks`:                        "stage: po\ncheck: []\n",
		"po.yaml, line 2: checks is a list":                                                    "stage: po\nchecks: yes\n",
		"po.yaml, line 3: a check is a block":                                                  "stage: po\nchecks:\n  - bell\n",
		"po.yaml, line 3: the check has no kind; valid are copied, counts, criteria":           "stage: po\nchecks:\n  - id: A-B\n",
		`po.yaml, line 4: unknown kind "sections"; valid are copied, counts, criteria`:         strings.Replace(good, "kind: section", "kind: sections", 1),
		`po.yaml, line 7: unknown key "nam" of a check of kind section; valid are id, kind`:    strings.Replace(good, "    name:", "    nam:", 1),
		`po.yaml, line 5: severity: "bad" is not a severity; valid are critical, major, minor`: strings.Replace(good, "minor", "bad", 1),
		`po.yaml, line 6: points: must be a number above 0 and at most 100, not "-1"`:          strings.Replace(good, "1.5", "-1", 1),
		`po.yaml, line 6: points: must be a number above 0 and at most 100, not "NaN"`:         strings.Replace(good, "1.5", "NaN", 1),
		`po.yaml, line 3: id: "bell" is not an id; use capitals`:                               strings.Replace(good, "NO-BELL", "bell", 1),
		"po.yaml, line 3: the check NO-BELL of kind section needs name":                        strings.Replace(good, "    name: Bell\n", "", 1),
		"po.yaml, line 3: the check NO-BELL has neither points nor each":                       strings.Replace(good, "    points: 1.5\n", "", 1),
		"po.yaml, line 3: the check NO-BELL is a question, which takes no points":              strings.Replace(good, "minor", "question", 1),
		"po.yaml, line 3: the check NO-BELL has no severity":                                   strings.Replace(good, "    severity: minor\n", "", 1),
		"po.yaml, line 3: the check NO-BELL needs a problem and a fix":                         strings.Replace(good, "    fix: ring it\n", "", 1),
		"po.yaml, line 10: the check NO-BELL is there twice":                                   good + strings.TrimPrefix(good, "stage: po\nchecks:\n"),
		`po.yaml, line 8: also: want a list such as [one, two]`:                                strings.Replace(good, "    problem", "    also: {a: b}\n    problem", 1),
		`po.yaml, line 3: the check NO-BELL has what: "bells"; valid are commands, files`:      strings.Replace(strings.Replace(good, "section", "has", 1), "name: Bell", "what: bells", 1),
		`po.yaml, line 7: from: "design" is not a stage; valid are po, architect`:              strings.Replace(strings.Replace(good, "section", "trace", 1), "name: Bell", "from: design", 1),
		`po.yaml, line 7: only: "should" is not known; the only value is must`:                 strings.Replace(strings.Replace(good, "section", "trace", 1), "name: Bell", "only: should", 1),
		`po.yaml, line 7: min: "few" is not a whole number above 0`:                            strings.Replace(strings.Replace(good, "section", "short", 1), "name: Bell", "min: few", 1),
		"po.yaml, line 2: mapping values are not allowed in this context":                      "stage: po\nchecks: a: b\n",
	} {
		_, err := audit.Load(own(text), workflow.Default(), stageOf(workflow.PO))
		if err == nil || !strings.HasPrefix(err.Error(), want) || !fault.Is(err, fault.InvalidArgument) || fault.From(err).Hint == "" {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	// A stage without a rubric of its own is audited by that of its kind.
	for kind, id := range map[workflow.Kind]string{workflow.KindDocument: "NOTHING-TO-CHECK", workflow.KindPlan: "NO-SPRINTS", workflow.KindBuild: "NO-RESULTS"} {
		r, err := audit.Load(nil, workflow.Default(), workflow.Stage{ID: "design", Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		if found := r.Audit("words", audit.Background{}); r.Stage != "design" || !slices.ContainsFunc(found.Findings, func(f workflow.AuditFinding) bool { return f.ID == id }) {
			t.Errorf("%s: no finding %s of %+v", kind, id, found)
		}
	}
	// The report of a verdict is not audited, whatever rubric a project brings.
	for _, id := range []workflow.StageID{workflow.Review, workflow.QA} {
		if _, err := audit.Load(fstest.MapFS{string(id) + ".yaml": &fstest.MapFile{Data: []byte(good)}}, workflow.Default(), stageOf(id)); err == nil || !strings.Contains(err.Error(), "is judged by its rows, and not audited") {
			t.Errorf("%s: %v", id, err)
		}
	}
	if _, err := audit.Load(fstest.MapFS{"po.yaml/x": &fstest.MapFile{}}, workflow.Default(), stageOf(workflow.PO)); !fault.Is(err, fault.Storage) {
		t.Errorf("a folder of the name: %v", err)
	}
}

// TestChecksCanBeAbsent audits with one check at a time: each stands alone.
func TestChecksCanBeAbsent(t *testing.T) {
	for _, st := range auditedStages() {
		stage := st.RubricName()
		data, err := os.ReadFile("rubrics/" + stage + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(string(data), "checks:\n")
		whole, sum := rubric(t, st.ID).Audit("# Nothing", audit.Background{}), 0.0
		for one := range strings.SplitSeq(rest, "\n  - id:") {
			text := head + "checks:\n  - id:" + strings.TrimPrefix(one, "  - id:") + "\n"
			r, err := audit.Load(fstest.MapFS{stage + ".yaml": &fstest.MapFile{Data: []byte(text)}}, workflow.Default(), st)
			if err != nil {
				t.Fatalf("%s: %v\n%s", stage, err, text)
			}
			for _, f := range r.Audit("# Nothing", audit.Background{}).Findings {
				sum += f.Points
			}
		}
		if want := max(0, 100-sum); whole.Score != want || sum < 40 {
			t.Errorf("%s: the checks one by one cost %g, together the score is %g", stage, sum, whole.Score)
		}
	}
}

// untested asks for each criterion of the requirements that is in scope.
const untested = `checks:
  - {id: UNTESTED, kind: trace, severity: critical, each: 4, cap: 40, alone: 15, ids: [AC], from: po, problem: '{n} of {want} criteria {has|have} no result here: {items}', fix: test it}
`

func TestTracing(t *testing.T) {
	prd := "## Functional Requirements\n\n- FR-1 (Must, US-1) It rings\n- FR-2 (Must, US-2) It stops\n- FR-3 (Could, US-2) It sings\n\n## Out of Scope\n\n- FR-9: It flies\n"
	plan := "## Sprint 1: Ring\n\n### S1-1 Ring (1 day)\n- Acceptance: AC-1.1\n\n## Sprint 2: Stop\n\n### S2-1 Stop (1 day)\n- Acceptance: AC-2.1\n"
	criteria := "## User Stories\n\n- AC-1.1 It rings in 1 s\n- AC-2.1 It stops in 1 s\n"
	for _, tt := range []struct {
		name    string
		stage   workflow.StageID
		text    string
		earlier map[workflow.StageID]string
		id      string
		want    string // the end of the finding; empty for none
	}{
		{"all", workflow.Architect, "bell: FR-1 to FR-3", map[workflow.StageID]string{"po": prd}, "UNTRACED", ""},
		{"one missing", workflow.Architect, "bell: FR-1, FR-3", map[workflow.StageID]string{"po": prd}, "UNTRACED", "1 of 3 requirements is met nowhere: FR-2"},
		{"no earlier document", workflow.Architect, "bell", nil, "UNTRACED", ""},
		{"an empty one", workflow.Architect, "bell", map[workflow.StageID]string{"po": " \n"}, "UNTRACED", ""},
		{"musts only", workflow.SM, "bell: FR-1, FR-2", map[workflow.StageID]string{"po": prd}, "UNPLANNED", ""},
		{"through stories", workflow.SM, "bell: US-1, US-2", map[workflow.StageID]string{"po": prd}, "UNPLANNED", ""},
		{"a must missing", workflow.SM, "bell: FR-1", map[workflow.StageID]string{"po": prd}, "UNPLANNED", "1 of 2 requirements to be met is in no sprint: FR-2"},
		{"no priorities", workflow.SM, "bell: FR-1", map[workflow.StageID]string{"po": "- FR-1: a\n- FR-2: b"}, "UNPLANNED", "1 of 2 requirements to be met is in no sprint: FR-2"},
		{"stories for requirements", workflow.SM, "bell: US-1", map[workflow.StageID]string{"po": "- US-1: a\n- US-2: b"}, "UNPLANNED", "1 of 2 requirements to be met is in no sprint: US-2"},
		{"criteria", workflow.Dev, "AC-1.1 seen", map[workflow.StageID]string{"po": criteria}, "UNTESTED", "1 of 2 criteria has no result here: AC-2.1"},
		{"sprint in scope", workflow.Dev, "Sprint 1: AC-1.1 seen", map[workflow.StageID]string{"po": criteria, "sm": plan}, "UNTESTED", ""},
		{"all sprints in scope", workflow.Dev, "Sprints 1 and 2: AC-1.1 seen", map[workflow.StageID]string{"po": criteria, "sm": plan}, "UNTESTED", "1 of 2 criteria has no result here: AC-2.1"},
		{"no criterion at all", workflow.Dev, "seen", nil, "UNTESTED", "no AC of the earlier document is named"},
	} {
		got, rules := "", rubric(t, tt.stage)
		if tt.id == "UNTESTED" { // of a rubric of one's own
			var err error
			if rules, err = audit.Parse("dev.yaml", nil, stageOf(tt.stage), []byte(untested)); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range rules.Audit(tt.text, audit.Background{Plan: workflow.SM, Earlier: tt.earlier}).Findings {
			if f.ID == tt.id {
				got = f.Problem
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestQuestion: a check that asks is shown, below those that cost, and takes nothing.
func TestQuestion(t *testing.T) {
	r, err := audit.Parse("po.yaml", nil, stageOf(workflow.PO), []byte(`checks:
  - {id: ASKED, kind: section, severity: question, name: Bell, problem: no bell, fix: ring it}
  - {id: CHARGED, kind: section, severity: minor, points: 3, name: Horn, problem: no horn, fix: blow it}
`))
	if err != nil {
		t.Fatal(err)
	}
	got := r.Audit("# Door\n\nIt opens.\n", audit.Background{})
	if got.Score != 97 || got.Summary != "no horn; no bell" || len(got.Findings) != 2 || !got.Findings[1].Asks() {
		t.Errorf("%+v", got)
	}
	var sarif strings.Builder
	if err := audit.WriteSARIF(&sarif, audit.Scan{Findings: got.Findings}); err != nil || !strings.Contains(sarif.String(), `"no bell; ring it"`) || !strings.Contains(sarif.String(), `"no horn (−3); blow it"`) {
		t.Errorf("%v\n%s", err, sarif.String())
	}
}

// TestRetiredKinds: rubrics that projects have copied stay good, though some of their checks find
// nothing any more.
func TestRetiredKinds(t *testing.T) {
	r, err := audit.Parse("po.yaml", nil, stageOf(workflow.PO), []byte(`checks:
  - {id: ECHOED, kind: echoed, severity: critical, points: 55, at: 20, full: 40, problem: again, fix: once}
  - {id: REPEATED, kind: repeated, severity: major, each: 2, cap: 14, at: 4, problem: again, fix: once}
  - {id: DISOWNED, kind: disowned, severity: critical, points: 55, problem: taken back, fix: measure}
  - {id: OFF, kind: objective, severity: critical, points: 55, at: 5, full: 10, problem: off, fix: on}
`))
	if err != nil || strings.Join(r.Retired, " ") != "echoed repeated disowned" {
		t.Fatalf("got %q, %v", r.Retired, err)
	}
	if got := r.Audit(strings.Repeat("The same sentence stands here again and again. All figures are invented. ", 40), audit.Background{}); got.Score != 100 {
		t.Errorf("a retired check costs points: %+v", got)
	}
}
