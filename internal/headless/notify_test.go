package headless_test

import (
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
)

// TestNotices: a run tells the person once when it needs them, or ends, and not of what they have just done at it.
func TestNotices(t *testing.T) {
	asks := wholeRun()
	asks["po"] = []act{{text: asking}, {text: scoredDocument(95)}}
	for _, c := range []struct {
		name  string
		acts  map[string][]act
		gates headless.Gates
		said  []gate.Response
		spend int
		want  string
	}{
		{name: "to its end", acts: wholeRun(), gates: headless.Yes, want: "qa ended"},
		{name: "to a gate", acts: wholeRun(), gates: headless.Stop, want: "po decision"},
		{name: "to questions", acts: asks, gates: headless.Stop, want: "po questions"},
		{name: "to the budget", acts: wholeRun(), gates: headless.Yes, spend: 2, want: "sm budget"},
		{name: "to a failure", acts: map[string][]act{"po": {{err: &hostcli.Failure{Engine: "claude", Why: "not logged in", Final: true}}}}, gates: headless.Yes, want: "po failed"},
		{name: "with a person", acts: wholeRun(), gates: headless.Ask, said: []gate.Response{approve, approve, approve},
			want: "po decision, architect decision, sm decision, qa ended"},
		{name: "with a silent person", acts: wholeRun(), gates: headless.Ask, said: []gate.Response{{Silence: gate.Silence{Why: lang.T("away")}}}, want: "po decision"},
	} {
		b := newBench(t, c.acts)
		b.options.Gates = c.gates
		if c.said != nil {
			b.options.Person = &person{t: t, said: c.said}
		}
		if c.spend > 0 {
			b.options.Flags.Budget = cost(c.spend)
		}
		out := b.start("Build a to-do list")
		if got := strings.Join(b.told, ", "); got != c.want {
			t.Errorf("%s: told %s, want %s (%s)", c.name, got, c.want, out.Why)
		}
		told := len(b.told)
		if b.session().CurrentState.WaitsForHuman() {
			b.options.Gates, b.options.Person = headless.Stop, nil
			b.resume("build-a-to-do-list")
			if len(b.told) != told {
				t.Errorf("%s: told %v once more", c.name, b.told[told:])
			}
		}
	}
}
