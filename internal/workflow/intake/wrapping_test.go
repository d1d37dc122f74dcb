package intake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

// TestWrappings: a document comes out of any wrapping as it is, and the score with it. The bare code blocks and the
// comment in it are traps for the end of a fence.
func TestWrappings(t *testing.T) {
	const doc = "# PRD\n\n## Goals\n\nSell \"more\".\n\n```go\nx()\n```\n\n```\n# bare\n```\n\n## End\n\nDone here."
	const facts = "```json\n{\"quality_score\": 95}\n```"
	escape := strings.NewReplacer("\\", "\\\\", "\n", `\n`, `"`, `\"`).Replace
	object := `{"prd_draft": "` + escape(doc) + `", "quality_score": 95}`
	for name, text := range map[string]string{
		"a fence":                            "```markdown\n" + doc + "\n\n" + facts + "\n```",
		"a fence below a sentence":           "Here is the PRD:\n\n```markdown\n" + doc + "\n\n" + facts + "\n```",
		"a fence above the facts":            "```markdown\n" + doc + "\n```\n\n" + facts,
		"a fence between words and facts":    "Here it is:\n\n```md\n" + doc + "\n```\n\nAnd the facts:\n\n" + facts + "\n\nTell me what to change!",
		"a fence above a bare object":        "```markdown\n" + doc + "\n```\n\n{\"quality_score\": 95}",
		"a fence with a score behind":        "```markdown\n" + doc + "\n```\n\nQuality score: 95/100",
		"a fence of four":                    "````markdown\n" + doc + "\n````\n\n" + facts,
		"a fence with a title":               "```md title=\"prd.md\"\n" + doc + "\n```\n\n" + facts,
		"escaped but for the quotes":         strings.ReplaceAll(doc+"\n\n"+facts, "\n", `\n`),
		"a fence of tildes":                  "~~~markdown\n" + doc + "\n~~~\n\n" + facts,
		"a fence without a language":         "```\n" + doc + "\n```\n\n" + facts,
		"such a fence below a sentence":      "Here it is:\n\n```\n" + doc + "\n```\n\n" + facts,
		"a fence of text":                    "```text\n" + doc + "\n```\n\n" + facts,
		"a fence in an object":               `{"prd_draft": "` + escape("```markdown\n"+doc+"\n```") + `", "quality_score": 95}`,
		"words behind the facts":             doc + "\n\n" + facts + "\n\nTell me what to change!",
		"words before the facts, then words": "The facts:\n\n" + facts + "\n\n" + doc,
		"rules around the facts":             doc + "\n\n---\n\n" + facts + "\n\n---\n\nTell me what to change!",
		"facts first":                        facts + "\n\n" + doc,
		"facts in two blocks":                doc + "\n\n```json\n{\"gaps\": [\"a\"], \"quality_score\": 97}\n```\n\nRevised:\n\n" + facts,
		"reasoning":                          "<think>\nQuality score: 60.\n# A\n```\n</think>\n\n" + doc + "\n\n" + facts,
		"reasoning in a line":                "<thinking>Quality score: 60.</thinking>" + doc + "\n\n" + facts,
		"reasoning in capitals":              "<THINK>\nQuality score: 60.\n</THINK>\n" + doc + "\n\n" + facts,
		"reasoning without its first mark":   "Quality score: 60.\n</think>\n\n" + doc + "\n\n" + facts,
		"such reasoning, in a line":          "Quality score: 60.</think>\n" + doc + "\n\n" + facts,
		"reasoning between":                  doc + "\n\n<reasoning>\nQuality score: 60.\n</reasoning>\n\n" + facts,
		"reasoning before an object":         "<think>{\"quality_score\": 60}</think>" + object,
		"reasoning in an object":             `{"prd_draft": "<think>Quality score: 60.</think>` + escape(doc) + `", "quality_score": 95}`,
		"reasoning before a fence":           "<think>\nQuality score: 60.\n</think>\n```markdown\n" + doc + "\n```\n" + facts,
		"an object with words around":        "Here:\n" + object + "\nDone.",
		"escaped":                            escape(doc + "\n\n" + facts),
		"escaped, above the facts":           escape(doc) + "\n\n" + facts,
		"escaped twice in an object":         `{"prd_draft": "` + escape(escape(doc)) + `", "quality_score": 95}`,
		"an escaped object":                  escape(object),
		"quoted":                             `"` + escape(doc+"\n\n"+facts) + `"`,
		"quoted twice":                       `"` + escape(`"`+escape(doc+"\n\n"+facts)+`"`) + `"`,
		"a quoted object":                    `"` + escape(object) + `"`,
	} {
		a := intake.Read(stageOf(workflow.PO), text)
		if a.Document != doc || a.Claimed == nil || *a.Claimed != 95 || !a.Defect.Empty() {
			t.Errorf("%s: document %q, score %v, defect %q", name, a.Document, a.Claimed, a.Defect)
		}
	}
}

