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
	"internal/durable":  {"internal/recent"},
	"internal/recall":   {},
	"internal/textdiff": {},
	"internal/visible":  {},
	"sdk": {
		"internal/bmad/catalog", "internal/bmad/format", "internal/bmad/library", "internal/bmad/resolve", "internal/cmdline", "internal/durable",
		"internal/fault", "internal/lang", "internal/obeyed", "internal/pattern", "internal/recent", "sdk/price", "sdk/provider", "sdk/vfs",
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
