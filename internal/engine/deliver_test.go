package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow/delivery"
)

// deliver writes a contract of the only run.
func (b *bench) deliver(h engine.Handover) (engine.Delivered, error) {
	return b.engine.Deliver(ctx, project.Address{Cwd: b.dir}, h)
}

// TestDeliver: a contract has the facts of the run, is written once, and the next one of the day has another id.
func TestDeliver(t *testing.T) {
	b := newBench(t)
	b.acting = workflow.Person{Subject: "ana", Name: "Ana <ana@example.org>"}
	b.to(workflow.Review, workflow.Generating)
	h := engine.Handover{FromTeam: "Team Build", ToTeam: "Team Ops"}
	const first = "_bmad-output/contracts/team-build-to-team-ops-2026-01-02.md"
	got, err := b.deliver(h)
	isCreated := err == nil && got.Status == "created" && got.Path == first && got.ContractID == "team-build-to-team-ops-2026-01-02"
	if !isCreated || got.Artifacts != 3 || !strings.Contains(got.LeftOpen[0], "Review is open") {
		t.Fatalf("got %+v, %v", got, err)
	}
	text := b.read(first)
	c, err := delivery.Parse(text)
	if err != nil || c.SignedBy != "Ana (ana), passed on by the assistant" || !c.IsOf(b.stored()) || len(c.Artifacts) != 3 {
		t.Errorf("got %+v, %v", c, err)
	}
	for _, a := range c.Artifacts {
		if workflow.Hash([]byte(b.read(a.Path))) != a.SHA256 {
			t.Errorf("%s has another hash", a.Path)
		}
	}
	if got, err := b.deliver(h); err != nil || got.Status != "unchanged" || got.Path != first || b.read(first) != text {
		t.Errorf("again: %+v, %v", got, err)
	}
	b.write(first, strings.Replace(text, "pending-acceptance", "accepted", 1))
	for range 2 {
		if got, err := b.deliver(h); err != nil || got.ContractID != "team-build-to-team-ops-2026-01-02-2" || b.read(first) == text {
			t.Errorf("after the acceptance: %+v, %v", got, err)
		}
	}
	h.Path = "_bmad-output/contracts/other.md"
	if got, err := b.deliver(h); err != nil || got.ContractID != "team-build-to-team-ops-2026-01-02-3" || got.Path != h.Path {
		t.Errorf("a path of its own: %+v, %v", got, err)
	}
	b.rests(workflow.PO, workflow.Cancelled)
	got, err = b.engine.Deliver(ctx, project.Address{Cwd: b.dir, Session: b.session}, engine.Handover{ToTeam: "x"})
	if err != nil || got.Artifacts != 0 || !strings.Contains(got.LeftOpen[0], "cancelled") {
		t.Errorf("a cancelled run: %+v, %v", got, err)
	}
	if c, err := delivery.Parse(b.read(got.Path)); err != nil || c.SignedBy == "" || c.FromTeam != filepath.Base(b.dir) {
		t.Errorf("a cancelled run: %+v, %v", c, err)
	}
}

// TestDeliverRefuses: nothing is written for a name or a path that a contract cannot have.
func TestDeliverRefuses(t *testing.T) {
	b := newBench(t)
	b.to(workflow.Architect, workflow.Generating)
	outside := t.TempDir()
	if err := errors.Join(os.Symlink(outside, filepath.Join(b.dir, "out")), os.Symlink(".claude", filepath.Join(b.dir, "in"))); err != nil {
		t.Skip(err)
	}
	b.write("docs/there.md", "text")
	before := listFiles(t, b.dir)
	long := strings.Repeat("x", 10_000)
	for _, name := range []string{"", "   ", "!!!", "---", "🚀", "a\nb", "a\nstatus: accepted", "a\tb", "a\x00b", "\u202ea", "a\u200bb", "\xff", long, "build", "Build!"} {
		if got, err := b.deliver(engine.Handover{FromTeam: "build", ToTeam: name}); !fault.Is(err, fault.InvalidArgument) {
			t.Errorf("the team %.20q: %+v, %v", name, got, err)
		}
	}
	for _, path := range []string{
		"../x.md", "docs/../../x.md", filepath.Join(outside, "x.md"), "docs", "docs/x.txt", "x", ".md", "docs/.x.md", "a\nb.md", "a\x00b.md", "\u202ex.md", `docs\x.md`,
		".git/x.md", ".GIT/x.md", ".bmad-task/x.md", ".claude/x.md", ".claude/specs/x.md",
		".cursor/rules/x.md", ".github/x.md", "CLAUDE.md", "sub/agents.MD", "_bmad/bmm/agents/x.md",
		"\u017fkill.md", "_bmad./x.md",
		"out/x.md", "in/x.md", "docs/there.md/x.md", "docs/there.md", long + ".md",
	} {
		if got, err := b.deliver(engine.Handover{FromTeam: "build", ToTeam: "ops", Path: path}); err == nil || fault.Is(err, fault.Internal) || fault.From(err).Hint == "" {
			t.Errorf("the path %.40q: %+v, %v", path, got, err)
		}
	}
	if after := listFiles(t, b.dir); after != before || listFiles(t, outside) != "" {
		t.Errorf("files were written:\n%s", after)
	}
	for _, path := range []string{"docs/new.md", filepath.Join(b.dir, "docs/abs.md"), "a b/ü.MD"} {
		if got, err := b.deliver(engine.Handover{FromTeam: "build", ToTeam: "a: \"b\" | c", Path: path}); err != nil || got.Status != "created" {
			t.Errorf("the path %q: %+v, %v", path, got, err)
		}
	}
}

// listFiles lists the files of a folder without the locks.
func listFiles(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(name, "locks") {
			out = append(out, strings.TrimPrefix(name, dir))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

// TestDeliverAtOnce: calls at once leave one contract, and of different runs two ids.
func TestDeliverAtOnce(t *testing.T) {
	b := newBench(t)
	b.to(workflow.PO, workflow.Generating)
	first := b.session
	b.do(start("build another thing"))
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			if _, err := b.engine.Deliver(ctx, project.Address{Cwd: b.dir, Session: []string{first, b.session}[i%2]}, engine.Handover{FromTeam: "a", ToTeam: "b"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	found, _ := filepath.Glob(filepath.Join(b.dir, "_bmad-output/contracts/*"))
	if len(found) != 2 {
		t.Errorf("got %q", found)
	}
}

// TestOmissionsAreDelivered: the requirements say what is out of scope.
func TestOmissionsAreDelivered(t *testing.T) {
	b := newBench(t)
	b.do(start("build a thing"))
	b.do(submit(workflow.PO, `{"document":"# P\n\n## Out of scope\n\n- Passwords `+"`x`"+` | pins\n<!-- note -->\nNo taxes.\n\n## Users\n\n- All\n","quality_score":95}`))
	b.do(confirm(true))
	got, err := b.deliver(engine.Handover{FromTeam: "a", ToTeam: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if text := b.read(got.Path); !strings.Contains(text, "| Passwords \\`x\\` \\| pins | the requirements say so |\n| No taxes. | the requirements say so |\n\n## Signature") {
		t.Errorf("got %s", text[strings.Index(text, "## Out"):])
	}
}
