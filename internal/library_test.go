package internal_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// libraries lists packages that another program could use, with all packages of this project that
// they may bring along: those that know settings, sessions or the sentences of a language are not
// among them.
var libraries = map[string][]string{
	"internal/base/durable":  {"internal/base/recent"},
	"internal/base/recall":   {"internal/base/visible"},
	"internal/base/textdiff": {},
	"internal/base/visible":  {},
	"sdk": {
		"internal/base/csvtable", "internal/method/catalog", "internal/method/format", "internal/method", "internal/method/resolve", "internal/base/process", "internal/base/durable",
		"internal/base/fault", "internal/base/lang", "internal/base/obeyed", "internal/base/pattern", "internal/base/recent", "internal/base/visible", "sdk/price", "sdk/provider", "sdk/vfs",
	},
}

// TestLibraries: a package that is useful by itself does not bring the rest of the project along,
// however indirectly.
func TestLibraries(t *testing.T) {
	t.Parallel()
	for name, helpers := range libraries {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		for dep := range strings.Lines(string(out)) {
			ours, of := strings.CutPrefix(strings.TrimSpace(dep), module)
			if of && ours != name && !slices.Contains(helpers, ours) {
				t.Errorf("%s brings %s along", name, ours)
			}
		}
	}
}
