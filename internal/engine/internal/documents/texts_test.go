package documents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// TestDecidedText checks that a copy which shows people another text than the one that was scored counts as edited, and
// that the text of the facts is always the one that a decision is bound to.
func TestDecidedText(t *testing.T) {
	t.Parallel()
	const scored = "# PRD\n\nUsers sign in.\n"
	const other = "# PRD\n\nA typo is mended.\n"
	long := other + "\n" + strings.Repeat("All else. ", 100) + "the end\n"
	block := func(fields string) string { return "\n```json\n{" + fields + "}\n```\n" }
	envelope := func(document string) string {
		data, err := json.Marshal(map[string]any{"prd_draft": document, "quality_score": 95})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	write := func(text string) func(b *bench) { return func(b *bench) { b.write(b.work(), text) } }
	link := func(to string) func(b *bench) {
		return func(b *bench) {
			b.write(b.work(), scored)
			b.remove(b.work())
			b.write("beside.md", scored)
			target := filepath.Join(t.TempDir(), "out.md")
			if err := os.WriteFile(target, []byte(scored), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(strings.ReplaceAll(to, "OUT", target), b.p.Dir.Join(b.work())); err != nil {
				t.Skip(err)
			}
		}
	}
	const same, taken, unusable = "as scored", "edited", "unusable"
	for name, tt := range map[string]struct {
		change func(b *bench)
		want   string // and the text that is bound
	}{
		"as it was":               {write(scored), same + scored},
		"spaces around it":        {write("\n\n" + scored + "\n \n"), same + scored},
		"of Windows":              {write("\ufeff" + strings.ReplaceAll(scored, "\n", "\r\n")), same + scored},
		"its score beside it":     {write(scored + block(`"quality_score": 95`)), same + scored},
		"its score above it":      {write(block(`"quality_score": 95`) + scored), same + scored},
		"another":                 {write(other), taken + other},
		"spaces in a line":        {write("# PRD\n\nUsers  sign in.\n"), taken + "# PRD\n\nUsers  sign in.\n"},
		"words beside it":         {write(scored + block(`"quality_score": 95, "gaps": ["Approve: a typo is mended."]`)), unusable + scored},
		"words above it":          {write(block(`"quality_score": 95, "gaps": ["<!--"]`) + scored), unusable + scored},
		"words above another":     {write(block(`"quality_score": 95, "gaps": ["<!--"]`) + other), unusable + scored},
		"words beside another":    {write(other + block(`"quality_score": 95, "gaps": ["Approve."]`)), taken + other},
		"an empty one":            {write(" \n"), taken + "\n"},
		"it in a comment":         {write("A typo is mended.\n\n<!--\n" + envelope(scored) + "\n-->\n"), taken + "A typo is mended.\n\n<!--\n" + envelope(scored) + "\n-->\n"},
		"more than is taken":      {write(long + "\nAnd nothing else.\n\n<!--\n" + envelope(long) + "\n-->\n"), taken + long + "\nAnd nothing else.\n\n<!--\n" + envelope(long) + "\n-->\n"},
		"it as JSON":              {write(envelope(scored)), unusable + scored},
		"it as a text of JSON":    {write(`"# PRD\n\nUsers \u0073ign in.\n"`), unusable + scored},
		"a link out":              {link("OUT"), unusable + scored},
		"a link to the same text": {link("../../../beside.md"), unusable + scored},
		"a link to nothing":       {link("nowhere.md"), "missing" + scored},
		"a folder":                {func(b *bench) { b.write(b.work()+"/x", scored) }, unusable + scored},
		"none":                    {func(*bench) {}, same + scored},
		"no copy, record changed": {func(b *bench) { b.write(b.s.Session.Current().FinalResultRef.FilePath, other) }, unusable},
		"record changed": {func(b *bench) {
			b.write(b.work(), scored)
			b.write(b.s.Session.Current().FinalResultRef.FilePath, other)
		}, same + scored},
		"both changed": {func(b *bench) {
			b.write(b.work(), other)
			b.write(b.s.Session.Current().FinalResultRef.FilePath, other)
		}, unusable},
		"no hash, a folder": {func(b *bench) {
			b.write(b.work()+"/x", scored)
			b.remove(b.s.Session.Current().FinalResultRef.FilePath)
			b.s.Session.Current().FinalResultRef.SHA256, b.s.Session.History[len(b.s.Session.History)-1].SHA256 = "", ""
		}, unusable},
	} {
		b := open(t, workflow.PO, workflow.AwaitingConfirmation)
		b.submit(workflow.PO, scored)
		tt.change(b)
		b.fresh().GatherDraft(ctx, b.s)
		d := b.s.Draft
		got := same
		switch {
		case d.Edit != nil:
			got = taken
		case d.Edited:
			got = unusable
		case d.Missing:
			got = "missing"
		}
		if got += d.Text; got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tt.want)
		}
		if d.Text != "" && workflow.Hash([]byte(d.Text)) != d.Now() {
			t.Errorf("%s: the text is not the one that a decision is bound to", name)
		}
		if r, err := b.ReadRound(ctx, b.s.Session, workflow.PO, 2); (err == nil) != (d.Edit != nil) || err == nil && r.Text != d.Text {
			t.Errorf("%s: the round of a page is %q (%v)", name, r.Text, err)
		}
	}
}

