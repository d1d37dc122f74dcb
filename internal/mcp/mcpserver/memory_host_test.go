package mcpserver_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMemoryWithClaudeCode checks that the real Claude Code finds the tools of the project
// memory when its model searches for them, and the model gets what each answers.
func TestMemoryWithClaudeCode(t *testing.T) {
	t.Parallel()
	claude := claudeBinary(t, "the tools of the project memory were not called by it")
	calls := []struct {
		tool   string
		args   object
		answer string
	}{
		{"remember_structured", object{"type": "failures", "agent": "dev", "text": "Compare tokens with hmac.Equal, == leaks timing", "tags": []string{"CC-FAIL", "critical"}}, `"status":"created"`},
		{"recall_structured", object{"query": "时间攻击 token"}, "hmac.Equal"},
		{"get_failure_museum", object{"top_n": 3}, "hmac.Equal"},
		{"get_agent_memory", object{"agent": "dev"}, `"agent":"dev"`},
		{"get_project_context", object{}, `"status":"empty"`},
		{"run_completion_contract", object{}, `"status":"SKIPPED"`},
		{"spawn_subagent_task", object{"agent": "qa", "task": "Test the sign-in", "output_key": "tests"}, `"status":"queued"`},
		{"bmad-task", object{"action": "start", "objective": "Compare tokens of the sign-in in constant time"}, `"session_id"`},
		{"list_sessions", object{}, "bmad-task"},
		{"get_workflow_status", object{}, "generating"},
		{"delegate_to_agent", object{"agent_id": "architect", "task": "Review this"}, `"status":"needs_host"`},
	}
	var script []standInCall
	var names []string
	for _, c := range calls {
		name := "mcp__bmad__" + c.tool
		names = append(names, name)
		script = append(script, standInCall{name, c.args})
	}
	// The host keeps tools out of the conversation that are not marked as always needed.
	search := standInCall{"ToolSearch", object{"query": "select:" + strings.Join(names, ","), "max_results": len(names)}}
	model, home, project := newStandIn(t, append([]standInCall{search}, script...)...), t.TempDir(), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, claude, args...)
		cmd.Dir, cmd.Env = project, standInEnv(model, home)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("claude %v: %v\n%s", args, err, out)
		}
	}
	run("mcp", "add", "bmad", "--", binary, "--toolsets", "task,memory")
	run("-p", "Remember what was learned.", "--allowedTools", strings.Join(names, ","))
	if model.done != len(calls)+1 || len(model.results) < len(calls) {
		t.Fatalf("%d of %d calls made, offered %v, results %.600q", model.done, len(calls)+1, model.offered, model.results)
	}
	results := model.results[len(model.results)-len(calls):]
	for i, c := range calls {
		if !strings.Contains(strings.ReplaceAll(results[i], `\"`, `"`), c.answer) {
			t.Errorf("%s: got %.400s, want %s", c.tool, results[i], c.answer)
		}
	}
}
