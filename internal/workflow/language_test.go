package workflow

import (
	"regexp"
	"strings"
	"testing"

	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
)

// TestDefinitionsInChinese checks that the mistakes of a definition, and the words of the built-in
// ones, have Chinese forms.
func TestDefinitionsInChinese(t *testing.T) {
	t.Parallel()
	quoted := regexp.MustCompile(`"[^"]*"|“[^”]*”|bmad-mcp [a-z ]+`)
	english := regexp.MustCompile(`[A-Za-z]+(?: [A-Za-z]+){2}`)
	bad := strings.Join([]string{
		"name: other", "name: other", "colour: red", "description: [a]", "stages:",
		"  - {id: all, kind: document}", "  - {id: a, kind: essay}", "  - {id: b, kind: plan, gate: score}", "  - {id: b, kind: plan, gate_score: 50}",
		"  - {id: c, kind: verdict}", "  - {id: d, kind: verdict, sends_back_to: z}", "  - {id: e, kind: document, verify: maybe, engines: x, artifact: a/b, prompt: A/b}",
		"  - {kind: build, gate_score: many}",
	}, "\n")
	for _, text := range []string{bad, "", "- a", "stages: []", strings.ReplaceAll(strings.Replace(bad, "name: other\nname: other\ncolour: red\ndescription: [a]", "name: mine", 1), "verify: maybe, engines: x, ", "verify: true, engines: [x], ")} {
		_, problems := Read("mine", []byte(text))
		if problems == nil {
			t.Fatalf("%q is accepted", text)
		}
		for _, p := range problems {
			if m := english.FindString(quoted.ReplaceAllString(p.In("zh"), "")); m != "" {
				t.Errorf("%q is left in %q", m, p.In("zh"))
			}
		}
		if problems[0].In("zh") == problems[0].String() || problems[0].Translated("zh").Text == problems[0].Text {
			t.Errorf("%q is not translated", problems[0])
		}
	}
}

// TestStageInChinese checks that what a stage of a person's own does not name is named in the
// language of the reader, what it names stays.
func TestStageInChinese(t *testing.T) {
	t.Parallel()
	d, problems := Read("mine", []byte("name: mine\nstages:\n  - {id: security, kind: document}\n  - {id: notes, kind: document, document: release notes, description: collects them}\n"))
	if problems != nil {
		t.Fatal(problems)
	}
	for i, want := range [][2]string{{"security 报告", "编写 security 报告"}, {"release notes", "collects them"}} {
		if st := d.Stages[i]; st.DocumentIn("zh") != want[0] || st.DescriptionIn("zh") != want[1] || st.DocumentIn("en") != st.DocumentName || st.DescriptionIn("en") != st.Description {
			t.Errorf("got %q, %q", st.DocumentIn("zh"), st.DescriptionIn("zh"))
		}
	}
	if st, _ := Default().Stage(PO); st.DocumentIn("zh") != "产品需求" || st.DescriptionIn("zh") != "把目标写成产品需求文档" {
		t.Errorf("got %q, %q", st.DocumentIn("zh"), st.DescriptionIn("zh"))
	}
}
