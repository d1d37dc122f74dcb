package mcpserver_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestManyProcessesOnOneProject has eight servers start 200 tasks of the same
// name in one folder: each is kept, under a name of its own, in file and mapping.
func TestManyProcessesOnOneProject(t *testing.T) {
	const servers, each = 8, 25
	dir := t.TempDir()
	var mu sync.Mutex
	names := map[string]string{}
	var wg sync.WaitGroup
	for range servers {
		c := connect(t, dir, "")
		wg.Go(func() {
			for range each {
				reply, refused := call(t, c, object{"action": "start", "objective": "Build a sign-in service"})
				if refused {
					t.Errorf("refused: %v", reply)
					return
				}
				mu.Lock()
				name, id := reply["task_name"].(string), reply["session_id"].(string)
				if names[name] != "" {
					t.Errorf("%s and %s are both %s", names[name], id, name)
				}
				names[name] = id
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	mapping := readMapping(t, dir)
	files, _ := filepath.Glob(filepath.Join(dir, ".bmad-task", "session-*.json"))
	if len(names) != servers*each || len(mapping) != servers*each || len(files) != servers*each {
		t.Errorf("%d acknowledged, %d in the mapping, %d files; want %d", len(names), len(mapping), len(files), servers*each)
	}
	for name, id := range names {
		if mapping[id] != name {
			t.Errorf("%s is %q in the mapping, want %q", id, mapping[id], name)
		}
	}
}

// readMapping returns the task name of each session in the mapping of a project.
func readMapping(t *testing.T, dir string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ".bmad-task", "task-mapping.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries map[string]struct {
		TaskName string `json:"task_name"`
	}
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for id, e := range entries {
		names[id] = e.TaskName
	}
	return names
}

// TestOneConfirmWins has several servers confirm the same gate at once.
func TestOneConfirmWins(t *testing.T) {
	const servers = 4
	dir := t.TempDir()
	var clients []interface{ Close() error }
	var wg sync.WaitGroup
	results := make([]string, servers)
	for i := range servers {
		c := connect(t, dir, "")
		clients = append(clients, c)
		if i == 0 {
			call(t, c, object{"action": "start", "objective": "x"})
			if reply, refused := call(t, c, object{"action": "submit", "stage": "po", "claude_result": "# P\nQuality Score: 95/100"}); refused {
				t.Fatal(reply)
			}
		}
		wg.Go(func() {
			reply, refused := call(t, c, object{"action": "confirm", "stage": "po"})
			results[i] = "won"
			if refused {
				results[i] = reply["code"].(string)
			}
		})
	}
	wg.Wait()
	won := 0
	for _, r := range results {
		switch r {
		case "won":
			won++
		case "conflict":
		default:
			t.Errorf("a loser is told %q", r)
		}
	}
	if won != 1 || len(clients) != servers {
		t.Errorf("%d confirms went through: %v", won, results)
	}
}
