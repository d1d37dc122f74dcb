//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
)

// runDesk is a dashboard in a process of its own, with a project in git and a stand-in for Claude Code.
type runDesk struct {
	t                  *testing.T
	dir, project, copy string
	env                []string
	program            *exec.Cmd
	origin, address    string
	cookies            []*http.Cookie
	key                string
	id                 string // of the project
}

// slow is a stand-in that works until it is ended if the file slow is there, and says before what it does.
const slow = `#!/bin/sh
if [ -e "$STANDIN/slow" ]; then
	cat >/dev/null
	echo '{"type":"system","subtype":"init","session_id":"68e9c203-c4b8-4ca7-a938-075b545d84ec","model":"claude-sonnet-5-5"}'
	echo '{"type":"assistant","message":{"id":"m1","model":"claude-sonnet-5-5","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"README.md"}}],"usage":{"input_tokens":1000,"output_tokens":10}}}'
	exec sleep 600
fi
exec stand-in "$@"
`

// openRunDesk starts a dashboard, and pairs a browser with it.
func openRunDesk(t *testing.T) *runDesk {
	t.Helper()
	program, err := exec.LookPath("bmad-mcp")
	if err != nil {
		t.Skip("SKIPPED: the program is not in the path; TestMain puts it there")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed")
	}
	d := &runDesk{t: t, dir: t.TempDir()}
	d.project, d.copy = filepath.Join(d.dir, "todo"), filepath.Join(d.dir, "own", "bmad-mcp")
	d.put("bin/claude", slow)
	d.put("todo/README.md", "# A to-do list\n")
	for from, to := range map[string]string{filepath.Join("cmd", "start", "demo"): "standin", filepath.Join("..", "..", "testdata", "person"): ".config"} {
		if err := os.CopyFS(filepath.Join(d.dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(program)
	if err == nil {
		d.put("own/bmad-mcp", string(data))
		err = os.Mkdir(filepath.Join(d.dir, "home"), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.env = append(os.Environ(), "HOME="+filepath.Join(d.dir, "home"), "XDG_STATE_HOME="+filepath.Join(d.dir, ".state"), "XDG_CONFIG_HOME="+filepath.Join(d.dir, ".config"),
		"XDG_CACHE_HOME="+filepath.Join(d.dir, ".cache"), "PATH="+filepath.Join(d.dir, "bin")+":"+os.Getenv("PATH"), "STANDIN="+filepath.Join(d.dir, "standin"),
		"TMPDIR="+d.dir, "BMAD_WORKFLOW=six", "SCRIPT_WORKER=", "ANTHROPIC_API_KEY=", "OPENAI_API_KEY=", "CLAUDECODE=")
	d.git("init", "-q")
	d.git("add", "-A")
	d.git("-c", "user.name=Pat", "-c", "user.email=pat@example.org", "commit", "-q", "-m", "first")
	d.serve()
	t.Cleanup(func() {
		_ = os.Remove(filepath.Join(d.dir, "standin", "slow"))
		d.end()
	})
	return d
}

func (d *runDesk) put(name, text string) {
	d.t.Helper()
	at := filepath.Join(d.dir, name)
	err := os.MkdirAll(filepath.Dir(at), 0o700)
	if err == nil {
		err = os.WriteFile(at, []byte(text), 0o700)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *runDesk) git(args ...string) {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), "git", append([]string{"-C", d.project}, args...)...)
	cmd.Env = d.env
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// serve starts the dashboard with flags, enters it, and pairs if it can.
func (d *runDesk) serve(flags ...string) {
	d.t.Helper()
	d.program = exec.Command(d.copy, append([]string{"--cwd", d.project, "dashboard", "--no-open", "--root", d.project}, flags...)...)
	d.program.Env, d.program.Stderr = d.env, os.Stderr
	out, err := d.program.StdoutPipe()
	if err == nil {
		err = d.program.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_, d.address, _ = strings.Cut(strings.TrimSpace(line), " at ")
	at, err := url.Parse(d.address)
	if err != nil || at.Host == "" {
		d.t.Fatalf("%q: %v", line, err)
	}
	d.origin, d.cookies, d.key = "http://"+at.Host, nil, ""
	_, _, res := d.ask("POST", "/enter", map[string]string{"secret": strings.TrimPrefix(at.Fragment, "k=")})
	d.cookies = res.Cookies()
	_, page, _ := d.ask("GET", "/pair", nil)
	if found := regexp.MustCompile(`data-code="([^"]+)"`).FindStringSubmatch(page); found != nil {
		code := strings.ReplaceAll(found[1], "-", "")
		if _, err := pairing.Approve(filepath.Join(d.dir, ".state", "bmad-mcp"), code, time.Now()); err != nil {
			d.t.Fatal(err)
		}
		_, said, _ := d.ask("POST", "/pair/claim", map[string]string{"code": found[1]})
		var given struct{ Key string }
		if err := json.Unmarshal([]byte(said), &given); err != nil || given.Key == "" {
			d.t.Fatalf("no key: %s", said)
		}
		d.key = given.Key
	}
}

// end ends the dashboard.
func (d *runDesk) end() {
	_ = d.program.Process.Signal(os.Interrupt)
	_ = d.program.Wait()
}

// ask sends a request as the script of a page does.
func (d *runDesk) ask(method, path string, body any) (status int, said string, res *http.Response) {
	d.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(d.t.Context(), method, strings.Replace(d.origin, "localhost", "127.0.0.1", 1)+path, bytes.NewReader(data))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Host = strings.TrimPrefix(d.origin, "http://")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept-Language", "en")
	if method != http.MethodGet {
		r.Header.Set("Origin", d.origin)
	}
	if d.key != "" {
		r.Header.Set("Authorization", "Bearer "+d.key)
	}
	for _, c := range d.cookies {
		r.AddCookie(c)
	}
	if res, err = http.DefaultClient.Do(r); err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return res.StatusCode, string(text), res
}

// form reads a page with a form, and returns the nonce for it once a person could have read it.
func (d *runDesk) form(path string) (nonce string) {
	d.t.Helper()
	_, page, _ := d.ask("GET", path, nil)
	for _, pattern := range []string{`id="begins"[^>]* data-nonce="([^"]+)"`, `id="steers"[^>]* data-nonce="([^"]+)"`} {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(page); found != nil {
			nonce = found[1]
		}
	}
	if found := regexp.MustCompile(`data-project="([^"]+)"`).FindStringSubmatch(page); found != nil {
		d.id = found[1]
	}
	time.Sleep(1100 * time.Millisecond)
	return nonce
}

// wish returns the body for a new run.
func (d *runDesk) wish(nonce, objective string, more ...string) map[string]string {
	out := map[string]string{"objective": objective, "workflow": "", "engine": "", "model": "", "budget": "5", "project": d.id, "nonce": nonce}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// live waits until the facts of a run that change hold.
func (d *runDesk) live(run, want string) (said string) {
	d.t.Helper()
	for range 600 {
		if _, said, _ = d.ask("GET", run+"live", nil); strings.Contains(said, want) {
			return said
		}
		time.Sleep(50 * time.Millisecond)
	}
	d.t.Fatalf("the run does not come to %q: %s", want, said)
	return ""
}

// TestRefusedStarts: what a terminal refuses is refused on the page, in the same words, and leaves nothing behind.
func TestRefusedStarts(t *testing.T) {
	t.Parallel()
	d := openRunDesk(t)
	nonce := d.form("/new")
	if nonce == "" || d.id == "" {
		t.Fatal("the page has no form")
	}
	before := scratch.Look(t, d.project)
	for name, tt := range map[string]struct {
		body map[string]string
		want string
	}{
		"no objective":        {d.wish(nonce, ""), "the objective is missing"},
		"blanks":              {d.wish(nonce, " \n\t"), "the objective is missing"},
		"a long objective":    {d.wish(nonce, strings.Repeat("x", 8001)), "objective has 8001 bytes"},
		"a NUL":               {d.wish(nonce, "a\x00b"), "NUL"},
		"a workflow":          {d.wish(nonce, "Build it", "workflow", "nope"), `nope`},
		"a workflow as flag":  {d.wish(nonce, "Build it", "workflow", "--yes"), `--yes`},
		"an engine":           {d.wish(nonce, "Build it", "engine", "cluade"), `did you mean claude?`},
		"an engine as flag":   {d.wish(nonce, "Build it", "engine", "--allow-dirty"), `--allow-dirty`},
		"an engine not here":  {d.wish(nonce, "Build it", "engine", "api"), "set ANTHROPIC_API_KEY"},
		"a model":             {d.wish(nonce, "Build it", "model", "llama3"), `the price of the model "llama3" is not known`},
		"a budget in words":   {d.wish(nonce, "Build it", "budget", "abc"), `--budget "abc" is not an amount`},
		"a negative budget":   {d.wish(nonce, "Build it", "budget", "-1"), `--budget "-1" is not an amount`},
		"NaN":                 {d.wish(nonce, "Build it", "budget", "NaN"), `--budget "NaN" is not an amount`},
		"infinity":            {d.wish(nonce, "Build it", "budget", "1e999"), "is not an amount"},
		"nothing":             {d.wish(nonce, "Build it", "budget", "0"), "is not an amount"},
		"another project":     {d.wish(nonce, "Build it", "project", "0123456789"), "no project has the id"},
		"a folder":            {d.wish(nonce, "Build it", "project", "/etc"), "no project has the id"},
		"an unknown key":      {d.wish(nonce, "Build it", "resume", "x"), "cannot be read"},
		"another nonce":       {d.wish("x", "Build it"), "not the one that was shown"},
		"no nonce":            {d.wish("", "Build it"), "not the one that was shown"},
		"a budget, and a run": {d.wish(nonce, "Build it", "budget", "5 --yes"), "is not an amount"},
	} {
		if status, said, _ := d.ask("POST", "/new", tt.body); status < 400 || !strings.Contains(strings.ReplaceAll(said, `\"`, `"`), tt.want) {
			t.Errorf("%s: %d %s, want %q", name, status, said, tt.want)
		}
	}
	key := d.key
	for name, given := range map[string]string{"the cookie alone": "", "another key": "x"} {
		d.key = given
		if status, said, _ := d.ask("POST", "/new", d.wish(nonce, "Build it")); status != http.StatusUnauthorized {
			t.Errorf("%s starts a run: %d %s", name, status, said)
		}
	}
	d.key = key
	if changes := before.Changes(scratch.Look(t, d.project)); len(changes) > 0 {
		t.Errorf("refusals left %q", changes)
	}
	d.put("todo/notes.txt", "not committed")
	if status, said, _ := d.ask("POST", "/new", d.wish(nonce, "Build it")); status < 400 || !strings.Contains(said, "changes that are not committed, such as notes.txt") {
		t.Errorf("a dirty tree: %d %s", status, said)
	}
	if logs, _ := filepath.Glob(filepath.Join(d.dir, ".state", "bmad-mcp", "dashboard", "runs", "*")); len(logs) > 0 {
		t.Errorf("refusals left the outputs %q", logs)
	}
	if _, err := os.Stat(filepath.Join(d.project, ".bmad-task")); err == nil {
		t.Error("a refusal has made a run")
	}

	// The program was replaced, and the project is gone.
	d.put("own/new", "#!/bin/sh\necho no >&2\nexit 1\n")
	if err := os.Rename(filepath.Join(d.dir, "own", "new"), d.copy); err != nil {
		t.Fatal(err)
	}
	if status, said, _ := d.ask("POST", "/new", d.wish(nonce, "Build it")); status != http.StatusConflict || !strings.Contains(said, "was replaced since") {
		t.Errorf("with another program: %d %s", status, said)
	}
	if err := os.RemoveAll(d.project); err != nil {
		t.Fatal(err)
	}
	if status, said, _ := d.ask("POST", "/new", d.wish(nonce, "Build it")); status < 400 {
		t.Errorf("without the project: %d %s", status, said)
	}
}

// TestStartedRun: a run that was started on a page outlives its dashboard; the next one finds it, shows what it does,
// stops it in order, and resumes it.
func TestStartedRun(t *testing.T) {
	t.Parallel()
	d := openRunDesk(t)
	d.put("standin/slow", "")
	nonce := d.form("/new")
	status, said, _ := d.ask("POST", "/new", d.wish(nonce, "-rf 待办事项 --yes"))
	var begun struct{ Href string }
	if err := json.Unmarshal([]byte(said), &begun); err != nil || status != http.StatusOK || !strings.Contains(begun.Href, "/r/") {
		t.Fatalf("%d %s", status, said)
	}
	if status, said, _ := d.ask("POST", "/new", d.wish(nonce, "Another")); status != http.StatusConflict || !strings.Contains(said, "sent already") {
		t.Errorf("pressed twice: %d %s", status, said)
	}
	if status, said, _ := d.ask("POST", "/new", d.wish(d.form("/new"), "Another")); status != http.StatusConflict || !strings.Contains(said, "nobody could separate") {
		t.Errorf("a second run in the project: %d %s", status, said)
	}
	d.live(begun.Href, "Read README.md")
	d.end()
	d.serve("--read-only")
	_, page, _ := d.ask("GET", begun.Href, nil)
	if !strings.Contains(page, "data-working") || strings.Contains(page, `id="steers"`) || !strings.Contains(page, "-rf 待办事项 --yes</h1>") {
		t.Errorf("the page that only shows: %s", page)
	}
	if _, page, _ := d.ask("GET", "/new", nil); strings.Contains(page, `id="begins"`) {
		t.Error("a page that only shows has a form")
	}
	if status, said, _ := d.ask("POST", begun.Href+"run", map[string]string{"act": "stop", "nonce": "x"}); status != http.StatusForbidden {
		t.Errorf("a page that only shows stops: %d %s", status, said)
	}
	d.end()
	d.serve()
	nonce = d.form(begun.Href)
	d.live(begun.Href, `"working":true`)
	stop := func(nonce string) (int, string) {
		status, said, _ := d.ask("POST", begun.Href+"run", map[string]string{"act": "stop", "nonce": nonce})
		return status, said
	}
	if status, said := stop(nonce); status != http.StatusOK {
		t.Fatalf("%d %s", status, said)
	}
	if status, said := stop(nonce); status != http.StatusConflict {
		t.Errorf("stopped twice: %d %s", status, said)
	}
	d.live(begun.Href, `"working":false`)
	if said := d.live(begun.Href, "已中断"); strings.Contains(said, "ended from outside") {
		t.Errorf("it did not end in order: %s", said)
	}
	if err := os.Remove(filepath.Join(d.dir, "standin", "slow")); err != nil {
		t.Fatal(err)
	}
	nonce = d.form(begun.Href)
	if status, said := stop(nonce); status != http.StatusConflict || !strings.Contains(said, "no process of this run is seen") {
		t.Errorf("a run at rest is stopped: %d %s", status, said)
	}
	for budget, want := range map[string]string{"abc": "不是美元金额", "-1": "不是美元金额"} {
		if status, said, _ := d.ask("POST", begun.Href+"run", map[string]string{"act": "resume", "nonce": nonce, "budget": budget}); status < 400 || !strings.Contains(said, want) {
			t.Errorf("resumed with %q: %d %s", budget, status, said)
		}
	}
	if status, said, _ := d.ask("POST", begun.Href+"run", map[string]string{"act": "cancel", "nonce": nonce}); status != http.StatusBadRequest {
		t.Errorf("another act: %d %s", status, said)
	}
	if status, said, _ := d.ask("POST", begun.Href+"run", map[string]string{"act": "resume", "nonce": nonce, "budget": "9"}); status != http.StatusOK {
		t.Fatalf("it is not resumed: %d %s", status, said)
	}
	d.live(begun.Href, "问题")
}

// TestOthersRuns: a run that a person has started in a terminal is stopped on its page, as by Ctrl+C.
func TestOthersRuns(t *testing.T) {
	t.Parallel()
	d := openRunDesk(t)
	d.put("standin/slow", "")
	run := exec.CommandContext(t.Context(), d.copy, "--cwd", d.project, "run", "--budget", "5", "Build a list")
	run.Env = d.env
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	d.form("/new")
	href := "/p/" + d.id + "/r/build-a-list/"
	d.live(href, "Read README.md")
	nonce := d.form(href)
	if status, said, _ := d.ask("POST", href+"run", map[string]string{"act": "stop", "nonce": nonce}); status != http.StatusOK {
		t.Fatalf("%d %s", status, said)
	}
	if err := <-ended; err == nil {
		t.Error("the run in the terminal was not ended")
	}
	if code := run.ProcessState.ExitCode(); code != 130 {
		t.Errorf("the run in the terminal ended with %d", code)
	}
}
