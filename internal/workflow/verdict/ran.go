package verdict

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// tallies has for each test runner the line that says that no test ran, and the one that says that
// some did, each with an example.
var tallies = []struct {
	name             string
	noneSaid, saidIt string
	none, some       *pattern.Pattern
}{
	{"go test", "ok  \tshop/cart\t0.012s [no tests to run]", "ok  \tshop/cart\t0.31s",
		pattern.New(`(?i)\bno tests to run\b|\bno test files\b|\bmatched no packages\b|\bno packages to test\b`),
		pattern.New(`^ok\s+\S+\s+(?:[\d.]+m?s|\(cached\))|^\s*--- (?:PASS|FAIL): `)},
	{"gotestsum", "DONE 0 tests in 0.100s", "DONE 12 tests in 0.100s", pattern.New(`^DONE 0 tests`), pattern.New(`^DONE ` + count + ` tests`)},
	{"pytest", "collected 0 items", "22 passed in 1.20s",
		pattern.New(`^collected 0 items|^collected .*/ 0 selected|^=*\s*(?:no tests ran|0 passed|` +
			count + ` (?:skipped|deselected)(?:, \d+ (?:skipped|deselected|warnings?))*) in \d`),
		pattern.New(`\b` + count + ` (?:passed|failed)\b.*\bin \d`)},
	{"unittest", "Ran 0 tests in 0.000s", "Ran 12 tests in 0.010s", pattern.New(`^Ran 0 tests|^NO TESTS RAN`), pattern.New(`^Ran ` + count + ` tests?`)},
	{"jest, vitest", "Tests:       0 total", "Tests:       22 passed, 22 total",
		pattern.New(`^No tests? (?:files? )?found|^\s*Tests:?\s+(?:no tests|0 (?:total|passed)[^f]*|(?:` + count +
			` (?:skipped|todo)[ ,|]*)+(?:\d+ total|\(\d+\))?)\s*$|^Test Suites: +0 (?:of \d+ )?total|^\s*Test Files\s+no tests`),
		pattern.New(`^\s*Tests:?\s+.*\b` + count + ` (?:passed|failed)\b`)},
	{"mocha", "  0 passing (2ms)", "  12 passing (40ms)", pattern.New(`^\s*0 passing\b`), pattern.New(`^\s*` + count + ` (?:passing|failing)\b`)},
	{"playwright, deno", "ok | 0 passed | 0 failed (2ms)", "  12 passed (3.4s)",
		pattern.New(`^(?:ok \| )?\s*0 passed\b|^(?:Error: )?No (?:test modules|tests) found`), pattern.New(`^(?:(?:ok|FAILED) \| )?\s*` + count + ` passed\b`)},
	{"cargo", "test result: ok. 0 passed; 0 failed; 0 ignored", "test result: ok. 12 passed; 0 failed; 0 ignored",
		pattern.New(`^running 0 tests|^test result: \w+\. 0 passed; 0 failed`), pattern.New(`^test result: \w+\. \d+ passed`)},
	{"nextest", "     Summary [   0.001s] 0 tests run: 0 passed, 3 skipped", "     Summary [   0.020s] 12 tests run: 12 passed, 0 skipped",
		pattern.New(`^\s*Summary \[.*\] +0 tests run|^error: no tests to run`), pattern.New(`^\s*Summary \[.*\] +` + count + `(?:/\d+)? tests? run`)},
	{"JUnit, Surefire", "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0",
		"Tests run: 12, Failures: 0, Errors: 0, Skipped: 0",
		pattern.New(`\bTests run: 0\b|\bNo tests (?:to run|were executed)|\bTests are skipped\b|\[\s+0 tests (?:found|started)`),
		pattern.New(`\bTests run: ` + count + `|\[\s+` + count + ` tests (?:successful|failed)`)},
	{"Gradle", "> Task :test NO-SOURCE", "12 tests completed, 1 failed",
		pattern.New(`^> Task :\S*[tT]est\S* (?:NO-SOURCE|SKIPPED)|\bNo tests found for given includes`),
		pattern.New(`^` + count + ` tests? completed|^\S+ > .+ (?:PASSED|FAILED)$|^> Task :\S*[tT]est(?: UP-TO-DATE| FROM-CACHE)?$`)},
	{"dotnet", "No test matches the given testcase filter `Cart` in shop.dll", "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12",
		pattern.New(`^No test (?:is available|matches)|^\s*(?:Total tests|total): +0$|^Zero tests ran|\bPassed: +0,.*\bTotal: +\d+`),
		pattern.New(`\bPassed: +` + count + `\b|^\s*(?:Total tests|total): +` + count)},
	{"ctest", "No tests were found!!!", "100% tests passed, 0 tests failed out of 12",
		pattern.New(`^No tests were found|\btests failed out of 0$`), pattern.New(`\btests failed out of ` + count)},
	{"gtest", "[==========] Running 0 tests from 0 test suites.", "[==========] 12 tests from 2 test suites ran. (3 ms total)",
		pattern.New(`^\[=+\] (?:Running )?0 tests|^\[  PASSED  \] 0 tests`), pattern.New(`^\[=+\] ` + count + ` tests? from|^\[  PASSED  \] ` + count)},
	{"TAP, node:test", "# tests 0", "# pass 12", pattern.New(`^1\.\.0\b|^(?:#|ℹ) (?:tests|pass) 0$`), pattern.New(`^(?:#|ℹ) (?:tests|pass) ` + count + `$|^ok \d+\b`)},
	{"prove", "Result: NOTESTS", "Files=2, Tests=12,  0 wallclock secs", pattern.New(`^Result: NOTESTS|^Files=\d+, Tests=0\b`), pattern.New(`^Files=\d+, Tests=` + count)},
	{"rspec", "0 examples, 0 failures", "41 examples, 0 failures", pattern.New(`^0 examples\b|^No examples found`), pattern.New(`^` + count + ` examples?\b`)},
	{"minitest, ExUnit", "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips", "12 runs, 40 assertions, 0 failures, 0 errors",
		pattern.New(`^(?:All )?0 (?:runs|tests)\b|^There are no tests to run`), pattern.New(`^(?:All )?` + count + ` (?:runs?|tests?),? `)},
	{"phpunit, Pest", "No tests executed!", "OK (12 tests, 40 assertions)",
		pattern.New(`^No tests (?:executed|found)|^Tests: +0\b|^OK \(0 tests`), pattern.New(`^OK \(` + count + ` tests?|^Tests: +` + count + `, Assertions`)},
	{"xcodebuild, Swift", "Executed 0 tests, with 0 failures (0 unexpected)", "Executed 12 tests, with 0 failures (0 unexpected)",
		pattern.New(`\bExecuted 0 tests|\bTest run with 0 tests`), pattern.New(`\bExecuted ` + count + ` tests?|\bTest run with ` + count + ` tests?`)},
	{"jasmine, Karma", "0 specs, 0 failures", "12 specs, 0 failures",
		pattern.New(`^0 specs\b|^No specs found|^Executed 0 of \d+`), pattern.New(`^` + count + ` specs?\b|^Executed ` + count + ` of `)},
	{"bun", " 0 pass", " 12 pass", pattern.New(`^\s*0 pass$|^Ran 0 tests across`), pattern.New(`^\s*` + count + ` pass$`)},
	{"cucumber", "0 scenarios", "14 scenarios (14 passed)", pattern.New(`(?i)^0 scenarios|^0 features passed`), pattern.New(`(?i)^` + count + ` (?:scenarios?|features?) `)},
	{"sbt", "Total number of tests run: 0", "Total number of tests run: 12",
		pattern.New(`Total number of tests run: 0$|No tests were executed`), pattern.New(`Total number of tests run: ` + count)},
	{"others", "Summary: 0 passed, 0 failed", "Summary: 12 passed, 0 failed",
		pattern.New(`(?i)(?:^|[\s:(,|])0 (?:tests? |specs? )?(?:passed|ran|executed|collected)\b[^1-9]*$|^(?:tests? )?passed: +0\b[^1-9]*$`),
		pattern.New(`(?i)(?:^|[\s:(,|])` + count + ` (?:tests? |specs? )?passed\b`)},
	{"dart", "No tests ran.", "00:01 +12: All tests passed!", pattern.New(`^No tests (?:ran|match)|no tests? specified`), pattern.New(`\+` + count + `(?: [~-]\d+)*: `)},
}

// ranNone returns the line of an output in which a test runner says that no test ran; "" if there is
// none, or if another line says that some did.
func ranNone(output string) (said string) {
	for line := range strings.Lines(output) {
		line = plainLine(line)
		if len(line) > maxLine {
			continue
		}
		isNone, isSome := false, false
		for _, t := range tallies {
			isNone = isNone || t.none.MatchString(line)
			isSome = isSome || t.some.MatchString(line)
		}
		switch {
		case isSome && !isNone:
			return ""
		case isNone && said == "":
			said = strings.TrimSpace(line)
		}
	}
	return said
}
