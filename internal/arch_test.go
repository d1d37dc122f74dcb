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
	"cmd/bmad-mcp":                        {"internal/cli"},
	"docs":                                {},
	"packaging":                           {},
	"internal/cli":                        {"docs", "internal/cli/app", "internal/cli/cmd/agents", "internal/cli/cmd/decide", "internal/cli/cmd/look", "internal/cli/cmd/method", "internal/cli/cmd/remember", "internal/cli/cmd/run", "internal/cli/cmd/serve", "internal/cli/cmd/setup", "internal/cli/cmd/start", "internal/base/fault", "internal/base/lang", "internal/base/markdown", "internal/base/pattern", "internal/cli/terminal", "internal/base/visible", "internal/workflow"},
	"internal/cli/cmd/agents":             {"internal/cli/app", "internal/cli/cmd/run", "internal/project/config", "internal/base/fault", "internal/base/httpguard", "internal/base/lang", "internal/mcp/mcpserver", "internal/memory/notes", "internal/memory/queue", "internal/headless/sdkhttp", "internal/cli/terminal", "internal/base/visible", "sdk", "sdk/price", "sdk/provider", "sdk/vfs"},
	"internal/cli/cmd/decide":             {"internal/cli/app", "internal/engine", "internal/base/fault", "internal/store/feed", "internal/project", "internal/engine/reply", "internal/engine/request", "internal/engine/standing", "internal/cli/terminal", "internal/workflow"},
	"internal/cli/cmd/look":               {"internal/cli/app", "internal/workflow/audit", "internal/engine/documents", "internal/base/durable", "internal/engine", "internal/base/fault", "internal/base/lang", "internal/trust/passkey", "internal/project", "internal/web/report", "internal/engine/request", "internal/engine/standing", "internal/store", "internal/cli/terminal", "internal/workflow/verdict", "internal/base/visible", "internal/engine/words", "internal/workflow"},
	"internal/cli/cmd/method":             {"internal/cli/app", "internal/method/catalog", "internal/method/gitsource", "internal/method", "internal/project/sources", "internal/base/fault", "internal/base/lang", "internal/cli/terminal"},
	"internal/cli/cmd/remember":           {"internal/cli/app", "internal/cli/cmd/agents", "internal/base/fault", "internal/memory", "internal/memory/notes", "internal/memory/queue", "internal/cli/terminal", "internal/base/visible"},
	"internal/cli/cmd/run":                {"internal/cli/app", "internal/project/config", "internal/base/durable", "internal/base/fault", "internal/engine/gate", "internal/base/git", "internal/headless/hostcli", "internal/base/lang", "internal/base/obeyed", "internal/project", "internal/engine/request", "internal/headless", "internal/headless/sdkhttp", "internal/cli/terminal", "internal/base/visible", "internal/workflow", "sdk", "sdk/price", "sdk/provider", "sdk/toolserver"},
	"internal/cli/cmd/serve":              {"internal/cli/app", "internal/cli/cmd/agents", "internal/cli/cmd/setup", "internal/web", "internal/base/durable", "internal/base/fault", "internal/base/httpguard", "internal/base/lang", "internal/mcp/mcpserver", "internal/trust/pairing", "internal/trust/passkey", "internal/trust/reach", "internal/cli/terminal"},
	"internal/cli/cmd/setup":              {"internal/cli/app", "internal/method/catalog", "internal/hosts/hook", "internal/project/config", "internal/web", "internal/hosts/doctor", "internal/base/durable", "internal/engine", "internal/base/fault", "internal/hosts", "internal/base/lang", "internal/mcp/mcpserver", "internal/memory", "internal/engine/permission", "internal/project", "internal/trust/reach", "internal/store", "internal/store/transfer", "internal/cli/terminal", "internal/trust", "internal/base/visible", "internal/workflow"},
	"internal/cli/cmd/start":              {"internal/cli/app", "internal/cli/cmd/run", "internal/base/fault", "internal/engine/gate", "internal/headless/hostcli", "internal/hosts", "internal/base/lang", "internal/mcp/mcpserver", "internal/base/pattern", "internal/engine/reply", "internal/headless", "internal/cli/terminal", "internal/base/visible", "internal/workflow", "sdk/provider"},
	"internal/cli/app":                    {"internal/method/gitsource", "internal/method", "internal/project/sources", "internal/project/config", "internal/engine/contract", "internal/base/durable", "internal/memory/embedding", "internal/engine", "internal/base/fault", "internal/base/httpguard", "internal/base/lang", "internal/mcp/mcpserver", "internal/memory", "internal/memory/notes", "internal/memory/queue", "internal/engine/permission", "internal/project", "internal/trust/reach", "internal/engine/request", "internal/engine/standing", "internal/store", "internal/store/filestore", "internal/store/pgstore", "internal/cli/terminal", "internal/trust", "internal/workflow", "sdk/price", "sdk/provider", "sdk/provider/anthropic", "sdk/provider/openai"},
	"internal/cli/terminal":               {"internal/base/durable", "internal/base/fault", "internal/engine/gate", "internal/base/git", "internal/base/lang", "internal/base/markdown", "internal/base/pattern", "internal/base/visible", "internal/workflow"},
	"internal/mcp/mcpserver":              {"internal/engine/arguments", "internal/method/catalog", "internal/method", "internal/project/config", "internal/engine/contract", "internal/engine", "internal/mcp/internal/exposition", "internal/base/fault", "internal/store/feed", "internal/engine/gate", "internal/base/httpguard", "internal/base/lang", "internal/base/markdown/render", "internal/mcp/mcpserver/conformance", "internal/mcp/internal/mcpwire", "internal/memory", "internal/memory/notes", "internal/memory/queue", "internal/project", "internal/trust/reach", "internal/base/recent", "internal/engine/reply", "internal/engine/request", "internal/trust/verify", "internal/base/visible", "internal/workflow"},
	"internal/web":                        {"docs", "internal/method/catalog", "internal/method", "internal/project/config", "internal/engine/documents", "internal/base/durable", "internal/engine", "internal/base/fault", "internal/store/feed", "internal/engine/gate", "internal/base/lang", "internal/base/markdown/render", "internal/memory", "internal/memory/notes", "internal/memory/queue", "internal/trust/pairing", "internal/trust/passkey", "internal/engine/permission", "internal/project", "internal/engine/request", "internal/headless", "internal/store", "internal/base/textdiff", "internal/base/visible", "internal/engine/words", "internal/workflow"},
	"internal/engine/contract":            {"internal/project/config", "internal/base/fault", "internal/base/lang", "internal/base/pattern", "internal/engine/permission", "internal/project", "internal/trust", "internal/trust/verify", "internal/workflow"},
	"internal/project/sources":            {"internal/method/gitsource", "internal/method", "internal/project/config", "internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/trust"},
	"internal/method":                     {"internal/method/catalog", "internal/method/format", "internal/method/resolve", "internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/base/recent"},
	"internal/method/resolve":             {"internal/method/catalog", "internal/method/format", "internal/base/fault", "internal/base/lang", "internal/base/pattern"},
	"internal/method/catalog":             {"internal/method/format", "internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/base/pattern"},
	"internal/method/format":              {"internal/base/lang", "internal/base/pattern"},
	"internal/method/methodtest":          {"internal/method/catalog", "internal/method/resolve", "internal/base/durable", "internal/base/fault"},
	"internal/hosts":                      {"internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/base/pattern"},
	"internal/hosts/hook":                 {"internal/engine/arguments", "internal/base/pattern", "internal/engine/request", "internal/workflow"},
	"internal/engine/arguments":           {"internal/base/fault", "internal/base/lang", "internal/engine/request", "internal/base/visible", "internal/workflow"},
	"internal/store/internal/watch":       {"internal/store/artifact", "internal/base/durable", "internal/store"},
	"internal/project":                    {"internal/workflow/audit", "internal/project/config", "internal/base/durable", "internal/base/fault", "internal/base/git", "internal/base/lang", "internal/trust/reach", "internal/store", "internal/workflow", "prompts"},
	"internal/engine":                     {"internal/store/artifact", "internal/project/config", "internal/engine/documents", "internal/base/durable", "internal/base/fault", "internal/engine/gate", "internal/base/lang", "internal/engine/lesson", "internal/engine/permission", "internal/project", "internal/base/recent", "internal/engine/reply", "internal/engine/request", "internal/engine/standing", "internal/store", "internal/engine/internal/submission", "internal/trust", "internal/trust/verify", "internal/engine/words", "internal/workflow", "prompts"},
	"internal/engine/documents":           {"internal/store/artifact", "internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/project", "internal/workflow/intake", "internal/engine/standing", "internal/store", "internal/workflow/verdict", "internal/engine/words", "internal/workflow"},
	"internal/memory/internal/untrusted":  {"internal/base/fault", "internal/base/lang", "internal/base/pattern", "internal/base/visible", "internal/engine/words"},
	"internal/memory/notes":               {"internal/base/durable", "internal/base/fault", "internal/memory/internal/grimoire", "internal/base/lang", "internal/engine/lesson", "internal/memory/internal/untrusted", "internal/store", "internal/base/visible"},
	"internal/memory/queue":               {"internal/base/fault", "internal/base/lang", "internal/memory/notes", "internal/memory/internal/untrusted", "internal/base/pattern", "internal/project", "internal/store", "internal/base/visible"},
	"internal/memory":                     {"internal/project/config", "internal/base/durable", "internal/base/fault", "internal/memory/internal/grimoire", "internal/base/lang", "internal/engine/lesson", "internal/memory/notes", "internal/memory/queue", "internal/memory/internal/untrusted", "internal/base/pattern", "internal/project", "internal/base/recall", "internal/base/recent", "internal/store", "internal/base/visible", "internal/workflow"},
	"internal/engine/request":             {"internal/base/fault", "internal/engine/gate", "internal/base/lang", "internal/project", "internal/engine/standing", "internal/trust/verify", "internal/engine/words", "internal/workflow"},
	"internal/engine/permission":          {"internal/workflow/audit", "internal/base/process", "internal/project/config", "internal/base/fault", "internal/base/lang", "internal/project", "internal/engine/standing", "internal/store", "internal/trust", "internal/trust/verify", "internal/engine/words", "internal/workflow"},
	"internal/web/report":                 {"internal/base/lang", "internal/base/markdown/render", "internal/base/pattern", "internal/base/visible", "internal/workflow"},
	"internal/engine/internal/submission": {"internal/workflow/audit", "internal/engine/documents", "internal/base/fault", "internal/base/lang", "internal/engine/permission", "internal/project", "internal/engine/request", "internal/workflow/intake", "internal/engine/standing", "internal/store", "internal/workflow/verdict", "internal/engine/words", "internal/workflow"},
	"internal/engine/standing":            {"internal/base/lang", "internal/base/textdiff", "internal/workflow/verdict", "internal/workflow"},
	"internal/engine/words":               {"internal/base/fault", "internal/base/lang", "internal/engine/standing", "internal/workflow/verdict", "internal/base/visible", "internal/workflow"},
	"internal/engine/reply":               {"internal/engine/gate", "internal/base/lang", "internal/engine/lesson", "internal/engine/standing", "internal/workflow/verdict", "internal/engine/words", "internal/workflow"},
	"internal/memory/embedding":           {"internal/base/durable", "internal/base/lang", "internal/memory/notes", "internal/base/recent"},
	"internal/engine/lesson":              {"internal/base/markdown", "internal/engine/standing", "internal/engine/words", "internal/workflow"},
	"internal/engine/gate":                {"internal/base/fault", "internal/base/lang", "internal/engine/standing", "internal/engine/words", "internal/workflow"},
	"internal/hosts/doctor":               {"internal/store/artifact", "internal/base/durable", "internal/base/fault", "internal/hosts", "internal/base/lang", "internal/store", "internal/store/filestore", "internal/workflow"},
	"internal/project/config":             {"internal/method/gitsource", "internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/base/lang/zh", "internal/base/pattern", "internal/base/visible", "internal/workflow", "sdk/price"},
	"internal/store":                      {"internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/base/recent", "internal/workflow"},
	"internal/store/transfer":             {"internal/base/durable", "internal/base/fault", "internal/store", "internal/workflow"},
	"internal/store/pgstore":              {"internal/base/durable", "internal/base/fault", "internal/store", "internal/workflow"},
	"internal/store/pgstore/pgtest":       {"internal/base/durable"},
	"internal/store/filestore":            {"internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/base/recent", "internal/store", "internal/workflow"},
	"internal/store/storetest":            {"internal/base/durable", "internal/base/durable/durabletest", "internal/base/fault", "internal/store", "internal/store/filestore", "internal/workflow"},
	"internal/store/artifact":             {"internal/base/durable", "internal/base/fault", "internal/base/pattern", "internal/base/visible", "internal/workflow"},
	"internal/memory/internal/grimoire":   {"internal/method/format", "internal/base/lang", "internal/engine/lesson", "internal/base/markdown", "internal/base/pattern"},
	"internal/base/markdown":              {"internal/base/pattern", "os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/base/markdown/render":       {"internal/base/visible"},
	"internal/base/textdiff":              {},
	"internal/workflow/verdict":           {"internal/base/lang", "internal/base/markdown", "internal/base/pattern", "internal/base/recent", "internal/base/visible", "internal/workflow"},
	"internal/workflow/intake":            {"internal/base/lang", "internal/base/markdown", "internal/base/pattern", "internal/workflow"},
	"internal/workflow/audit":             {"internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/base/markdown", "internal/base/pattern", "internal/base/recall", "internal/base/recent", "internal/workflow/verdict", "internal/workflow"},
	"internal/trust":                      {"internal/base/process", "internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/trust/verify", "internal/workflow"},
	"internal/trust/verify":               {"internal/base/process", "internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/base/pattern", "internal/base/process", "internal/workflow"},
	"internal/workflow":                   {"internal/base/fault", "internal/base/lang", "internal/base/pattern"},
	"internal/method/gitsource":           {"internal/base/durable", "internal/base/fault", "internal/base/git", "internal/base/lang", "internal/base/pattern"},
	"internal/base/git":                   {"internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/base/pattern", "internal/base/recent", "internal/base/visible"},
	"internal/base/obeyed":                {},
	"internal/base/process":               {},
	"internal/mcp/internal/exposition":    {},
	"internal/base/visible":               {},
	"internal/trust/reach":                {"internal/base/lang"},
	"internal/base/fault":                 {"internal/base/durable", "internal/base/lang"},
	"internal/base/lang":                  {"internal/base/durable", "internal/base/pattern"},
	"internal/base/lang/zh":               {"internal/base/lang"},
	"internal/base/lang/langtest":         {},
	"internal/base/durable":               {"internal/base/recent"},
	"internal/base/durable/durabletest":   {"internal/base/durable"},
	"internal":                            {},
	"internal/testkit/golden":             {},
	"internal/base/pattern":               {},
	"internal/trust/passkey":              {"internal/base/durable", "internal/base/fault", "internal/base/visible", "internal/workflow"},
	"internal/trust/passkey/passkeytest":  {},
	"sdk/provider":                        {},
	"sdk/provider/anthropic":              {"sdk/provider", "sdk/provider/internal/wire"},
	"sdk/provider/openai":                 {"internal/base/durable", "sdk/provider", "sdk/provider/internal/wire"},
	"sdk/provider/fake":                   {"sdk/price", "sdk/provider"},
	"sdk/provider/internal/wire":          {"sdk/provider"},
	"sdk/price":                           {"sdk/provider"},
	"sdk":                                 {"internal/method/catalog", "internal/method", "internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/base/pattern", "sdk/price", "sdk/provider", "sdk/vfs"},
	"internal/headless/sdkhttp":           {"internal/base/fault", "internal/base/httpguard", "internal/base/lang", "internal/base/pattern", "internal/base/visible", "sdk", "sdk/price", "sdk/provider"},
	"sdk/sdktest":                         {"internal/base/durable", "sdk/provider", "sdk/provider/fake"},
	"sdk/toolserver":                      {"internal/base/process", "sdk"},
	"sdk/vfs":                             {"internal/base/process", "internal/base/durable", "internal/base/obeyed", "sdk/provider"},
	"internal/headless":                   {"internal/base/durable", "internal/engine", "internal/base/fault", "internal/headless/hostcli", "internal/base/lang", "internal/base/obeyed", "internal/project", "internal/engine/request", "internal/workflow/intake", "internal/engine/standing", "internal/store", "internal/trust/verify", "internal/engine/words", "internal/workflow", "sdk", "sdk/price", "sdk/provider", "sdk/vfs"},
	"internal/headless/hostcli":           {"internal/base/durable", "internal/base/obeyed", "internal/base/pattern", "internal/base/process", "internal/base/visible", "sdk/price", "sdk/provider"},
	"prompts":                             {"internal/base/durable", "internal/base/fault", "internal/base/lang", "internal/workflow"},
	"internal/base/recall":                {},
	"internal/base/recent":                {},
	"internal/testkit/scratch":            {},
	"internal/testkit/specimen":           {},
	"internal/mcp/mcpserver/conformance":  {"internal/mcp/internal/mcpwire"},
	"internal/mcp/internal/mcpwire":       {"internal/base/fault", "internal/base/httpguard", "internal/base/lang", "internal/base/visible"},
	"internal/base/httpguard":             {"internal/base/lang", "internal/base/visible"},
	"internal/store/feed":                 {"internal/store/internal/watch"},
	"internal/trust/pairing":              {"internal/base/durable", "internal/base/fault", "internal/base/lang"},
}

