package verdict

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// citing returns a report whose last row has an evidence and a check.
func citing(evidence, check, checks string) string {
	row, _ := json.Marshal(map[string]string{"id": "AC-2.2", "result": "pass", "evidence": evidence, "check": check})
	return report(append(passingRows(owed[:4]...), string(row)), `, "checks": [`+checks+`]`)
}

// TestEvidence: what can be looked up counts, and no sentence does.
func TestEvidence(t *testing.T) {
	t.Parallel()
	const good = `{"id": "C1", "command": "go test -v ./...", "exit": 0, "output": "--- PASS: TestCart/adds (0.00s)\n--- SKIP: TestLater (0.00s)\n  ✓ adds two items (3 ms)\nok  \tshop\t0.1s"}`
	const bad = `{"id": "C2", "command": "make lint", "exit": 2, "output": "--- PASS: TestLint (0.00s)"}`
	contract := qa()
	contract.Lines = map[string]int{"session_test.go": 40, "cart/cart.go": 12, "docs/需求.md": 3, "docs/my notes.md": 3, "Makefile": 9, "TODO": 4, "tests/test_cart.py": 9, "src/app.tsx": 8, "../up.go": 1}
	for _, tt := range []struct{ evidence, check string }{
		{"", "C1"}, {"seen", "c1"}, {"FAIL", "C1"}, {"see C1", ""}, {"(C1)", ""}, {"check C1: ok", ""}, {"见C1。", ""}, {"seen", "C1, C2"},
		{"cart/cart.go", ""}, {"cart/cart.go:12", ""}, {"see `cart/cart.go:3-9`.", ""}, {"cart/cart.go#L3-L9", ""}, {"[it](cart/cart.go#L3)", ""}, {"cart/cart.go:3:14: checks", ""},
		{"cart/cart.go:12", "C2"}, {`cart\cart.go:4`, ""}, {"docs/需求.md:2", ""}, {"见cart/cart.go:3，已修复", ""}, {"in `docs/my notes.md`", ""}, {"Makefile:3", ""}, {"tests/test_cart.py::test_adds", ""},
		{"src/app.tsx(7)", ""}, {"TestCart/adds", ""}, {"go test: TestCart/adds passes", ""}, {"“adds two items”", ""}, {"用例TestCart/adds通过", ""},
	} {
		if got := judgeText(citing(tt.evidence, tt.check, good+","+bad), contract); !strings.HasPrefix(got, "held pass: check \"C2\"") || strings.Contains(got, "by word") {
			t.Errorf("%q, check %q: %s", tt.evidence, tt.check, got)
		}
	}
	for _, tt := range []struct{ evidence, check string }{
		{"FAIL", ""}, {"exit status 1", ""}, {"not tested", ""}, {"TODO", ""}, {"0 of 10 passed", ""}, {"works as expected", ""}, {"pass", ""}, {"ok", ""}, {"curl gives 303", ""}, {"未测试", ""}, {"n/a", ""}, {"e.g. by hand", ""},
		{"seen", "C2"}, {"C2", ""}, {"TestLint", ""}, {"TestLater", ""}, {"TestCart/add", ""}, {"TestCart/addsMore", ""}, {"cart/cart.go:13", ""}, {"cart/other.go", ""}, {"cart", ""}, {"Makefile", ""}, {"https://example.com/cart/cart.go", ""},
		{"0", ""}, {"1", ""}, {"go test ./...", ""},
	} {
		text := citing(tt.evidence, tt.check, good+","+bad)
		if got := judgeText(text, contract); !strings.HasPrefix(got, "returned: nothing can be looked up for AC-2.2: ") {
			t.Errorf("%q, check %q: %s", tt.evidence, tt.check, got)
		}
		told, taken := contract, contract
		told.Told, taken.Taken = true, true
		if got := judgeText(text, told); !strings.HasSuffix(got, "; by word only, with nothing that can be looked up: AC-2.2") {
			t.Errorf("%q, check %q, again: %s", tt.evidence, tt.check, got)
		}
		j := Judge(Read(text, nil), taken)
		if got := outcome(j); strings.Contains(got, "by word") || CountRows(j.Criteria).ByWord != 1 {
			t.Errorf("%q, check %q, after a yes: %s", tt.evidence, tt.check, got)
		}
	}
}

