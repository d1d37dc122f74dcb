package memory_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// rememberMany returns a process of TestProcesses: it remembers notes of its own and notes that all
// share, and says which were acknowledged.
func rememberMany(child string) int {
	fields := strings.SplitN(child, " ", 3)
	count, _ := strconv.Atoi(fields[1])
	path := fields[2]
	dir, err := durable.OpenDir(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir.LockTimeout = 5 * time.Minute
	b := memory.New(memory.Options{Now: time.Now}).Of(&project.Project{Dir: dir, Config: config.Default()})
	for n := range count {
		text := fmt.Sprintf("process %s note %d", fields[0], n)
		if n%10 == 0 {
			text = fmt.Sprintf("shared note %d", n)
		}
		if _, err := b.Remember(ctx, notes.Note{Type: notes.Types()[n%5], Agent: "dev", Text: text}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(text)
	}
	return 0
}

// TestProcesses lets eight processes remember at once, and kills some of them: every note that was
// acknowledged is there, and each id has one line.
func TestProcesses(t *testing.T) {
	t.Parallel()
	processes, count := 8, 200
	if testing.Short() {
		processes, count = 4, 25
	}
	path := folder(t, "p")
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	killed := 0
	var wait sync.WaitGroup
	for p := range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("TEST_BMAD_MEMORY_CHILD=%d %d %s", p, count, path))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			lines, seen := bufio.NewScanner(out), 0
			for lines.Scan() {
				mu.Lock()
				acknowledged[lines.Text()] = true
				mu.Unlock()
				if seen++; p%3 == 2 && seen == count/2+p {
					if err := cmd.Process.Kill(); err != nil {
						t.Error(err)
					}
				}
			}
			err := cmd.Wait()
			mu.Lock()
			defer mu.Unlock()
			if p%3 == 2 {
				killed++
			} else if err != nil || seen != count {
				t.Errorf("process %d wrote %d notes: %v", p, seen, err)
			}
		})
	}
	wait.Wait()
	s := readForeign(t, path)
	there := map[string]bool{}
	for _, n := range s.list(t) {
		there[n.Text] = true
	}
	for text := range acknowledged {
		if !there[text] {
			t.Errorf("%q was acknowledged and is lost", text)
		}
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	ids := map[string]int{}
	for _, kind := range notes.Types() {
		for l := range strings.Lines(s.read(t, string(kind)+".jsonl")) {
			var n notes.Note
			if err := json.Unmarshal([]byte(l), &n); err != nil {
				t.Fatal(err)
			}
			ids[string(n.Type)+n.ID]++
		}
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%s has %d lines", id, n)
		}
	}
	t.Logf("%d notes acknowledged, %d there, %d processes killed", len(acknowledged), len(there), killed)
	if len(acknowledged) < count*processes/2 || killed == 0 {
		t.Errorf("only %d acknowledged, %d killed", len(acknowledged), killed)
	}
}