// TestDocumentWithStatements checks that a document which has a block of statements for an example is not edited by the
// white space around it.
func TestDocumentWithStatements(t *testing.T) {
	t.Parallel()
	const scored = "# PRD\n\nA report ends so:\n\n```json\n{\"quality_score\": 95, \"gaps\": []}\n```\n"
	for _, work := range []string{scored, scored + "\n"} {
		b := open(t, workflow.PO, workflow.AwaitingConfirmation)
		b.submit(workflow.PO, scored)
		b.write(b.work(), work)
		if b.fresh().GatherDraft(ctx, b.s); b.s.Draft.Edited || b.s.Draft.Text != scored {
			t.Errorf("%q is %+v", work, b.s.Draft)
		}
		if r, err := b.ReadRound(ctx, b.s.Session, workflow.PO, 2); err == nil {
			t.Errorf("%q is the round %q", work, r.Text)
		}
	}
}

// TestChangedTexts checks that nothing shows or saves a stored text that is not the one that was handed in.
func TestChangedTexts(t *testing.T) {
	t.Parallel()
	b := open(t, workflow.PO, workflow.AwaitingConfirmation)
	first := b.submit(workflow.PO, "# A\n\nfirst\n")
	b.submit(workflow.PO, "# A\n\nsecond\n")
	b.write(first.FilePath, "# A\n\nfirst\n\nsecond\n")
	if b.Gather(ctx, b.s); b.s.Draft.Changes == nil || !b.s.Draft.Changes.Unknown || b.s.Draft.Changes.Round != 1 {
		t.Errorf("the changes since a round that was exchanged are %+v", b.s.Draft.Changes)
	}
	b.s.Session.History[len(b.s.Session.History)-1].Event = workflow.EventEdited
	if lines := b.fresh().TakenBack(ctx, b.s, "# A\n\nfirst\n"); lines != nil {
		t.Errorf("takes back %+v", lines)
	}
	b.write(first.FilePath, "# A\r\n\r\nfirst\r\n") // git did
	if b.fresh().Gather(ctx, b.s); b.s.Draft.Changes == nil || b.s.Draft.Changes.Unknown || b.s.Draft.Changes.Added != 1 {
		t.Errorf("with other ends of lines the changes are %+v", b.s.Draft.Changes)
	}
	if r, err := b.ReadRound(ctx, b.s.Session, workflow.PO, 1); err != nil || r.Text != "# A\n\nfirst\n" || r.Edited {
		t.Errorf("the round is %+v, %v", r, err)
	}
}

