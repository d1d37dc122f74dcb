package criteria

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/markdown"
)

// hostile are documents that no author would write.
var hostile = map[string]func(n int) string{
	"headings": func(n int) string { return strings.Repeat("### Story 1.1: in\n\n", n/19) },
	"sections": func(n int) string { return numbered("## Part %d\n\n- AC1: it does %d\n\n", n/28) },
	"lists": func(n int) string {
		return "## Acceptance criteria\n\n" + numbered("%[1]d. the page %[1]d is shown\n", n/28)
	},
	"nested items": func(n int) string { return nestedItems(n) },
	"rows": func(n int) string {
		return "| ID | Requirement |\n|---|---|\n" + numbered("| R%d | it does %d |\n", n/22)
	},
	"one id": func(n int) string { return numbered("- FR-1: it does number %d\n", n/26) },
	"long ids": func(n int) string {
		return "- AC-" + strings.Repeat("9", n/2) + ": x\n- AC-" + strings.Repeat("X", n/2) + ": y\n"
	},
	"open table": func(n int) string {
		return "<table>\n<tr><th>ID</th><th>Text</th></tr>\n" + numbered("<tr><td>US-%d</td><td>text %d\n", n/30)
	},
	"tags":      func(n int) string { return strings.Repeat("</p><", n/5) },
	"open tags": func(n int) string { return "- " + strings.Repeat("<", n) },
	"no tags":   func(n int) string { return strings.Repeat("<", n) + ">" },
	"steps":     func(n int) string { return "### Story 1: x\n\n" + strings.Repeat("Given a\nWhen b\nThen c\n\n", n/22) },
	"scenarios": func(n int) string {
		return "### Requirement: x\n\n" + strings.Repeat("#### Scenario: the same\n- WHEN a\n- THEN b\n", n/44)
	},
	"one line":      func(n int) string { return "- FR-1: " + strings.Repeat("FR-2, ", n/6) },
	"announcements": func(n int) string { return strings.Repeat("**Acceptance Criteria:**\n", n/25) },
	"story rows": func(n int) string {
		return "| Story | AC |\n|---|---|\n" + numbered("| US-%d | AC-%d | it does |\n", n/26)
	},
	"rows of their own": func(n int) string {
		return "| Story | ID | Text |\n|---|---|---|\n" + numbered("| Story %[1]d | US-%[1]d | it does |\n", n/32)
	},
	"struck":          func(n int) string { return strings.Repeat("- ~~FR-1: x~~\n", n/14) },
	"levels of codes": func(n int) string { return strings.Repeat("```gherkin\nScenario: a\nGiven b\n```\n", n/38) },
}

func numbered(form string, n int) string {
	var b strings.Builder
	for i := range n {
		line := fmt.Sprintf(form, i+1, i+1)
		line, _, _ = strings.Cut(line, "%!(EXTRA")
		b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

func nestedItems(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i = (i + 1) % 200 {
		b.WriteString(strings.Repeat("  ", i) + "- FR-" + fmt.Sprint(i) + ": deeper\n")
	}
	return b.String()
}

// checkNodes fails if the nodes of a text break an invariant.
func checkNodes(t *testing.T, text string) {
	t.Helper()
	d := Read(text)
	seen := map[string]bool{}
	for i, n := range d.Nodes {
		// The story that a line names can follow the node of the line, and is below no other.
		isAfter := n.Parent >= i && n.Parent < len(d.Nodes) && (n.Parent == i || d.Nodes[n.Parent].Parent >= 0)
		if isAfter || n.Parent >= len(d.Nodes) || n.Line < 0 || n.Line >= len(d.Lines) {
			t.Fatalf("node %d: %+v", i, n)
		}
		if !n.Owed {
			continue
		}
		if n.ID == "" || seen[Key(n.ID)] || Key(n.ID) == "" || utf8.RuneCountInString(n.ID) > 80 || strings.ContainsAny(n.ID, "\n\r\t") {
			t.Fatalf("node %d has the id %q: %+v", i, n.ID, n)
		}
		seen[Key(n.ID)] = true
		if at := d.Find(n.ID); at != i {
			t.Fatalf("%q finds node %d, not %d", n.ID, at, i)
		}
	}
	lines := make([]int, len(d.Lines))
	for i := range lines {
		lines[i] = i
	}
	if named := d.Named(d.Document, lines); len(named) != len(d.Nodes) {
		t.Fatalf("%d nodes, %d named", len(d.Nodes), len(named))
	}
}

func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkNodes(t, text(60<<10))
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, tt := range forms {
		f.Add(tt.text)
	}
	for _, text := range hostile {
		f.Add(text(2 << 10))
	}
	f.Fuzz(func(t *testing.T, text string) { checkNodes(t, text) })
}

// BenchmarkRead reads hostile documents of 1 MB, and an honest one of 20 kB.
func BenchmarkRead(b *testing.B) {
	honest := strings.Repeat(forms["BMAD v6"].text, 20<<10/len(forms["BMAD v6"].text)+1)
	texts := map[string]string{"honest": honest}
	for name, text := range hostile {
		texts[name] = text(1 << 20)
	}
	for name, text := range texts {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				d := Read(text)
				d.Named(markdown.Read("## Sprint 1\n\nAC-1 to AC-900, FR-1, Story 1.1, US-1 to US-5000", nil), []int{0, 2})
			}
		})
	}
}
