package internal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	channel   = regexp.MustCompile(`(?m)^\t(Channel[A-Za-z]+) +Channel = "([a-z_]+)"`)
)

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// userPages returns the README and the pages of docs.
func userPages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("../docs/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatal(docs, err)
	}
	out := []string{"README.md"}
	for _, name := range docs {
		out = append(out, "docs/"+filepath.Base(name))
	}
	return out
}

// anchors returns the targets that the headings of a page make, as GitHub names them.
func anchors(page string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		out = append(out, strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return out
}

// TestLinksOfPages: each link of the documentation to a file, and to a heading in it, has its target.
func TestLinksOfPages(t *testing.T) {
	pages := append(userPages(t), "CLAUDE.md", "packaging/claude-plugin/README.md", "internal/audit/rubrics/README.md")
	for _, name := range pages {
		text := readPage(t, name)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := text
			if file != "" {
				path := filepath.Join("..", filepath.Dir(name), file)
				data, err := os.ReadFile(path)
				if info, statErr := os.Stat(path); err != nil && (statErr != nil || !info.IsDir()) {
					t.Errorf("%s: %s: no such file", name, m[1])
				}
				target = string(data)
			}
			if anchor != "" && !slices.Contains(anchors(target), anchor) {
				t.Errorf("%s: %s: no such heading", name, m[1])
			}
		}
	}
}

// TestEveryPageIsLinked: the README links each page of docs.
func TestEveryPageIsLinked(t *testing.T) {
	readme := readPage(t, "README.md")
	for _, name := range userPages(t)[1:] {
		if !strings.Contains(readme, "]("+name) {
			t.Errorf("the README does not link %s", name)
		}
	}
}

// TestPagesInChinese: a page in Chinese has the headings, blocks of code, commands and links of the English one.
func TestPagesInChinese(t *testing.T) {
	parts := []*regexp.Regexp{regexp.MustCompile(`(?m)^#+ `), regexp.MustCompile("(?ms)^```.*?^```$"), regexp.MustCompile("`bmad-mcp [^`\n]*`"), link}
	seen := 0
	for _, name := range userPages(t) {
		english, ok := strings.CutSuffix(name, ".zh.md")
		if !ok {
			continue
		}
		seen++
		for _, part := range parts {
			got, want := part.FindAllString(readPage(t, name), -1), part.FindAllString(readPage(t, english+".md"), -1)
			if part == link { // whose words are translated
				got, want = targets(got), targets(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s has %q, and %s.md %q", name, got, english, want)
			}
		}
	}
	if seen == 0 {
		t.Error("there is no page in Chinese")
	}
}

// targets returns where links lead.
func targets(links []string) (out []string) {
	for _, l := range links {
		out = append(out, link.FindStringSubmatch(l)[1])
	}
	return out
}

// channels returns the channels of decisions by the names of their constants.
func channels(t *testing.T) map[string]workflow.Channel {
	t.Helper()
	out := map[string]workflow.Channel{}
	for _, m := range channel.FindAllStringSubmatch(readPage(t, "internal/workflow/grant.go"), -1) {
		out[m[1]] = workflow.Channel(m[2])
	}
	if len(out) < 8 {
		t.Fatalf("got %d channels, want 8 at least", len(out))
	}
	return out
}

// TestTablesOfPages: the tables of channels, hosts and toolsets have a row for each.
func TestTablesOfPages(t *testing.T) {
	var want, rows []string
	for _, c := range channels(t) {
		want = append(want, string(c)+" "+string(c.Assurance()))
	}
	slices.Sort(want)
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)`, (high|medium|low): ").FindAllStringSubmatch(readPage(t, "docs/decide.md"), -1) {
		rows = append(rows, m[1]+" "+m[2])
	}
	if slices.Sort(rows); !slices.Equal(rows, want) {
		t.Errorf("channels of docs/decide.md: got %q, want %q", rows, want)
	}
	page := readPage(t, "docs/hosts.md")
	for _, h := range hosts.All() {
		if !regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(h.Name) + ` (\(|\|)`).MatchString(page) {
			t.Errorf("docs/hosts.md has no row for %s", h.Name)
		}
	}
	for _, name := range config.Toolsets() {
		if !regexp.MustCompile("(?m)^\\| `" + name + "`").MatchString(page) {
			t.Errorf("docs/hosts.md has no row for the toolset %s", name)
		}
	}
}

// TestTroubleshootingQuotesMessages: each message that the page quotes is in the source, with an
// ellipsis for its values.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	var source strings.Builder
	for _, path := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	quoted := regexp.MustCompile(`“([^”]+)”`)
	seen := 0
	for line := range strings.Lines(readPage(t, "docs/troubleshooting.md")) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
			seen++
			for part := range strings.SplitSeq(m[1], "…") {
				if !strings.Contains(source.String(), strings.TrimSpace(part)) {
					t.Errorf("no message has %q", part)
				}
			}
		}
	}
	if seen < 15 {
		t.Errorf("got %d quotations, want the 15 of the page at least", seen)
	}
}

// TestLengthOfPapers keeps the two papers that are read first short.
func TestLengthOfPapers(t *testing.T) {
	for name, most := range map[string]int{"README.md": 1200, "CLAUDE.md": 1500} {
		if got := len(strings.Fields(readPage(t, name))); got > most {
			t.Errorf("%s: got %d words, want %d at most", name, got, most)
		}
	}
	for n, line := range strings.Split(readPage(t, "CLAUDE.md"), "\n") {
		if columns := len([]rune(line)); columns > 200 {
			t.Errorf("CLAUDE.md:%d: got %d columns, want 200 at most", n+1, columns)
		}
	}
}
