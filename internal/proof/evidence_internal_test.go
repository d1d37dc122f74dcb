package proof

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/proof/prooftest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

var script = regexp.MustCompile("(?s)```sh\n(.*?)```")

// collect writes the evidence of a run into a folder, and returns the folder.
func collect(t *testing.T, r *repository, l lang.Language) string {
	t.Helper()
	files, err := Evidence(Found{
		Statement: []byte(r.read(statementPath)), Signature: []byte(r.read(statementPath + ".sig")), Signers: []byte(r.read(SignersFile)),
		Text: func(name string) ([]byte, error) { return os.ReadFile(r.dir.Join(name)) }, Report: "# Run\n",
	}, l)
	if err != nil {
		t.Fatal(err)
	}
	folder := scratch.Dir(t)
	for _, f := range files {
		name := filepath.Join(folder, f.Path)
		must(t, os.MkdirAll(filepath.Dir(name), 0o750))
		must(t, os.WriteFile(name, f.Body, 0o600))
	}
	return folder
}

// TestEvidence: the commands that the guide gives an auditor accept the evidence of a run, in each language, and refuse a
// document, a decision or a statement that was changed.
func TestEvidence(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"ssh-keygen", "sha256sum", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("SKIPPED: needs " + program)
		}
	}
	r := newRepository(t, prooftest.NewPlay(t, "sign-in", "ann", "bob").Finish())
	check := func(folder string) (said string, good int) {
		readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
		must(t, err)
		cmd := exec.Command("sh", "-c", script.FindStringSubmatch(string(readme))[1])
		cmd.Dir = folder
		out, _ := cmd.CombinedOutput() // what it says counts
		return string(out), strings.Count(string(out), `Good "bmad-mcp" signature for `) + strings.Count(string(out), ": OK\n")
	}
	const all = 1 + 5 + 6 // the statement, five documents, two decisions on each of three
	for _, l := range []lang.Language{lang.English, "zh"} {
		if said, good := check(collect(t, r, l)); good != all || strings.Contains(said, "not in run.json") {
			t.Errorf("%s: %d of %d are good:\n%s", l, good, all, said)
		}
	}
	for file, change := range map[string][2]string{
		"run.json": {`"finished": true`, `"finished":  true`}, "documents/03-sprint-plan.md": {"# sm", "# SM"}, "decisions/01.json": {`"ann"`, `"bob"`}, "signers": {"ann ", "eve "},
	} {
		folder := collect(t, r, lang.English)
		name := filepath.Join(folder, file)
		text, err := os.ReadFile(name)
		must(t, err)
		if !strings.Contains(string(text), change[0]) {
			t.Fatalf("%s has no %q", file, change[0])
		}
		must(t, os.WriteFile(name, []byte(strings.ReplaceAll(string(text), change[0], change[1])), 0o600))
		if said, good := check(folder); good >= all {
			t.Errorf("%s: everything is good:\n%s", file, said)
		}
	}
}

// TestGuidesAreTheSame: the guides have the same commands, and as many headings and rows.
func TestGuidesAreTheSame(t *testing.T) {
	t.Parallel()
	texts := []string{guide, guideInChinese}
	if a, b := script.FindString(texts[0]), script.FindString(texts[1]); a != b || a == "" {
		t.Errorf("the commands differ:\n%s\n%s", a, b)
	}
	for _, mark := range []string{"\n#", "\n|", "{task}", "{subject}"} {
		if a, b := strings.Count(texts[0], mark), strings.Count(texts[1], mark); a != b || a == 0 {
			t.Errorf("%q stands %d and %d times", mark, a, b)
		}
	}
}

// TestNoEvidenceOfAnother: a document that is not as it was approved has no evidence.
func TestNoEvidenceOfAnother(t *testing.T) {
	t.Parallel()
	r := newRepository(t, prooftest.NewPlay(t, "sign-in", "ann").Finish())
	f := Found{Statement: []byte(r.read(statementPath)), Text: func(string) ([]byte, error) { return []byte("# Other\n"), nil }}
	if _, err := Evidence(f, lang.English); err == nil || !strings.Contains(err.Error(), "differs from the approved text") {
		t.Errorf("got %v", err)
	}
	f.Text = func(string) ([]byte, error) {
		return []byte(r.read(".claude/specs/sign-in/01-product-requirements.md")), nil
	}
	r.forge("sign-in", "ann", func(s *Statement) { s.Subject = s.Subject[:1]; s.Subject[0].Name = ".claude/specs/sign-in/.." })
	f.Statement = []byte(r.read(statementPath))
	if files, err := Evidence(f, lang.English); err == nil {
		t.Errorf("got %v", files)
	}
	r.forge("sign-in", "ann", func(s *Statement) { s.Subject, s.Predicate.Written.Subject = nil, "x'; touch y; '" })
	f.Statement = []byte(r.read(statementPath))
	files, err := Evidence(f, lang.English)
	if err != nil || !strings.Contains(string(files[len(files)-1].Body), `-I 'x'\''; touch y; '\''' -n`) {
		t.Errorf("got %s, %v", files[len(files)-1].Body, err)
	}
	f.Statement = []byte("{}")
	if _, err := Evidence(f, lang.English); err == nil || !strings.Contains(err.Error(), "in-toto") {
		t.Errorf("got %v", err)
	}
}
