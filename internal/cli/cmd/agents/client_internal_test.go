package agents

import (
	"errors"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/sdk"
)

func TestChooseSession(t *testing.T) {
	t.Parallel()
	list := []sdk.Summary{{ID: "7b41-1"}, {ID: "7b41"}, {ID: "7b52-1"}, {ID: "9c00-1"}}
	for begin, want := range map[string]string{
		"7b41": "7b41", "7b41-": "7b41-1", "7b41-1": "7b41-1", "9": "9c00-1",
		"7b": "3 conversations begin with", "7": "3 conversations begin with", "": "", "7B41": "", "x": "", "9c00-12": "", "c00": "",
	} {
		got, err := chooseSession(list, begin)
		switch {
		case want == "":
			if !errors.Is(err, sdk.ErrNotFound) {
				t.Errorf("%q: %v, %v; want nothing found", begin, got, err)
			}
		case strings.Contains(want, " "):
			if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), want) || !strings.Contains(fault.From(err).Hint, "7b52-1") {
				t.Errorf("%q: %v, %v; want a conflict", begin, got, err)
			}
		case err != nil || len(got) != 1 || got[0].ID != want:
			t.Errorf("%q: %v, %v; want %s", begin, got, err, want)
		}
	}
}
