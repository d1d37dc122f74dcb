package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// TestProjectOnlyTightensRounds checks that a project's file can lower the limit that the person has set, and not raise it;
// where they have set none, it sets one. It holds for documents and for work.
func TestProjectOnlyTightensRounds(t *testing.T) {
	line := func(value string) string {
		if value == "" {
			return ""
		}
		return "max_rounds: " + value + "\n"
	}
	for _, tt := range []struct{ project, user, want string }{
		{"", "", "5 3"}, {"", "4", "4 4"}, {"3", "4", "3 3"}, {"6", "4", "4 4"}, {"6", "", "6 6"},
	} {
		c, err := load(t, line(tt.project), line(tt.user))
		documents, work := c.Rounds()
		if got := fmt.Sprint(documents, work); err != nil || got != tt.want || (tt.project == "6" && tt.user != "") != (len(c.Ignored) == 1) {
			t.Errorf("the project's %q over the person's %q: got %s, ignored %v (%v), want %s", tt.project, tt.user, got, c.Ignored, err, tt.want)
		}
	}
}

// TestEachDefault checks each setting of a project without any configuration.
func TestEachDefault(t *testing.T) {
	c := config.Default()
	got := fmt.Sprint(c.Workflow, " ", c.MaxRounds, " ", c.HostConfirm, " ",
		c.Toolsets, " ", c.Memory, " ", c.Personas, " ", c.Replies, " ", c.Language, " ", c.DocumentLanguage, " ", c.VerifyTimeout, " ", c.Store, " ", c.Checks, c.Sources, c.OwnSources, c.Projects,
		" ", len(c.Workflows()))
	const want = "bmad 0 auto [auto] auto own full auto auto 5m0s {  false} [] [] [] [] 4"
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
