//go:build linux

package fleettest_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// lease is the time for which a worker of these tests has a run, and patience the longest wait for a thing that has to
// happen.
const (
	lease    = 3 * time.Second
	patience = 5 * time.Minute
	pause    = 100 * time.Millisecond
)

// remote is the address of the project's remote, which stands in the folder remotes of the fleet.
const remote = "git@git.example.com:team/relay.git"

// fleet is a database, a remote, and machines that share them.
type fleet struct {
	t       testing.TB
	root    string
	address string // of the database
	bill    string // the file
	// desk is the machine of the person who queues runs and looks, colleague that of another one.
	desk, colleague *machine
	// gated has the runs that wait for a person, with the number of decisions that were acknowledged.
	gated map[string]int

	mu      sync.Mutex
	workers []*worker
	names   int // of runs
	boxes   []*machine
}

// newFleet returns a fleet with an empty database, in which the tables are.
func newFleet(t testing.TB) *fleet {
	t.Helper()
	return fleetAt(t, pgtest.New(t))
}

// fleetAt is newFleet with the address of an empty database.
func fleetAt(t testing.TB, address string) *fleet {
	t.Helper()
	f := bareFleet(t, address)
	f.desk = f.machine("desk")
	f.desk.does(0, "store", "migrate")
	f.colleague = f.machine("colleague")
	return f
}

// bareFleet makes the programs, the remote and the bill.
func bareFleet(t testing.TB, address string) *fleet {
	t.Helper()
	f := &fleet{t: t, root: scratch.Dir(t), address: address, gated: map[string]int{}}
	f.bill = filepath.Join(f.root, "bill")
	self, err := os.Executable()
	must(t, err)
	program := builtProgram()
	if program == "" {
		program = self
	}
	bin := filepath.Join(f.root, "bin")
	must(t, os.MkdirAll(bin, 0o755))
	must(t, os.Symlink(program, filepath.Join(bin, "bmad-mcp")))
	must(t, os.Symlink(self, filepath.Join(bin, "claude")))
	// Stands in for ssh, and finds the remote on this machine.
	ssh := "#!/bin/sh\nfor last; do :; done\ncd " + filepath.Join(f.root, "remotes") + " && exec sh -c \"$last\"\n"
	must(t, os.WriteFile(filepath.Join(bin, "near-ssh"), []byte(ssh), 0o700))
	f.seed()
	t.Cleanup(f.close)
	return f
}

// seed makes the remote, with one commit.
func (f *fleet) seed() {
	bare, first := f.remoteFolder(), filepath.Join(f.root, "first")
	must(f.t, os.MkdirAll(first, 0o755))
	must(f.t, os.WriteFile(filepath.Join(first, "README.md"), []byte("# Relay\n"), 0o600))
	f.git(f.root, "init", "-q", "--bare", "-b", "main", bare)
	f.git(first, "init", "-q", "-b", "main")
	f.git(first, "add", ".")
	f.git(first, "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-qm", "begin")
	f.git(first, "push", "-q", bare, "main")
}

func (f *fleet) remoteFolder() string { return filepath.Join(f.root, "remotes", "team", "relay.git") }

