package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestPermitsCommand finds the allowance that lets a verify command run.
func TestPermitsCommand(t *testing.T) {
	hash := func(text string) string { return workflow.Hash([]byte(text)) }
	make := trust.Allowance{Kind: trust.KindVerify, Text: "make test", SHA256: hash("make test"), At: time.Unix(1, 0)}
	again := make
	again.At = time.Unix(2, 0)
	own := trust.Allowance{Kind: trust.KindOwnVerify, Text: "make all", SHA256: hash(trust.KindOwnVerify), At: time.Unix(3, 0)}
	edited := trust.Allowance{Kind: trust.KindVerify, Text: "rm -rf .", SHA256: hash("make test")}
	rubric := trust.Allowance{Kind: trust.KindRubric, Text: "make test", SHA256: hash("make test")}
	for name, tt := range map[string]struct {
		permits trust.Permits
		command string
		by      workflow.Setter
		want    time.Time // of the allowance; zero for none
	}{
		"nothing allowed":                 {nil, "make test", workflow.SetByProject, time.Time{}},
		"by its text":                     {trust.Permits{make}, "make test", workflow.SetByProject, make.At},
		"with more blanks":                {trust.Permits{make}, "make   test", workflow.SetByEnvironment, make.At},
		"the newest":                      {trust.Permits{make, again}, "make test", workflow.SetByProject, again.At},
		"another text":                    {trust.Permits{make}, "make tests", workflow.SetByProject, time.Time{}},
		"the person's own, of any text":   {trust.Permits{own}, "make test", workflow.SetByPerson, own.At},
		"the project's by the person's":   {trust.Permits{own}, "make all", workflow.SetByProject, time.Time{}},
		"a variable's by the person's":    {trust.Permits{own}, "make all", workflow.SetByEnvironment, time.Time{}},
		"nobody's by the person's":        {trust.Permits{own}, "make all", "", time.Time{}},
		"the person's by the text":        {trust.Permits{make}, "make test", workflow.SetByPerson, make.At},
		"a text that is not what it says": {trust.Permits{edited}, "rm -rf .", workflow.SetByProject, time.Time{}},
		"of another kind":                 {trust.Permits{rubric}, "make test", workflow.SetByProject, time.Time{}},
	} {
		got := tt.permits.Command(tt.command, tt.by)
		if (got == nil) != tt.want.IsZero() || got != nil && !got.At.Equal(tt.want) {
			t.Errorf("%s: got %+v, want that of %v", name, got, tt.want)
		}
	}
}

