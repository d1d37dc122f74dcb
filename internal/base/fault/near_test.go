package fault_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh"
)

func TestNear(t *testing.T) {
	known := []string{"build-a-clock", "build-a-clock-1", "bmad", "bmad-status", "session_id", "analyst", "pm", "构建用户认证", "build-a-link-shortener-with-codex"}
	for name, want := range map[string]string{
		"buid-a-clock": "build-a-clock build-a-clock-1", "sessionId": "session_id", "session-id": "session_id", "BMAD_STATUS": "bmad-status", "bmm.analist": "", "analist": "analyst", "aanlyst": "analyst",
		"build-a-link-shortner": "build-a-link-shortener-with-codex", "build-a-link-shortner-with-codex": "build-a-link-shortener-with-codex",
		"bmad-nobody": "", "p": "pm", "pmm": "pm", "pmmm": "", "mpm": "", "x": "", "": "", "构建用户认诈": "构建用户认证", strings.Repeat("a", 1000): "",
	} {
		if got := strings.Join(fault.Near(name, known), " "); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := fault.Near("task-1234", []string{"task-1230", "task-1239", "task-1235", "task-1236"}); len(got) != 3 || got[0] != "task-1230" {
		t.Errorf("got %q, want the first three", got)
	}
}

func TestSuggest(t *testing.T) {
	e := fault.New(fault.NotFound, "there is no %q", "analist").WithHint("the agents are: %s", "analyst, pm").Suggest("analist", []string{"analyst", "pm"})
	if want := "did you mean analyst? the agents are: analyst, pm"; e.Hint != want || !slices.Equal(e.Suggestions, []string{"analyst"}) {
		t.Errorf("got %q and %q, want %q", e.Hint, e.Suggestions, want)
	}
	if got, want := e.Translated("zh").Hint, "你指的是 analyst 吗？the agents are: analyst, pm"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if e := fault.New(fault.NotFound, "no").WithHint("list them").Suggest("zzzz", []string{"analyst"}); e.Hint != "list them" || e.Suggestions != nil {
		t.Errorf("got %q and %q where nothing is similar", e.Hint, e.Suggestions)
	}
}

func TestNearPath(t *testing.T) {
	tree := map[string][]string{".": {"docs/", "src/", "readme.md"}, "docs": {"prd.md", "architecture.md", "old/"}, "docs/old": {"prd.md"}}
	asked := 0
	list := func(folder string) []string {
		asked++
		return tree[folder]
	}
	for name, want := range map[string]string{
		"docs/prdd.md": "docs/prd.md", "doc/prd.md": "docs/prd.md", "docs/architcture.md": "docs/architecture.md", "Readme.MD": "readme.md", "docs/od/prd.md": "", "docs/olds/prd.md": "docs/old/prd.md",
		"docs/old": "", "nowhere/prd.md": "", "../prd.md": "", "readme.md/x": "",
	} {
		if got := strings.Join(fault.NearPath(name, list), " "); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if asked > 40 {
		t.Errorf("%d folders were listed", asked)
	}
}

// BenchmarkNear compares a name with those of many sessions.
func BenchmarkNear(b *testing.B) {
	known := make([]string, 20_000)
	for i := range known {
		known[i] = fmt.Sprintf("build-the-%d-service-for-orders", i)
	}
	for b.Loop() {
		fault.Near("build-the-19999-servce-for-orders", known)
	}
}