// git runs git, and returns its output without the last line break.
func (f *fleet) git(dir string, args ...string) string {
	f.t.Helper()
	out, err := f.tryGit(dir, args...)
	if err != nil {
		f.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (f *fleet) tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_SSH_COMMAND="+filepath.Join(f.root, "bin", "near-ssh"), "GIT_SSH_VARIANT=ssh", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	return strings.TrimRight(string(out), "\n"), err
}

// close ends the workers, and shows what they said if the test has failed.
func (f *fleet) close() {
	f.mu.Lock()
	workers := slices.Clone(f.workers)
	f.mu.Unlock()
	for _, w := range workers {
		w.kill()
	}
	for _, e := range f.readBill() {
		if isEngine(e.PID) {
			_ = killProcess(e.PID)
		}
	}
	if f.t.Failed() {
		f.showLogs(workers)
	}
}

// showLogs shows the ends of the workers' logs.
func (f *fleet) showLogs(workers []*worker) {
	const most, lines = 8, 25
	for _, w := range workers[max(0, len(workers)-most):] {
		text := strings.Split(strings.TrimSpace(w.said()), "\n")
		f.t.Logf("%s, %s:\n%s", w.name, w.state(), strings.Join(text[max(0, len(text)-lines):], "\n"))
	}
	if f.address != "" && f.desk != nil {
		f.t.Logf("the queue:\n%s", f.desk.try("queue").out)
	}
}

// machine is a computer of a fleet: a home and a folder of clones.
type machine struct {
	f             *fleet
	name, folder  string
	clones, clone string
	env           []string
	// before stands before each command, for example to enter a network. program is the path of another program than the
	// fleet's.
	before  []string
	program string
}

// machine makes a machine with a clone of the project.
func (f *fleet) machine(name string, env ...string) *machine {
	f.t.Helper()
	m := f.bareMachine(name, env...)
	f.git(m.clones, "clone", "-q", remote, "relay")
	return m
}

// bareMachine makes a machine without a clone.
func (f *fleet) bareMachine(name string, env ...string) *machine {
	f.t.Helper()
	m := &machine{f: f, name: name, folder: filepath.Join(f.root, name)}
	m.clones = filepath.Join(m.folder, "clones")
	m.clone = filepath.Join(m.clones, "relay")
	home := filepath.Join(m.folder, "home")
	for _, dir := range []string{m.clones, home, filepath.Join(m.folder, "tmp")} {
		must(f.t, os.MkdirAll(dir, 0o755))
	}
	must(f.t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = "+name+"\n\temail = "+name+"@example.org\n"), 0o600))
	bin := filepath.Join(f.root, "bin")
	m.env = append([]string{
		"PATH=" + bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + filepath.Join(m.folder, "tmp"), "LANG=C.UTF-8", "TZ=UTC",
		"XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"GIT_SSH_COMMAND=" + filepath.Join(bin, "near-ssh"), "GIT_SSH_VARIANT=ssh",
		"BMAD_STORE=" + f.address, "BMAD_AUDIT_FLOOR=0", "BMAD_PO_GATE_SCORE=10", "BMAD_ARCHITECT_GATE_SCORE=10", billVariable + "=" + f.bill, takesVariable + "=300ms",
	}, env...)
	return m
}

// said is what a command printed, and the code that it ended with.
type said struct {
	out, errOut string
	code        int
}

// try runs the program in the clone.
func (m *machine) try(args ...string) said {
	m.f.t.Helper()
	cmd := m.command(args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.f.t.Fatal(err)
	}
	return said{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// does runs the program, which has to end with a code, and returns its output.
func (m *machine) does(code int, args ...string) string {
	m.f.t.Helper()
	s := m.try(args...)
	if s.code != code {
		m.f.t.Fatalf("bmad-mcp %s on %s: exit %d, want %d\n%s%s", strings.Join(args, " "), m.name, s.code, code, s.out, s.errOut)
	}
	return s.out
}

// command prepares the program.
func (m *machine) command(args ...string) *exec.Cmd {
	program := cmp.Or(m.program, filepath.Join(m.f.root, "bin", "bmad-mcp"))
	line := append(append(slices.Clone(m.before), program), args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = m.clone, m.env
	if _, err := os.Stat(m.clone); err != nil {
		cmd.Dir = m.clones
	}
	return cmd
}

// queueRuns queues more runs of the workflow quick, and returns their names.
func (f *fleet) queueRuns(count int, flags ...string) (tasks []string) {
	f.t.Helper()
	for range count {
		f.names++
		task := fmt.Sprintf("part-%03d", f.names)
		args := append([]string{"run", "--queue", "--workflow", "quick", "--engine", "claude", "--name", task, "--json"}, flags...)
		f.desk.does(0, append(args, "Build "+task+" of the relay")...)
		tasks = append(tasks, task)
	}
	return tasks
}

// queueMixed queues runs of which every second one waits for a person at its gate.
func (f *fleet) queueMixed(count int) (tasks []string) {
	f.t.Helper()
	for i := range count {
		if i%2 == 0 {
			tasks = append(tasks, f.queueRuns(1, "--yes")...)
			continue
		}
		tasks = append(tasks, f.queueGated())
	}
	return tasks
}

// queueGated queues a run that waits for a person at its gate.
func (f *fleet) queueGated() (task string) {
	f.t.Helper()
	task = f.queueRuns(1)[0]
	f.gated[task] = 0
	return task
}

// queued is a run in the queue.
type queued struct {
	Task    string `json:"task_name"`
	Session string `json:"session_id"`
	State   string `json:"state"`
	Worker  string `json:"worker"`
	// Calls are the paid calls and Lost the lost workers, as the program counts them.
	Calls int `json:"calls"`
	Lost  int `json:"workers_lost"`
	// Why says why the run is in its state.
	Why string `json:"why"`
}

// queue reads the queue, by the names of the runs.
func (f *fleet) queue() map[string]queued {
	f.t.Helper()
	text := f.desk.does(0, "queue", "--json")
	runs, err := parseQueue([]byte(text))
	if err != nil {
		f.t.Fatalf("%v:\n%s", err, text)
	}
	return runs
}

// parseQueue reads the output of queue --json.
func parseQueue(text []byte) (map[string]queued, error) {
	var list struct{ Runs []queued }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	out := map[string]queued{}
	for _, q := range list.Runs {
		out[q.Task] = q
	}
	return out, nil
}

// waitFor waits until runs have one of some states, separated by blanks. Meanwhile it decides as the person does.
func (f *fleet) waitFor(states string, tasks ...string) {
	f.t.Helper()
	var last string
	f.eventually("runs that are "+states, func() bool {
		runs, others := f.queue(), map[string]int{}
		f.decide(runs)
		for _, task := range tasks {
			state := runs[task].State
			if slices.Contains(strings.Fields(states), state) {
				continue
			}
			if others[state]++; state == "failed" { // and stays so
				f.t.Fatalf("%s is not %s but failed: %s", task, states, runs[task].Why)
			}
		}
		last = fmt.Sprint(others)
		return len(others) == 0
	}, func() string { return last })
}

// eventually waits for a condition. what says which, and why what is the case in its place.
func (f *fleet) eventually(what string, holds func() bool, why ...func() string) {
	f.t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(pause) {
		if time.Now().After(end) {
			text := ""
			for _, w := range why {
				text += ": " + w()
			}
			f.t.Fatalf("waited in vain for %s%s", what, text)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
