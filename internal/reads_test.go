package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unbounded lists, by import path, the functions that open or read a file without a bound, or wait for one.
// Packages read through internal/base/durable instead.
var unbounded = map[string][]string{
	"os":        {"ReadFile", "Open", "OpenFile", "OpenRoot", "OpenInRoot", "DirFS", "ReadDir", "CopyFS"},
	"io/fs":     {"ReadFile"},
	"io":        {"ReadAll"},
	"io/ioutil": {"ReadFile", "ReadAll", "ReadDir"},
	"syscall":   {"Open"},
}

// mayRead lists the files that may use them, each with its purpose and reason.
var mayRead = map[string]map[string]string{
	"docs/docs.go":                            {".ReadFile": "of the pages in the binary"},
	"internal/web/assets.go":                  {"fs.ReadFile": "of the files of the pages in the binary"},
	"internal/web/pictures.go":                {"io.ReadAll": "of a picture that a page sends, up to a bound"},
	"internal/workflow/audit/words.go":        {".ReadFile": "of the word lists in the binary"},
	"internal/workflow/audit/rubric.go":       {"fs.ReadFile": "of the rubrics in the binary"},
	"internal/cli/cmd/start/demo.go":          {".ReadFile": "of the texts in the binary"},
	"internal/cli/terminal/input.go":          {"os.Open": "of a pipe of /dev that the person names, read as a stream"},
	"internal/cli/cmd/setup/hook.go":          {"os.ReadDir": "of the person's own state folder"},
	"internal/project/detect.go":              {"os.OpenRoot": "of served folders, whose names are listed up to a bound"},
	"internal/base/lang/catalogue.go":         {"fs.ReadFile": "of the catalogues in the binary"},
	"sdk/vfs/dir.go":                          {"os.OpenRoot": "of the agent's folder, to write files in"},
	"sdk/vfs/blob/call.go":                    {"io.ReadAll": "of an object, up to a bound"},
	"internal/base/process/mark_linux.go":     {"os.ReadFile": "of a line of the system in /proc"},
	"internal/trust/userstate.go":             {"os.OpenRoot": "of the person's state folder, to make files in"},
	"internal/mcp/mcpserver/project_tools.go": {".ReadFile": "of the definitions of tools in the binary"},
	"internal/workflow/builtin.go":            {".ReadFile": "of the definitions in the binary"},
	"internal/testkit/golden/golden.go":       {"os.ReadFile": "of tests"},
	"internal/testkit/scratch/snapshot.go":    {"os.ReadFile": "of tests"},
	"internal/testkit/scratch/hold_unix.go":   {"syscall.Open": "of folders alone, which tests lock"},
}

// unboundedReads returns the calls in a file that its package may not make.
func unboundedReads(file *ast.File) []string {
	packages := map[string]string{} // as the file calls them
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || unbounded[path] == nil {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		packages[name] = path
	}
	var found []string
	if _, dot := packages["."]; dot {
		found = append(found, "import .")
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if name, ok := n.X.(*ast.Ident); ok && slices.Contains(unbounded[packages[name.Name]], n.Sel.Name) {
				path := packages[name.Name]
				found = append(found, path[strings.LastIndexByte(path, '/')+1:]+"."+n.Sel.Name)
				return false
			}
		case *ast.CallExpr: // of an os.Root, an embed.FS or an fs.ReadFileFS
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "ReadFile" || len(n.Args) != 1 {
				return true
			}
			if name, ok := sel.X.(*ast.Ident); !ok || packages[name.Name] == "" {
				found = append(found, ".ReadFile")
			}
		}
		return true
	})
	return found
}

// TestReadsAreBounded keeps every read of a file in the one package that neither waits for
// it nor reads more than it was asked to.
func TestReadsAreBounded(t *testing.T) {
	unused := map[string]bool{}
	for file, calls := range mayRead {
		for call := range calls {
			unused[file+" "+call] = true
		}
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "durable" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		name, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		for _, call := range unboundedReads(file) {
			if _, ok := mayRead[name][call]; !ok {
				t.Errorf("%s uses %s, which can wait for ever or read without a bound: use durable.Dir.ReadFile or durable.ReadPath", name, call)
			}
			delete(unused, name+" "+call)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for entry := range unused {
		t.Errorf("%s is allowed and not used: take it off the list", entry)
	}
}

// TestReadsAreSeen plants such calls.
func TestReadsAreSeen(t *testing.T) {
	for source, want := range map[string]string{
		`import "os"; var _, _ = os.ReadFile("x")`:                                  "os.ReadFile",
		`import x "os"; var _, _ = x.Open("x")`:                                     "os.Open",
		`import "os"; var read = os.ReadFile`:                                       "os.ReadFile",
		`import . "os"; var _, _ = ReadFile("x")`:                                   "import .",
		`import "os"; func f(r *os.Root) { _, _ = r.ReadFile("x") }`:                ".ReadFile",
		`import "io/fs"; func f(t fs.FS) { _, _ = fs.ReadFile(t, "x") }`:            "fs.ReadFile",
		`import "io"; func f(r io.Reader) { _, _ = io.ReadAll(r) }`:                 "io.ReadAll",
		`import "io"; func f(r io.Reader) { io.ReadAll(io.LimitReader(r, 1<<40)) }`: "io.ReadAll",
		`import "io/ioutil"; var _, _ = ioutil.ReadFile("x")`:                       "ioutil.ReadFile",
		`import "os"; var tree = os.DirFS("x")`:                                     "os.DirFS",
		`import "os"; var _, _ = os.OpenRoot("x")`:                                  "os.OpenRoot",
		`func f(d Dir) { _, _ = d.ReadFile("x", 100) }`:                             "",
		`import "os"; var _, _ = os.Stat("x")`:                                      "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "planted.go", "package p; "+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(unboundedReads(file), " "); got != want {
			t.Errorf("%s: found %q, want %q", source, got, want)
		}
	}
}