// only lists libraries with the packages that alone may import them.
var only = map[string][]string{
	"github.com/mark3labs/mcp-go":       {"internal/mcp/mcpserver", "internal/mcp/mcpserver/conformance", "internal/mcp/internal/mcpwire", "sdk/toolserver"},
	"github.com/google/jsonschema-go":   {"sdk"},
	"github.com/leonelquinteros/gotext": {"internal/base/lang"},
	"github.com/a-h/templ":              {"internal/web", "internal/web/report"},
	"github.com/looplab/fsm":            {"internal/workflow"},
	"github.com/yuin/goldmark":          {"internal/base/markdown/render"},
	"github.com/go-webauthn/webauthn":   {"internal/trust/passkey"},
	"github.com/gosimple/slug":          {"internal/store/artifact"},
	"github.com/gosimple/unidecode":     {"internal/base/recall"},
	"github.com/kljensen/snowball":      {"internal/base/recall"},
	"github.com/google/uuid":            {"sdk", "internal/engine", "internal/project", "internal/memory", "internal/memory/notes", "internal/store", "internal/store/storetest", "internal/store/transfer", "internal/headless/hostcli"},
	"github.com/jackc/pgx":              {"internal/store/pgstore", "internal/store/pgstore/pgtest"},
	"github.com/pressly/goose":          {"internal/store/pgstore"},
	"github.com/gofrs/flock":            {"internal/base/durable"},
	"github.com/go-json-experiment":     {"internal/workflow/intake", "internal/workflow", "internal/store", "internal/workflow/verdict"},
	"github.com/kaptinlin/jsonrepair":   {"internal/workflow/intake", "internal/workflow/verdict"},
	"go.yaml.in/yaml/v3":                {"internal/project/config", "internal/workflow/audit", "internal/workflow/intake", "internal/method/catalog", "internal/method/resolve", "internal/method/format", "internal/method", "internal/workflow", "internal/memory/internal/grimoire", "prompts"},
	"github.com/spf13/cobra":            {"internal/cli", "internal/cli/cmd/agents", "internal/cli/cmd/decide", "internal/cli/cmd/look", "internal/cli/cmd/method", "internal/cli/cmd/remember", "internal/cli/cmd/run", "internal/cli/cmd/serve", "internal/cli/cmd/setup", "internal/cli/cmd/start", "internal/cli/app", "internal/cli/terminal"},
	"github.com/rogpeppe/go-internal":   {"internal/method/methodtest", "internal/cli/cmd/agents", "internal/cli/cmd/look", "internal/hosts"},
	"github.com/tailscale/hujson":       {"internal/hosts"},
	"github.com/pelletier/go-toml":      {"internal/hosts", "internal/headless/hostcli", "internal/method/format"},
	"github.com/lithammer/fuzzysearch":  {"internal/method/catalog", "internal/base/fault"},
	"github.com/fsnotify/fsnotify":      {"internal/store/internal/watch"},
	"mvdan.cc/sh":                       {"internal/hosts/hook"},
	"golang.org/x/term":                 {"internal/cli/terminal"},
	"github.com/anthropics":             {"sdk/provider/anthropic"},
	"os/exec":                           {"internal/hosts", "internal/mcp/mcpserver", "internal/hosts/doctor", "internal/trust/verify", "internal/base/git", "internal/base/process", "internal/headless/hostcli", "internal/cli/cmd/run", "internal/cli/cmd/serve", "internal/cli/cmd/start", "internal/store/pgstore/pgtest", "internal/cli/terminal", "sdk/toolserver"},
}

