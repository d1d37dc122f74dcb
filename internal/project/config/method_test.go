package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

func TestMethodSettings(t *testing.T) {
	for _, c := range []struct {
		name, user, project string
		environ             []string
		want                string // toolsets, personas, the person's sources, the project's
		ignored, wrong      string
	}{
		{name: "nothing", want: "[auto] own [] []"},
		{name: "lists", user: "toolsets: [task, agents]\nsources:\n  - git+https://a/b.git\n", want: "[task agents] own [git+https://a/b.git] []"},
		{name: "one word", user: "toolsets: method-classic\n", project: "personas: bmad\n", want: "[method-classic] bmad [] []"},
		{name: "the project has no say in tools", project: "toolsets: [agents]\n", want: "[auto] own [] []", ignored: "toolsets agents of .claude/bmad-task.yaml does not count"},
		{name: "variables", environ: []string{"BMAD_TOOLSETS=task, Method,task", "BMAD_SOURCES=git+https://a/x.git, git+https://a/y.git,git+https://a/x.git", "BMAD_PERSONAS=bmad"}, want: "[task method] bmad [git+https://a/x.git git+https://a/y.git] []"},
		{name: "over each other", user: "toolsets: task\nsources: git+https://a/u.git\n", project: "toolsets: method\nsources: git+https://a/p.git\n", environ: []string{"BMAD_TOOLSETS=agents", "BMAD_SOURCES=git+https://a/e.git"}, want: "[agents] own [git+https://a/u.git git+https://a/e.git] [git+https://a/p.git]", ignored: "toolsets method"},
		{name: "unknown toolset", user: "toolsets: [task, all]\n", wrong: `line 1: toolsets: "all" is not one of auto, task, method, method-classic, agents, memory`},
		{name: "no toolset", user: "toolsets: []\n", wrong: "toolsets is empty; name one or more of auto"},
		{name: "unknown personas", environ: []string{"BMAD_PERSONAS=mine"}, wrong: `BMAD_PERSONAS: personas "mine" is not one of own, bmad`},
		{name: "no address", project: "personas: bmad\nsources: [git+https://a/b.git, 'git+http://me:secret@a/b.git']\n", wrong: ".claude/bmad-task.yaml, line 2: sources: number 2 of 2: "},
		{name: "many sources", user: "sources: [" + numbers(30) + "]\n", wrong: "at most 20 are read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := load(t, c.project, c.user, c.environ...)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v, want %s", err, c.wrong)
				}
				return
			}
			if text := fmt.Sprintf("%v %s %v %v", got.Toolsets, got.Personas, got.Sources, got.OwnSources); err != nil || text != c.want {
				t.Errorf("%s, %v; want %s", text, err, c.want)
			}
			if text := lang.Join(got.Ignored, "\n").String(); !strings.Contains(text, c.ignored) || c.ignored == "" && text != "" {
				t.Errorf("not counted: %s; want %s", text, c.ignored)
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
