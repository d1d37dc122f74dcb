package verdict

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestRanNone: which outputs say that no test ran.
func TestRanNone(t *testing.T) {
	t.Parallel()
	for _, r := range tallies {
		if ranNone(r.noneSaid) == "" || ranNone(r.saidIt) != "" || ranNone(r.noneSaid+"\n"+r.saidIt) != "" {
			t.Errorf("%s: %q, %q", r.name, ranNone(r.noneSaid), ranNone(r.saidIt))
		}
	}
	for _, output := range []string{
		"testing: warning: no tests to run\nPASS\nok  \tshop\t0.001s [no tests to run]", "?   \tshop\t[no test files]\n?   \tshop/cart\t[no test files]", "no test files", "no tests to run",
		"go: warning: \"./...\" matched no packages\nno packages to test", "============ test session starts ============\ncollected 0 items\n\n====== no tests ran in 0.01s ======",
		"collected 3 items\n\ntest_cart.py sss\n\n====== 3 skipped in 0.02s ======", "collected 5 items / 5 deselected / 0 selected\n\n==== 5 deselected in 0.01s ====", "0 passed", "=== 0 passed in 0.01s ===",
		"----------\nRan 0 tests in 0.000s\n\nOK", "No tests found, exiting with code 0", "Tests:       5 skipped, 5 total\nTest Suites: 1 skipped, 0 of 1 total", "Tests: 0 passed, 0 total",
		"No test files found, exiting with code 0", " Test Files  no tests\n      Tests  no tests", "      Tests  3 skipped (3)", "  0 passing (1ms)\n  3 pending", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 3 ignored; 0 measured",
		"[INFO] No tests to run.\n[INFO] BUILD SUCCESS", "[INFO] Tests are skipped.", "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s", "No test is available in /shop/bin/shop.dll. Make sure that test discoverer", "Total tests: 0",
		"0 tests ran", "Results: 0 tests passed", "Passed: 0, Failed: 0", "0 examples, 0 failures", "No tests executed!", "Test project /shop\nNo tests were found!!!", "1..0", "1..0 # no tests", "ℹ tests 0\nℹ pass 0", "Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.001) seconds",
		"\x1b[33mNo tests found, exiting with code 0\x1b[0m",
	} {
		if ranNone(output) == "" {
			t.Errorf("%q is not seen", output)
		}
	}
	for _, output := range []string{
		"", "ok", "done", "ok  \tshop\t(cached)\n?   \tshop/doc\t[no test files]", "ok  \tshop\t0.2s\tcoverage: 80.0% of statements\nok  \tshop/cart\t0.1s [no tests to run]", "running 5 tests\ntest result: ok. 5 passed; 0 failed\n\nrunning 0 tests\ntest result: ok. 0 passed; 0 failed",
		"collected 22 items\n\n==== 22 passed, 1 skipped in 1.20s ====", "Tests:       1 skipped, 22 passed, 23 total", "      Tests  20 passed (20)", "10 passing\n0 failing", "Tests run: 10, Failures: 0", "Tests run: 0, Failures: 0\nTests run: 3, Failures: 0",
		"41 examples, 0 failures", "OK (12 tests, 40 assertions)", "1..3\nok 1 - a\nok 2 - b", "100% tests passed, 0 tests failed out of 12", "10 specs, 0 failures", "Ran 10 tests in 0.1s", "HTTP/1.1 303", "Results: 12 passed, 0 failed", "v2.0 passed", "version 2.0 passed 12 checks", "10/10 passed", "20 passed (3s)", "DONE 10 tests", "0 warnings", "0 errors in 12 files",
	} {
		if got := ranNone(output); got != "" {
			t.Errorf("%q is taken for no test: %q", output, got)
		}
	}
}

// TestEmptyRuns: a row whose command ran no test has not run, whoever ran the command.
func TestEmptyRuns(t *testing.T) {
	t.Parallel()
	empty := `{"id": "C1", "command": "go test ./...", "exit": 0, "output": "?   \tshop\t[no test files]"}`
	got := judgeText(citing("all green, C1", "C1", empty), qa())
	if !strings.HasPrefix(got, "returned: nothing can be looked up for AC-2.2: ") || !strings.HasSuffix(got, "; check \"C1\" ran no test: “?   \tshop\t[no test files]”") {
		t.Error(got)
	}
	c := qa()
	c.Server = []workflow.Evidence{{Command: "go test ./...", Tail: "?   \tshop\t[no test files]"}}
	j := Judge(Read(citing("session_test.go:3", "C1", strings.Replace(empty, "?  ", "ok ", 1)), nil), c)
	if n := CountRows(j.Criteria); n.Proved != 0 || n.ByWord != 0 || len(j.Returned) > 0 {
		t.Errorf("%s: %+v", outcome(j), n)
	}
}
