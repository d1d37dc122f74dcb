package prompts_test

import (
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/verdict"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

func load(t *testing.T, id workflow.StageID) prompts.Prompt {
	t.Helper()
	p, err := prompts.Load(nil, defaultStage(id))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBuiltinPromptsAreShortAndComplete(t *testing.T) {
	for _, st := range workflow.Default().Stages {
		p := load(t, st.ID)
		full := p.Full(st.GateScore)
		if n := len(strings.Fields(full)); n > 1500 || n < 200 {
			t.Errorf("%s: %d words", st.ID, n)
		}
		if strings.Contains(full, "{{") || strings.Contains(p.Later(90), "{{") {
			t.Errorf("%s: a placeholder is left", st.ID)
		}
		if len(p.Later(90)) < 100 || len(p.Later(90)) > 1500 {
			t.Errorf("%s: the later part has %d bytes", st.ID, len(p.Later(90)))
		}
		if st.Gate == workflow.GateScore && !strings.Contains(full, "The gate is 90.") {
			t.Errorf("%s: does not name its gate", st.ID)
		}
		if st.Gate == workflow.GateScore && !strings.Contains(full, "Ask 3–5 questions") {
			t.Errorf("%s: does not say how many questions", st.ID)
		}
	}
}

var jsonFence = regexp.MustCompile("(?s)```json\n(.*?)\n```")

// TestExamplesParse submits the very examples the prompts give.
func TestExamplesParse(t *testing.T) {
	for _, st := range workflow.Default().Stages {
		examples := jsonFence.FindAllStringSubmatch(load(t, st.ID).Full(90), -1)
		if st.ID == workflow.SM && len(examples) == 0 {
			continue // a plan is Markdown and nothing else
		}
		want := 2
		if st.Kind == workflow.KindVerdict {
			want = 1 // a later round has the same form
		}
		if len(examples) != want {
			t.Fatalf("%s: %d examples, want %d: one for the first and one for a later round", st.ID, len(examples), want)
		}
		for i, m := range examples {
			example := "# The document\n\nIts text.\n\n```json\n" + m[1] + "\n```\n"
			a := intake.Read(st, example)
			if a.Document != "# The document\n\nIts text." || !a.Defect.Empty() {
				t.Errorf("%s, example %d: document %q, defect %q", st.ID, i, a.Document, a.Defect)
			}
			switch st.ID {
			case workflow.PO, workflow.Architect:
				if a.Claimed == nil || (i == 0) != (len(a.Questions) > 0 && len(a.Gaps) > 0) {
					t.Errorf("%s, example %d: %+v", st.ID, i, a)
				}
				if (*a.Claimed >= 90) != (i == 1) {
					t.Errorf("%s, example %d scores %v", st.ID, i, *a.Claimed)
				}
			case workflow.Dev:
				if len(a.Scope) != 2 || (i == 1) != (len(a.Resolved) == 1) {
					t.Errorf("%s, example %d: %+v", st.ID, i, a)
				}
			case workflow.Review:
				r := verdict.Read(example, st.Keys)
				if r.Verdict() != workflow.Fail || len(r.Defects) > 0 || len(r.Findings) != 1 || len(r.Checks) != 1 {
					t.Errorf("%s, example %d: %+v", st.ID, i, r)
				}
			case workflow.QA:
				r := verdict.Read(example, st.Keys)
				if r.Verdict() != workflow.Fail || len(r.Defects) > 0 || len(r.Criteria) != 3 || len(r.Findings) != 1 {
					t.Errorf("%s, example %d: %+v", st.ID, i, r)
				}
			}
		}
	}
}

// TestAnswered: one who answers with the document is told of no file to write it into, and loses
// nothing else.
func TestAnswered(t *testing.T) {
	stages := workflow.Default().Stages
	for _, kind := range workflow.Kinds() {
		stages = append(stages, workflow.Stage{ID: "guard", Kind: kind, Role: "Keeper", DocumentName: "book", Description: "keeps"})
	}
	for _, st := range stages {
		p, err := prompts.Load(nil, st)
		if err != nil {
			t.Fatal(err)
		}
		filed, answered := p.Full(90)+p.Later(90), p.Answered().Full(90)+p.Answered().Later(90)
		for _, words := range []string{"next_call", "the file in place", "the same file", "{{"} {
			if strings.Contains(answered, words) {
				t.Errorf("%s (%s): the prompt for an answer says %q", st.ID, st.Kind, words)
			}
		}
		if !strings.Contains(filed, "next_call") || strings.Contains(filed, "your answer") {
			t.Errorf("%s (%s): the prompt for a file is changed too", st.ID, st.Kind)
		}
		if n := len(strings.Fields(filed)) - len(strings.Fields(answered)); n < 0 || n > 20 {
			t.Errorf("%s (%s): the prompts differ by %d words", st.ID, st.Kind, n)
		}
	}
}

func TestSprintExampleParses(t *testing.T) {
	full := load(t, workflow.SM).Full(90)
	_, example, ok := strings.Cut(full, "```markdown\n")
	if !ok {
		t.Fatal("no example")
	}
	example, _, _ = strings.Cut(example, "\n```")
	if got, _ := intake.ReadSprints(example); len(got) != 2 || got[0].Title != "Sign in by email link" {
		t.Errorf("got %+v", got)
	}
}

func TestOverride(t *testing.T) {
	fsys := fstest.MapFS{
		"po.md":        {Data: []byte("---\nstage: po\ntitle: Ours\n---\nAsk for {{gate_score}}.\n")},
		"architect.md": {Data: []byte("No front matter.\n\n## Later rounds\n\nAgain.\n\n## Then\nmore")},
		"sm.md":        {Data: []byte("---\nstage: dev\n---\nwrong")},
		"dev.md":       {Data: []byte("  \n")},
		"review.md":    {Data: []byte("---\nstage: review\nnever closed")},
		"qa.md":        {Data: []byte(strings.Repeat("x", prompts.MaxSize+1))},
	}
	po, err := prompts.Load(fsys, defaultStage(workflow.PO))
	if err != nil || po.Full(77.5) != "Ask for 77.5." || po.Title != "Ours" {
		t.Errorf("%+v, %v", po, err)
	}
	if po.Later(90) != load(t, workflow.PO).Later(90) {
		t.Error("a prompt without the section does not fall back to the built-in one")
	}
	arch, err := prompts.Load(fsys, defaultStage(workflow.Architect))
	if arch.First(90) != "No front matter.\n\n## Then\nmore" && err == nil {
		t.Errorf("%q", arch.First(90))
	}
	if err != nil || arch.Later(90) != "Again." {
		t.Errorf("%q, %v", arch.Later(90), err)
	}
	for _, id := range []workflow.StageID{workflow.SM, workflow.Dev, workflow.Review, workflow.QA} {
		if _, err := prompts.Load(fsys, defaultStage(id)); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if p, err := prompts.Load(fstest.MapFS{}, defaultStage(workflow.PO)); err != nil || p.Title != "Product Owner" {
		t.Errorf("%+v, %v", p, err)
	}
}

// defaultStage returns a stage of the default workflow.
func defaultStage(id workflow.StageID) workflow.Stage {
	st, _ := workflow.Default().Stage(id)
	return st
}

// TestPromptsForAnyStage: a stage that brings no prompt gets one for its kind, in its own words,
// whose examples the server reads.
func TestPromptsForAnyStage(t *testing.T) {
	fix, _ := workflow.Read("fix", []byte(workflow.BuiltinText("fix")))
	stages := []workflow.Stage{fix.First()}
	for _, kind := range workflow.Kinds() {
		stages = append(stages, workflow.Stage{ID: "guard", Kind: kind, Role: "Gate Keeper", DocumentName: "guard book", Description: "keeps the gate", GateScore: 80})
	}
	for _, st := range stages {
		p, err := prompts.Load(nil, st)
		if err != nil {
			t.Fatalf("%s: %v", st.Kind, err)
		}
		text := p.Full(80)
		if p.Stage != st.ID || p.Title != st.Role || strings.Contains(text, "{{") || p.Later(80) == "" || len(text) > prompts.MaxSize {
			t.Errorf("%s: stage %q, title %q, %d bytes, later %q\n%s", st.Kind, p.Stage, p.Title, len(text), p.Later(80), text)
		}
		if st.ID == "guard" && (!strings.Contains(text, "You are the Gate Keeper") || !strings.Contains(text, "this stage keeps the gate") && !strings.Contains(text, "This stage keeps the gate")) {
			t.Errorf("%s: the stage's own words are missing:\n%s", st.Kind, text)
		}
		examples := 0
		for _, m := range jsonFence.FindAllStringSubmatch(text, -1) {
			examples++
			if a := intake.Read(st, "# The document\n\nIts text.\n\n```json\n"+m[1]+"\n```\n"); a.Document != "# The document\n\nIts text." || !a.Defect.Empty() {
				t.Errorf("%s: the example %s is read as %+v", st.Kind, m[1], a)
			}
		}
		if examples == 0 && st.Kind != workflow.KindPlan {
			t.Errorf("%s: no example", st.Kind)
		}
	}
}
