package verdict

import (
	"testing"
)

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