// TestWordsOfAFailure: a failure is not returned, and its passed rows still say what they stand on.
func TestWordsOfAFailure(t *testing.T) {
	t.Parallel()
	j := Judge(Read(report(append(passingRows(owed[:3]...), `{"id": "AC-2.1", "result": "pass", "evidence": "seen"}`, `{"id": "AC-2.2", "result": "fail"}`), ""), nil), qa())
	if n := CountRows(j.Criteria); n.ByWord != 1 || j.Verdict != workflow.Fail || len(j.Returned)+len(j.Missing) > 0 {
		t.Errorf("%s: %+v", outcome(j), n)
	}
	// Carried over, the row still stands by word only, until something is cited.
	c := qa()
	c.Round, c.Earlier = 1, workflow.Record{Criteria: j.Criteria}
	for evidence, want := range map[string]string{"": "returned: nothing can be looked up for AC-2.1", "session_test.go:9": "goes on: pass"} {
		rows := append(passingRows("AC-1.1", "AC-1.2", "AC-1.3", "AC-2.2"), `{"id": "AC-2.1", "result": "pass", "from": 1, "evidence": "`+evidence+`"}`)
		if got := judgeText(report(rows, ""), c); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", evidence, got)
		}
	}
}

// TestWordsAgainstTheServer: where the server's own command failed, the person decides at once.
func TestWordsAgainstTheServer(t *testing.T) {
	t.Parallel()
	c := qa()
	c.Server = []workflow.Evidence{{Command: "go test ./...", ExitCode: 1}}
	got := judgeText(citing("all green", "C1", `{"id": "C1", "command": "go test ./...", "exit": 0}`), c)
	if want := "held pass: the server ran check \"C1\", `go test ./...`, and it ended with exit code 1; by word only, with nothing that can be looked up: AC-2.2"; got != want {
		t.Error(got)
	}
}

// TestEvidenceOfTwo: the reports of two engines are joined, and each evidence still names a check of
// its own.
func TestEvidenceOfTwo(t *testing.T) {
	t.Parallel()
	a := Read(citing("see C1", "", `{"id": "C1", "command": "go test", "exit": 0}`), nil)
	merged, _ := Merge(a, a, workflow.Claude, workflow.Codex, nil)
	if got := outcome(Judge(merged, qa())); got != "goes on: pass" {
		t.Error(got)
	}
	b := Read(citing("see C1", "", `{"id": "C1", "command": "go test", "exit": 1}`), nil)
	merged, _ = Merge(a, b, workflow.Claude, workflow.Codex, nil)
	if got := outcome(Judge(merged, qa())); !strings.HasPrefix(got, "returned: nothing can be looked up for AC-2.2") {
		t.Error(got)
	}
}

// TestPassedTests: each form of output names the test beside it, and outputs without one name none.
func TestPassedTests(t *testing.T) {
	t.Parallel()
	for _, r := range passed {
		if got := testsIn(r.example + "\n"); !slices.Contains(got, strings.TrimSuffix(r.test, "()")) {
			t.Errorf("%q: %q", r.example, got)
		}
	}
	for _, line := range []string{"ok  \tshop/cart\t0.3s", "PASS", "ok", "--- FAIL: TestCart (0.00s)", "--- SKIP: TestCart (0.00s)", "test cart::adds ... ignored", "ok 3 # SKIP no network", "not ok 3 - adds", "✓ ok", "✗ adds", "22 passed in 1.20s"} {
		if got := testsIn(line); len(got) > 0 {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func FuzzEvidence(f *testing.F) {
	f.Add("see `cart/cart.go:3-9` (C1), TestCart", "--- PASS: TestCart (0.00s)")
	f.Add("见cart.go#L3，``", "no tests to run")
	f.Fuzz(func(t *testing.T, evidence, output string) {
		for _, p := range placesIn(evidence) {
			if p.path == "" || p.line < 0 || len(p.path) > maxPath {
				t.Errorf("%q: %+v", evidence, p)
			}
		}
		for _, name := range testsIn(output) {
			if !strings.Contains(output, name) {
				t.Errorf("%q is not in %q", name, output)
			}
		}
		ran := workflow.Check{ID: "C1", Command: "go test", Output: output}
		r := Report{Blocks: []string{"{}"}, Checks: []workflow.Check{ran}, Criteria: []workflow.Criterion{{ID: "AC-1", Result: workflow.ResultPass, Evidence: evidence}}}
		Judge(r, Contract{})
	})
}

// BenchmarkEvidence shows the cost of a report whose rows cite nothing of what is there.
func BenchmarkEvidence(b *testing.B) {
	r := Report{Blocks: []string{"{}"}}
	for range 200 {
		r.Criteria = append(r.Criteria, workflow.Criterion{ID: "AC-1", Result: workflow.ResultPass, Evidence: strings.Repeat("cart.go:3 TestCar ", 200)})
		r.Checks = append(r.Checks, workflow.Check{ID: "C1", Output: strings.Repeat("--- PASS: TestCart (0.00s)\n", 140)})
	}
	for b.Loop() {
		Judge(r, Contract{})
	}
}