// TestPermitsChanged compares the files of a command with those that were allowed.
func TestPermitsChanged(t *testing.T) {
	top := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(top, "check.sh"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := durable.OpenDir(top)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	const command = "sh check.sh"
	scripts := func() []trust.Allowance {
		t.Helper()
		return trust.Scripts(dir, command)
	}
	missing := scripts()
	for _, f := range missing {
		if !f.Missing() || f.Kind != trust.KindScript || f.Project != top {
			t.Errorf("without files: got %+v, want a missing script of the project", f)
		}
	}
	write("exit 0")
	good := scripts()
	write("exit 1")
	other := scripts()
	at := func(list []trust.Allowance, day int) trust.Permits {
		out := trust.Permits{}
		for _, f := range list {
			f.At = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
			out = append(out, f)
		}
		return out
	}
	whole := trust.Allowance{Kind: trust.KindVerify, Text: command, Files: true, At: time.Date(2026, 1, 9, 0, 0, 0, 0, time.UTC)}
	old, renamed := whole, whole
	old.Files, renamed.Text = false, "make"
	for name, tt := range map[string]struct {
		permits trust.Permits
		now     []trust.Allowance
		by      trust.Allowance
		want    string
	}{
		"as allowed":                     {at(good, 1), good, whole, ""},
		"changed":                        {at(good, 1), other, whole, "check.sh has changed since you allowed it on 2026-01-01"},
		"changed since the newest":       {append(at(good, 1), at(missing, 2)...), other, whole, "check.sh is back since you allowed it to be gone on 2026-01-02"},
		"gone":                           {at(good, 1), missing, whole, "check.sh is gone since you allowed it on 2026-01-01"},
		"allowed to be missing":          {at(missing, 1), missing, whole, ""},
		"new":                            {nil, good, whole, "check.sh was not there when you allowed the command on 2026-01-09"},
		"missing, and never there":       {nil, missing, whole, ""},
		"unknown to an older allowance":  {nil, good, old, ""},
		"of the person's edited command": {nil, good, renamed, ""},
		"changed under an older one":     {at(good, 1), other, old, "check.sh has changed since you allowed it on 2026-01-01"},
	} {
		var got []string
		for _, c := range tt.permits.Changed(tt.now, command, tt.by) {
			if c.Text == "check.sh" {
				got = append(got, c.Sentence.String())
			}
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s: got %q, want %q", name, text, tt.want)
		}
	}
}

// TestHasChanged: the day is left out if it is not known.
func TestHasChanged(t *testing.T) {
	if got := trust.HasChanged("check.sh", time.Time{}).String(); got != "check.sh has changed since you allowed it" {
		t.Errorf("got %q", got)
	}
}

// TestEveryKindCanBeAllowed allows one thing of each kind, and takes it back.
func TestEveryKindCanBeAllowed(t *testing.T) {
	f, here := folder(t), t.TempDir()
	for _, kind := range []string{
		trust.KindVerify, trust.KindRubric, trust.KindSource, trust.KindOwnVerify, trust.KindScript,
		trust.KindWorkflow, trust.KindContract, trust.KindMember, trust.KindProgram, trust.KindCard,
	} {
		a := trust.Allowance{Project: here, Kind: kind, Text: "something", SHA256: workflow.Hash([]byte("its content"))}
		if err := f.Allow(t.Context(), a); err != nil || !f.Allowed(a) {
			t.Errorf("%s: got %v, allowed %v; want it allowed", kind, err, f.Allowed(a))
		}
		if n, err := f.Disallow(t.Context(), here, kind); n != 1 || err != nil || f.Allowed(a) {
			t.Errorf("%s: took back %d, %v, allowed %v; want one taken back", kind, n, err, f.Allowed(a))
		}
	}
	if got := len(trust.Kinds()); got != 10 {
		t.Errorf("got %d kinds, want the ten of this test", got)
	}
}

// TestCardOf: the newest allowance of an address counts, with the variable in it.
func TestCardOf(t *testing.T) {
	f, here := folder(t), t.TempDir()
	for _, a := range []trust.Allowance{
		{Kind: trust.KindSource, Text: "https://a.example/x"},
		{Kind: trust.KindCard, Text: "https://a.example/card", SHA256: workflow.Hash([]byte("1"))},
		{Kind: trust.KindCard, Text: "$A_TOKEN https://a.example/card", SHA256: workflow.Hash([]byte("2"))},
		{Kind: trust.KindCard, Text: "https://b.example/card", SHA256: workflow.Hash([]byte("3"))},
		{Kind: trust.KindCard, Text: "https://b.example/card", SHA256: workflow.Hash([]byte("4"))},
	} {
		a.Project = here
		if err := f.Allow(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	permits := trust.Permits(f.InForce(here))
	for address, want := range map[string][2]string{"https://a.example/card": {"2", "A_TOKEN"}, "https://b.example/card": {"4", ""}} {
		if a, variable := permits.FindCard(address); a == nil || a.SHA256 != workflow.Hash([]byte(want[0])) || variable != want[1] {
			t.Errorf("%s: %v %q", address, a, variable)
		}
	}
	for _, address := range []string{"", "https://a.example/x", "https://a.example", "$A_TOKEN"} {
		if a, _ := permits.FindCard(address); a != nil {
			t.Errorf("%q is allowed by %v", address, a)
		}
	}
	if len(permits) != 4 {
		t.Errorf("%d allowances are left; the older one of a card is replaced", len(permits))
	}
}
