// Package internal_test keeps the import arrows of the project true.
package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// only lists libraries with the packages that alone may import them.
var only = map[string][]string{
	"github.com/mark3labs/mcp-go":       {"internal/mcp/mcpserver", "internal/mcp/mcpserver/conformance", "internal/mcp/internal/mcpwire", "sdk/toolserver"},
	"github.com/a2aproject/a2a-go":      {"internal/headless/sdkhttp", "internal/headless/remote"},
	"github.com/google/jsonschema-go":   {"sdk"},
	"github.com/leonelquinteros/gotext": {"internal/base/lang"},
	"github.com/a-h/templ":              {"internal/web", "internal/web/report"},
	"github.com/looplab/fsm":            {"internal/workflow"},
	"github.com/yuin/goldmark":          {"internal/base/markdown/render"},
	"github.com/go-webauthn/webauthn":   {"internal/web/passkey"},
	"github.com/gosimple/slug":          {"internal/store/artifact"},
	"github.com/gosimple/unidecode":     {"internal/base/recall"},
	"github.com/kljensen/snowball":      {"internal/base/recall"},
	"github.com/hiddeco/sshsig":         {"internal/base/signature"},
	"golang.org/x/crypto":               {"internal/base/signature"},
	"github.com/google/uuid": {
		"sdk", "internal/engine", "internal/project", "internal/memory", "internal/memory/notes", "internal/store",
		"internal/store/storetest", "internal/store/transfer", "internal/headless/hostcli", "internal/headless/sdkhttp",
	},
	"github.com/jackc/pgx":     {"internal/store/pgstore", "internal/store/pgstore/pgtest"},
	"github.com/pressly/goose": {"internal/store/pgstore"},
	"github.com/gofrs/flock":   {"internal/base/durable"},
	"github.com/go-json-experiment": {
		"internal/workflow/intake", "internal/workflow/internal/jsonblock", "internal/workflow", "internal/store",
		"internal/workflow/verdict", "internal/proof", "internal/method/internal/npm",
	},
	"github.com/kaptinlin/jsonrepair": {"internal/workflow/internal/jsonblock"},
	"go.yaml.in/yaml/v3": {
		"internal/project/config", "internal/workflow/audit", "internal/method/catalog", "internal/method/resolve",
		"internal/method/format", "internal/method", "internal/workflow", "internal/memory/internal/grimoire", "internal/memory/queue",
		"prompts", "internal/workflow/delivery", "sdk/template",
	},
	"github.com/spf13/cobra": {
		"internal/cli", "internal/cli/cmd/agents", "internal/cli/cmd/decide", "internal/cli/cmd/fleet", "internal/cli/cmd/look", "internal/cli/cmd/method",
		"internal/cli/cmd/remember", "internal/cli/cmd/run", "internal/cli/cmd/serve", "internal/cli/cmd/setup",
		"internal/cli/cmd/start", "internal/cli/app", "internal/cli/terminal",
	},
	"github.com/rogpeppe/go-internal":  {"internal/method/methodtest", "internal/cli/cmd/agents", "internal/cli/cmd/look", "internal/hosts"},
	"github.com/tailscale/hujson":      {"internal/hosts"},
	"github.com/pelletier/go-toml":     {"internal/hosts", "internal/headless/hostcli", "internal/method/format"},
	"github.com/lithammer/fuzzysearch": {"internal/method/catalog", "internal/base/fault"},
	"github.com/fsnotify/fsnotify":     {"internal/base/feed"},
	"golang.org/x/term":                {"internal/cli/terminal"},
	"github.com/anthropics":            {"sdk/provider/anthropic"},
	"gocloud.dev":                      {"sdk/vfs/blob"}, // a module of its own, which the program does not carry
	"os/exec": {
		"internal/hosts", "internal/mcp/mcpserver", "internal/hosts/doctor", "internal/trust/verify", "internal/base/git",
		"internal/base/notify", "internal/base/process", "internal/headless/hostcli", "internal/fleet", "internal/cli/cmd/run", "internal/cli/cmd/serve", "internal/cli/cmd/start",
		"internal/store/pgstore/pgtest", "internal/cli/terminal", "sdk/toolserver", "sdk/pandoc",
	},
}

// effects are the packages of the standard library by which code reaches a disk, a network or a program, and fileNames
// those by which it names files.
var (
	effects   = []string{"os", "os/exec", "net", "net/http"}
	fileNames = []string{"io/fs", "path/filepath"}
)

// pure lists the packages that have no effects; those with true name no files either.
var pure = map[string]bool{
	"internal/base/codediff":              true,
	"internal/base/csvtable":              true,
	"internal/base/markdown":              true,
	"internal/base/markdown/changes":      true,
	"internal/base/markdown/render":       true,
	"internal/base/pattern":               true,
	"internal/base/recall":                true,
	"internal/base/textdiff":              true,
	"internal/workflow":                   true,
	"internal/workflow/audit":             false,
	"internal/workflow/criteria":          true,
	"internal/workflow/delivery":          true,
	"internal/workflow/intake":            true,
	"internal/workflow/lesson":            true,
	"internal/workflow/trace":             true,
	"internal/workflow/verdict":           true,
	"internal/method/format":              false,
	"internal/method/resolve":             false,
	"internal/memory/internal/grimoire":   false,
	"internal/engine/gate":                true,
	"internal/engine/internal/documents":  false,
	"internal/engine/internal/learn":      true,
	"internal/engine/internal/permission": false,
	"internal/engine/internal/standing":   true,
	"internal/engine/internal/submission": true,
	"internal/engine/internal/words":      true,
	"internal/engine/reply":               true,
	"internal/engine/request":             true,
	"internal/hosts/hook":                 false,
	"internal/hosts/mention":              false,
	"internal/proof":                      false,
	"internal/web/report":                 true,

	"internal/workflow/internal/jsonblock": true,
}

