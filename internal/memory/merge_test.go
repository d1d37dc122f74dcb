package memory_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/memory/notes"
)

// TestGitMergesBothWays: two branches remember, give tags, forget and restore, also the same notes;
// git merges them in both directions without a conflict, and to the same notes.
func TestGitMergesBothWays(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed, so that its union merge was not tried")
	}
	path := folder(t, "repo")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false", "-C", path}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+filepath.Join(path, "none"), "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	s := readForeign(t, path)
	git("init", "-q", "-b", "main")
	ids := map[string]string{}
	for _, name := range []string{"kept", "tagged", "forgotten", "both", "first", "restored"} {
		ids[name] = s.remember(t, notes.Note{Text: name}, notes.Created).ID
	}
	forget := func(name string) {
		t.Helper()
		if err := s.Forget(ctx, "", ids[name], "t"); err != nil {
			t.Fatal(err)
		}
	}
	forget("restored")
	commit := func() { git("add", "-A"); git("commit", "-q", "-m", "notes") }
	commit()
	git("branch", "other")

	s.remember(t, notes.Note{Text: "tagged", Tags: []string{"ours"}}, notes.Updated)
	s.remember(t, notes.Note{Text: "both", Tags: []string{"ours"}}, notes.Updated)
	s.remember(t, notes.Note{Text: "the same on both"}, notes.Created)
	s.remember(t, notes.Note{Type: notes.Decisions, Text: "a file of our own"}, notes.Created)
	forget("first")
	commit()
	git("checkout", "-q", "other")
	forget("forgotten")
	s.remember(t, notes.Note{Text: "both", Tags: []string{"theirs"}}, notes.Updated)
	s.remember(t, notes.Note{Text: "the same on both", Tags: []string{"x"}}, notes.Created)
	s.remember(t, notes.Note{Text: "theirs alone"}, notes.Created)
	s.remember(t, notes.Note{Type: notes.Decisions, Text: "a file of theirs"}, notes.Created)
	s.remember(t, notes.Note{Text: "first", Tags: []string{"t"}}, notes.Updated)
	s.remember(t, notes.Note{Text: "restored"}, notes.Restored)
	commit()
	git("branch", "copy")
	git("merge", "-q", "-m", "one way", "main")
	one := texts(s.list(t))
	oneProblems, _ := s.Check(ctx)
	git("checkout", "-q", "main")
	git("merge", "-q", "-m", "the other way", "copy")
	other := texts(s.list(t))
	otherProblems, _ := s.Check(ctx)
	if one != other {
		t.Errorf("the merges give\n%s\nand\n%s", one, other)
	}
	if len(oneProblems)+len(otherProblems) > 0 {
		t.Errorf("the merges leave %v and %v", oneProblems, otherProblems)
	}
	for _, want := range []string{"kept[]", "tagged[ours]", "both[theirs]", "the same on both[x]", "a file of our own[]", "a file of theirs[]", "theirs alone[]", "restored[]", "first[t]"} {
		if !strings.Contains(one, want) {
			t.Errorf("%q is missing in %s", want, one)
		}
	}
	if strings.Contains(one, "forgotten") {
		t.Errorf("a deleted note came back: %s", one)
	}
}
