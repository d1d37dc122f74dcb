package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// place is a declaration, of a package below internal, that has to name every value of a type of
// workflow, because it would say nothing, or the wrong thing, about one that is left out.
type place struct {
	kind, folder, name string
	// without are the values that it leaves to its default, for the reason given.
	without []string
	why     string
}

var places = []place{
	{"Channel", "workflow", "Assurance", []string{"Script", "Relayed"}, "they are the low ones, as is one that a newer program wrote"},
	{"Channel", "words", "GrantNote", []string{"Terminal", "Script"}, "who decides by them reads what the command prints"},
	{"Channel", "story", "channels", nil, ""},
	{"Event", "workflow", "table", []string{"Started", "PolicyChanged", "Adopted", "Edited", "Granted"}, "they create a session or leave it where it is"},
	{"State", "workflow", "States", nil, ""},
	{"State", "workflow", "Allowed", nil, ""},
	{"State", "words", "NextMoveOf", []string{"Cancelled"}, "it is what is left"},
	{"State", "story", "states", nil, ""},
}

// TestVocabulary: a new channel, assurance, event or state is named wherever each one is, so that
// whoever adds it learns all these places at once. Translations follow: each of them uses lang.T or
// Say, whose texts TestCatalogues looks for.
func TestVocabulary(t *testing.T) {
	values := map[string]map[string]string{}
	for _, file := range sources(t, "workflow") {
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, spec := range d.Specs {
					collect(values, spec.(*ast.ValueSpec))
				}
			}
		}
	}
	for kind, least := range map[string]int{"Channel": 8, "Assurance": 3, "Event": 25, "State": 7} {
		if len(values[kind]) < least {
			t.Errorf("only %d values of type %s were found in workflow", len(values[kind]), kind)
		}
	}
	for _, p := range places {
		named := map[string]bool{}
		for _, file := range sources(t, p.folder) {
			for _, decl := range file.Decls {
				if isDeclaration(decl, p.name) {
					ast.Inspect(decl, func(n ast.Node) bool {
						if id, ok := n.(*ast.Ident); ok {
							named[id.Name] = true
						}
						return true
					})
				}
			}
		}
		if len(named) == 0 {
			t.Errorf("%s.%s does not exist", p.folder, p.name)
			continue
		}
		for name, value := range values[p.kind] {
			left := slices.Contains(p.without, strings.TrimPrefix(name, p.kind))
			if !named[name] && !left {
				t.Errorf("%s.%s lacks %s (%q): name it there, or in this test's table with the reason", p.folder, p.name, name, value)
			}
			if named[name] && left {
				t.Errorf("%s.%s names %s, which the table leaves out: %s", p.folder, p.name, name, p.why)
			}
		}
	}
}

// collect adds the constants of one line, by their type: name and value.
func collect(values map[string]map[string]string, spec *ast.ValueSpec) {
	kind, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
		return
	}
	lit, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		return
	}
	if values[kind.Name] == nil {
		values[kind.Name] = map[string]string{}
	}
	value, err := strconv.Unquote(lit.Value)
	if err == nil {
		values[kind.Name][spec.Names[0].Name] = value
	}
}

// isDeclaration reports whether a declaration is that of a function, method or variable.
func isDeclaration(decl ast.Decl, name string) bool {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return d.Name.Name == name
	case *ast.GenDecl:
		return slices.ContainsFunc(d.Specs, func(s ast.Spec) bool {
			v, ok := s.(*ast.ValueSpec)
			return ok && slices.ContainsFunc(v.Names, func(id *ast.Ident) bool { return id.Name == name })
		})
	}
	return false
}

// sources parses the files of a package below internal, but its tests.
func sources(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(findRoom(t, folder), "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no files in ", folder, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}
