package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bmad-mcp/bmad-mcp/internal/cli"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

// worker is a process of a script that runs one command of the program after the other: most of the time of a short
// command is the start of its process. It has the variables of the script; where these change, another takes its place.
type worker struct {
	variables []string
	calls     *json.Encoder
	results   *json.Decoder
	stop      func() error
}

// workerKey is the key of a script's worker.
type workerKey struct{}

// call is one command for a worker, and called what became of it.
type (
	call struct {
		Folder string
		Args   []string
	}
	called struct {
		Out, Err string
		Code     int
	}
)

// giveWorker gives a script its worker, which starts at the first command.
func giveWorker(env *testscript.Env) {
	w := &worker{variables: env.Vars, stop: func() error { return nil }}
	env.Values[workerKey{}] = w
	env.Defer(func() {
		if err := w.stop(); err != nil {
			env.T().Fatal("the worker:", err)
		}
	})
}

// serveCalls is the process of a worker.
func serveCalls(in io.Reader, out io.Writer) {
	calls, results := json.NewDecoder(in), json.NewEncoder(out)
	os.Stdout = os.Stderr
	for {
		var c call
		if calls.Decode(&c) != nil {
			return
		}
		if err := os.Chdir(c.Folder); err != nil {
			panic(err)
		}
		os.Args = append(os.Args[:1], c.Args...)
		var stdout, stderr bytes.Buffer
		stdin := strings.NewReader("")
		code := cli.Run(scriptProgram(terminal.New(stdin, &stdout, &stderr)), c.Args, stdin)
		if err := results.Encode(called{stdout.String(), stderr.String(), code}); err != nil {
			panic(err)
		}
	}
}

// setsVariables matches a line of a script that sets variables, and assigned each of them.
var (
	setsVariables = regexp.MustCompile(`(?m)^(?:\[[^]]+\] )?env .*$`)
	assigned      = regexp.MustCompile(` (\w+)=`)
)

// variablesOf returns the variables as a script has them, by the names in its beginning and in its text.
func variablesOf(ts *testscript.TestScript, before []string) (out []string) {
	names := []string{"BMAD_WORKFLOW", "BMAD_STORE", "BMAD_BASE_URL", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"} // set by commands
	for _, pair := range before {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	text, err := os.ReadFile(filepath.Join(scripts, filepath.Base(ts.Name())+".txtar"))
	ts.Check(err)
	for _, line := range setsVariables.FindAllString(string(text), -1) {
		for _, found := range assigned.FindAllStringSubmatch(line, -1) {
			names = append(names, found[1])
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if value := ts.Getenv(name); value != "" || slices.ContainsFunc(before, func(pair string) bool { return strings.HasPrefix(pair, name+"=") }) {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// bmad ARGS is exec bmad-mcp ARGS by the worker of the script: nothing on standard input, no terminal.
func bmad(ts *testscript.TestScript, neg bool, args []string) {
	w := ts.Value(workerKey{}).(*worker)
	if now := variablesOf(ts, w.variables); w.calls == nil || !slices.Equal(now, w.variables) {
		ts.Check(w.stop())
		w.variables = now
		ts.Check(w.start())
	}
	var result called
	ts.Check(w.calls.Encode(call{ts.MkAbs("."), args}))
	ts.Check(w.results.Decode(&result))
	_, err := io.WriteString(ts.Stdout(), result.Out)
	ts.Check(err)
	_, err = io.WriteString(ts.Stderr(), result.Err)
	ts.Check(err)
	if neg != (result.Code != 0) {
		ts.Fatalf("exit code %d", result.Code)
	}
}

// start starts the process with the variables.
func (w *worker) start() error {
	cmd := exec.Command("bmad-mcp")
	cmd.Env = append(slices.Clone(w.variables), "SCRIPT_WORKER=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w.calls, w.results = json.NewEncoder(in), json.NewDecoder(out)
	w.stop = func() error {
		if err := in.Close(); err != nil {
			return err
		}
		return cmd.Wait()
	}
	return nil
}
