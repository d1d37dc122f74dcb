package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

func TestModelSettings(t *testing.T) {
	for _, c := range []struct {
		name, user, project string
		environ             []string
		want                string // model, address, limit
		ignored, wrong      string
	}{
		{name: "nothing", want: "  $0.00"},
		{name: "the person's", user: "model: llama-4\nbase_url: http://localhost:11434/v1/\ncost_limit: 2.50\n", want: "llama-4 http://localhost:11434/v1 $2.50"},
		{name: "variables", user: "model: other\n", environ: []string{"BMAD_MODEL=claude-opus-5-5", "BMAD_BASE_URL=https://relay.example", "BMAD_COST_LIMIT=$1"},
			want: "claude-opus-5-5 https://relay.example $1.00"},
		{name: "not a project's", project: "model: dear\nbase_url: http://attacker.example/v1\ncost_limit: 1000\n", want: "  $0.00", ignored: "base_url http://attacker.example/v1 of .claude/bmad-task.yaml does not count"},
		{name: "a project does not replace it", user: "model: mine\ncost_limit: 1\n", project: "cost_limit: 9\n", want: "mine  $1.00", ignored: "cost_limit 9"},
		{name: "no address", user: "base_url: localhost\n", wrong: "base_url is not the address of a server"},
		{name: "a key in the address", environ: []string{"BMAD_BASE_URL=https://me:secret@h"}, wrong: "base_url is not the address of a server"},
		{name: "no amount", user: "cost_limit: much\n", wrong: `cost_limit "much" is not an amount in dollars`},
		{name: "nothing to spend", user: "cost_limit: 0\n", wrong: `cost_limit "0" is not an amount`},
		{name: "a negative amount", user: "cost_limit: -1\n", wrong: `cost_limit "-1" is not an amount`},
		{name: "no name", user: "model: \"a b\"\n", wrong: `model "a b" is not the name of a model`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := load(t, c.project, c.user, c.environ...)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v, want %s", err, c.wrong)
				}
				return
			}
			m := got.Model
			if text := fmt.Sprintf("%s %s %s", m.Name, m.BaseURL, m.CostLimit); err != nil || text != c.want {
				t.Errorf("%q, %v; want %q", text, err, c.want)
			}
			if text := lang.Join(got.Ignored, "\n").String(); !strings.Contains(text, c.ignored) || c.ignored == "" && text != "" {
				t.Errorf("not counted: %s; want %s", text, c.ignored)
			}
		})
	}
}
