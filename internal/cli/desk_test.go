package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/cli"
)

// desk is a project and a person's state folder that can be put back to any step of a run.
type desk struct {
	t              *testing.T
	project, state string
	// steps are the files of both after each action.
	steps []map[string]string
	task  string
}

// newDesk does a run on a fresh project: questions and answers, a document that is sent
// back, one that is approved, one that waits.
func newDesk(t *testing.T, env ...string) *desk {
	t.Helper()
	top := t.TempDir()
	d := &desk{t: t, project: filepath.Join(top, "project"), state: filepath.Join(top, "state"), task: "build-a-relay"}
	t.Setenv("HOME", top)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(top, "config"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(top, "cache"))
	t.Setenv("XDG_STATE_HOME", d.state)
	t.Setenv("CLAUDE_PROJECT_DIR", "")
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	if err := os.Mkdir(d.project, 0o750); err != nil {
		t.Fatal(err)
	}
	d.write("drafts/po1.md", "# P\n\nQuality Score: 70\n\n## Questions\n")
	d.write("drafts/po1.json", `{"prd_draft":"# P","quality_score":70,"questions":["Who?","When?"]}`)
	d.write("drafts/po2.json", `{"prd_updated":"# P long","quality_score":95}`)
	d.write("drafts/po3.json", `{"prd_updated":"# P short","quality_score":96}`)
	d.write("drafts/arch.json", `{"architecture_draft":"# A","quality_score":93}`)
	for _, args := range [][]string{
		{"task", "start", "Build a relay"},
		{"task", "submit", "--stage", "po", "--claude-result-path", "drafts/po1.json"},
		{"task", "answer", "q1=us", "q2=soon"},
		{"task", "submit", "--stage", "po", "--claude-result-path", "drafts/po2.json"},
		{"task", "confirm", "--confirmed=false", "--feedback", "shorter"},
		{"task", "submit", "--stage", "po", "--claude-result-path", "drafts/po3.json"},
		{"task", "confirm"},
		{"task", "submit", "--stage", "architect", "--claude-result-path", "drafts/arch.json"},
	} {
		d.run(0, args...)
		d.steps = append(d.steps, d.files())
	}
	return d
}

// The steps of the run that tables go back to.
const (
	approved = 6 // the first document is approved
	newest   = 7 // the architecture waits
)

func (d *desk) write(name, text string) {
	d.t.Helper()
	full := filepath.Join(d.project, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// call runs the program and returns its exit code and all its output.
func (d *desk) call(args ...string) (code int, out string) {
	d.t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Main(append([]string{"--cwd", d.project}, args...), strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String() + stderr.String()
}

// run is call for a known exit code.
func (d *desk) run(code int, args ...string) string {
	d.t.Helper()
	got, out := d.call(args...)
	if got != code {
		d.t.Fatalf("%v: exit code %d, want %d\n%s", args, got, code, out)
	}
	return out
}

// files returns the project's and the person's files.
func (d *desk) files() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	for _, root := range []string{d.project, d.state} {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(name)
			out[name] = string(data)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			d.t.Fatal(err)
		}
	}
	return out
}

// back puts everything back to a step.
func (d *desk) back(step int) {
	d.t.Helper()
	for _, root := range []string{d.project, d.state} {
		if err := os.RemoveAll(root); err != nil {
			d.t.Fatal(err)
		}
	}
	for name, text := range d.steps[step] {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o750), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			d.t.Fatal(err)
		}
	}
}

// file returns the path of the only session.
func (d *desk) file() string {
	d.t.Helper()
	found, err := filepath.Glob(filepath.Join(d.project, ".bmad-task", "session-*.json"))
	if err != nil || len(found) != 1 {
		d.t.Fatal(found, err)
	}
	return found[0]
}

// object is JSON as an editor sees it.
type object = map[string]any

func (d *desk) parse(text string) object {
	d.t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var s object
	if err := dec.Decode(&s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *desk) session() object {
	d.t.Helper()
	data, err := os.ReadFile(d.file())
	if err != nil {
		d.t.Fatal(err)
	}
	return d.parse(string(data))
}

func (d *desk) store(s object) {
	d.t.Helper()
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.file(), append(data, '\n'), 0o600); err != nil {
		d.t.Fatal(err)
	}
}