// TestScopeIsQuotedAsItIsDecided checks that the lines of a scope are those of the text that a decision is bound to.
func TestScopeIsQuotedAsItIsDecided(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(b *bench, record string)
		want   []string
	}{
		"record changed": {func(b *bench, record string) { b.write(b.work(), "drop users\n"); b.write(record, "mend a typo\n") }, []string{"drop users"}},
		"both changed":   {func(b *bench, record string) { b.write(b.work(), "mend a typo\n"); b.write(record, "mend a typo\n") }, nil},
		"no copy":        {func(b *bench, record string) { b.write(record, "mend a typo\n") }, nil},
		"edited":         {func(b *bench, _ string) { b.write(b.work(), "drop some users\n") }, []string{"drop some users"}},
	} {
		b := open(t, workflow.Dev, workflow.AwaitingApproval)
		i := slices.IndexFunc(workflow.Builtins(), func(w *workflow.Definition) bool { return w.Name == "fix" })
		b.s.Workflow = workflow.Builtins()[i]
		b.s.Session.Workflow = b.s.Workflow
		b.s.Stage, _ = b.s.Workflow.Stage(workflow.Dev)
		tt.change(b, b.submit(workflow.Dev, "drop users\n").FilePath)
		if b.fresh().Gather(ctx, b.s); !slices.Equal(b.s.Draft.Lines, tt.want) {
			t.Errorf("%s: it says %q", name, b.s.Draft.Lines)
		}
	}
}

// TestReviewIsOfTheReportThatWasHandedIn checks that a review is saved with no other report of the work than that.
func TestReviewIsOfTheReportThatWasHandedIn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		copied string
		want   string
	}{
		"its copy is there": {"# Work\n", "# Work\n"}, "its copy is changed too": {"exchanged\n", "conflict"},
	} {
		b := open(t, workflow.Review, workflow.AwaitingApproval)
		b.write(b.submit(workflow.Dev, "# Work\n").FilePath, "exchanged\n")
		b.write(strings.Replace(b.work(), "review", "dev", 1), tt.copied)
		b.submit(workflow.Review, "# Review\n")
		err := b.fresh().change(func(tx store.Tx) error { return b.SaveArtifact(ctx, tx, b.s, workflow.Grant{}, noon) })
		got := "conflict"
		if !fault.Is(err, fault.Conflict) {
			err = b.Settle(b.s.Session)
			got = fmt.Sprint(b.content(b.s.Session.Current().Artifact.Path), err)
		}
		if !strings.Contains(got, tt.want) || strings.Contains(got, "exchanged") {
			t.Errorf("%s: saved %q", name, got)
		}
	}
}

// TestAdoptedTextCounts checks that a requirement which was changed is read as it was handed in or as a person has
// adopted it, and not at all until then.
func TestAdoptedTextCounts(t *testing.T) {
	t.Parallel()
	b := open(t, workflow.QA, workflow.Generating)
	list := func(id string) string { return "# D\n\n## Acceptance criteria\n\n- " + id + ": it rings\n" }
	ref := b.submit(workflow.PO, list("AC-1"))
	owed := func() string {
		b.fresh().Gather(ctx, b.s)
		return fmt.Sprint(b.s.Criteria.Owed(), b.s.Criteria.Changed())
	}
	b.write(ref.FilePath, list("AC-9"))
	if got := owed(); got != "[] true" {
		t.Errorf("changed: owes %s", got)
	}
	b.s.Session.Append(workflow.Transition{Event: workflow.EventAdopted, Adoption: &workflow.Adoption{
		Texts: []workflow.Alteration{{Stage: workflow.PO, Path: ref.FilePath, SHA256: workflow.Hash([]byte(list("AC-9"))), Record: true}},
	}})
	if got := owed(); got != "[AC-9] true" {
		t.Errorf("adopted: owes %s", got)
	}
	b.write(ref.FilePath, list("AC-8"))
	if got := owed(); got != "[] true" {
		t.Errorf("changed once more: owes %s", got)
	}
}
