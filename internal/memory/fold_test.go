package memory_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/memory"
)

// randomLines returns lines about few keys, at few times, so that they contradict each other in
// every way.
func randomLines(r *rand.Rand, n int) []string {
	var out []string
	for range n {
		id, stamp := fmt.Sprintf("key-%d", r.IntN(4)), fmt.Sprintf("2026-01-01T00:00:0%dZ", r.IntN(3))
		kind := memory.Types()[r.IntN(2)]
		if r.IntN(3) == 0 {
			out = append(out, fmt.Sprintf(`{"v":1,"id":%q,"type":%q,"deleted_at":%q,"by":"b%d"}`, id, kind, stamp, r.IntN(2)))
			continue
		}
		out = append(out, fmt.Sprintf(`{"v":1,"id":%q,"type":%q,"agent":"a","text":"text %d","tags":["%d"],"updated_at":%q}`, id, kind, r.IntN(2), r.IntN(3), stamp))
	}
	return out
}

func fold(lines []string) string {
	notes := memory.Fold(map[memory.Type][]byte{memory.Stories: []byte(strings.Join(lines, "\n"))})
	out, err := json.Marshal(notes)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// TestFoldIsOrderFree: any order of lines, any union of branches, and lines that are there twice, give
// the same notes.
func TestFoldIsOrderFree(t *testing.T) {
	t.Parallel()
	different := map[string]bool{}
	for seed := range 400 {
		r := rand.New(rand.NewPCG(1, uint64(seed)))
		base, ours, theirs := randomLines(r, 4), randomLines(r, 5), randomLines(r, 5)
		all := slices.Concat(base, ours, theirs)
		want := fold(all)
		different[want] = true
		for range 20 {
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if got := fold(all); got != want {
				t.Fatalf("seed %d: the order\n%s\ngives %s\nnot %s", seed, strings.Join(all, "\n"), got, want)
			}
		}
		for _, union := range [][]string{slices.Concat(base, theirs, ours), slices.Concat(ours, base, theirs, base, ours), slices.Concat(theirs, theirs, ours, base)} {
			if got := fold(union); got != want {
				t.Fatalf("seed %d: a union gives %s\nnot %s", seed, got, want)
			}
		}
	}
	if len(different) < 300 {
		t.Errorf("only %d different folds were tried", len(different))
	}
}

// TestFoldChooses: the later line counts; of the same time the deletion, else the greater one.
func TestFoldChooses(t *testing.T) {
	t.Parallel()
	note := func(tag, at string) string {
		return fmt.Sprintf(`{"v":1,"id":"k","type":"stories","agent":"a","text":"t","tags":[%q],"updated_at":%q}`, tag, at)
	}
	dead := func(at string) string {
		return fmt.Sprintf(`{"v":1,"id":"k","type":"stories","deleted_at":%q}`, at)
	}
	const one, two = "2026-01-01T00:00:01.000Z", "2026-01-01T00:00:02.000Z"
	for _, c := range []struct {
		lines []string
		want  string // the tag, or none
	}{
		{[]string{note("new", two), note("old", one)}, "new"},
		{[]string{note("a", one), note("b", one)}, "b"},
		{[]string{note("a", one), dead(one)}, ""},
		{[]string{dead(one), note("a", two)}, "a"},
		{[]string{dead(two), note("a", one)}, ""},
		{[]string{dead(two)}, ""},
	} {
		got := fold(c.lines)
		if (c.want == "") != (got == "null") || c.want != "" && !strings.Contains(got, `["`+c.want+`"]`) {
			t.Errorf("%s\ngives %s, want %q", strings.Join(c.lines, "\n"), got, c.want)
		}
	}
}

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
	s := open(t, path)
	git("init", "-q", "-b", "main")
	ids := map[string]string{}
	for _, name := range []string{"kept", "tagged", "forgotten", "both", "first", "restored"} {
		ids[name] = s.remember(t, memory.Draft{Text: name}, memory.Created).ID
	}
	forget := func(name string) {
		t.Helper()
		if _, err := s.Forget(ctx, "", ids[name], "t"); err != nil {
			t.Fatal(err)
		}
	}
	forget("restored")
	commit := func() { git("add", "-A"); git("commit", "-q", "-m", "notes") }
	commit()
	git("branch", "other")

	s.remember(t, memory.Draft{Text: "tagged", Tags: []string{"ours"}}, memory.Updated)
	s.remember(t, memory.Draft{Text: "both", Tags: []string{"ours"}}, memory.Updated)
	s.remember(t, memory.Draft{Text: "the same on both"}, memory.Created)
	s.remember(t, memory.Draft{Type: memory.Decisions, Text: "a file of our own"}, memory.Created)
	forget("first")
	commit()
	git("checkout", "-q", "other")
	forget("forgotten")
	s.remember(t, memory.Draft{Text: "both", Tags: []string{"theirs"}}, memory.Updated)
	s.remember(t, memory.Draft{Text: "the same on both", Tags: []string{"x"}}, memory.Created)
	s.remember(t, memory.Draft{Text: "theirs alone"}, memory.Created)
	s.remember(t, memory.Draft{Type: memory.Decisions, Text: "a file of theirs"}, memory.Created)
	s.remember(t, memory.Draft{Text: "first", Tags: []string{"t"}}, memory.Updated)
	if _, err := s.Restore(ctx, "", ids["restored"]); err != nil {
		t.Fatal(err)
	}
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
