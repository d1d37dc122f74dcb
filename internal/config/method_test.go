package config_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestMethodSettings(t *testing.T) {
	for _, c := range []struct {
		name, user, project string
		environ             []string
		want                string // toolsets, personas, the person's sources, the project's
		wrong               string
	}{
		{name: "nothing", want: "[auto] own [] []"},
		{name: "lists", user: "toolsets: [task, agents]\nsources:\n  - git+https://a/b.git\n", want: "[task agents] own [git+https://a/b.git] []"},
		{name: "one word", project: "toolsets: method-classic\npersonas: bmad\n", want: "[method-classic] bmad [] []"},
		{name: "variables", environ: []string{"BMAD_TOOLSETS=task, Method,task", "BMAD_SOURCES=x, y,x", "BMAD_PERSONAS=bmad"}, want: "[task method] bmad [x y] []"},
		{name: "over each other", user: "toolsets: task\nsources: u\n", project: "toolsets: method\nsources: p\n", environ: []string{"BMAD_TOOLSETS=agents", "BMAD_SOURCES=e"}, want: "[agents] own [u e] [p]"},
		{name: "unknown toolset", project: "toolsets: [task, all]\n", wrong: `line 1: toolsets: "all" is not one of auto, task, method, method-classic, agents`},
		{name: "no toolset", user: "toolsets: []\n", wrong: "toolsets names none of"},
		{name: "unknown personas", environ: []string{"BMAD_PERSONAS=mine"}, wrong: `BMAD_PERSONAS: personas "mine" is not one of own, bmad`},
		{name: "many sources", user: "sources: [" + numbers(30) + "]\n", wrong: "at most 20 are read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := load(t, c.project, c.user, c.environ...)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("%v, want %s", err, c.wrong)
				}
				return
			}
			if text := fmt.Sprintf("%v %s %v %v", got.Toolsets, got.Personas, got.Sources, got.OwnSources); err != nil || text != c.want {
				t.Errorf("%s, %v; want %s", text, err, c.want)
			}
		})
	}
}

func numbers(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("git%d", i))
	}
	return strings.Join(out, ",")
}
