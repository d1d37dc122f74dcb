package verdict

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Total is a line in which a test runner reports a failure.
type Total struct {
	Runner, Line string
}

// count is a number above zero.
const count = `(?:[1-9]\d*)`

// runners has the line in which each test runner reports a failure, with an example. The forms are
// those of the runners' own documentation and sources.
var runners = []struct {
	name, example string
	line          *pattern.Pattern
}{
	{"go test", "--- FAIL: TestCart (0.00s)", pattern.New(`^\s*--- FAIL: \S+ \(\d`)},
	{"go test", "FAIL\tshop/cart\t0.312s", pattern.New(`^FAIL(?:\s+\S+\s+(?:\d+\.\d+s|\[(?:build|setup) failed\]))?$`)},
	{"pytest", "==== 1 failed, 22 passed in 1.20s ====", pattern.New(`\b` + count + ` (?:failed|errors?)\b.*\bin \d`)},
	{"unittest", "FAILED (failures=1)", pattern.New(`^FAILED \((?:failures|errors)=` + count)},
	{"jest, vitest", "Tests:       1 failed, 22 passed, 23 total", pattern.New(`^\s*(?:Tests|Test Suites|Test Files|Suites)\s*:?\s+` + count + ` failed\b`)},
	{"mocha", "  1 failing", pattern.New(`^\s*` + count + ` failing$`)},
	{"playwright", "  1 failed", pattern.New(`^\s*` + count + ` failed$`)},
	{"cargo", "test result: FAILED. 11 passed; 1 failed; 0 ignored", pattern.New(`^test result: FAILED|\btest result: .*; ` + count + ` failed`)},
	{"nextest", "     Summary [   0.020s] 12 tests run: 11 passed, 1 failed, 0 skipped", pattern.New(`^\s*Summary \[.*\b` + count + ` (?:failed|timed out)\b`)},
	{"JUnit, Surefire", "Tests run: 12, Failures: 1, Errors: 0, Skipped: 0", pattern.New(`\bTests run: \d+,.*\b(?:Failures|Errors): ` + count)},
	{"Maven, Gradle", "[INFO] BUILD FAILURE", pattern.New(`^(?:\[\w+\] )?BUILD FAIL(?:URE|ED)\b`)},
	{"Gradle", "12 tests completed, 1 failed", pattern.New(`^\d+ tests completed, ` + count + ` failed`)},
	{"dotnet", "Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12", pattern.New(`\bFailed:\s+` + count + `\b`)},
	{"ctest", "92% tests passed, 1 tests failed out of 12", pattern.New(`\b` + count + ` tests? failed out of \d`)},
	{"gtest", "[  FAILED  ] CartTest.Adds (0 ms)", pattern.New(`^\[  FAILED  \]`)},
	{"TAP", "not ok 3 - adds two items", pattern.New(`^not ok\b(?:[^#]*$|[^#]*#(?:[^ ]| (?:[^TtSs]|[Tt][^Oo]|[Ss][^Kk])))`)},
	{"node:test", "# fail 1", pattern.New(`^(?:#|ℹ) fail ` + count + `$`)},
	{"prove", "Result: FAIL", pattern.New(`^Result: FAIL$|^Failed \d+/\d+ (?:subtests|test programs)`)},
	{"rspec", "41 examples, 1 failure", pattern.New(`\b\d+ examples?, .*\b` + count + ` (?:failures?|errors?)\b|\b\d+ examples?, ` + count + ` failed\b`)},
	{"minitest", "12 runs, 40 assertions, 1 failures, 0 errors",
		pattern.New(`\b\d+ (?:runs|tests?|assertions), .*\b` + count + ` (?:failures?|errors?)\b|\b\d+ tests?, ` +
			count + ` failed\b`)},
	{"phpunit", "Tests: 12, Assertions: 40, Failures: 1.", pattern.New(`^Tests: \d+, Assertions: \d+,.*\b(?:Failures|Errors): ` + count)},
	{"xcodebuild", "Executed 12 tests, with 1 failure (0 unexpected)", pattern.New(`^\s*Executed \d+ tests?, with ` + count + ` failures?`)},
	{"deno", "FAILED | 11 passed | 1 failed (12ms)", pattern.New(`^FAILED \| \d+ passed`)},
	{"the shell", "exit status 1", pattern.New(`^exit (?:status|code) ` + count + `$`)},
	{"the shell", "bash: go: command not found", pattern.New(`: (?:command )?not found$|^Killed$`)},
	{"Go", "panic: runtime error: index out of range [3] with length 3", pattern.New(`^panic: |^\S+\.go:\d+:\d+: (?:undefined|cannot use|syntax error)`)},
	{"Python", "Traceback (most recent call last):", pattern.New(`^Traceback \(most recent call last\)|^(?:E\s+)?ModuleNotFoundError|^INTERNALERROR>|^ERROR: file or directory`)},
	{"npm", "npm ERR! Test failed.", pattern.New(`^npm (?:ERR!|error)\s`)},
	{"vitest", " ❯ a.test.ts (2 tests | 1 failed)", pattern.New(`\(\d+ tests? \| ` + count + ` failed\)`)},
	{"rustc", "error: could not compile `shop`", pattern.New(`^error: could not compile|^error\[E\d+\]|^test \S+ \.\.\. FAILED$`)},
	{"make", "make: *** [Makefile:3: test] Error 1", pattern.New(`^g?make(?:\[\d+\])?: \*\*\* `)},
	{"flutter", "Some tests failed.", pattern.New(`^Some tests failed\.|^\s*\S+: FAIL code \d`)},
	{"cucumber", "14 scenarios (1 failed, 13 passed)", pattern.New(`^\d+ (?:scenarios?|steps?) \(` + count + ` failed`)},
}

// totalIn returns the test runner that reports a failure in a line; "" for other lines.
func totalIn(line string) (runner string) {
	if len(line) > maxLine || !strings.ContainsAny(line, "FfnxTK*[") {
		return ""
	}
	for _, r := range runners {
		if r.line.MatchString(line) {
			return r.name
		}
	}
	return ""
}

const (
	maxTotals = 10  // named lines
	maxLine   = 300 // bytes of a line of a test runner
)

func totalsInFences(doc *markdown.Document) (out []Total) {
	for i, line := range doc.Lines {
		if doc.Code[i] {
			out = appendTotal(out, line)
		}
	}
	return out
}

// FailedTotals returns the lines of a command's output in which test runners report a failure.
func FailedTotals(output string) (out []Total) {
	for line := range strings.Lines(output) {
		out = appendTotal(out, line)
	}
	return out
}

func appendTotal(out []Total, line string) []Total {
	line = plainLine(line)
	if runner := totalIn(line); runner != "" && len(out) < maxTotals {
		out = append(out, Total{runner, strings.TrimSpace(line)})
	}
	return out
}

// plainLine returns a line of an output without colours and the spaces at its end.
func plainLine(line string) string {
	return strings.TrimRight(ansi.ReplaceAllString(line, ""), " \t\r\n")
}

// ansi matches the colours of terminals.
var ansi = pattern.New("\x1b\\[[0-9;]*[A-Za-z]")
