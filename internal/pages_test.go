package internal_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

var (
	link      = regexp.MustCompile(`(?:\]\(|\bsrc(?:set)?=")([^)"\s]+)[)"]`)
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

// userPages returns the README and the pages of docs, in English and Chinese.
func userPages(t *testing.T) []string {
	t.Helper()
	out := []string{"README.md", "README.zh.md"}
	for _, folder := range []string{"docs", "docs/hosts", "docs/reference"} {
		pages, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*.md"))
		if err != nil || len(pages) == 0 {
			t.Fatal(pages, err)
		}
		for _, name := range pages {
			out = append(out, folder+"/"+filepath.Base(name))
		}
	}
	return out
}

// anchors returns the targets that the headings of a page make, as GitHub names them: the second of a name
// has a number.
func anchors(page string) []string {
	var out []string
	times := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(page, ""), -1) {
		name := strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if times[name]++; times[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, times[name]-1)
		}
		out = append(out, name)
	}
	return out
}

// TestLinksOfPages: each link of the documentation to a file, and to a heading in it, has its target; those of a
// Chinese page lead to Chinese ones.
func TestLinksOfPages(t *testing.T) {
	pages := append(userPages(t), "CLAUDE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "packaging/claude-plugin/README.md", "internal/workflow/audit/rubrics/README.md")
	for _, name := range pages {
		text := readPage(t, name)
		for _, m := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := text
			if file != "" {
				full := path.Join(path.Dir(name), file)
				if chinese := strings.TrimSuffix(full, ".md") + ".zh.md"; strings.HasSuffix(name, ".zh.md") && exists(chinese) && full != counterpart(name) {
					t.Errorf("%s: %s: link %s", name, m[1], chinese)
				}
				if !exists(full) {
					t.Errorf("%s: %s: no such file", name, m[1])
					continue
				}
				if target = ""; strings.HasSuffix(full, ".md") {
					target = readPage(t, full)
				}
			}
			if anchor != "" && !slices.Contains(anchors(target), anchor) {
				t.Errorf("%s: %s: no such heading", name, m[1])
			}
		}
	}
}

// exists reports whether the project has a file or folder.
func exists(name string) bool {
	_, err := os.Stat(filepath.Join("..", filepath.FromSlash(name)))
	return err == nil
}

// counterpart returns the name of a page in the other language.
func counterpart(name string) string {
	if english, ok := strings.CutSuffix(name, ".zh.md"); ok {
		return english + ".md"
	}
	return strings.TrimSuffix(name, ".md") + ".zh.md"
}

// TestPagesInBothLanguages: each page but a generated one is there in both languages, with headings of the same
// levels, tables of the same size, the same code, and links to the same
// headings.
func TestPagesInBothLanguages(t *testing.T) {
	seen := 0
	for _, name := range userPages(t) {
		other := counterpart(name)
		if strings.HasPrefix(name, "docs/reference/") {
			continue
		}
		if !exists(other) {
			t.Errorf("%s has no %s", name, other)
			continue
		}
		if strings.HasSuffix(name, ".zh.md") {
			continue
		}
		seen++
		one, two := readPage(t, name), readPage(t, other)
		if got, want := outline(two), outline(one); !slices.Equal(got, want) {
			t.Errorf("%s: got the outline %q, want that of %s: %q", other, got, name, want)
		}
		want, got := codeBlock.FindAllString(one, -1), codeBlock.FindAllString(two, -1)
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || got[i] != want[i] {
				t.Errorf("%s: block %d of code differs from that of %s", other, i+1, name)
				break
			}
		}
		if got, want := targets(t, other), targets(t, name); !slices.Equal(got, want) {
			t.Errorf("%s: got links to %q, want those of %s: %q", other, got, name, want)
		}
	}
	if seen < 30 {
		t.Errorf("got %d pairs of pages, want 30 at least", seen)
	}
}

// targets returns the files that a page links, by their English names and with the numbers of headings, sorted.
func targets(t *testing.T, name string) (out []string) {
	t.Helper()
	for _, m := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(readPage(t, name), ""), -1) {
		file, anchor, _ := strings.Cut(m[1], "#")
		to := strings.Replace(file, ".zh.", ".", 1)
		if anchor != "" && !strings.Contains(file, "://") {
			full := name
			if file != "" {
				full = path.Join(path.Dir(name), file)
			}
			to = fmt.Sprintf("%s#%d", to, slices.Index(anchors(readPage(t, full)), anchor))
		}
		out = append(out, to)
	}
	slices.Sort(out)
	return out
}

// outline returns the levels of the headings of a page, and the columns of each row of its tables.
func outline(page string) (out []string) {
	for line := range strings.Lines(codeBlock.ReplaceAllString(page, "")) {
		level, _, _ := strings.Cut(line, " ")
		switch cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); {
		case strings.HasPrefix(line, "#"):
			out = append(out, level)
		case strings.HasPrefix(line, "|"):
			out = append(out, strconv.Itoa(cells-1))
		}
	}
	return out
}

