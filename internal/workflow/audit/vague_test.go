package audit

import "testing"

// TestPraiseIsAsked: words that promise much ask a question, and cost nothing; quoted, denied and in a heading they
// are not even asked about.
func TestPraiseIsAsked(t *testing.T) {
	for line, want := range map[string]bool{
		"The design is state-of-the-art.": true, "- It follows best practices": true, "采用业界领先的方案。": true, "为管理者赋能。": true,
		"There is no best practice for this.": false, "It is not ready for production yet.": false, "Nobody asks for a world-class design.": true, "The button says \"state of the art\".": false,
		"## Best Practices": false, "**Independent Test**: Can be fully tested by signing in.": false, "可以通过发送消息来完整测试。": false, "High quality means at most 3 faults.": false,
		"标题是“业界领先”。": false,
	} {
		a := auditOf(t, "# Title\n\n"+line+"\n")
		if got := has(a, "EMPTY-WORDS"); got != want {
			t.Errorf("%q: %v", line, got)
		}
		for _, f := range a.Findings {
			if f.ID == "EMPTY-WORDS" && (f.Points != 0 || !f.Asks()) {
				t.Errorf("%q: %+v", line, f)
			}
		}
	}
}