// TestNoWrapping: documents with what looks like a wrapping stay as they are.
func TestNoWrapping(t *testing.T) {
	for name, text := range map[string]string{
		"a sample of reasoning":         "# P\n\n```\n<think>\nx\n</think>\n```\n\nIt is cut.",
		"marks of reasoning in a text":  "# P\n\nIt removes <think> and </think>\n\nand `x</think>`",
		"reasoning that never ends":     "# P\n\n<think>\n\nmore",
		"a sample of Markdown":          "# P\n\n```markdown\n# Title\n```\n\nIt is shown.",
		"a small sample":                "I wrote the page, and it says what the program does and how it is built:\n\n```markdown\n# App\n\nx\n```\n\nAll pass.",
		"a script":                      "Install it:\n\n```\n# download\nmake\n```\n\nIt works.",
		"a script alone":                "Install it:\n\n```sh\n# download\n## build\nmake\n```",
		"an escape in a line":           `It splits the text at \n and at \t, and C:\new\names stays.`,
		"a table behind the facts":      "# P\n\nx\n\n| a |\n|---|\n| 1 |",
		"an open fence":                 "```markdown\n# A\n\nx",
		"JSON beside what it describes": "It answers {\"a\": \"x\\n\\ny\"} at once.",
	} {
		if a := intake.Read(stageOf(workflow.Dev), text); a.Document != text {
			t.Errorf("%s: %q", name, a.Document)
		}
	}
	for name, text := range map[string]string{
		"nothing but reasoning":     "<think>\n# P\n\nQuality score: 95/100\n</think>",
		"reasoning that is cut off": "<think>\n# P\n\nQuality score: 95/100",
	} {
		if a := intake.Read(stageOf(workflow.PO), text); a.Document != "" || a.Claimed != nil {
			t.Errorf("%s: %q, score %v", name, a.Document, a.Claimed)
		}
	}
}

// TestFieldsOfReports: a report is taken from any field in which models hand it in.
func TestFieldsOfReports(t *testing.T) {
	const report = "# R\n\n## Sprint 1: a"
	for _, tt := range []struct {
		stage  workflow.StageID
		fields []string
	}{
		{workflow.SM, []string{"plan_updated", "PlanUpdated", "result", "sprint_plan", "claude_result"}},
		{workflow.Dev, []string{"result", "code", "dev_result", "devResult", "implementation", "qa_result", "code_review", "codexResult"}},
		{workflow.Review, []string{"result", "review_result", "code_review", "codeReview", "CODEX_RESULT", "Code Review"}},
		{workflow.QA, []string{"result", "qa_result", "qa-result", "qaReport"}},
	} {
		for _, field := range tt.fields {
			for _, more := range []string{"", `, "files": ["a"]`, `, "status": "ok"`} {
				text := `{"` + field + `": "# R\n\n## Sprint 1: a"` + more + `}`
				if a := intake.Read(stageOf(tt.stage), text); a.Document != report || !a.Defect.Empty() {
					t.Errorf("%s, %s: document %q, defect %q", tt.stage, text, a.Document, a.Defect)
				}
			}
			for _, around := range []string{`{"data": %s}`, `{"status": "ok", "output": %s}`, `{"response": {"data": %s}}`} {
				text := fmt.Sprintf(around, `{"`+field+`": "# R\n\n## Sprint 1: a"}`)
				if a := intake.Read(stageOf(tt.stage), text); a.Document != report || !a.Defect.Empty() {
					t.Errorf("%s, %s: document %q, defect %q", tt.stage, text, a.Document, a.Defect)
				}
				if got := intake.PlainReport(stageOf(tt.stage), text); stageOf(tt.stage).Kind == workflow.KindVerdict && !strings.HasPrefix(got, report) {
					t.Errorf("%s, %s: the report %q", tt.stage, text, got)
				}
			}
		}
	}
}

// TestPlainReport takes a report out of an object, and leaves what is read as it is.
func TestPlainReport(t *testing.T) {
	for text, want := range map[string]string{
		`{"reviewResult": "# R", "checks_run": 1}`:             "# R\n\n```json\n{\n  \"checks_run\": 1\n}\n```",
		`{"data": {"code_review": "# R", "verdict": "fail"}}`:  "# R\n\n```json\n{\n  \"verdict\": \"fail\"\n}\n```",
		`{"output": {"review_result": "# R"}, "criteria": []}`: `{"output": {"review_result": "# R"}, "criteria": []}`,
		`{"review": "# R", "criteria": [{"id": "A"}]}`:         `{"review": "# R", "criteria": [{"id": "A"}]}`,
		"# R\n\n{\"review_result\": \"x\"}":                    "# R\n\n{\"review_result\": \"x\"}",
		`{"a": {"b": 1}, "c": 2}`:                              `{"a": {"b": 1}, "c": 2}`,
		"# R":                                                  "# R",
	} {
		if got := intake.PlainReport(stageOf(workflow.Review), text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
