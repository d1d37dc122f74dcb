package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestChecked: the rules of a check are those of the file, of all stages and of one, whatever else it has.
func TestChecked(t *testing.T) {
	t.Parallel()
	c, err := config.ReadChecked([]byte("check_assurance: medium\napprovers: [ann, bob]\nquorum: 2\nprompts: nowhere\nverify: [odd\n, x]\nmodel: x\nunknown: 1\n" +
		"stages:\n  own-stage:\n    approvers: [eve]\n    four_eyes: true\n    gate: strict\n    engines: [odd]\n"))
	if err != nil || c.Assurance != workflow.AssuranceMedium {
		t.Fatalf("%+v, %v", c, err)
	}
	all, own := c.Policy("po"), c.Policy("own-stage")
	if !slices.Equal(all.Approvers, []string{"ann", "bob"}) || all.Quorum != 2 || all.Watched() || all.Gate != "" {
		t.Errorf("got %+v", all)
	}
	if !slices.Equal(own.Approvers, []string{"eve"}) || own.Quorum != 2 || !own.Watched() || own.Gate != workflow.GateStrict {
		t.Errorf("got %+v", own)
	}
	if c, err := config.ReadChecked(nil); err != nil || c.Assurance != workflow.AssuranceLow || c.Policy("po").Ruled() {
		t.Errorf("%+v, %v", c, err)
	}
	for text, says := range map[string]string{
		"quorum: x\n": "line 1", "a: 1\nquorum: 0\n": "line 2", "check_assurance: some\n": "low, medium, high",
		"stages:\n  po:\n    four_eyes: perhaps\n": "true, false", "[": "line", "approvers: ['']\n": "approvers",
	} {
		if _, err := config.ReadChecked([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
