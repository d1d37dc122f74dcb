package score_test

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/score"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// toolFailures are the last lines that tools print where something failed.
var toolFailures = map[string]string{
	"go":            "--- FAIL: TestA (0.00s)\nFAIL\tshop/cart\t0.004s",
	"go build":      "# shop/cart\ncart/cart.go:12:2: undefined: total\nFAIL\tshop/cart [build failed]",
	"jest":          "Tests:       1 failed, 22 passed, 23 total",
	"jest file":     "FAIL src/cart.test.ts\n  ● cart › adds",
	"vitest":        " Test Files  1 failed | 8 passed (9)",
	"mocha":         "  12 passing (40ms)\n  1 failing",
	"ava":           "  2 tests failed",
	"tap":           "not ok 3 - adds two items",
	"node:test":     "# tests 12\n# pass 11\n# fail 1",
	"pytest":        "======= 1 failed, 22 passed in 1.20s =======",
	"pytest error":  "ERROR tests/test_a.py - ImportError: cannot import name 'b'",
	"unittest":      "FAILED (failures=1)",
	"nose":          "FAILED (errors=1)",
	"tox":           "  py312: FAIL code 1 (3.20 seconds)",
	"rspec":         "41 examples, 1 failure",
	"minitest":      "12 runs, 30 assertions, 1 failures, 0 errors, 0 skips",
	"cucumber":      "14 scenarios (1 failed, 13 passed)",
	"phpunit":       "FAILURES!\nTests: 12, Assertions: 40, Failures: 1.",
	"pest":          "  Tests:    1 failed, 22 passed (61 assertions)",
	"junit":         "Tests run: 12,  Failures: 1",
	"junit console": "[         1 tests failed          ]",
	"surefire":      "[ERROR] Tests run: 12, Failures: 0, Errors: 1, Skipped: 0",
	"maven":         "[INFO] BUILD FAILURE",
	"gradle":        "> Task :test FAILED\n12 tests completed, 1 failed\nBUILD FAILED in 4s",
	"testng":        "Total tests run: 12, Passes: 11, Failures: 1, Skips: 0",
	"nunit":         "  Test Count: 12, Passed: 11, Failed: 1, Warnings: 0",
	"xunit":         "[xUnit.net 00:00:01.20]     Shop.Tests.Cart.Adds [FAIL]",
	"dotnet":        "Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12",
	"mstest":        "Total tests: 12\n     Passed: 11\n     Failed: 1",
	"cargo":         "test result: FAILED. 11 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
	"rustc":         "error[E0308]: mismatched types",
	"nextest":       "     Summary [   0.020s] 12 tests run: 11 passed, 1 failed, 0 skipped",
	"ctest":         "92% tests passed, 1 tests failed out of 12",
	"gtest":         "[  FAILED  ] CartTest.Adds (0 ms)",
	"gtest count":   " 1 FAILED TEST",
	"catch2":        "test cases: 12 | 11 passed | 1 failed",
	"bats":          "12 tests, 1 failure",
	"prove":         "Result: FAIL",
	"prove sum":     "Failed 1/12 subtests",
	"swift test":    "Executed 12 tests, with 1 failure (0 unexpected) in 0.020 (0.021) seconds",
	"xcodebuild":    "** TEST FAILED **",
	"flutter":       "00:03 +11 -1: Some tests failed.",
	"dart":          "00:03 +11 -1: adds two items [E]",
	"elixir":        "12 tests, 1 failure",
	"erlang ct":     "Testing lib.shop: *** FAILED test case 3 of 12 ***",
	"eunit":         "  Failed: 1.  Skipped: 0.  Passed: 11.",
	"hspec":         "12 examples, 1 failure",
	"cabal":         "Test suite spec: FAIL",
	"scalatest":     "*** 1 TEST FAILED ***",
	"sbt":           "[error] Failed: Total 12, Failed 1, Errors 0, Passed 11",
	"clojure":       "12 tests, 30 assertions, 1 failures, 0 errors.\n1 failures, 0 errors.",
	"deno":          "FAILED | 11 passed | 1 failed (20ms)",
	"bun":           " 11 pass\n 1 fail",
	"playwright":    "  1 failed\n    [chromium] › cart.spec.ts:4:1 › adds",
	"cypress":       "✖  1 of 3 failed (33%)                   00:12",
	"robot":         "12 tests, 11 passed, 1 failed",
	"k6":            "     ✗ status was 200\n      ↳  91% — ✓ 91 / ✗ 9",
	"k6 threshold":  "ERRO[0031] thresholds on metrics 'http_req_duration' have been crossed",
	"newman":        "│                         │        executed │          failed │\n├─────────────────────────┼─────────────────┼─────────────────┤\n│              assertions │              40 │               1 │",
	"bazel":         "//cart:cart_test                                FAILED in 0.3s",
	"bazel sum":     "Executed 3 out of 3 tests: 2 tests pass and 1 fails locally.",
	"eslint":        "✖ 3 problems (1 error, 2 warnings)",
	"tsc":           "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
	"tsc sum":       "Found 2 errors in the same file, starting at: src/a.ts:3",
	"mypy":          "Found 3 errors in 1 file (checked 12 source files)",
	"ruff":          "Found 4 errors.",
	"make":          "make: *** [Makefile:4: test] Error 1",
	"npm":           "npm ERR! code ELIFECYCLE",
	"npm 10":        "npm error Lifecycle script `test` failed with error:",
	"exit code":     "exit code: 1",
	"pnpm":          " ELIFECYCLE  Test failed. See above for more details.",
	"coverage":      "FAIL Required test coverage of 80% not reached. Total coverage: 61.40%",
	"nyc":           "ERROR: Coverage for lines (61.4%) does not meet global threshold (80%)",
	"segfault":      "Segmentation fault (core dumped)",
	"go panic":      "panic: runtime error: index out of range [3] with length 3",
	"traceback":     "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nKeyError: 'total'",
	"java":          "Exception in thread \"main\" java.lang.NullPointerException",
	"node":          "TypeError: Cannot read properties of undefined (reading 'total')",
	"oom":           "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
	"killed":        "signal: killed",
	"timeout":       "panic: test timed out after 10m0s",
	"asan":          "==1234==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010",
	"gha":           "##[error]Process completed with exit code 1.",
	"docker":        "ERROR: failed to solve: process \"/bin/sh -c npm test\" did not complete successfully: exit code: 1",
	"cmake":         "CMake Error at CMakeLists.txt:4 (find_package):",
	"ld":            "collect2: error: ld returned 1 exit status",
	"helm":          "Error: UPGRADE FAILED: timed out waiting for the condition",
}

