package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// process is a server that can be killed, with the plainest of clients: a line of
// JSON out, a line of JSON in.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	ids int
}

func spawn(t testing.TB, dir string, env []string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(binary)}
	p.cmd.Dir, p.cmd.Env = dir, env
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var hello object
	if err := p.request("initialize", object{"protocolVersion": "2025-06-18", "capabilities": object{}, "clientInfo": object{"name": "stress", "version": "1"}}, &hello); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) request(method string, params, result any) error {
	p.ids++
	line, err := json.Marshal(object{"jsonrpc": "2.0", "id": p.ids, "method": method, "params": params})
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return err
	}
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			return err
		}
		var answer struct {
			ID     int             `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return err
		}
		if answer.ID == p.ids {
			return json.Unmarshal(answer.Result, result)
		}
	}
}

// task calls bmad-task. An error means that the process died under the call.
func (p *process) task(args object) (reply object, refused bool, err error) {
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := p.request("tools/call", object{"name": "bmad-task", "arguments": args}, &result); err != nil {
		return nil, false, err
	}
	if len(result.Content) != 1 {
		return nil, false, errors.New("no content")
	}
	err = json.Unmarshal([]byte(result.Content[0].Text), &reply)
	return reply, result.IsError, err
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// TestKilledProcessesLoseNothing has eight servers on one project race for every
// transition of some sessions, and kills one of them at a random moment of each race.
// Whatever was acknowledged is there at the end, each transition has one winner, no
// name is given twice, and every loser is told conflict and where the run stands.
func TestKilledProcessesLoseNothing(t *testing.T) {
	scratch.NeedsTime(t, "eight servers race for each of more than fifty transitions")
	const servers, sessions = 8, 5
	dir, env := t.TempDir(), append(os.Environ(), isolatedEnv(t, sixStages(t)...)...)
	const seed = 20260304
	random := rand.New(rand.NewPCG(seed, 1))
	crew := make([]*process, servers)
	for i := range crew {
		crew[i] = spawn(t, dir, env)
	}
	defer func() {
		for _, p := range crew {
			p.kill()
		}
	}()

	type answer struct {
		reply   object
		refused bool
		err     error
	}
	kills, died := 0, 0
	// race has every server make the same call at once, and kills one of them meanwhile.
	race := func(args func(i int) object) []answer {
		t.Helper()
		victim, delay := random.IntN(servers), time.Duration(random.IntN(40_000))*time.Microsecond
		answers := make([]answer, servers)
		begin := make(chan struct{})
		var wg sync.WaitGroup
		for i, p := range crew {
			wg.Go(func() {
				<-begin
				answers[i].reply, answers[i].refused, answers[i].err = p.task(args(i))
			})
		}
		wg.Go(func() {
			<-begin
			time.Sleep(delay)
			_ = crew[victim].cmd.Process.Kill()
		})
		close(begin)
		wg.Wait()
		kills++
		for i, a := range answers {
			if a.err == nil {
				continue
			}
			died++
			if i != victim {
				t.Fatalf("server %d was not killed, and died: %v", i, a.err)
			}
		}
		crew[victim].kill()
		crew[victim] = spawn(t, dir, env)
		return answers
	}

	// Starts: half of them under one name.
	started := map[string]string{} // acknowledged: id → name
	for range sessions {
		for i, a := range race(func(i int) object {
			return object{"action": "start", "objective": fmt.Sprintf("Build service %d", i/2)}
		}) {
			switch {
			case a.err != nil:
			case a.refused:
				t.Fatalf("server %d: start is refused: %v", i, a.reply)
			default:
				started[a.reply["session_id"].(string)] = a.reply["task_name"].(string)
			}
		}
	}
	names := map[string]string{}
	for id, name := range started {
		if names[name] != "" {
			t.Errorf("%s and %s are both %s", names[name], id, name)
		}
		names[name] = id
	}

	// Transitions: each is raced for until one call is known to have won it.
	steps := []struct {
		place string
		args  object
	}{
		{"po/awaiting_confirmation", object{"action": "submit", "stage": "po", "claude_result": "# P\nQuality Score: 95/100"}},
		{"po/refining", object{"action": "confirm", "confirmed": false, "feedback": "more"}},
		{"po/awaiting_confirmation", object{"action": "submit", "stage": "po", "claude_result": "# P2\nQuality Score: 96/100"}},
		{"architect/generating", object{"action": "confirm", "stage": "po"}},
		{"architect/awaiting_confirmation", object{"action": "submit", "stage": "architect", "claude_result": "# A\nQuality Score: 95/100"}},
		{"sm/generating", object{"action": "confirm"}},
		{"sm/awaiting_approval", object{"action": "submit", "stage": "sm", "claude_result": "## Sprint 1: one"}},
		{"dev/generating", object{"action": "approve", "approved": true}},
		{"review/generating", object{"action": "submit", "stage": "dev", "codex_result": "# D"}},
		{"qa/generating", object{"action": "submit", "stage": "review", "codex_result": passedReport}},
		{"qa/completed", object{"action": "submit", "stage": "qa", "codex_result": passedReport}},
	}
	acknowledged := map[string][]string{} // session → places, in order
	ids := make([]string, 0, sessions)
	for id := range started {
		if ids = append(ids, id); len(ids) == sessions {
			break
		}
	}
	for _, id := range ids {
		for _, step := range steps {
			step.args["session_id"] = id
			if step.args["stage"] == "dev" {
				if err := os.WriteFile(filepath.Join(dir, id+".txt"), []byte("built"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if action := step.args["action"]; action == "confirm" || action == "approve" {
				for _, p := range crew { // a decision is for the draft as shown
					if _, refused, err := p.task(object{"action": "status", "session_id": id}); refused || err != nil {
						t.Fatal(refused, err)
					}
				}
			}
			won := 0
			for i, a := range race(func(int) object { return step.args }) {
				switch {
				case a.err != nil: // killed: it may have won unheard
				case !a.refused:
					won++
					acknowledged[id] = append(acknowledged[id], step.place)
					if got := fmt.Sprint(a.reply["stage"], "/", a.reply["state"]); got != step.place {
						t.Fatalf("%v leads to %s, want %s", step.args, got, step.place)
					}
				default:
					place := fmt.Sprint(a.reply["current_stage"], "/", a.reply["current_state"])
					if a.reply["code"] != "conflict" || place != step.place || !strings.Contains(a.reply["error"].(string), step.place) || a.reply["revision"] == nil {
						t.Errorf("server %d lost the race to %s and is told %v", i, step.place, a.reply)
					}
				}
			}
			if won > 1 {
				t.Fatalf("%d calls won the race to %s", won, step.place)
			}
		}
	}

	// The disk has everything that was acknowledged, before anything is repaired.
	mapping := readMapping(t, dir)
	for id, name := range started {
		data, err := os.ReadFile(filepath.Join(dir, ".bmad-task", "session-"+id+".json"))
		if err != nil {
			t.Fatalf("an acknowledged session is lost: %v", err)
		}
		var s struct {
			TaskName string `json:"task_name"`
			Revision int    `json:"revision"`
			History  []struct {
				From string `json:"from"`
				To   string `json:"to"`
			} `json:"history"`
		}
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatal(err)
		}
		if s.TaskName != name || mapping[id] != name {
			t.Errorf("%s was acknowledged as %q, is stored as %q and mapped as %q", id, name, s.TaskName, mapping[id])
		}
		if s.Revision != len(s.History) {
			t.Errorf("%s has revision %d and %d transitions", name, s.Revision, len(s.History))
		}
		places := make([]string, len(s.History))
		for i, e := range s.History {
			places[i] = e.To
			if i > 0 && e.From != s.History[i-1].To {
				t.Errorf("%s goes from %s, where it was not", name, e.From)
			}
		}
		if want := acknowledged[id]; want != nil && len(places) != len(steps)+1 {
			t.Errorf("%s went through %v; acknowledged were %v", name, places, want)
		}
	}
	if out, err := exec.Command(binary, "doctor", "--fix", "--cwd", dir).CombinedOutput(); err != nil {
		t.Errorf("doctor --fix: %v\n%s", err, out)
	}
	if died == 0 {
		t.Error("no call died with its server: the kills came too late to show anything")
	}
	t.Logf("%d starts, %d races, %d kills, %d of them under a call that was never answered", len(started), len(steps)*len(ids), kills, died)
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
