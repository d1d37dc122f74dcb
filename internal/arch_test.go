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
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/bmad-mcp/bmad-mcp/"

// may lists, for each package, the packages of the project its code may import.
// A package that is not listed may not exist.
var may = map[string][]string{
	"cmd/bmad-mcp":                   {"internal/cli"},
	"docs":                           {},
	"packaging":                      {},
	"internal/cli":                   {"docs", "internal/app", "internal/cmds/agents", "internal/cmds/decide", "internal/cmds/look", "internal/cmds/method", "internal/cmds/remember", "internal/cmds/run", "internal/cmds/serve", "internal/cmds/setup", "internal/cmds/start", "internal/fault", "internal/lang", "internal/markdown", "internal/pattern", "internal/terminal", "internal/visible", "internal/workflow"},
	"internal/cmds/agents":           {"internal/app", "internal/cmds/run", "internal/config", "internal/fault", "internal/httpguard", "internal/lang", "internal/mcpserver", "internal/memory/notes", "internal/memory/queue", "internal/sdkhttp", "internal/terminal", "internal/visible", "sdk", "sdk/price", "sdk/provider", "sdk/vfs"},
	"internal/cmds/decide":           {"internal/app", "internal/engine", "internal/fault", "internal/feed", "internal/project", "internal/reply", "internal/request", "internal/standing", "internal/terminal", "internal/workflow"},
	"internal/cmds/look":             {"internal/app", "internal/audit", "internal/documents", "internal/durable", "internal/engine", "internal/fault", "internal/lang", "internal/passkey", "internal/project", "internal/report", "internal/request", "internal/standing", "internal/store", "internal/terminal", "internal/verdict", "internal/visible", "internal/words", "internal/workflow"},
	"internal/cmds/method":           {"internal/app", "internal/bmad/catalog", "internal/bmad/gitsource", "internal/bmad/library", "internal/bmad/sources", "internal/fault", "internal/lang", "internal/terminal"},
	"internal/cmds/remember":         {"internal/app", "internal/cmds/agents", "internal/fault", "internal/memory", "internal/memory/notes", "internal/memory/queue", "internal/terminal", "internal/visible"},
	"internal/cmds/run":              {"internal/app", "internal/config", "internal/durable", "internal/fault", "internal/gate", "internal/git", "internal/hostcli", "internal/lang", "internal/obeyed", "internal/project", "internal/request", "internal/runner", "internal/sdkhttp", "internal/terminal", "internal/visible", "internal/workflow", "sdk", "sdk/price", "sdk/provider", "sdk/toolserver"},
	"internal/cmds/serve":            {"internal/app", "internal/cmds/agents", "internal/cmds/setup", "internal/dashboard", "internal/durable", "internal/fault", "internal/httpguard", "internal/lang", "internal/mcpserver", "internal/pairing", "internal/passkey", "internal/reach", "internal/terminal"},
	"internal/cmds/setup":            {"internal/app", "internal/bmad/catalog", "internal/claudehook", "internal/config", "internal/dashboard", "internal/doctor", "internal/durable", "internal/engine", "internal/fault", "internal/hosts", "internal/lang", "internal/mcpserver", "internal/memory", "internal/permission", "internal/project", "internal/reach", "internal/store", "internal/store/transfer", "internal/terminal", "internal/trust", "internal/visible", "internal/workflow"},
	"internal/cmds/start":            {"internal/app", "internal/cmds/run", "internal/fault", "internal/gate", "internal/hostcli", "internal/hosts", "internal/lang", "internal/mcpserver", "internal/pattern", "internal/reply", "internal/runner", "internal/terminal", "internal/visible", "internal/workflow", "sdk/provider"},
	"internal/app":                   {"internal/bmad/gitsource", "internal/bmad/library", "internal/bmad/sources", "internal/config", "internal/contract", "internal/durable", "internal/embedding", "internal/engine", "internal/fault", "internal/httpguard", "internal/lang", "internal/mcpserver", "internal/memory", "internal/memory/notes", "internal/memory/queue", "internal/permission", "internal/project", "internal/reach", "internal/request", "internal/standing", "internal/store", "internal/store/filestore", "internal/store/pgstore", "internal/terminal", "internal/trust", "internal/workflow", "sdk/price", "sdk/provider", "sdk/provider/anthropic", "sdk/provider/openai"},
	"internal/terminal":              {"internal/durable", "internal/fault", "internal/gate", "internal/git", "internal/lang", "internal/markdown", "internal/pattern", "internal/visible", "internal/workflow"},
	"internal/mcpserver":             {"internal/arguments", "internal/bmad/catalog", "internal/bmad/library", "internal/config", "internal/contract", "internal/engine", "internal/exposition", "internal/fault", "internal/feed", "internal/gate", "internal/httpguard", "internal/lang", "internal/markdown/render", "internal/mcpserver/conformance", "internal/mcpwire", "internal/memory", "internal/memory/notes", "internal/memory/queue", "internal/project", "internal/reach", "internal/recent", "internal/reply", "internal/request", "internal/verify", "internal/visible", "internal/workflow"},
	"internal/dashboard":             {"docs", "internal/bmad/catalog", "internal/bmad/library", "internal/config", "internal/documents", "internal/durable", "internal/engine", "internal/fault", "internal/feed", "internal/gate", "internal/lang", "internal/markdown/render", "internal/memory", "internal/memory/notes", "internal/memory/queue", "internal/pairing", "internal/passkey", "internal/permission", "internal/project", "internal/request", "internal/runner", "internal/store", "internal/textdiff", "internal/visible", "internal/words", "internal/workflow"},
	"internal/contract":              {"internal/config", "internal/fault", "internal/lang", "internal/pattern", "internal/permission", "internal/project", "internal/trust", "internal/verify", "internal/workflow"},
	"internal/bmad/sources":          {"internal/bmad/gitsource", "internal/bmad/library", "internal/config", "internal/durable", "internal/fault", "internal/lang", "internal/trust"},
	"internal/bmad/library":          {"internal/bmad/catalog", "internal/bmad/format", "internal/bmad/resolve", "internal/durable", "internal/fault", "internal/lang", "internal/recent"},
	"internal/bmad/resolve":          {"internal/bmad/catalog", "internal/bmad/format", "internal/fault", "internal/lang", "internal/pattern"},
	"internal/bmad/catalog":          {"internal/bmad/format", "internal/durable", "internal/fault", "internal/lang", "internal/pattern"},
	"internal/bmad/format":           {"internal/lang", "internal/pattern"},
	"internal/bmad/methodtest":       {"internal/bmad/catalog", "internal/bmad/resolve", "internal/durable", "internal/fault"},
	"internal/hosts":                 {"internal/durable", "internal/fault", "internal/lang", "internal/pattern"},
	"internal/claudehook":            {"internal/arguments", "internal/pattern", "internal/request", "internal/workflow"},
	"internal/arguments":             {"internal/fault", "internal/lang", "internal/request", "internal/visible", "internal/workflow"},
	"internal/watch":                 {"internal/artifact", "internal/durable", "internal/store"},
	"internal/project":               {"internal/audit", "internal/config", "internal/durable", "internal/fault", "internal/git", "internal/lang", "internal/reach", "internal/store", "internal/workflow", "prompts"},
	"internal/engine":                {"internal/artifact", "internal/config", "internal/documents", "internal/durable", "internal/fault", "internal/gate", "internal/lang", "internal/lesson", "internal/permission", "internal/project", "internal/recent", "internal/reply", "internal/request", "internal/standing", "internal/store", "internal/submission", "internal/trust", "internal/verify", "internal/words", "internal/workflow", "prompts"},
	"internal/documents":             {"internal/artifact", "internal/durable", "internal/fault", "internal/lang", "internal/project", "internal/score", "internal/standing", "internal/store", "internal/verdict", "internal/words", "internal/workflow"},
	"internal/memory/untrusted":      {"internal/fault", "internal/lang", "internal/pattern", "internal/visible", "internal/words"},
	"internal/memory/notes":          {"internal/durable", "internal/fault", "internal/grimoire", "internal/lang", "internal/lesson", "internal/memory/untrusted", "internal/store", "internal/visible"},
	"internal/memory/queue":          {"internal/fault", "internal/lang", "internal/memory/notes", "internal/memory/untrusted", "internal/pattern", "internal/project", "internal/store", "internal/visible"},
	"internal/memory":                {"internal/config", "internal/durable", "internal/fault", "internal/grimoire", "internal/lang", "internal/lesson", "internal/memory/notes", "internal/memory/queue", "internal/memory/untrusted", "internal/pattern", "internal/project", "internal/recall", "internal/recent", "internal/store", "internal/visible", "internal/workflow"},
	"internal/request":               {"internal/fault", "internal/gate", "internal/lang", "internal/project", "internal/standing", "internal/verify", "internal/words", "internal/workflow"},
	"internal/permission":            {"internal/audit", "internal/cmdline", "internal/config", "internal/fault", "internal/lang", "internal/project", "internal/standing", "internal/store", "internal/trust", "internal/verify", "internal/words", "internal/workflow"},
	"internal/report":                {"internal/lang", "internal/markdown/render", "internal/pattern", "internal/visible", "internal/workflow"},
	"internal/submission":            {"internal/audit", "internal/documents", "internal/fault", "internal/lang", "internal/permission", "internal/project", "internal/request", "internal/score", "internal/standing", "internal/store", "internal/verdict", "internal/words", "internal/workflow"},
	"internal/standing":              {"internal/lang", "internal/textdiff", "internal/verdict", "internal/workflow"},
	"internal/words":                 {"internal/fault", "internal/lang", "internal/standing", "internal/verdict", "internal/visible", "internal/workflow"},
	"internal/reply":                 {"internal/gate", "internal/lang", "internal/lesson", "internal/standing", "internal/verdict", "internal/words", "internal/workflow"},
	"internal/embedding":             {"internal/durable", "internal/lang", "internal/memory/notes", "internal/recent"},
	"internal/lesson":                {"internal/markdown", "internal/standing", "internal/words", "internal/workflow"},
	"internal/gate":                  {"internal/fault", "internal/lang", "internal/standing", "internal/words", "internal/workflow"},
	"internal/doctor":                {"internal/artifact", "internal/durable", "internal/fault", "internal/hosts", "internal/lang", "internal/store", "internal/store/filestore", "internal/workflow"},
	"internal/config":                {"internal/bmad/gitsource", "internal/durable", "internal/fault", "internal/lang", "internal/lang/zh", "internal/pattern", "internal/visible", "internal/workflow", "sdk/price"},
	"internal/store":                 {"internal/durable", "internal/fault", "internal/lang", "internal/recent", "internal/workflow"},
	"internal/store/transfer":        {"internal/durable", "internal/fault", "internal/store", "internal/workflow"},
	"internal/store/pgstore":         {"internal/durable", "internal/fault", "internal/store", "internal/workflow"},
	"internal/store/pgstore/pgtest":  {"internal/durable"},
	"internal/store/filestore":       {"internal/durable", "internal/fault", "internal/lang", "internal/store", "internal/workflow"},
	"internal/store/storetest":       {"internal/durable", "internal/durable/durabletest", "internal/fault", "internal/store", "internal/store/filestore", "internal/workflow"},
	"internal/artifact":              {"internal/durable", "internal/fault", "internal/pattern", "internal/visible", "internal/workflow"},
	"internal/grimoire":              {"internal/bmad/format", "internal/lang", "internal/lesson", "internal/markdown", "internal/pattern"},
	"internal/markdown":              {"internal/pattern", "os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/markdown/render":       {"internal/visible"},
	"internal/textdiff":              {},
	"internal/verdict":               {"internal/lang", "internal/markdown", "internal/pattern", "internal/recent", "internal/visible", "internal/workflow"},
	"internal/score":                 {"internal/lang", "internal/markdown", "internal/pattern", "internal/workflow"},
	"internal/audit":                 {"internal/durable", "internal/fault", "internal/lang", "internal/markdown", "internal/pattern", "internal/recall", "internal/recent", "internal/verdict", "internal/workflow"},
	"internal/trust":                 {"internal/cmdline", "internal/durable", "internal/fault", "internal/lang", "internal/verify", "internal/workflow"},
	"internal/verify":                {"internal/cmdline", "internal/durable", "internal/fault", "internal/lang", "internal/pattern", "internal/process", "internal/workflow"},
	"internal/workflow":              {"internal/fault", "internal/lang", "internal/pattern"},
	"internal/bmad/gitsource":        {"internal/durable", "internal/fault", "internal/git", "internal/lang", "internal/pattern"},
	"internal/git":                   {"internal/durable", "internal/fault", "internal/lang", "internal/pattern", "internal/recent", "internal/visible"},
	"internal/obeyed":                {},
	"internal/process":               {},
	"internal/cmdline":               {},
	"internal/exposition":            {},
	"internal/visible":               {},
	"internal/reach":                 {"internal/lang"},
	"internal/fault":                 {"internal/durable", "internal/lang"},
	"internal/lang":                  {"internal/durable", "internal/pattern"},
	"internal/lang/zh":               {"internal/lang"},
	"internal/lang/langtest":         {},
	"internal/durable":               {"internal/recent"},
	"internal/durable/durabletest":   {"internal/durable"},
	"internal":                       {},
	"internal/golden":                {},
	"internal/pattern":               {},
	"internal/passkey":               {"internal/durable", "internal/fault", "internal/visible", "internal/workflow"},
	"internal/passkey/passkeytest":   {},
	"sdk/provider":                   {},
	"sdk/provider/anthropic":         {"sdk/provider", "sdk/provider/internal/wire"},
	"sdk/provider/openai":            {"internal/durable", "sdk/provider", "sdk/provider/internal/wire"},
	"sdk/provider/fake":              {"sdk/price", "sdk/provider"},
	"sdk/provider/internal/wire":     {"sdk/provider"},
	"sdk/price":                      {"sdk/provider"},
	"sdk":                            {"internal/bmad/catalog", "internal/bmad/library", "internal/durable", "internal/fault", "internal/lang", "internal/pattern", "sdk/price", "sdk/provider", "sdk/vfs"},
	"internal/sdkhttp":               {"internal/fault", "internal/httpguard", "internal/lang", "internal/pattern", "internal/visible", "sdk", "sdk/price", "sdk/provider"},
	"sdk/sdktest":                    {"internal/durable", "sdk/provider", "sdk/provider/fake"},
	"sdk/toolserver":                 {"internal/process", "sdk"},
	"sdk/vfs":                        {"internal/cmdline", "internal/durable", "internal/obeyed", "sdk/provider"},
	"internal/runner":                {"internal/durable", "internal/engine", "internal/fault", "internal/hostcli", "internal/lang", "internal/obeyed", "internal/project", "internal/request", "internal/score", "internal/standing", "internal/store", "internal/verify", "internal/words", "internal/workflow", "sdk", "sdk/price", "sdk/provider", "sdk/vfs"},
	"internal/hostcli":               {"internal/durable", "internal/obeyed", "internal/pattern", "internal/process", "internal/visible", "sdk/price", "sdk/provider"},
	"prompts":                        {"internal/durable", "internal/fault", "internal/lang", "internal/workflow"},
	"internal/recall":                {},
	"internal/recent":                {},
	"internal/scratch":               {},
	"internal/specimen":              {},
	"internal/mcpserver/conformance": {"internal/mcpwire"},
	"internal/mcpwire":               {"internal/fault", "internal/httpguard", "internal/lang", "internal/visible"},
	"internal/httpguard":             {"internal/lang", "internal/visible"},
	"internal/feed":                  {"internal/watch"},
	"internal/pairing":               {"internal/durable", "internal/fault", "internal/lang"},
}

// only lists libraries with the packages that alone may import them.
var only = map[string][]string{
	"github.com/mark3labs/mcp-go":       {"internal/mcpserver", "internal/mcpserver/conformance", "internal/mcpwire", "sdk/toolserver"},
	"github.com/google/jsonschema-go":   {"sdk"},
	"github.com/leonelquinteros/gotext": {"internal/lang"},
	"github.com/a-h/templ":              {"internal/dashboard", "internal/report"},
	"github.com/looplab/fsm":            {"internal/workflow"},
	"github.com/yuin/goldmark":          {"internal/markdown/render"},
	"github.com/go-webauthn/webauthn":   {"internal/passkey"},
	"github.com/gosimple/unidecode":     {"internal/artifact", "internal/recall"},
	"github.com/kljensen/snowball":      {"internal/recall"},
	"github.com/google/uuid":            {"sdk", "internal/engine", "internal/project", "internal/memory", "internal/memory/notes", "internal/store", "internal/store/storetest", "internal/store/transfer", "internal/hostcli"},
	"github.com/jackc/pgx":              {"internal/store/pgstore", "internal/store/pgstore/pgtest"},
	"github.com/pressly/goose":          {"internal/store/pgstore"},
	"github.com/gofrs/flock":            {"internal/durable"},
	"github.com/go-json-experiment":     {"internal/score", "internal/workflow", "internal/store", "internal/verdict"},
	"github.com/kaptinlin/jsonrepair":   {"internal/score", "internal/verdict"},
	"go.yaml.in/yaml/v3":                {"internal/config", "internal/audit", "internal/score", "internal/bmad/catalog", "internal/bmad/resolve", "internal/bmad/format", "internal/bmad/library", "internal/workflow", "internal/grimoire", "prompts"},
	"github.com/spf13/cobra":            {"internal/cli", "internal/cmds/agents", "internal/cmds/decide", "internal/cmds/look", "internal/cmds/method", "internal/cmds/remember", "internal/cmds/run", "internal/cmds/serve", "internal/cmds/setup", "internal/cmds/start", "internal/app", "internal/terminal"},
	"github.com/rogpeppe/go-internal":   {"internal/bmad/methodtest", "internal/cmds/agents", "internal/cmds/look", "internal/hosts"},
	"github.com/tailscale/hujson":       {"internal/hosts"},
	"github.com/pelletier/go-toml":      {"internal/hosts", "internal/hostcli", "internal/bmad/format"},
	"github.com/lithammer/fuzzysearch":  {"internal/bmad/catalog", "internal/fault"},
	"github.com/fsnotify/fsnotify":      {"internal/watch"},
	"mvdan.cc/sh":                       {"internal/claudehook"},
	"golang.org/x/term":                 {"internal/terminal"},
	"github.com/anthropics":             {"sdk/provider/anthropic"},
	"os/exec":                           {"internal/hosts", "internal/mcpserver", "internal/doctor", "internal/verify", "internal/git", "internal/process", "internal/hostcli", "internal/cmds/run", "internal/cmds/serve", "internal/cmds/start", "internal/store/pgstore/pgtest", "internal/terminal", "sdk/toolserver"},
}

// never lists packages that must stay free of effects.
var never = map[string][]string{
	"internal/engine":          {"net", "net/http", "encoding/json"}, // which loses the unknown keys of sessions
	"internal/submission":      {"os", "net", "net/http", "io/fs", "path/filepath", "encoding/json"},
	"internal/permission":      {"os", "net", "net/http", "encoding/json"},
	"internal/documents":       {"os", "net", "net/http", "path/filepath", "encoding/json"},
	"internal/standing":        {"os", "net", "net/http", "io/fs", "path/filepath", "context"},
	"internal/words":           {"os", "net", "net/http", "io/fs", "path/filepath", "context"},
	"internal/reply":           {"os", "net", "net/http", "io/fs", "path/filepath", "context", "encoding/json"},
	"internal/lesson":          {"os", "net", "net/http", "io/fs", "path/filepath", "context", "time", "encoding/json"},
	"internal/gate":            {"os", "net", "net/http", "io/fs", "path/filepath", "context"},
	"internal/request":         {"os", "net", "net/http", "io/fs", "path/filepath", "encoding/json"},
	"internal/report":          {"os", "net", "net/http", "io/fs", "path/filepath", "encoding/json"},
	"internal/workflow":        {"os", "net", "net/http", "io/fs", "path/filepath"},
	"internal/bmad/catalog":    {"net", "net/http", "os/exec"},
	"internal/bmad/resolve":    {"os", "net", "net/http", "os/exec"},
	"internal/bmad/format":     {"os", "net", "net/http", "os/exec"},
	"internal/claudehook":      {"os", "net", "net/http", "path/filepath", "time"},
	"internal/grimoire":        {"os", "net", "net/http", "os/exec", "path/filepath"},
	"internal/markdown":        {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/markdown/render": {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/textdiff":        {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/pattern":         {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/recall":          {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/score":           {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/audit":           {"os", "net", "net/http", "path/filepath", "time"},
}

func TestImportArrows(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		checkFile(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	pkg, err := filepath.Rel("..", filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	pkg = filepath.ToSlash(pkg)
	allowed, listed := may[pkg]
	if !listed {
		t.Errorf("%s: package %s is not in the import table", path, pkg)
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	isTest := strings.HasSuffix(path, "_test.go")
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if ours, ok := strings.CutPrefix(name, module); ok {
			// Tests may reach further down, for fixtures of the real thing.
			if ours != pkg && !isTest && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s, which %s may not", path, ours, pkg)
			}
			continue
		}
		if isTest {
			continue
		}
		for library, users := range only {
			if (name == library || strings.HasPrefix(name, library+"/")) && !slices.Contains(users, pkg) {
				t.Errorf("%s imports %s; only %v may", path, name, users)
			}
		}
		if slices.Contains(never[pkg], name) {
			t.Errorf("%s imports %s; %s must stay free of it", path, name, pkg)
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
// it, whichever the session was started with.
func TestTheWorkflowIsAnArgument(t *testing.T) {
	may := []string{"workflow", "config", "store/storetest"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if pkg := filepath.ToSlash(filepath.Dir(path)); err == nil && strings.Contains(string(text), "workflow.Default()") && !slices.Contains(may, pkg) {
			t.Errorf("%s calls workflow.Default; take the session's definition, or that of the settings, as an argument", path)
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
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.ToSlash(filepath.Dir(path)) == "../internal/git" {
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
				t.Errorf("%s names %s where it runs programs; only internal/git runs git", path, text.Value)
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
	if seen < 20 {
		t.Errorf("got %d libraries, want the 20 that the project imports at least", seen)
	}
}
