package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang/langtest"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/method/methodtest"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/intake"
)

func TestMain(m *testing.M) {
	commands := map[string]func(){
		"bmad-mcp": func() {
			if os.Getenv("SCRIPT_WORKER") != "" {
				_ = os.Unsetenv("SCRIPT_WORKER") // what it starts is no worker
				serveCalls(os.Stdin, os.Stdout)
				return
			}
			os.Exit(cli.Run(scriptProgram(terminal.New(os.Stdin, os.Stdout, os.Stderr)), os.Args[1:], os.Stdin))
		},
		"stand-in":    standIn,
		"on-terminal": onTerminal,
	}
	leave := func() {}
	if commands[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")] == nil {
		scratch.Parallel(6)     // many wait for a program that waits for a reader
		leave = scratch.Enter() // before the copies of the program are made
	}
	testscript.Main(entered{m, leave}, commands)
}

// onTerminal runs the program of its arguments with the terminal as standard output, and ends with that program's code. The
// reader of the terminal closes it when the program has ended, and may not have read the last 12 kB, which fit into it. The
// blanks at the end do not fit into it before the rest has been read.
func onTerminal() {
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "on-terminal:", err)
		os.Exit(125)
	}
	c := exec.Command(os.Args[1], os.Args[2:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, tty, os.Stderr
	err = c.Run()
	if c.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "on-terminal:", err)
		os.Exit(125)
	}
	fmt.Fprintf(tty, "%20000s\n", "")
	os.Exit(c.ProcessState.ExitCode())
}

// scriptProgram returns the program as scripts run it: it acts for the person that the script names by its variables, and for
// nobody that is known without them.
func scriptProgram(at *terminal.Terminal) *app.App {
	a := app.New(at)
	a.Who = func(string) workflow.Person {
		return workflow.Person{Subject: os.Getenv("SCRIPT_SUBJECT"), Name: os.Getenv("SCRIPT_NAME")}
	}
	a.Terminal.Err = &wordsOfTheTool{out: a.Terminal.Err}
	return a
}

// toolWords matches words of the tool, which a person at a terminal cannot type.
var toolWords = regexp.MustCompile(`session_id|(claude|codex)_result|role_prompt|next_call|pass (its )?cwd|^(bmad-mcp: )?cwd |\bcall (status|answer|confirm|approve|submit)|arg\(s\)|confirmed (true|false)|confirmed: `)

// wordsOfTheTool is standard error of a script's program. It notes the refusals that speak of the tool.
type wordsOfTheTool struct{ out io.Writer }

func (w *wordsOfTheTool) Write(p []byte) (int, error) {
	if name := os.Getenv("TOOL_WORDS"); name != "" {
		for line := range strings.Lines(string(p)) {
			if !toolWords.MatchString(line) || !strings.HasPrefix(line, "bmad-mcp: ") && !strings.Contains(line, "what to do: ") {
				continue
			}
			f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return 0, err
			}
			fmt.Fprintf(f, "%q: %s", os.Args[1:], line)
			if err := f.Close(); err != nil {
				return 0, err
			}
		}
	}
	return w.out.Write(p)
}

// entered runs the tests with their folders in memory, except those of scripts: some of these
// judge folders.
type entered struct {
	m     *testing.M
	leave func()
}

func (e entered) Run() int {
	defer e.leave()
	defer pgtest.Stop()
	return e.m.Run()
}

// postgres makes an empty database, which BMAD_STORE names; without PostgreSQL the script is skipped.
func postgres(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: postgres")
	}
	address, err := pgtest.Fresh()
	ts.Check(err)
	ts.Setenv("BMAD_STORE", address)
}

// hasPostgres is the condition of scripts that need PostgreSQL.
func hasPostgres(condition string) (bool, error) {
	if condition != "postgres" {
		return false, fmt.Errorf("unknown condition %q", condition)
	}
	_, err := pgtest.Fresh()
	if errors.Is(err, exec.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// layout NAME DIR puts an installation of the method into a folder.
func layout(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: layout NAME DIR")
	}
	a, err := txtar.ParseFile(layouts(args[0]))
	ts.Check(err)
	ts.Check(txtar.Write(a, ts.MkAbs(args[1])))
}

// chinese fails if the output of the last program, or its standard error, has a sentence in English
// that is not from the drafts of the project.
func chinese(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: chinese")
	}
	var own []string
	names, err := filepath.Glob(filepath.Join(ts.MkAbs("drafts"), "*"))
	ts.Check(err)
	for _, name := range names {
		own = append(own, ts.ReadFile(name))
	}
	output := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	if found := langtest.English(output, own...); len(found) > 0 {
		ts.Fatalf("English sentences: %q\nin:\n%s", found, output)
	}
	if !strings.ContainsFunc(output, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		ts.Fatalf("no Chinese:\n%s", output)
	}
}

