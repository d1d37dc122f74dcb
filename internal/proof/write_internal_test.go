package proof

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bmad-mcp/bmad-mcp/internal/proof/prooftest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// schema returns the schema of the page about statements.
func schema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "run.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// stated returns the statement of a run.
func stated(t *testing.T, p *prooftest.Play) []byte {
	t.Helper()
	files, err := Write(p.S, facts(p), prooftest.KeyOf(t, p.People[0]).Sign)
	if err != nil {
		t.Fatal(err)
	}
	return files[0].Body
}

// TestStatement shows what a statement has. It has no text of a document, no words of the person, and no password.
func TestStatement(t *testing.T) {
	t.Parallel()
	p := prooftest.NewPlay(t, "sign-in", "ann", "bob").Finish()
	text := string(stated(t, p))
	golden.Check(t, filepath.Join("testdata", "run.json"), text)
	for _, private := range []string{"words of the person", "No end of line", "secret", "make test", "Do it"} {
		if strings.Contains(text, private) {
			t.Errorf("the statement has %q", private)
		}
	}
}

// TestStatementsFitTheirSchema: the statements of honest repositories, whatever they are about, and only such.
func TestStatementsFitTheirSchema(t *testing.T) {
	t.Parallel()
	of := schema(t)
	for name, c := range honest {
		r := c.make(t)
		got, err := r.check()
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range got.Runs {
			var value map[string]any
			if err := json.Unmarshal([]byte(r.read(run.Path)), &value); err != nil {
				t.Fatal(err)
			}
			if err := of.Validate(value); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for key := range value["predicate"].(map[string]any) {
				other := json.RawMessage(r.read(run.Path))
				var damaged map[string]any
				if err := json.Unmarshal(other, &damaged); err != nil {
					t.Fatal(err)
				}
				damaged["predicate"].(map[string]any)[key] = []any{[]any{1}}
				if of.Validate(damaged) == nil {
					t.Errorf("%s: the schema takes anything for %s", name, key)
				}
			}
		}
	}
}

