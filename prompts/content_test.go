package prompts_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/prompts"
)

var (
	rubricRow    = regexp.MustCompile(`(?m)^\| (\d+) \| (.+?) \| (.+?) \|$`)
	auditSection = regexp.MustCompile(`kind: section\n(?: +\w+: .*\n)*? +name: (.+)\n`)
	inBrackets   = regexp.MustCompile(` \([^)]*\)`)
)

// TestPointsHaveSections: a model can earn every point of a rubric in a section that the prompt asks
// for, and the prompt asks for every section that the audit looks for.
func TestPointsHaveSections(t *testing.T) {
	for _, id := range []workflow.StageID{workflow.PO, workflow.Architect} {
		total := 0
		var sections []string
		for _, row := range rubricRow.FindAllStringSubmatch(load(t, id).Full(90), -1) {
			points, _ := strconv.Atoi(row[1])
			total += points
			for name := range strings.SplitSeq(inBrackets.ReplaceAllString(row[2], ""), " · ") {
				if name == "" || slices.Contains(sections, name) {
					t.Errorf("%s: section %q is empty or has points twice", id, name)
				}
				sections = append(sections, name)
			}
		}
		if total != 100 {
			t.Errorf("%s: the rubric has %d points", id, total)
		}
		rubric, err := os.ReadFile("../internal/workflow/audit/rubrics/" + string(id) + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		looked := auditSection.FindAllStringSubmatch(string(rubric), -1)
		if len(looked) < 6 {
			t.Fatalf("%s: the audit looks for %d sections", id, len(looked))
		}
		for _, m := range looked {
			if !slices.Contains(sections, m[1]) {
				t.Errorf("%s: the audit looks for %q, which the prompt does not ask for", id, m[1])
			}
		}
	}
}

// TestWhatPromptsTeach holds the sentences that no prompt of its kind may lose.
func TestWhatPromptsTeach(t *testing.T) {
	kinds := map[workflow.Kind][]string{
		workflow.KindDocument: {"ask before you write", "Length follows the stakes", "one block, which the server takes out"},
		workflow.KindPlan:     {"a small change is one sprint on one page"},
		workflow.KindBuild:    {"Commit only if the human wants commits", "which the server takes out"},
		workflow.KindVerdict:  {"If your host has sub-agents, give this prompt and the paths of the context to a fresh one", "one block, from which the server makes"},
	}
	stages := workflow.Default().Stages
	fix, _ := workflow.Read("fix", []byte(workflow.BuiltinText("fix")))
	stages = append(slices.Clone(stages), fix.First())
	for _, kind := range workflow.Kinds() {
		stages = append(stages, workflow.Stage{ID: "guard", Kind: kind, Role: "Keeper", DocumentName: "book", Description: "keeps"})
	}
	for _, st := range stages {
		p, err := prompts.Load(nil, st)
		if err != nil {
			t.Fatal(err)
		}
		first := p.First(90)
		for _, words := range append(kinds[st.Kind], "file that next_call names") {
			if !strings.Contains(first, words) {
				t.Errorf("%s (%s) does not say %q", st.ID, st.Kind, words)
			}
		}
		if strings.Contains(first, "\\n") {
			t.Errorf("%s (%s) shows a document as an escaped text", st.ID, st.Kind)
		}
		if later := p.Later(90); !strings.Contains(strings.ToLower(later), "file") && !strings.Contains(later, "the new report") && !strings.Contains(later, "report anew") {
			t.Errorf("%s (%s): a later round does not say where the document goes", st.ID, st.Kind)
		}
	}
}

// TestFirstRound: a stage begins without the part that the later rounds bring, and loses nothing
// else.
func TestFirstRound(t *testing.T) {
	sent := 0
	for _, st := range workflow.Default().Stages {
		p := load(t, st.ID)
		full, first, later := p.Full(90), p.First(90), p.Later(90)
		if strings.Contains(first, "Later rounds") || strings.Contains(first, later) {
			t.Errorf("%s begins with the part for later rounds", st.ID)
		}
		if got := strings.Join(strings.Fields(first+" ## Later rounds "+later), " "); got != strings.Join(strings.Fields(full), " ") {
			t.Errorf("%s: the first round and the later ones are not the whole", st.ID)
		}
		sent += len(first)
	}
	if most := 2700 * len(workflow.Default().Stages); sent > most {
		t.Errorf("the stages of a run begin with %d bytes of prompts; at most %d, 2700 for each", sent, most)
	}
}

// modelNames match models of any maker: their names age, and the person chooses.
var modelNames = regexp.MustCompile(`(?i)\b(?:gpt-?\d|o[134]-|claude-?\d|sonnet|opus|haiku|gemini-?\d)`)

// TestNoModelIsNamed: a prompt names an engine at most, never a model of it.
func TestNoModelIsNamed(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".md") {
			continue
		}
		text, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		read++
		if m := modelNames.Find(text); m != nil {
			t.Errorf("%s names the model %s", file.Name(), m)
		}
	}
	if read < 11 {
		t.Errorf("%d prompts were read", read)
	}
}
