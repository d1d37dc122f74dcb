package internal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/cli"
)

// requirementLine is a row of docs/seeds.md.
type requirementLine struct {
	id, text, where, status, tests string
}

var (
	requirementRow = regexp.MustCompile(`^\| ([A-Z])(\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`)
	headOfTable    = regexp.MustCompile(`^\|(---\||( No\.| 编号) \|)`)
	namedTest      = regexp.MustCompile(`^([a-z/-]+)\.((?:Test|Fuzz|Example)[A-Z]\w*)(?:/([a-z0-9_-]+))?$`)
	namedPlace     = regexp.MustCompile("(?:(tool|setting|variable|工具|设置|变量) )?`([^`]+)`")
	inChinese      = map[string]string{"工具": "tool", "设置": "setting", "变量": "variable"}
)

// requirements are the groups of the table with how many each has: W is the workflow, M the method, P the memory,
// and C the agents without a host.
var requirements = map[string]int{"W": 81, "M": 118, "P": 50, "C": 89}

// readRequirements returns the rows of a page, in its order.
func readRequirements(t *testing.T, page string) (out []requirementLine) {
	t.Helper()
	for line := range strings.Lines(readPage(t, page)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || headOfTable.MatchString(line) {
			continue
		}
		m := requirementRow.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%s: not a row: %s", page, line)
			continue
		}
		out = append(out, requirementLine{m[1] + m[2], m[3], m[4], m[5], m[6]})
	}
	return out
}

// TestRequirements: each requirement that the program was built for is in the table once, is met as asked or says
// how and why not, and names places and tests that exist. The tests can fail: a benchmark only reports.
func TestRequirements(t *testing.T) {
	known := knownNames(t)
	seen := map[string]bool{}
	for _, r := range readRequirements(t, "docs/seeds.md") {
		if n, _ := strconv.Atoi(r.id[1:]); n < 1 || n > requirements[r.id[:1]] || r.id[1:] != strconv.Itoa(n) {
			t.Errorf("%s is not a number of the table", r.id)
		}
		if seen[r.id] {
			t.Errorf("%s is there twice", r.id)
		}
		seen[r.id] = true
		if how, why, _ := strings.Cut(r.status, ": "); r.status != "as asked" && (how != "different" || len(strings.Fields(why)) < 4) {
			t.Errorf("%s: the status %q is neither \"as asked\" nor \"different: \" with how and why", r.id, r.status)
		}
		for _, problem := range append(known.placeProblems(r.where), testProblems(t, r.tests)...) {
			t.Errorf("%s: %s", r.id, problem)
		}
	}
	for group, n := range requirements {
		for i := 1; i <= n; i++ {
			if id := group + strconv.Itoa(i); !seen[id] {
				t.Errorf("%s is missing", id)
			}
		}
	}
}

// TestRequirementsInBothLanguages: the Chinese page has the same rows, met in the same way by the same places and tests.
func TestRequirementsInBothLanguages(t *testing.T) {
	one, two := readRequirements(t, "docs/seeds.md"), readRequirements(t, "docs/seeds.zh.md")
	if len(one) != len(two) {
		t.Fatalf("got %d rows in Chinese, want %d", len(two), len(one))
	}
	for i, want := range one {
		got := two[i]
		_, how, isDifferent := strings.Cut(got.status, "不同：")
		if got.id != want.id || got.tests != want.tests || !slices.Equal(placesIn(got.where), placesIn(want.where)) {
			t.Errorf("got the Chinese row %+v, want the names of %+v", got, want)
		}
		if isDifferent == (want.status == "as asked") || !isDifferent && got.status != "照原样" || isDifferent && how == "" || got.text == want.text {
			t.Errorf("got the Chinese row %+v, want %+v in Chinese", got, want)
		}
	}
}

// TestWordsOfAgents: the glossary has the words of agents without a host, in both languages.
func TestWordsOfAgents(t *testing.T) {
	for _, page := range []string{"docs/glossary.md", "docs/glossary.zh.md"} {
		var words []string
		for line := range strings.Lines(readPage(t, page)) {
			if cells := strings.Split(line, "|"); len(cells) == 4 {
				words = append(words, regexp.MustCompile(`[a-z]+`).FindAllString(cells[1], -1)...)
			}
		}
		for _, word := range []string{"agent", "session", "files", "tool", "provider", "question", "budget"} {
			if !slices.Contains(words, word) {
				t.Errorf("%s has no %s", page, word)
			}
		}
	}
}

// placesIn returns the names in a cell, each with its kind.
func placesIn(cell string) (out []string) {
	for _, m := range namedPlace.FindAllStringSubmatch(cell, -1) {
		kind := m[1]
		if english, ok := inChinese[kind]; ok {
			kind = english
		}
		out = append(out, kind+" "+m[2])
	}
	return out
}

// names are the names that the program has, of each kind that a row can have.
type names struct {
	declared  map[string]bool
	commands  map[string]string // the help of each
	tools     string            // docs/reference/tools.md, which is made from the definitions
	settings  string            // docs/reference/settings.md, made from the table of settings
	variables string            // the source
}

func knownNames(t *testing.T) names {
	t.Helper()
	n := names{declared: declarations(t), commands: map[string]string{}, tools: readPage(t, "docs/reference/tools.md"), settings: readPage(t, "docs/reference/settings.md")}
	var help strings.Builder
	if err := cli.WriteCommandReference(&help); err != nil {
		t.Fatal(err)
	}
	for section := range strings.SplitSeq(help.String(), "\n## ") {
		name, text, _ := strings.Cut(section, "\n")
		n.commands[name] = text
	}
	for _, path := range goFiles(t) {
		if source, err := os.ReadFile(path); err != nil {
			t.Fatal(err)
		} else if !strings.HasSuffix(path, "_test.go") {
			n.variables += string(source)
		}
	}
	return n
}