// styles matches what colours a line, or hides the cursor.
var styles = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// fits COLUMNS fails if a line on the terminal of the last program is wider, unless it is a command to copy, or one
// long word in the last place of a line.
func fits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fits COLUMNS")
	}
	columns, err := strconv.Atoi(args[0])
	ts.Check(err)
	lines := 0
	for line := range strings.SplitSeq(styles.ReplaceAllString(ts.ReadFile("ttyout"), ""), "\n") {
		line = strings.TrimRight(line, "\r ")
		words := strings.Fields(line)
		if lines++; len(words) > 1 && !strings.HasPrefix(strings.TrimSpace(line), "bmad-mcp ") && visible.Columns(line) > columns {
			ts.Fatalf("%d columns: %s", visible.Columns(line), line)
		}
	}
	if lines < 20 {
		ts.Fatalf("only %d lines", lines)
	}
}

// layouts returns the folder of an installation of the method.
func layouts(name string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "method", "catalog", "testdata", "layouts", name+".txtar")
}

// registry NAME VERSION DIR starts a registry of npm with one package, the files of a folder.
func registry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: registry NAME VERSION DIR")
	}
	packed := new(bytes.Buffer)
	compressed := gzip.NewWriter(packed)
	w := tar.NewWriter(compressed)
	root := ts.MkAbs(args[2])
	ts.Check(filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(root, name)
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: "package/" + filepath.ToSlash(rel), Mode: 0o644, Size: int64(len(data))}))
		_, writeErr := w.Write(data)
		return errors.Join(err, writeErr)
	}))
	ts.Check(errors.Join(w.Close(), compressed.Close()))
	r := methodtest.StartRegistry()
	ts.Defer(r.Close)
	r.Publish(args[0], args[1], packed.Bytes())
	ts.Setenv("npm_config_registry", r.URL)
}

// setUpScript gives a script a home of its own, and submissions in its project.
func setUpScript(env *testscript.Env) error {
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("WORKPATH", (&url.URL{Path: filepath.ToSlash(env.WorkDir)}).EscapedPath())
	env.Setenv("TZ", "UTC")
	env.Setenv("GOGC", os.Getenv("GOGC"))
	if err := os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o750); err != nil {
		return err
	}
	// Submissions stand in the scripts' project, as paths must be inside it.
	return copySubmissions("webhook-relay", filepath.Join(env.WorkDir, "project", "drafts"))
}

// submissions NAME DIR puts the documents of a sample run into a folder.
func submissions(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: submissions NAME DIR")
	}
	ts.Check(copySubmissions(args[0], ts.MkAbs(args[1])))
}

// demoDocuments DIR puts the documents of the demo into a folder.
func demoDocuments(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: demo DIR")
	}
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o750))
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(filepath.Join("cmd", "start", "demo"))))
}

// six has the runs that follow go through six stages, which stay as they are when a built-in workflow changes.
func six(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: six")
	}
	ts.Check(os.CopyFS(ts.Getenv("XDG_CONFIG_HOME"), os.DirFS(filepath.Join("..", "..", "testdata", "person"))))
	ts.Setenv("BMAD_WORKFLOW", "six")
}

func copySubmissions(name, to string) error {
	from := filepath.Join("..", "..", "testdata", "submissions", name)
	if err := os.MkdirAll(to, 0o750); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	build, _ := workflow.Default().Stage(workflow.Dev)
	reports, err := filepath.Glob(filepath.Join(from, "*-dev-*.md"))
	for _, report := range reports {
		text, readErr := os.ReadFile(report)
		err = errors.Join(err, readErr)
		for _, name := range intake.Read(build, string(text)).Files { // what the reports say was built
			at := filepath.Join(filepath.Dir(to), filepath.FromSlash(name))
			err = errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o750), os.WriteFile(at, nil, 0o600))
		}
	}
	return err
}

// scripts is the folder of the scripts.
var scripts = filepath.Join("..", "..", "testdata", "script")

// TestScripts runs testdata/script/*.txtar against the program. -update rewrites the expected output. No refusal speaks of
// the tool.
func TestScripts(t *testing.T) {
	words := filepath.Join(t.TempDir(), "words")
	t.Parallel()       // beside the demos, which wait as a person does
	t.Cleanup(func() { // the scripts run beside each other, and after this function
		if said, err := os.ReadFile(words); err == nil {
			t.Errorf("refusals at a terminal speak of the tool:\n%s", said)
		}
	})
	testscript.Run(t, testscript.Params{
		Dir:           scripts,
		WorkdirRoot:   scratch.Dir(t),
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"bmad": bmad, "card": card, "layout": layout, "submissions": submissions, "demo": demoDocuments, "chinese": chinese, "model": model,
			"registry": registry, "idof": idof, "nokey": nokey, "fits": fits, "six": six, "postgres": postgres, "state": state(t),
		},
		Condition: hasPostgres,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TOOL_WORDS", words)
			if err := setUpScript(env); err != nil {
				return err
			}
			giveWorker(env)
			return nil
		},
	})
}
