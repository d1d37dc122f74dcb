package proof

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/proof/prooftest"
)

// FuzzCheck checks a statement with any text, which a listed person has signed: it is judged or refused, in lines of
// visible characters, and no edit of it makes an unsigned decision count.
func FuzzCheck(f *testing.F) {
	honest := newRepository(f, prooftest.NewPlay(f, "sign-in", "ann").Finish())
	text := honest.read(statementPath)
	f.Add(text)
	for _, old := range []string{`"completed"`, `"score"`, `"verdict"`, `"approve"`, `"subject"`, `"sign-in"`, `"report"`, `"po"`, "1", "{"} {
		f.Add(strings.ReplaceAll(text, old, "null"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := *honest
		r.t = t
		r.sign(statementPath, "ann", text)
		got, err := r.check()
		if err != nil {
			t.Fatal(err)
		}
		findings, notes := everything(got)
		if strings.ContainsAny(findings+notes, "\x1b\r\x00") {
			t.Errorf("got %q, %q", findings, notes)
		}
		for _, run := range got.Runs {
			for _, who := range run.People {
				if who != "ann" {
					t.Errorf("%q counts as an approver:\n%s", who, text)
				}
			}
			for _, f := range append(run.Findings, run.Notes...) {
				if what, do := f.Says(lang.English); what == "" || do == "" {
					t.Errorf("got %+v", f)
				}
			}
		}
	})
}