// TestPureRooms: packages without effects stay so, which makes their tests tables.
func TestPureRooms(t *testing.T) {
	seen := map[string]bool{}
	eachImport(t, func(path, pkg, imported string) {
		withoutPlaces, isPure := pure[pkg]
		seen[pkg] = true
		if isPure && (slices.Contains(effects, imported) || withoutPlaces && slices.Contains(fileNames, imported)) {
			t.Errorf("%s imports %s; %s must stay free of it", path, imported, pkg)
		}
		// A decoder of the standard library loses the keys of sessions that it does not know.
		keepsKeys := pkg == "internal/engine" || strings.HasPrefix(pkg, "internal/engine/internal/") || pkg == "internal/engine/reply"
		if keepsKeys && imported == "encoding/json" && pkg != "internal/engine/internal/contract" {
			t.Errorf("%s imports %s", path, imported)
		}
	})
	for pkg := range pure {
		if !seen[pkg] {
			t.Errorf("no package %s", pkg)
		}
	}
}

// TestUsersOfLibraries: a library is known to few packages, so that it can be replaced.
func TestUsersOfLibraries(t *testing.T) {
	used := map[string]bool{}
	eachImport(t, func(path, pkg, imported string) {
		for library, users := range only {
			if imported != library && !strings.HasPrefix(imported, library+"/") {
				continue
			}
			used[library+" "+pkg] = true
			if !slices.Contains(users, pkg) {
				t.Errorf("%s imports %s; only %v may", path, imported, users)
			}
		}
	})
	for library, users := range only {
		for _, pkg := range users {
			if forTests := strings.HasSuffix(pkg, "test") || strings.HasSuffix(pkg, "conformance"); !used[library+" "+pkg] && !forTests {
				t.Errorf("%s does not import %s, which the table has", pkg, library)
			}
		}
	}
}

// TestTopLevel keeps the folder list one that a newcomer can guess from.
func TestTopLevel(t *testing.T) {
	entries, err := filepath.Glob("../*")
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"cmd", "internal", "prompts", "testdata", "go.mod", "go.sum", "README.md", "README.zh.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CLAUDE.md", "LICENSE", "docs", "packaging", "sdk", "bmad-mcp", "bmad-mcp.exe", "dist"}
	for _, e := range entries {
		if base := filepath.Base(e); base[0] != '.' && !slices.Contains(allowed, base) {
			t.Errorf("%s does not belong at the top", filepath.Base(e))
		}
	}
}

// TestTheWorkflowIsAnArgument: code that asks for the default workflow would run every session by
// it, whichever the run was started with.
func TestTheWorkflowIsAnArgument(t *testing.T) {
	may := []string{"workflow", "project/config", "store/storetest"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if pkg := filepath.ToSlash(filepath.Dir(path)); err == nil && strings.Contains(string(text), "workflow.Default()") && !slices.Contains(may, pkg) {
			t.Errorf("%s calls workflow.Default; take the run's definition, or that of the settings, as an argument", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOnePackageRunsGit: git reads settings, which name programs, wherever it is started.
func TestOnePackageRunsGit(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.ToSlash(filepath.Dir(path)) == "../internal/base/git" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		runs := slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == `"os/exec"` })
		ast.Inspect(file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if ok && runs && isGit.MatchString(text.Value) {
				t.Errorf("%s names %s where it runs programs; only internal/base/git runs git", path, text.Value)
			}
			_, imports := n.(*ast.ImportSpec)
			return !imports
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// isGit matches a literal that is git, or a command line of it.
var isGit = regexp.MustCompile("^[\"`](?:\\S*/)?git(?:\\.exe|-[a-z-]+)?(?: .*)?[\"`]$")

// requirement is a line of go.mod that names a library the project imports itself, with its reason.
var requirement = regexp.MustCompile(`(?m)^\t(\S+) v\S+(?: // (.*))?$`)

// TestLibrariesHaveReasons: each library that the project imports has the reason beside it in go.mod.
func TestLibrariesHaveReasons(t *testing.T) {
	file, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, m := range requirement.FindAllStringSubmatch(string(file), -1) {
		if m[2] == "indirect" {
			continue
		}
		seen++
		if len(m[2]) < 3 {
			t.Errorf("go.mod gives no reason for %s", m[1])
		}
	}
	if strings.Contains(string(file), "gocloud.dev") {
		t.Error("go.mod requires gocloud.dev, which only sdk/vfs/blob has, by a go.mod of its own")
	}
	if seen < 20 {
		t.Errorf("got %d libraries, want the 20 that the project imports at least", seen)
	}
}