// never lists packages that must stay free of effects.
var never = map[string][]string{
	"internal/engine":                     {"net", "net/http", "encoding/json"}, // which loses the unknown keys of sessions
	"internal/engine/internal/submission": {"os", "net", "net/http", "io/fs", "path/filepath", "encoding/json"},
	"internal/engine/permission":          {"os", "net", "net/http", "encoding/json"},
	"internal/engine/documents":           {"os", "net", "net/http", "path/filepath", "encoding/json"},
	"internal/engine/standing":            {"os", "net", "net/http", "io/fs", "path/filepath", "context"},
	"internal/engine/words":               {"os", "net", "net/http", "io/fs", "path/filepath", "context"},
	"internal/engine/reply":               {"os", "net", "net/http", "io/fs", "path/filepath", "context", "encoding/json"},
	"internal/engine/lesson":              {"os", "net", "net/http", "io/fs", "path/filepath", "context", "time", "encoding/json"},
	"internal/engine/gate":                {"os", "net", "net/http", "io/fs", "path/filepath", "context"},
	"internal/engine/request":             {"os", "net", "net/http", "io/fs", "path/filepath", "encoding/json"},
	"internal/web/report":                 {"os", "net", "net/http", "io/fs", "path/filepath", "encoding/json"},
	"internal/workflow":                   {"os", "net", "net/http", "io/fs", "path/filepath"},
	"internal/method/catalog":             {"net", "net/http", "os/exec"},
	"internal/method/resolve":             {"os", "net", "net/http", "os/exec"},
	"internal/method/format":              {"os", "net", "net/http", "os/exec"},
	"internal/hosts/hook":                 {"os", "net", "net/http", "path/filepath", "time"},
	"internal/memory/internal/grimoire":   {"os", "net", "net/http", "os/exec", "path/filepath"},
	"internal/base/markdown":              {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/base/markdown/render":       {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/base/textdiff":              {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/base/pattern":               {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/base/recall":                {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/workflow/intake":            {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/workflow/audit":             {"os", "net", "net/http", "path/filepath", "time"},
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
	if seen < 20 {
		t.Errorf("got %d libraries, want the 20 that the project imports at least", seen)
	}
}
