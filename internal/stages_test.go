package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var (
	// numbers are the words for the number of stages that a workflow can have.
	numbers = strings.Fields("none one two three four five six seven eight nine ten eleven twelve")
	// countedStages matches a number of stages, and listedStages all of them in a row.
	countedStages = regexp.MustCompile(`\b(five|six|seven|eight|nine|ten|eleven|twelve) (?:gated )?stages\b`)
	listedStages  = regexp.MustCompile(`PO → Architect(?: → \w+)* → QA\b`)
	mermaid       = regexp.MustCompile("(?s)```mermaid\n(.*?)```")
	// ofOthers are the files that speak of runs that were measured, not of the default workflow.
	ofOthers = []string{"docs/compare.md", "docs/figures.md"}
)

// TestStagesAreTold: every text that counts or lists the stages of the default workflow has all of
// them, so that whoever adds one learns these places at once.
func TestStagesAreTold(t *testing.T) {
	t.Parallel()
	stages := workflow.Default().Stages
	var labels []string
	for _, st := range stages {
		labels = append(labels, st.Label)
	}
	list, seen := strings.Join(labels, " → "), 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.Contains(strings.Fields(".go .md .json .po .yaml"), filepath.Ext(path)):
			return nil
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		text, err := os.ReadFile(path)
		if err != nil || slices.Contains(ofOthers, name) {
			return err
		}
		for _, m := range countedStages.FindAllStringSubmatch(string(text), -1) {
			if seen++; m[1] != numbers[len(stages)] {
				t.Errorf("%s speaks of %s; the default workflow has %s", name, m[0], numbers[len(stages)])
			}
		}
		for _, m := range listedStages.FindAllString(string(text), -1) {
			if seen++; m != list {
				t.Errorf("%s lists %s; the default workflow is %s", name, m, list)
			}
		}
		return nil
	})
	if err != nil || seen < 15 {
		t.Errorf("%d texts were found, %v", seen, err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	picture := mermaid.FindString(string(readme))
	for _, label := range labels {
		if !strings.Contains(picture, label) {
			t.Errorf("the README's picture lacks %s", label)
		}
	}
}
