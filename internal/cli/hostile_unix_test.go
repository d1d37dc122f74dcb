//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/cli"
)

// hang is the time after which a command counts as waiting for ever.
const hang = 90 * time.Second

// world is a home and a project.
type world struct{ dir, project string }

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{dir: t.TempDir()}
	w.project = filepath.Join(w.dir, "project")
	for _, name := range []string{"home", "project"} {
		if err := os.Mkdir(filepath.Join(w.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// result is the output of a command, and its exit code.
type result struct {
	out  string
	code int
}

// output takes the writes of several goroutines.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

// run runs the program in the project, as the person whose home it is. One that hangs ends
// the test with the stacks of all goroutines: there is no other way to be rid of it.
func (w world) run(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	t.Chdir(w.project)
	for name, below := range map[string]string{"HOME": "home", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache"} {
		t.Setenv(name, filepath.Join(w.dir, below))
	}
	t.Setenv("CLAUDE_PROJECT_DIR", "")
	args = append([]string{"--cwd", w.project}, args...) // not a project above
	var out output
	done := make(chan int, 1)
	go func() { done <- cli.Main(args, strings.NewReader(stdin), &out, &out) }()
	select {
	case code := <-done:
		return result{out.buf.String(), code}
	case <-time.After(hang):
		debug.SetTraceback("all")
		panic(fmt.Sprintf("%s: bmad-mcp %s hangs", t.Name(), strings.Join(args, " ")))
	}
}

func (w world) must(t *testing.T, args ...string) {
	t.Helper()
	if r := w.run(t, "", args...); r.code != 0 {
		t.Fatalf("bmad-mcp %s: %d\n%s", strings.Join(args, " "), r.code, r.out)
	}
}

// copy returns another world with the same project. Its state is not copied: that knows
// the first project, in which a call would find its session.
func (w world) copy(t *testing.T) world {
	t.Helper()
	other := world{dir: t.TempDir()}
	other.project = filepath.Join(other.dir, "project")
	if err := errors.Join(os.CopyFS(other.project, os.DirFS(w.project)), os.Mkdir(filepath.Join(other.dir, "home"), 0o700)); err != nil {
		t.Fatal(err)
	}
	return other
}

// find returns the only path of the project that matches.
func (w world) find(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(w.project, filepath.FromSlash(pattern)))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bmad-task","arguments":{"action":"status"}}}
`

// calls are the commands that read the files of a project.
var calls = map[string][]string{
	"status":   {"task", "status"},
	"resume":   {"task", "resume", "stands"},
	"confirm":  {"task", "confirm", "stands"},
	"start":    {"task", "start", "another"},
	"doctor":   {"doctor"},
	"allow":    {"allow", "--list"},
	"sessions": {"status", "--all"},
	"show":     {"show", "stands"},
	"log":      {"log", "stands"},
	"diff":     {"diff", "stands", "--stage", "po"},
	"audit":    {"audit", ".claude/specs/stands/01-product-requirements.md"},
	"audit 2":  {"audit", "architecture.md", "--stage", "architect", "--from", ".claude/specs/stands"},
	"submit":   {"task", "submit", "stands", "--stage", "architect", "--claude-result-path", "draft.md"},
	"serve":    nil,
	"fix":      {"doctor", "--fix"},
}

// writing are the calls that change a project.
var writing = []string{"confirm", "start", "submit", "fix"}

// places are the files of a project that commands read; told lists the calls that have to name one.
var places = map[string]struct {
	path string
	told []string
}{
	"config":          {".claude/bmad-task.yaml", []string{"status", "start", "doctor", "allow", "serve"}},
	"mapping":         {".bmad-task/task-mapping.json", []string{"start", "doctor"}},
	"mapping part":    {".bmad-task/task-mapping-000001.json", []string{"doctor"}},
	"session":         {".bmad-task/session-*.json", []string{"status", "doctor", "sessions", "serve"}},
	"other session":   {".bmad-task/session-00000000-0000-4000-8000-000000000000.json", []string{"doctor", "sessions"}},
	"name":            {".bmad-task/names/stands", []string{"doctor"}},
	"other name":      {".bmad-task/names/another", []string{"start"}},
	"lock":            {".bmad-task/locks/x", []string{"doctor"}},
	"session lock":    {".bmad-task/locks/????????-*.lock", []string{"confirm", "doctor"}},
	"project lock":    {".bmad-task/locks/project.lock", []string{"start", "doctor"}},
	"ignore file":     {".bmad-task/.gitignore", nil},
	"prompt":          {".claude/bmad-prompts/po.md", []string{"start"}},
	"rubric":          {".claude/bmad-rubrics/po.yaml", []string{"allow", "doctor"}},
	"draft":           {".bmad-task/temp/*/architect_final_result_*.md", []string{"doctor"}},
	"artifact":        {".claude/specs/stands/01-product-requirements.md", []string{"audit", "audit 2"}},
	"next artifact":   {".claude/specs/stands/02-system-architecture.md", []string{"confirm"}},
	"document":        {"draft.md", []string{"submit"}},
	"installation":    {"_bmad/_config/manifest.yaml", nil},
	"older method":    {".bmad-core/core-config.yaml", nil},
	"state folder":    {".bmad-task", nil},
	"settings folder": {".claude", nil},
	"prompts folder":  {".claude/bmad-prompts", nil},
	"names folder":    {".bmad-task/names", nil},
	"locks folder":    {".bmad-task/locks", nil},
	"texts folder":    {".bmad-task/temp", nil},
	"specs folder":    {".claude/specs/stands", nil},
}

// kinds plant something in place of a file. word occurs in the error message; "" if the system
// has words of its own.
var kinds = map[string]struct {
	word  string
	plant func(t *testing.T, path string) error
}{
	"named pipe": {"named pipe", func(_ *testing.T, path string) error { return syscall.Mkfifo(path, 0o600) }},
	"socket": {"socket", func(t *testing.T, path string) error {
		short, err := os.MkdirTemp("", "s") //nolint:usetesting // the name of a socket is short
		if err != nil {
			return err
		}
		t.Cleanup(func() { _ = os.RemoveAll(short) })
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(short, "s"), Net: "unix"})
		if err != nil {
			return err
		}
		l.SetUnlinkOnClose(false)
		t.Cleanup(func() { _ = l.Close() })
		return os.Rename(filepath.Join(short, "s"), path)
	}},
	"link to a device": {"", func(_ *testing.T, path string) error { return os.Symlink("/dev/zero", path) }},
	"link to a pipe": {"", func(_ *testing.T, path string) error {
		if err := syscall.Mkfifo(path+".pipe", 0o600); err != nil {
			return err
		}
		return os.Symlink(filepath.Base(path)+".pipe", path)
	}},
	"loop of links": {"", func(_ *testing.T, path string) error { return os.Symlink(filepath.Base(path), path) }},
	"folder":        {"", func(_ *testing.T, path string) error { return os.Mkdir(path, 0o700) }},
	"sparse": {"", func(_ *testing.T, path string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Truncate(1<<30+1), f.Close())
	}},
	"unreadable": {"", func(_ *testing.T, path string) error { return os.WriteFile(path, []byte("x"), 0) }},
}

// TestHostileFiles puts other things in place of every file that is read in a project, and runs every
// command there. None may wait for ever, none may panic, and those that need the file name it and the
// way out.
func TestHostileFiles(t *testing.T) {
	template := newWorld(t)
	template.must(t, "task", "start", "stands")
	template.must(t, "task", "submit", "--stage", "po", "--claude-result", "# Requirements\n\nQuality Score: 95")
	template.must(t, "task", "confirm")
	template.must(t, "task", "submit", "--stage", "architect", "--claude-result", "# Architecture\n\nQuality Score: 95")
	for _, name := range []string{"draft.md", "architecture.md"} {
		if err := os.WriteFile(filepath.Join(template.project, name), []byte("# Architecture\n\nQuality Score: 95\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for place, p := range places {
		for kind, k := range kinds {
			t.Run(place+" is "+kind, func(t *testing.T) {
				if kind == "unreadable" && os.Getuid() == 0 {
					t.Skip("root reads everything")
				}
				var looked world // by calls that only look
				for call, args := range calls {
					named := slices.Contains(p.told, call)
					// If a pipe does not hold a call up, nothing does.
					if !named && kind != "named pipe" {
						continue
					}
					w := looked
					if writes := slices.Contains(writing, call); writes || w.dir == "" {
						if w = template.copy(t); !writes {
							looked = w
						}
					}
					if call == "submit" {
						w.must(t, "task", "confirm", "--confirmed=false", "--feedback", "again")
					}
					base := w.plant(t, p.path, k.plant)
					// Of a lock nothing is read unless somebody has it; and a folder can be in the
					// place of a document, which then is missing.
					silent := kind == "sparse" && strings.Contains(place, "lock")
					word := k.word
					if call == "submit" && kind == "sparse" { // of an argument its name is told
						base = "--claude-result-path"
					}
					if place == "name" { // whatever it is, doctor makes it anew
						word = ""
					}
					w.call(t, call, args, base, word, named && !silent)
				}
			})
		}
	}
}

// plant puts something in place of a file, and returns the name of that.
func (w world) plant(t *testing.T, name string, plant func(*testing.T, string) error) string {
	t.Helper()
	path := filepath.Join(w.project, filepath.FromSlash(name))
	if strings.ContainsAny(name, "*?") {
		path = w.find(t, name)
	}
	if err := errors.Join(os.RemoveAll(path), os.RemoveAll(path+".pipe"), os.MkdirAll(filepath.Dir(path), 0o700), plant(t, path)); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(path)
}

// call runs one call, which has to end, and to name the file and the way out if it is told of it.
func (w world) call(t *testing.T, call string, args []string, base, word string, told bool) {
	t.Helper()
	stdin := ""
	if call == "serve" {
		stdin = greeting
	}
	r := w.run(t, stdin, args...)
	if strings.Contains(r.out, "panic") || strings.Contains(r.out, "goroutine") {
		t.Errorf("%s panics:\n%s", call, r.out)
	}
	if call == "serve" && !strings.Contains(r.out, `"serverInfo"`) {
		t.Errorf("the server does not answer:\n%s", r.out)
	}
	if !told {
		return
	}
	if !strings.Contains(r.out, base) || !strings.Contains(r.out, word) {
		t.Errorf("%s (%d) does not say of %s: %q\n%s", call, r.code, base, word, r.out)
	}
	if !strings.Contains(r.out, "what to do") && !strings.Contains(r.out, `\"hint\"`) && !strings.Contains(r.out, "→") {
		t.Errorf("%s (%d) does not say what to do:\n%s", call, r.code, r.out)
	}
}
