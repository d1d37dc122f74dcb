package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// TestProjectOnlyTightensLimits checks that a project's file can lower a limit that the person has set, and not raise it;
// where they have set none, it sets one.
func TestProjectOnlyTightensLimits(t *testing.T) {
	for key, tt := range map[string]struct {
		person, tighter, looser, usual string
		value                          func(c config.Config) string
	}{
		"max_iterations": {"4", "3", "6", "5", func(c config.Config) string { return fmt.Sprint(c.MaxIterations) }},
		"max_rework":     {"2", "1", "4", "3", func(c config.Config) string { return fmt.Sprint(c.MaxRework) }},
	} {
		line := func(value string) string {
			if value == "" {
				return ""
			}
			return key + ": " + value + "\n"
		}
		for _, one := range []struct{ project, user, want string }{
			{"", "", tt.usual}, {"", tt.person, tt.person}, {tt.tighter, tt.person, tt.tighter}, {tt.looser, tt.person, tt.person}, {tt.looser, "", tt.looser},
		} {
			c, err := load(t, line(one.project), line(one.user))
			got := strings.TrimSuffix(tt.value(c), "0s")
			if want := strings.TrimSuffix(one.want, "0s"); err != nil || got != want || (one.project == tt.looser && one.user != "") != (len(c.Ignored) == 1) {
				t.Errorf("%s: the project's %q over the person's %q: got %s, ignored %v (%v), want %s", key, one.project, one.user, got, c.Ignored, err, want)
			}
		}
	}
}

// TestEachDefault checks each setting of a project without any configuration.
func TestEachDefault(t *testing.T) {
	c := config.Default()
	got := fmt.Sprint(c.Workflow, " ", c.MaxRework, " ", c.MaxIterations, " ", c.HostConfirm, " ",
		c.Toolsets, " ", c.Memory, " ", c.Personas, " ", c.Replies, " ", c.Language, " ", c.DocumentLanguage, " ", c.VerifyTimeout, " ", c.Store, " ", c.Checks, c.Sources, c.OwnSources, c.Projects,
		" ", len(c.Workflows()))
	const want = "bmad 3 5 auto [auto] auto own full auto auto 5m0s { } [] [] [] [] 4"
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// TestProjectName checks the names of a project in a shared store: at most so many bytes, not letters.
func TestProjectName(t *testing.T) {
	for name, want := range map[string]bool{
		"": false, "tracker": true, "a/b": true, "时钟": true, "a b": false, "a\tb": false, "a\u00a0b": false, "\xff": false,
		strings.Repeat("a", 200): true, strings.Repeat("a", 201): false, strings.Repeat("字", 66) + "aa": true, strings.Repeat("字", 67): false,
	} {
		if got := config.IsProjectName(name); got != want {
			t.Errorf("%d bytes, %q: got %v", len(name), name[:min(len(name), 12)], got)
		}
	}
}
