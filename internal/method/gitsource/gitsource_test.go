package gitsource_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// asProcess names the variable with which the test binary is another process: it updates
// the remote that its value names as JSON, and prints the commit.
const asProcess = "TEST_GITSOURCE_UPDATE"

// job is the work of such a process.
type job struct{ Folder, Address, Git string }

func TestMain(m *testing.M) {
	// Nobody's settings but those of the test.
	for name, value := range map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	if text := os.Getenv(asProcess); text != "" {
		os.Exit(work(text))
	}
	os.Exit(scratch.Run(prepared{m}))
}

// prepared runs the tests once base is made.
type prepared struct{ m *testing.M }

func (p prepared) Run() int {
	if err := prepare(); err != nil {
		panic(err)
	}
	code := p.m.Run()
	if err := os.RemoveAll(base); err != nil {
		panic(err)
	}
	return code
}

// base is a folder with a bare repository of one commit on main: most tests want one.
var base string

func prepare() (err error) {
	if base, err = os.MkdirTemp("", "gitsource"); err != nil {
		return err
	}
	if out, err := exec.Command("git", "init", "--quiet", "--bare", "--template=", "--initial-branch=main", base).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	cmd := exec.Command("git", "-C", base, "fast-import", "--quiet")
	cmd.Stdin = strings.NewReader(stream("main", map[string]string{"README.md": "first", "src/agents/po.md": "po 1"}, false))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func work(text string) int {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return 3
	}
	s, err := gitsource.Parse(j.Address)
	if err != nil {
		return 4
	}
	c := &gitsource.Cache{Folder: j.Folder, Now: time.Now, Git: j.Git, Registry: os.Getenv("npm_config_registry")}
	copied, _, err := c.Update(context.Background(), s)
	fmt.Print(copied.Commit)
	if err != nil {
		fmt.Fprint(os.Stderr, err)
		return 5
	}
	return 0
}

// process returns the test binary as another process.
func process(t *testing.T, j job) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	// The race detector would have each of them wait a second at its end.
	cmd.Env = append(os.Environ(), asProcess+"="+string(text), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// git runs git for the test itself.
func git(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// repo is a remote on this disk.
type repo struct {
	t   *testing.T
	dir string
}

// newRepo makes a bare repository with one commit on main.
func newRepo(t *testing.T) repo {
	t.Helper()
	r := repo{t, filepath.Join(t.TempDir(), "remote.git")}
	if err := os.CopyFS(r.dir, os.DirFS(base)); err != nil {
		t.Fatal(err)
	}
	return r
}

// link is the value of a file that is a symbolic link.
const link = "link to "

// commit makes a commit with exactly these files on a branch.
func (r repo) commit(branch string, files map[string]string) string {
	r.t.Helper()
	more := exec.Command("git", "-C", r.dir, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch).Run() == nil
	git(r.t, r.dir, stream(branch, files, more), "fast-import", "--quiet", "--force")
	return r.at("refs/heads/" + branch)
}

// stream returns a commit for git fast-import.
func stream(branch string, files map[string]string, more bool) string {
	var s strings.Builder
	data := func(text string) { fmt.Fprintf(&s, "data %d\n%s\n", len(text), text) }
	fmt.Fprintf(&s, "commit refs/heads/%s\ncommitter T <t@example.org> 1700000000 +0000\n", branch)
	data("change")
	if more {
		fmt.Fprintf(&s, "from refs/heads/%s^0\n", branch)
	}
	s.WriteString("deleteall\n")
	for name, text := range files {
		mode := "100644"
		if to, ok := strings.CutPrefix(text, link); ok {
			mode, text = "120000", to
		}
		fmt.Fprintf(&s, "M %s inline %s\n", mode, name)
		data(text)
	}
	return s.String()
}

// at returns the commit of a ref.
func (r repo) at(ref string) string {
	r.t.Helper()
	return git(r.t, r.dir, "", "rev-parse", "--verify", ref+"^{commit}")
}

// spec returns the Spec of the repository with a suffix to its address.
func (r repo) spec(fragment string) gitsource.Spec {
	r.t.Helper()
	return parseSpec(r.t, r.address(fragment))
}

func (r repo) address(fragment string) string {
	return gitsource.Prefix + "file://" + (&url.URL{Path: filepath.ToSlash(r.dir)}).EscapedPath() + fragment
}

func parseSpec(t *testing.T, text string) gitsource.Spec {
	t.Helper()
	s, err := gitsource.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clock is one that moves when it is told to.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// ample is more time than anything here needs.
const ample = 2 * time.Minute

// newCache returns an empty cache.
func newCache(t *testing.T) (*gitsource.Cache, *clock) {
	t.Helper()
	at := newClock()
	c := &gitsource.Cache{Folder: filepath.Join(t.TempDir(), "cache"), Now: at.now, Timeout: ample}
	t.Cleanup(c.Close)
	return c, at
}

// update updates and wants it to succeed.
func update(t *testing.T, c *gitsource.Cache, s gitsource.Spec) (gitsource.Copy, bool) {
	t.Helper()
	got, changed, err := c.Update(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return got, changed
}

// have returns the copy that is served, and wants one.
func have(t *testing.T, c *gitsource.Cache, s gitsource.Spec) gitsource.Copy {
	t.Helper()
	got, err := c.Copy(s)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// files returns the content of every file in a folder, links as their target.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if e.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			out[name] = link + to
			return err
		}
		data, err := os.ReadFile(path)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// inPlace returns the names in the folder of a remote.
func inPlace(t *testing.T, c *gitsource.Cache, s gitsource.Spec) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(c.Folder, s.Key()))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
