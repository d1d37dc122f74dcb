package trust_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func allow(t *testing.T, f trust.UserState, a trust.Allowance) {
	t.Helper()
	a.At = at
	if err := f.Allow(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

func TestAllowed(t *testing.T) {
	f, here, there := folder(t), t.TempDir(), t.TempDir()
	rules, others := workflow.Hash([]byte("rules")), workflow.Hash([]byte("other rules"))
	command := trust.Allowance{Project: here, Kind: trust.KindVerify, Text: "go vet ./... && go test ./..."}
	rubric := trust.Allowance{Project: here, Kind: trust.KindRubric, Text: ".bmad/rubric.yaml", SHA256: rules}
	if f.Allowed(command) {
		t.Error("allowed before anybody has allowed anything")
	}
	if _, err := os.Stat(string(f)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("asking made the folder: %v", err)
	}
	allow(t, f, command)
	allow(t, f, rubric)
	with := func(a trust.Allowance, change func(*trust.Allowance)) trust.Allowance {
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		a    trust.Allowance
		want bool
	}{
		"the command":                         {command, true},
		"another command":                     {with(command, func(a *trust.Allowance) { a.Text = "rm -rf ." }), false},
		"the command and more":                {with(command, func(a *trust.Allowance) { a.Text += " " }), false},
		"another command with the hash":       {with(command, func(a *trust.Allowance) { a.Text, a.SHA256 = "rm -rf .", workflow.Hash([]byte(command.Text)) }), false},
		"no command":                          {with(command, func(a *trust.Allowance) { a.Text = "" }), false},
		"the command in another project":      {with(command, func(a *trust.Allowance) { a.Project = there }), false},
		"the command in a folder of it":       {with(command, func(a *trust.Allowance) { a.Project = filepath.Join(here, "below") }), false},
		"the command above":                   {with(command, func(a *trust.Allowance) { a.Project = filepath.Dir(here) }), false},
		"the command without a project":       {with(command, func(a *trust.Allowance) { a.Project = "" }), false},
		"the project spelled otherwise":       {with(command, func(a *trust.Allowance) { a.Project = here + "/./x/../" }), true},
		"the command as a rubric":             {with(command, func(a *trust.Allowance) { a.Kind = trust.KindRubric; a.SHA256 = workflow.Hash([]byte(a.Text)) }), false},
		"another kind":                        {with(command, func(a *trust.Allowance) { a.Kind = "deploy" }), false},
		"the rubric":                          {rubric, true},
		"the rubric with its hash in caps":    {with(rubric, func(a *trust.Allowance) { a.SHA256 = strings.ToUpper(a.SHA256) }), true},
		"the rubric elsewhere in it":          {with(rubric, func(a *trust.Allowance) { a.Text = "rubric.yaml" }), true},
		"the rubric with other rules":         {with(rubric, func(a *trust.Allowance) { a.SHA256 = others }), false},
		"the rubric without a hash":           {with(rubric, func(a *trust.Allowance) { a.SHA256 = "" }), false},
		"the rubric in another project":       {with(rubric, func(a *trust.Allowance) { a.Project = there }), false},
		"the rubric as a command of its path": {with(rubric, func(a *trust.Allowance) { a.Kind = trust.KindVerify }), false},
	} {
		if got := f.Allowed(c.a); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAllowanceFile(t *testing.T) {
	f, here := folder(t), t.TempDir()
	a := trust.Allowance{Project: here, Kind: trust.KindVerify, Text: "make check && make test"}
	for range 2 {
		allow(t, f, a)
	}
	data, err := os.ReadFile(filepath.Join(string(f), "allowed.json"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.EvalSymlinks(here)
	if err != nil {
		t.Fatal(err)
	}
	project, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{
  "allowed": [
    {
      "project": %s,
      "kind": "verify",
      "text": "make check && make test",
      "sha256": "%s",
      "at": "2026-01-02T03:04:05Z",
      "project_id": "%s"
    }
  ]
}
`, project, workflow.Hash([]byte(a.Text)), markOf(t, here))
	if string(data) != want {
		t.Errorf("got %s", data)
	}
	if got := names(t, f); fmt.Sprint(got) != "[allowed.json trust.lock]" {
		t.Errorf("left behind: %v", got)
	}
}

func TestAllowNeeds(t *testing.T) {
	f := folder(t)
	for name, a := range map[string]trust.Allowance{
		"a project":       {Kind: trust.KindVerify, Text: "true"},
		"a kind":          {Project: t.TempDir(), Text: "true"},
		"a known kind":    {Project: t.TempDir(), Kind: "deploy", Text: "true", SHA256: workflow.Hash(nil)},
		"a command":       {Project: t.TempDir(), Kind: trust.KindVerify, Text: " \n"},
		"a hash":          {Project: t.TempDir(), Kind: trust.KindRubric, Text: "rubric.yaml"},
		"a whole hash":    {Project: t.TempDir(), Kind: trust.KindRubric, Text: "rubric.yaml", SHA256: "abcd"},
		"a hash in hex":   {Project: t.TempDir(), Kind: trust.KindRubric, Text: "rubric.yaml", SHA256: strings.Repeat("x", 64)},
		"a rubric's name": {Project: t.TempDir(), Kind: trust.KindRubric, SHA256: workflow.Hash(nil)},
	} {
		if err := f.Allow(t.Context(), a); !fault.Is(err, fault.InvalidArgument) || fault.From(err).Hint == "" {
			t.Errorf("without %s: %v", name, err)
		}
	}
	if _, err := f.Disallow(t.Context(), t.TempDir(), "deploy"); !fault.Is(err, fault.InvalidArgument) {
		t.Errorf("disallow: %v", err)
	}
	if _, err := os.Stat(string(f)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused call made the folder: %v", err)
	}
}

func TestDisallow(t *testing.T) {
	f, here, there := folder(t), t.TempDir(), t.TempDir()
	if n, err := f.Disallow(t.Context(), here, trust.KindVerify); n != 0 || err != nil {
		t.Errorf("before there is anything: %d, %v", n, err)
	}
	one := trust.Allowance{Project: here, Kind: trust.KindVerify, Text: "one"}
	two := trust.Allowance{Project: here, Kind: trust.KindVerify, Text: "two"}
	elsewhere := trust.Allowance{Project: there, Kind: trust.KindVerify, Text: "one"}
	rubric := trust.Allowance{Project: here, Kind: trust.KindRubric, Text: "r", SHA256: workflow.Hash(nil)}
	for _, a := range []trust.Allowance{one, two, elsewhere, rubric} {
		allow(t, f, a)
	}
	if n, err := f.Disallow(t.Context(), here+"/.", trust.KindVerify); n != 2 || err != nil {
		t.Errorf("took back %d, %v", n, err)
	}
	if f.Allowed(one) || f.Allowed(two) || !f.Allowed(elsewhere) || !f.Allowed(rubric) {
		t.Errorf("left: %v %v %v %v", f.Allowed(one), f.Allowed(two), f.Allowed(elsewhere), f.Allowed(rubric))
	}
	if n, err := f.Disallow(t.Context(), here, trust.KindVerify); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
	if list, err := f.Allowances(); len(list) != 2 || err != nil {
		t.Errorf("list: %v, %v", list, err)
	}
}

func TestSymlinkedProject(t *testing.T) {
	f, top := folder(t), t.TempDir()
	project, link := filepath.Join(top, "project"), filepath.Join(top, "link")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(top, link); err != nil {
		t.Skip(err)
	}
	a := trust.Allowance{Project: filepath.Join(link, "project"), Kind: trust.KindVerify, Text: "true"}
	direct := a
	direct.Project = project
	allow(t, f, a)
	allow(t, f, direct)
	if !f.Allowed(a) || !f.Allowed(direct) {
		t.Errorf("by the link %v, directly %v", f.Allowed(a), f.Allowed(direct))
	}
	if list, err := f.Allowances(); len(list) != 1 || err != nil {
		t.Errorf("list: %v, %v", list, err)
	}
	// The same path, leading to another project, is another project.
	if err := os.Rename(project, project+".old"); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(top, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, project); err != nil {
		t.Fatal(err)
	}
	if f.Allowed(a) || f.Allowed(direct) {
		t.Error("another project took its place and is allowed")
	}
	// What was allowed in a project that is gone can be taken back by its former path.
	if err := os.Remove(project); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Disallow(t.Context(), a.Project, a.Kind); n != 1 || err != nil {
		t.Errorf("took back %d, %v", n, err)
	}
}

func TestBrokenListAllowsNothing(t *testing.T) {
	here := t.TempDir()
	a := trust.Allowance{Project: here, Kind: trust.KindVerify, Text: "true"}
	good := folder(t)
	allow(t, good, a)
	whole, err := os.ReadFile(filepath.Join(string(good), "allowed.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"empty":            "",
		"half":             string(whole[:len(whole)/2]),
		"more":             string(whole) + "}",
		"a list":           "[]",
		"of another shape": `{"allowed": {"project": "x"}}`,
		"a number inside":  strings.Replace(string(whole), `"verify"`, "1", 1),
	} {
		t.Run(name, func(t *testing.T) {
			f := folder(t)
			path := write(t, f, "allowed.json", []byte(data), 0o600)
			if f.Allowed(a) {
				t.Error("allowed")
			}
			_, listErr := f.Allowances()
			_, disallowErr := f.Disallow(t.Context(), here, a.Kind)
			for _, err := range []error{listErr, disallowErr, f.Allow(t.Context(), a)} {
				if !fault.Is(err, fault.Storage) || !strings.Contains(err.Error(), path) || fault.From(err).Hint == "" {
					t.Errorf("got %v", err)
				}
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != data {
				t.Errorf("it was changed: %q, %v", now, err)
			}
		})
	}
}

func TestAllowAtOnceLosesNothing(t *testing.T) {
	f, here := folder(t), t.TempDir()
	const callers = 12
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			a := trust.Allowance{Project: here, Kind: trust.KindVerify, Text: fmt.Sprint("make ", i), At: at}
			if err := f.Allow(context.Background(), a); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if list, err := f.Allowances(); len(list) != callers || err != nil {
		t.Errorf("%d allowances, %v", len(list), err)
	}
}
