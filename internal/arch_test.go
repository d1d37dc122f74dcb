// Package internal_test keeps the import arrows of the project true.
package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
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
	"internal/cli":                   {"internal/method", "internal/catalog", "internal/gitsource", "internal/hosts", "internal/hook", "internal/mcpserver", "internal/httpguard", "internal/engine", "internal/upkeep", "internal/config", "internal/workflow", "internal/store", "internal/store/filestore", "internal/audit", "internal/trust", "internal/verify", "internal/visible", "internal/fault", "internal/durable", "internal/reach"},
	"internal/mcpserver":             {"internal/mcpserver/conformance", "internal/mcpwire", "internal/httpguard", "internal/visible", "internal/method", "internal/catalog", "internal/engine", "internal/feed", "internal/config", "internal/workflow", "internal/fault", "internal/reach"},
	"internal/mcpserver/conformance": {"internal/mcpwire"},
	"internal/mcpwire":               {"internal/httpguard", "internal/visible", "internal/fault"},
	"internal/httpguard":             {"internal/visible"},
	"internal/method":                {"internal/catalog", "internal/gitsource", "internal/workflow", "internal/fault", "internal/durable"},
	"internal/catalog":               {"internal/fault", "internal/durable"},
	"internal/hosts":                 {"internal/durable"},
	"internal/hook":                  {},
	"internal/feed":                  {"internal/watch"},
	"internal/watch":                 {"internal/store", "internal/durable"},
	"internal/engine":                {"internal/config", "internal/store", "internal/artifact", "internal/workflow", "internal/score", "internal/audit", "internal/trust", "internal/verify", "prompts", "internal/visible", "internal/fault", "internal/durable", "internal/reach"},
	"internal/upkeep":                {"internal/hosts", "internal/store", "internal/store/filestore", "internal/artifact", "internal/workflow", "internal/fault", "internal/durable"},
	"internal/config":                {"internal/gitsource", "internal/workflow", "internal/fault", "internal/durable"},
	"internal/store":                 {"internal/workflow", "internal/fault", "internal/durable"},
	"internal/store/filestore":       {"internal/store", "internal/workflow", "internal/fault", "internal/durable"},
	"internal/store/storetest":       {"internal/store", "internal/durable", "internal/durable/durabletest", "internal/workflow", "internal/fault"},
	"internal/artifact":              {"internal/workflow", "internal/visible", "internal/fault", "internal/durable"},
	"internal/score":                 {"internal/workflow"},
	"internal/audit":                 {"internal/score", "internal/workflow", "internal/fault", "internal/durable"},
	"internal/trust":                 {"internal/workflow", "internal/fault", "internal/durable"},
	"internal/verify":                {"internal/workflow", "internal/fault", "internal/durable"},
	"internal/workflow":              {"internal/fault"},
	"internal/gitsource":             {"internal/fault", "internal/durable"},
	"internal/visible":               {},
	"internal/reach":                 {},
	"internal/fault":                 {},
	"internal/durable":               {},
	"internal/durable/durabletest":   {"internal/durable"},
	"internal":                       {},
	"internal/golden":                {},
	"prompts":                        {"internal/workflow", "internal/fault", "internal/durable"},
}

// only lists libraries with the packages that alone may import them.
var only = map[string][]string{
	"github.com/mark3labs/mcp-go":      {"internal/mcpserver", "internal/mcpserver/conformance", "internal/mcpwire"},
	"github.com/looplab/fsm":           {"internal/workflow"},
	"github.com/gosimple/slug":         {"internal/artifact"},
	"github.com/google/uuid":           {"internal/engine", "internal/store/filestore", "internal/store/storetest"},
	"github.com/gofrs/flock":           {"internal/durable"},
	"github.com/kaptinlin/jsonrepair":  {"internal/score"},
	"go.yaml.in/yaml/v3":               {"internal/config", "internal/audit", "internal/catalog", "internal/method", "prompts"},
	"github.com/spf13/cobra":           {"internal/cli"},
	"github.com/rogpeppe/go-internal":  {"internal/cli"},
	"github.com/tailscale/hujson":      {"internal/hosts"},
	"github.com/pelletier/go-toml":     {"internal/hosts", "internal/catalog"},
	"github.com/lithammer/fuzzysearch": {"internal/catalog"},
	"github.com/fsnotify/fsnotify":     {"internal/watch"},
	"github.com/prometheus":            {"internal/mcpserver"},
	"mvdan.cc/sh":                      {"internal/hook"},
	"golang.org/x/term":                {"internal/cli"},
	"os/exec":                          {"internal/hosts", "internal/mcpserver", "internal/cli", "internal/upkeep", "internal/verify", "internal/gitsource"},
}

// never lists packages that must stay free of effects.
var never = map[string][]string{
	"internal/engine":   {"net", "net/http"},
	"internal/workflow": {"os", "net", "net/http", "io/fs", "path/filepath"},
	"internal/catalog":  {"net", "net/http", "os/exec"},
	"internal/hook":     {"os", "net", "net/http", "path/filepath", "time"},
	"internal/score":    {"os", "net", "net/http", "io/fs", "path/filepath", "time"},
	"internal/audit":    {"os", "net", "net/http", "path/filepath", "time"},
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
	allowed := []string{"cmd", "internal", "prompts", "testdata", "go.mod", "go.sum", "README.md", "CLAUDE.md", "LICENSE", "packaging", "bmad-mcp", "bmad-mcp.exe", "dist"}
	for _, e := range entries {
		if base := filepath.Base(e); base[0] != '.' && !slices.Contains(allowed, base) {
			t.Errorf("%s does not belong at the top", filepath.Base(e))
		}
	}
}
