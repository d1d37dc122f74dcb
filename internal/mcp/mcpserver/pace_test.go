package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// TestMethodAnswersSoon: what is asked of an installation of more than fifty workflows is answered within the times
// that were asked for, of a server that has just been started and of one at work: the lists of prompts and tools and a
// file within 100 ms, a prompt within a second, other lists within half of one, a workflow within two, and the lists of a server at work within a few milliseconds. The server
// needs no more than 50 MB for it.
func TestMethodAnswersSoon(t *testing.T) {
	scratch.NeedsTime(t, "it measures how long answers take")
	dir := t.TempDir()
	unpack(t, dir, "v6-files")
	for n := range 60 {
		name := fmt.Sprintf("w%d", n)
		folder := filepath.Join(dir, "_bmad", "bmm", "workflows", "2-plan-workflows", name)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("name: %s\ndescription: Plan number %d\nauthor: Ann\ninstructions: \"{project-root}/_bmad/bmm/workflows/2-plan-workflows/%s/instructions.md\"\n", name, n, name)
		for file, text := range map[string]string{"workflow.yaml": text, "instructions.md": "# Steps\n\n1. Plan it.\n"} {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	env := append(os.Environ(), isolatedEnv(t, "BMAD_TOOLSETS=method-classic,agents,method")...)
	begin := func() *process { return spawn(t, dir, env) }
	atWork := begin()
	defer atWork.kill()
	var counted struct {
		Content []struct{ Text string }
	}
	var list struct{ Total int }
	if err := atWork.request("tools/call", object{"name": "list_workflows"}, &counted); err != nil || len(counted.Content) != 1 || json.Unmarshal([]byte(counted.Content[0].Text), &list) != nil || list.Total < 60 {
		t.Fatalf("%d workflows, %v, %v", list.Total, counted, err)
	}
	for _, c := range []struct {
		what, method string
		params       object
		want         string
		begun        float64 // the most units, with the start of a server
		warm         float64
	}{
		{"the list of prompts", "prompts/list", nil, "bmad-analyst", 100, 4},
		{"a prompt", "prompts/get", object{"name": "bmad-analyst"}, "Mary", 250, 8},
		{"the list of tools", "tools/list", nil, "bmm-analyst", 100, 8},
		{"the list of resources", "resources/list", nil, "analyst", 250, 8},
		{"a file", "resources/read", object{"uri": "bmad://_bmad/bmm/workflows/2-plan-workflows/w7/instructions.md"}, "Plan it", 100, 8},
		{"the list of workflows", "tools/call", object{"name": "list_workflows", "arguments": object{}}, `\"author\":\"Ann\"`, 250, 2.5},
		{"the list of a category", "tools/call", object{"name": "list_workflows", "arguments": object{"category": "planning"}}, `w1`, 250, 2.5},
		{"a workflow", "tools/call", object{"name": "execute_workflow", "arguments": object{"workflow_name": "w7"}}, "Plan it", 250, 8},
	} {
		ask := func(p *process) {
			var answer json.RawMessage
			if err := p.request(c.method, c.params, &answer); err != nil || !strings.Contains(string(answer), c.want) {
				t.Fatalf("%s: %v, %.500s", c.what, err, answer)
			}
		}
		scratch.Within(t, c.what+" of a new server", c.begun, func() {
			p := begin()
			ask(p)
			p.kill()
		})
		scratch.Within(t, c.what, c.warm, func() { ask(atWork) })
	}
	if size := residentBytes(t, atWork, "VmHWM:"); size > 50<<20 && !raced {
		t.Errorf("the server needs %d MB, want 50 at most", size>>20)
	} else {
		t.Logf("the server needs %d MB", size>>20)
	}
}

// residentBytes reads a figure of a process's memory as Linux gives it; 0 elsewhere.
func residentBytes(t *testing.T, p *process, key string) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), key)
	fields := strings.Fields(after)
	if len(fields) == 0 {
		t.Fatal("the server has ended")
	}
	kilobytes, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