// TestOutlineIsSeen plants differences.
func TestOutlineIsSeen(t *testing.T) {
	const page = "# A\n\n## B\n\n| a | b \\| c |\n|---|---|\n\n```sh\n# no heading\n```\n"
	if got, want := outline(page), []string{"#", "##", "2", "2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := anchors("# A & b\n\n## 谁来：决定 `x`\n\n## A  b\n\n```sh\n# no\n```\n\n### a & B\n"), []string{"a--b", "谁来决定-x", "a--b-1", "a--b-2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEveryPageIsLinked: the page that leads to all others does, and the README links it.
func TestEveryPageIsLinked(t *testing.T) {
	for _, name := range userPages(t) {
		index := "docs/README.md"
		if strings.HasSuffix(name, ".zh.md") {
			index = counterpart(index)
		}
		if rest, ok := strings.CutPrefix(name, "docs/"); ok && name != index && !strings.Contains(readPage(t, index), "]("+rest) {
			t.Errorf("%s does not link %s", index, name)
		}
	}
	for _, name := range []string{"README.md", "README.zh.md"} {
		if index := "docs/" + name; !strings.Contains(readPage(t, name), "]("+index) {
			t.Errorf("%s does not link %s", name, index)
		}
	}
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

// TestPagesOfHosts: each host has a page with its entry, its id and its settings files as the program writes them.
func TestPagesOfHosts(t *testing.T) {
	machine := hosts.Machine{OS: "linux", Home: "/home/ann", Folder: "/src", Getenv: func(string) string { return "" }, Exists: func(string) bool { return false }}
	for _, h := range hosts.All() {
		name := "docs/hosts/" + strings.ReplaceAll(strings.ToLower(h.Name), " ", "-") + ".md"
		if h.Name == "VS Code" {
			name = "docs/hosts/vscode.md"
		}
		page := readPage(t, name)
		want := []string{strings.TrimSpace(h.Snippet(hosts.Entry{Name: "bmad", Command: "bmad-mcp"})), "bmad-mcp install " + h.ID + "\n"}
		if file := h.File(machine, hosts.Project); file != "" {
			want = append(want, "`"+strings.TrimPrefix(filepath.ToSlash(file), "/src/")+"`")
		}
		file := filepath.ToSlash(h.File(machine, hosts.User))
		if short := strings.Replace(file, "/home/ann", "~", 1); strings.Contains(file, "/.config/") {
			want = append(want, "`"+path.Base(file)+"`") // elsewhere on other systems
		} else {
			want = append(want, "`"+short+"`")
		}
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %q", name, text)
			}
		}
	}
}

// TestTroubleshootingQuotesMessages: each message that the page quotes is in the source or in its translations, with
// an ellipsis for its values.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	var source strings.Builder
	catalogues, err := filepath.Glob("base/lang/zh/*.po")
	if err != nil || len(catalogues) == 0 {
		t.Fatal(catalogues, err)
	}
	for _, path := range append(goFiles(t), catalogues...) {
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
	for line := range strings.Lines(readPage(t, "docs/troubleshooting.md") + readPage(t, "docs/troubleshooting.zh.md")) {
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
	if seen < 40 {
		t.Errorf("got %d quotations, want the 40 of the page in both languages at least", seen)
	}
}

// TestFirstCommands: the README begins with two commands that work in a clone, of which .ci/run calls the second. No page
// that is read first names a package before CHANGELOG.md has a release.
func TestFirstCommands(t *testing.T) {
	console := regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	for _, page := range []string{"README.md", "README.zh.md"} {
		first := console.FindStringSubmatch(readPage(t, page))
		if first == nil {
			t.Fatalf("%s has no commands", page)
		}
		commands := strings.Split(strings.TrimSpace(first[1]), "\n")
		if want := "go run ./cmd/bmad-mcp demo"; len(commands) != 2 || commands[0] != want {
			t.Errorf("%s: got the first commands %q, want %s and that of the tests", page, commands, want)
		}
		if tests := commands[len(commands)-1]; !strings.Contains(readPage(t, ".ci/run"), " "+tests+" | packages") {
			t.Errorf("%s: .ci/run does not call %s", page, tests)
		}
	}
	if regexp.MustCompile(`(?m)^## \[\d`).MatchString(readPage(t, "CHANGELOG.md")) {
		return
	}
	ofARelease := regexp.MustCompile(`(npm i|npm install|brew install|scoop install|winget install) |@latest|ghcr\.io|releases/latest`)
	for _, page := range []string{"README.md", "README.zh.md", "docs/start.md", "docs/start.zh.md"} {
		if found := ofARelease.FindString(readPage(t, page)); found != "" {
			t.Errorf("%s: %q needs a release, and there is none", page, found)
		}
	}
}

// TestLengthOfPapers keeps the two papers that are read first short.
func TestLengthOfPapers(t *testing.T) {
	for name, most := range map[string]int{"README.md": 1200, "README.zh.md": 1200, "CLAUDE.md": 1500} {
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
