package verdict

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

const (
	maxTests = 500 // names read from the outputs of a report
	minTest  = 3   // characters of a name
)

// passed match the line in which a test runner names a test that passed, each with an example. The
// first group is the name.
var passed = []struct {
	example, test string
	line          *pattern.Pattern
}{
	{"    --- PASS: TestCart/adds (0.00s)", "TestCart/adds", pattern.New(`^\s*--- PASS: (\S+) \(\d`)},
	{"PASS shop/cart.TestCart (0.00s)", "TestCart", pattern.New(`^PASS \S+\.(Test\S*) \(\d`)},
	{"tests/test_cart.py::test_adds PASSED   [ 50%]", "tests/test_cart.py::test_adds", pattern.New(`^(\S+::\S+)(?: \[.*\])? PASSED\b`)},
	{"PASSED tests/test_cart.py::test_adds", "tests/test_cart.py::test_adds", pattern.New(`^PASSED (\S+::\S+)`)},
	{"test_adds (test_cart.CartTest.test_adds) ... ok", "test_adds", pattern.New(`^(test\w*) \(.*\.\.\. ok$`)},
	{"  ✓ adds two items (3 ms)", "adds two items", pattern.New(`^\s*[✓✔√]\s+(.+?)(?:\s+\(?[\d.]+ ?m?s\)?)?$`)},
	{"test cart::adds ... ok", "cart::adds", pattern.New(`^test (\S+)(?: - .*)? \.\.\. ok$`)},
	{"        PASS [   0.004s] shop cart::adds", "cart::adds", pattern.New(`^\s*PASS \[.*\] .*\s(\S+)$`)},
	{"ok 3 - adds two items", "adds two items", pattern.New(`^\s*ok \d+ (?:- )?([^#]+)$`)},
	{"[       OK ] CartTest.Adds (0 ms)", "CartTest.Adds", pattern.New(`^\[ +OK \] (\S+)`)},
	{"  Passed Shop.CartTest.Adds [3 ms]", "Shop.CartTest.Adds", pattern.New(`^\s*(?:Passed|\[PASS\]) (\S+)(?: \[.*\])?$`)},
	{"CartTest > adds() PASSED", "adds()", pattern.New(`^\S+ > (.+) PASSED$`)},
	{"[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in shop.CartTest", "shop.CartTest",
		pattern.New(`\bTests run: ` + count + `, Failures: 0, Errors: 0,.* in (\S+)$`)},
	{"1/1 Test #1: cart_adds ........   Passed    0.00 sec", "cart_adds", pattern.New(`\bTest +#\d+: (\S+) \.+ +Passed\b`)},
	{"Test Case '-[Shop.CartTest testAdds]' passed (0.001 seconds).", "-[Shop.CartTest testAdds]", pattern.New(`Test [Cc]ase '(.+)' passed`)},
	{"CartTest#test_adds = 0.00 s = .", "CartTest#test_adds", pattern.New(`^(\S+#test_\S+) = [\d.]+ s = \.$`)},
	{"adds two items ... ok (3ms)", "adds two items", pattern.New(`^(.+) \.\.\. ok \([\d.]+m?s\)$`)},
	{"  * test adds two items (0.1ms) [L#4]", "adds two items", pattern.New(`^\s*\* test (.+) \([\d.]+ms\)`)},
}

// separators divide the name of a test from those of the file, the suite or the type around it.
var separators = strings.NewReplacer("::", "\x00", " > ", "\x00", " › ", "\x00", "#", "\x00")

// testsIn returns the names of the passed tests in an output, whole and without what is around them.
func testsIn(output string) (out []string) {
	add := func(name string) {
		name = strings.TrimSuffix(strings.TrimSpace(name), "()")
		if len([]rune(name)) >= minTest && results[fold(name)] == "" && len(out) < maxTests {
			out = append(out, name)
		}
	}
	for line := range strings.Lines(output) {
		line = plainLine(line)
		if len(line) > maxLine {
			continue
		}
		for _, r := range passed {
			m := r.line.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			add(m[1])
			parts := strings.Split(separators.Replace(m[1]), "\x00")
			add(parts[len(parts)-1])
			break
		}
	}
	return out
}
