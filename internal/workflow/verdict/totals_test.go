package verdict

import (
	"slices"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestCounts checks how rows are counted, and from how many on one text as the evidence of several is told.
func TestCounts(t *testing.T) {
	t.Parallel()
	pass := workflow.Criterion{Result: workflow.ResultPass, Evidence: "all  Good"}
	same, carried, checked, silent, failed := pass, pass, pass, pass, pass
	same.Evidence, carried.From, checked.Check, silent.Evidence, failed.Result = "All good", 1, "C1", " ", workflow.ResultFail
	for name, tt := range map[string]struct {
		rows []workflow.Criterion
		want int
	}{
		"three": {slices.Repeat([]workflow.Criterion{pass}, 3), 0}, "four": {append(slices.Repeat([]workflow.Criterion{pass}, 3), same), 4},
		"carried": {append(slices.Repeat([]workflow.Criterion{pass}, 3), carried), 0}, "with a check": {append(slices.Repeat([]workflow.Criterion{pass}, 3), checked), 0},
		"failed": {append(slices.Repeat([]workflow.Criterion{pass}, 3), failed), 0}, "without words": {slices.Repeat([]workflow.Criterion{silent}, 9), 0},
	} {
		if got := SameEvidence(tt.rows); got != tt.want {
			t.Errorf("%s: got %d, want %d", name, got, tt.want)
		}
	}
	proved := pass
	proved.Proved = true
	got := CountRows([]workflow.Criterion{pass, proved, carried, failed, {Result: workflow.ResultNotTested}, {Result: workflow.ResultOutOfScope}, {Result: "maybe"}})
	if want := (Counts{Rows: 7, Passed: 3, Proved: 1, Carried: 1, Failed: 1, NotTested: 2, OutOfScope: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for want, n := range map[string]Counts{
		"": {}, "1 criterion: 1 not tested": {Rows: 1, NotTested: 1}, "1 criterion: 1 passed, not by a command that the server ran": {Rows: 1, Passed: 1},
		"3 criteria: 3 passed, none of them by a command that the server ran":                                                              {Rows: 3, Passed: 3},
		"3 criteria: 3 passed, by a command that the server ran":                                                                           {Rows: 3, Passed: 3, Proved: 3},
		"9 criteria: 1 failed, 5 passed, 2 of them by a command that the server ran, 1 of them by word only, 1 not tested, 2 out of scope": {Rows: 9, Failed: 1, Passed: 5, Proved: 2, ByWord: 1, NotTested: 1, OutOfScope: 2},
	} {
		if got := n.Text(lang.English); got != want {
			t.Errorf("%+v: %q, want %q", n, got, want)
		}
	}
	if got, want := got.Short(lang.English), "7 criteria: 1 failed, 3 passed, 2 not tested, 1 out of scope"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRunnersExamples: each pattern matches the example beside it.
func TestRunnersExamples(t *testing.T) {
	t.Parallel()
	for _, r := range runners {
		if !r.line.MatchString(r.example) {
			t.Errorf("%s: %q does not match", r.name, r.example)
		}
	}
}

// TestFailedTotals: which lines of test runners report a failure.
func TestFailedTotals(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"FAIL\tshop/cart [build failed]", "FAIL", "    --- FAIL: TestCart/empty (0.00s)",
		"=========== 1 failed, 22 passed, 2 warnings in 1.20s ===========", "======= 2 errors in 0.42s =======", "FAILED (errors=2, skipped=1)",
		" Test Files  1 failed | 8 passed (9)", "      Tests  2 failed | 20 passed (22)", "Test Suites: 1 failed, 8 passed, 9 total", "  3 failing",
		"test result: FAILED. 11 passed; 1 failed; 0 ignored; 0 measured", "Tests run: 12,  Failures: 0, Errors: 1", "[ERROR] Tests run: 12, Failures: 2, Errors: 0, Skipped: 0",
		"BUILD FAILED in 4s", "12 tests completed, 1 failed", "     Failed: 1", "41 examples, 1 failure", "12 runs, 30 assertions, 2 failures, 0 errors, 0 skips",
		"Tests: 12, Assertions: 40, Errors: 1.", "not ok 7 - removes", "ℹ fail 2", "Result: FAIL", "Executed 12 tests, with 2 failures (0 unexpected) in 0.020 seconds",
		"\x1b[31mFAIL\x1b[0m\tshop/cart\t0.01s", "12 tests, 1 failure",
	} {
		if got := Read("# Log\n\n```\n"+line+"\n```\n", nil).Totals; len(got) != 1 {
			t.Errorf("%q is not seen: %v", line, got)
		}
	}
	for _, line := range []string{
		"ok  \tshop/cart\t0.31s", "PASS", "--- PASS: TestFail (0.00s)", "22 passed in 1.20s", "Tests:       22 passed, 22 total", "  12 passing (40ms)", "0 failing",
		"test result: ok. 12 passed; 0 failed; 0 ignored", "Tests run: 12, Failures: 0, Errors: 0, Skipped: 0", "BUILD SUCCESS", "100% tests passed, 0 tests failed out of 12",
		"Passed!  - Failed:     0, Passed:    12", "41 examples, 0 failures", "# fail 0", "not ok 3 - later # TODO write it", "not ok 4 - here # SKIP no network", "Result: PASS", "failed deliveries are listed", "the 1 failed order is shown again",
		"Tests: 12, Assertions: 40.", "ERROR 1 failed to connect, as expected", "12 scenarios (12 passed)", "FAILURE is the name of a table",
	} {
		if got := Read("```\n"+line+"\n```", nil).Totals; len(got) != 0 {
			t.Errorf("%q is taken for a failure: %v", line, got)
		}
	}
	if got := Read("--- FAIL: TestOutside (0.00s)\n", nil).Totals; len(got) != 0 {
		t.Errorf("prose is read: %v", got)
	}
}