// TestStatementFits: a statement has at most 20 kB, and the totals of what it leaves out.
func TestStatementFits(t *testing.T) {
	t.Parallel()
	p := prooftest.NewPlay(t, "sign-in", "ann")
	for range 100 {
		p.Submit(workflow.EventScoredReady, "text")
		g := p.Grant("ann", workflow.DecisionChanges, workflow.Hash([]byte("text")))
		p.Fire(workflow.EventChangesRequested, workflow.Transition{Action: workflow.ActionConfirm, Grant: g, Person: g.Person}, "")
	}
	p.Documents().Deliver()
	for i := range 2000 {
		p.S.Current().Findings = append(p.S.Current().Findings, workflow.Finding{ID: fmt.Sprint("F", i), Severity: []string{"minor", "major"}[i%2]})
	}
	p.Review()
	var rows []workflow.Criterion
	for i := range 2000 {
		rows = append(rows, workflow.Criterion{ID: fmt.Sprint(strings.Repeat("AC", 20), i), Result: workflow.ResultPass, Proved: i%2 == 0})
	}
	p.Test(rows...)
	f := facts(p)
	for i := range 1000 {
		f.Work.Changed = append(f.Work.Changed, fmt.Sprint("internal/some/long/path/of/a/file", i, ".go"))
	}
	files, err := Write(p.S, f, prooftest.KeyOf(t, "ann").Sign)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(files[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Predicate
	if len(files[0].Body) > MaxStatement || got.Omitted != 100 || len(got.Decisions) != 3 || got.Stages[5].Report.Rows != (Totals{Passed: 2000, ByServer: 1000}) {
		t.Errorf("%d bytes, %d of %d decisions left out, rows %+v", len(files[0].Body), got.Omitted, len(got.Decisions)+got.Omitted, got.Stages[5].Report.Rows)
	}
	if r := got.Stages[4].Report; len(r.Open) != maxOpen || r.MoreOpen != 2000-maxOpen || r.Open[0].Severity != "major" {
		t.Errorf("open findings: %+v", r)
	}
	if n := len(got.Work.Changed) + got.Work.More; n != 1000 {
		t.Errorf("%d changed files", n)
	}
}

// TestReopenedDocuments: what a reopening has undone is named with its reason, and not as approved.
func TestReopenedDocuments(t *testing.T) {
	t.Parallel()
	s, err := Parse(stated(t, prooftest.NewPlay(t, "sign-in", "ann").Finish().Reopen(workflow.Architect)))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Subject) != 1 || s.Subject[0].Name != prdPath || len(s.Predicate.Invalid) != 4 {
		t.Errorf("got %+v, %+v", s.Subject, s.Predicate.Invalid)
	}
	for _, i := range s.Predicate.Invalid {
		if i.Reason != becauseReopened || i.Subject != "ann" || i.At == nil {
			t.Errorf("got %+v", i)
		}
	}
}

// TestStatementIsStable: the same run has the same bytes.
func TestStatementIsStable(t *testing.T) {
	t.Parallel()
	a, b := prooftest.NewPlay(t, "sign-in", "ann").Finish(), prooftest.NewPlay(t, "sign-in", "ann").Finish()
	if !bytes.Equal(stated(t, a), stated(t, b)) {
		t.Error("two statements of one run differ")
	}
	s, err := Parse(stated(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.encode(); err != nil || !bytes.Equal(again, stated(t, a)) {
		t.Errorf("a statement that was read is written as\n%s, %v", again, err)
	}
}

// TestNoStatementOutsideOfItsFolder: the name of a task leads nowhere else.
func TestNoStatementOutsideOfItsFolder(t *testing.T) {
	t.Parallel()
	p := prooftest.NewPlay(t, "sign-in", "ann")
	p.S.TaskName = "../../.."
	if files, err := Write(p.S, facts(p), prooftest.KeyOf(t, "ann").Sign); err == nil {
		t.Errorf("got %v", files)
	}
}

// TestPartsOfAnArtifact: the document in an artifact is found below its note and above what is appended.
func TestPartsOfAnArtifact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]string{ // noted, appended, both
		"# A\n": {"# A\n", "# A\n", "# A\n"},
		"> note\n\n# A\n\n---\n\n<!-- the report that was reviewed -->\n\n# B": {
			"# A\n\n---\n\n<!-- the report that was reviewed -->\n\n# B", "> note\n\n# A\n", "# A\n",
		},
		"> two\n> lines\n\n# A\n": {"> two\n> lines\n\n# A\n", "> two\n> lines\n\n# A\n", "> two\n> lines\n\n# A\n"},
		"# A\r\n\r\nB\r\n":        {"# A\n\nB\n", "# A\n\nB\n", "# A\n\nB\n"},
	} {
		for i, how := range [][2]bool{{true, false}, {false, true}, {true, true}} {
			if got := string(submittedPart([]byte(text), how[0], how[1])); got != want[i] {
				t.Errorf("%q, %v: got %q, want %q", text, how, got, want[i])
			}
		}
	}
	for _, same := range []string{"a\nb\n", "a\nb", "a\r\nb\r\n", "a\r\nb"} {
		if !possibleHashes([]byte("a\nb\n"))[workflow.Hash([]byte(same))] {
			t.Errorf("%q is another text", same)
		}
	}
	for _, other := range []string{"a\nb\n\n", "a b\n", ""} {
		if possibleHashes([]byte("a\nb\n"))[workflow.Hash([]byte(other))] {
			t.Errorf("%q is the same text", other)
		}
	}
}

// BenchmarkWrite states a finished run.
func BenchmarkWrite(b *testing.B) {
	p := prooftest.NewPlay(b, "sign-in", "ann", "bob").Finish()
	f, sign := facts(p), prooftest.KeyOf(b, "ann").Sign
	for b.Loop() {
		if _, err := Write(p.S, f, sign); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDecisionKeepsWhatWasSigned: a statement has every key that a signature of a decision covers.
func TestDecisionKeepsWhatWasSigned(t *testing.T) {
	t.Parallel()
	var g workflow.Grant
	fill(reflect.ValueOf(&g).Elem())
	s := prooftest.NewPlay(t, "sign-in", "ann").S
	s.History = append(s.History, workflow.Transition{Grant: &g})
	d := decisionsOf(s, false)
	if got, want := d[0].toGrant().Statement("s", "t"), g.Statement("s", "t"); len(d) != 1 || !bytes.Equal(got, want) || bytes.Count(want, []byte(`":`)) < 12 {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestWritersAreThoseOfTheEngine: the writers of a stage are those by which its gate has gone.
func TestWritersAreThoseOfTheEngine(t *testing.T) {
	t.Parallel()
	p := prooftest.NewPlay(t, "sign-in", "ann")
	same := func(when string) {
		t.Helper()
		var want []string
		for _, w := range workflow.WritersAt(p.S.History, p.S.CurrentStage, workflow.Person{}) {
			want = append(want, w.Subject)
		}
		if got := writersOf(p.S, p.S.CurrentStage); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", when, got, want)
		}
	}
	p.Submit(workflow.EventScoredBelow, "# One")
	same("handed in")
	p.Writer = "bob"
	p.Submit(workflow.EventScoredReady, "# Two")
	same("by another")
	p.S.Note(workflow.Transition{Action: workflow.ActionConfirm, Event: workflow.EventEdited, Person: workflow.Person{Subject: "eve"}})
	same("edited at the gate")
	p.S.Note(workflow.Transition{Action: workflow.ActionSubmit, Event: workflow.EventPolicyChanged, Person: workflow.Person{Subject: "dan"}})
	same("by another policy")
	p.S.Note(workflow.Transition{Event: workflow.EventAdopted, Person: workflow.Person{Subject: "ann"}})
	same("adopted")
}

// fill gives each text, number and time of a value something that is not empty.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Type() == reflect.TypeFor[time.Time]():
			f.Set(reflect.ValueOf(prooftest.Noon.Add(1234567)))
		case f.Kind() == reflect.Struct:
			fill(f)
		case f.Kind() == reflect.String:
			f.SetString("the " + v.Type().Field(i).Name)
		case f.Kind() == reflect.Int:
			f.SetInt(int64(i + 1))
		}
	}
}

// TestDiffering names the files of the runs that are not as the commit has them.
func TestDiffering(t *testing.T) {
	in := Input{
		Project:   fstest.MapFS{"same": {Data: []byte("a\r\n")}, "other": {Data: []byte("b")}, "new": {Data: []byte("c")}},
		Committed: map[string][]byte{"same": []byte("a\n"), "other": []byte("a"), "gone": []byte("a")},
	}
	if got := in.uncommittedFiles(); !slices.Equal(got, []string{"gone", "other"}) {
		t.Errorf("%q", got)
	}
}