// placeProblems names what the program does not have of a cell with places.
func (n names) placeProblems(cell string) (out []string) {
	if rest := strings.Trim(namedPlace.ReplaceAllString(cell, ""), ", 、"); rest != "" || len(placesIn(cell)) == 0 {
		out = append(out, cell+": want names in backquotes, with tool, setting or variable before those of that kind")
	}
	for _, place := range placesIn(cell) {
		kind, name, _ := strings.Cut(place, " ")
		if why := n.findPlace(kind, name); why != "" {
			out = append(out, "`"+name+"`: "+why)
		}
	}
	return out
}

// findPlace says why the program has nothing by a name of a kind; "" if it has.
func (n names) findPlace(kind, name string) string {
	words := strings.Fields(name)
	switch {
	case kind == "tool" && !strings.Contains(n.tools, "\n### "+name+"\n"):
		return "no tool has the name"
	case kind == "setting" && !strings.Contains(n.settings, "\n| `"+name+"` |"):
		return "no setting has the name"
	case kind == "variable" && !strings.Contains(n.settings, " `"+name+"` ") && !strings.Contains(n.variables, `"`+name+`"`):
		return "the program reads no such variable"
	case kind == "" && words[0] == "bmad-mcp":
		return n.findCommand(words)
	case kind == "" && !aPath.MatchString(name) && !aSymbol.MatchString(name):
		return "it is neither a command nor a path nor a name in a package"
	case kind == "":
		return missing(name, n.declared)
	}
	return ""
}

// findCommand says which word of a command line is unknown, "" if none is.
func (n names) findCommand(words []string) string {
	i := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "-") })
	if i < 0 {
		i = len(words)
	}
	help, ok := n.commands[strings.Join(words[:i], " ")]
	if !ok {
		return "no such command"
	}
	for _, flag := range words[i:] {
		if !regexp.MustCompile(`(?m)^ +(-[a-z], )?` + regexp.QuoteMeta(flag) + `\b`).MatchString(help) {
			return "the command has no flag " + flag
		}
	}
	return ""
}

// testProblems names the tests in a cell that are not there.
func testProblems(t *testing.T, cell string) (out []string) {
	t.Helper()
	for name := range strings.SplitSeq(cell, ", ") {
		m := namedTest.FindStringSubmatch(name)
		if m == nil {
			out = append(out, name+" is not the name of a test")
			continue
		}
		if err := declares(findRoom(t, m[1]), m[2]); err != nil {
			out = append(out, name+": "+err.Error())
		}
		script := map[string]string{"TestScripts": "../testdata/script/" + m[3] + ".txtar", "TestTranscripts": "../testdata/mcp/" + m[3] + ".requests"}[m[2]]
		if _, err := os.Stat(script); m[3] != "" && err != nil {
			out = append(out, name+": "+err.Error())
		}
	}
	return out
}

// declares returns an error if no test file of a folder has a function.
func declares(folder, function string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.Contains(string(source), "\nfunc "+function+"(") {
			return nil
		}
	}
	return errors.Join(fs.ErrNotExist, errors.New("no such function in the package"))
}

// TestUnknownNamesAreSeen plants names in cells, beside good ones of each kind.
func TestUnknownNamesAreSeen(t *testing.T) {
	known := knownNames(t)
	for cell, want := range map[string]bool{
		"`internal/engine/decide.go`, `bmad-mcp decide --yes`, tool `bmad-task`, setting `gate`, variable `BMAD_ROOT`, `sdk.Client.StartAgent`": false,
		"`internal/engine`、工具 `bmad-task`、设置 `gate`、变量 `BMAD_SOURCES`":                                                                          false,
		"`sdk/provider/anthropic`, `bmad-mcp --version`":                                                                                        false,
		"`internal/engine/decided.go`":    true,
		"`internal/motor`":                true,
		"`sdk.Client.StartAgents`":        true,
		"`bmad-mcp decid --yes`":          true,
		"`bmad-mcp decide --yess`":        true,
		"`bmad-mcp decide po`":            true,
		"`bmad-mcp status --yes`":         true,
		"tool `bmad-tasks`":               true,
		"tool `gate`":                     true,
		"setting `gates`":                 true,
		"setting `bmad-task`":             true,
		"variable `BMAD_ROOTS`":           true,
		"`gate`":                          true,
		"gate":                            true,
		"see `internal/engine/decide.go`": true,
		"":                                true,
	} {
		if got := known.placeProblems(cell); (len(got) > 0) != want {
			t.Errorf("%s: got %q, want a problem: %t", cell, got, want)
		}
	}
	for cell, want := range map[string]bool{
		"engine.TestWholeRun, cli.TestScripts/gate, vfs.FuzzGlob, mcpserver.TestTranscripts/method": false,
		"engine.TestWholeRuns":       true,
		"engines.TestWholeRun":       true,
		"cli.TestScripts/gates":      true,
		"engine.TestWholeRun/gate":   true,
		"engine.BenchmarkStart":      true,
		"engine.TestWholeRun and so": true,
	} {
		if got := testProblems(t, cell); (len(got) > 0) != want {
			t.Errorf("%s: got %q, want a problem: %t", cell, got, want)
		}
	}
	if len(known.commands) < 70 {
		t.Errorf("got %d commands, want 70 at least", len(known.commands))
	}
}