// toolPasses are the lines of the same tools where all is well.
var toolPasses = []string{
	"ok  \tshop/cart\t0.004s", "Tests:       23 passed, 23 total", " Test Files  9 passed (9)", "  12 passing (40ms)", "ok 3 - adds two items", "# pass 12\n# fail 0",
	"======= 23 passed, 1 warning in 1.20s =======", "Ran 12 tests in 0.1s\n\nOK", "  py312: OK (3.20 seconds)", "41 examples, 0 failures", "12 runs, 30 assertions, 0 failures, 0 errors, 0 skips",
	"14 scenarios (14 passed)", "OK (12 tests, 40 assertions)", "[         0 tests failed          ]", "[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0", "BUILD SUCCESSFUL in 4s",
	"Total tests run: 12, Passes: 12, Failures: 0, Skips: 0", "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12", "test result: ok. 12 passed; 0 failed; 0 ignored",
	"test parser::rejects_error_without_code ... ok", "100% tests passed, 0 tests failed out of 12", "[  PASSED  ] 12 tests.", "All tests passed (30 assertions in 12 test cases)", "12 tests, 0 failures",
	"Result: PASS", "Executed 12 tests, with 0 failures (0 unexpected) in 0.020 (0.021) seconds", "** TEST SUCCEEDED **", "00:03 +12: All tests passed!", "ok | 12 passed | 0 failed (20ms)", " 12 pass\n 0 fail",
	"  12 passed (4.1s)", "✔  All specs passed!                   00:12", "12 tests, 12 passed, 0 failed", "//cart:cart_test                                PASSED in 0.3s", "Success: no issues found in 12 source files",
	"All checks passed!", "0 errors, 0 warnings", "exit code: 0", "PASS src/errors.test.ts", "--- PASS: TestFailedLoginIsCounted (0.00s)", "✓ shows an error when the request failed (3 ms)", "=== RUN   TestTimeoutFails",
}

// TestToolOutput reads what tools print, in a fence and out of it, below a stated pass.
func TestToolOutput(t *testing.T) {
	reports := func(lines string) []string {
		return []string{"# QA Report\n\nStatus: Pass\n\n```\n" + lines + "\n```\n\nDone.\n", "# QA Report\n\nStatus: Pass\n\n" + lines + "\n"}
	}
	for tool, lines := range toolFailures {
		for i, r := range reports(lines) {
			if a := score.Read(named(workflow.QA), r); goesThrough(a) {
				t.Errorf("%s, form %d: %q goes through", tool, i, lines)
			}
		}
	}
	for _, lines := range toolPasses {
		for i, r := range reports(lines) {
			if a := score.Read(named(workflow.QA), r); !goesThrough(a) {
				t.Errorf("form %d: %q is held: %q", i, lines, a.Objections)
			}
		}
	}
}
