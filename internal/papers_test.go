package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	aPath     = regexp.MustCompile(`^[\w./<>*-]*(/|\.(go|md|yaml|json|jsonl|txt|tsv|po|mod))[\w./<>*-]*$`)
	aSymbol   = regexp.MustCompile(`^([a-z]+)\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)?)$`)
	aName     = regexp.MustCompile(`^[A-Za-z]\w*$`)
	hole      = regexp.MustCompile(`<[^>]*>`)
	// ofTheSource matches files of this repository.
	ofTheSource = regexp.MustCompile(`^(\.ci|cmd|internal|packaging|prompts|sdk|testdata)/`)
	// ofAProject matches files that the program keeps, which are in no folder of this one.
	ofAProject = regexp.MustCompile(`^(\.bmad-task|\.claude|~)/`)
)

// declarations returns the names that the project declares: "engine.Engine.Do" or "engine.Engine" by
// package, type and method or field; the names of packages, such as "engine"; and names alone.
func declarations(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, path := range goFiles(t) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimSuffix(file.Name.Name, "_test")
		out[pkg] = true
		add := func(name string) {
			out[pkg+"."+name] = true
			out[name[strings.LastIndex(name, ".")+1:]] = true
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				add(receiver(d) + d.Name.Name)
			case *ast.GenDecl:
				addSpecs(d, add)
			}
		}
	}
	return out
}

// receiver returns the type of a method with a dot behind it, or "".
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	if ident, ok := of.(*ast.Ident); ok {
		return ident.Name + "."
	}
	return ""
}

// addSpecs adds the constants, variables and types of a declaration, with fields and the methods
// of interfaces.
func addSpecs(d *ast.GenDecl, add func(string)) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range s.Names {
				add(name.Name)
			}
		case *ast.TypeSpec:
			add(s.Name.Name)
			var fields *ast.FieldList
			switch of := s.Type.(type) {
			case *ast.StructType:
				fields = of.Fields
			case *ast.InterfaceType:
				fields = of.Methods
			default:
				continue
			}
			for _, field := range fields.List {
				for _, name := range field.Names {
					add(s.Name.Name + "." + name.Name)
				}
			}
		}
	}
}

// missing says why the project has nothing by the name in a span of code; "" if it has, or if the
// span is no name.
func missing(span string, known map[string]bool) string {
	switch {
	case ofAProject.MatchString(span):
		return ""
	case aSymbol.MatchString(span) && known[span]:
		return ""
	case aPath.MatchString(span):
		name := filepath.FromSlash(hole.ReplaceAllString(span, "*"))
		for _, folder := range []string{"..", "."} {
			if found, err := filepath.Glob(filepath.Join(folder, name)); err == nil && len(found) > 0 {
				return ""
			}
		}
		return "no such file or folder, here or in internal"
	case aSymbol.MatchString(span):
		return "no package declares it"
	case aName.MatchString(span) && !known[span]:
		return "no package has this name or declares it"
	}
	return ""
}

// TestPapersNameWhatExists: each path and each Go name in the map of the code and in the tour exists.
func TestPapersNameWhatExists(t *testing.T) {
	known := declarations(t)
	for name, least := range map[string]int{"CLAUDE.md": 150, "docs/tour.md": 40} {
		text, checked := readPage(t, name), 0
		for _, m := range codeSpan.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			checked++
			if why := missing(m[1], known); why != "" {
				t.Errorf("%s: `%s`: %s", name, m[1], why)
			}
		}
		for _, block := range codeBlock.FindAllString(text, -1) {
			for _, m := range regexp.MustCompile(`(?m)(?:^| )\.?(/?(?:\.ci|internal|cmd|testdata)/[\w./*-]+)`).FindAllStringSubmatch(block, -1) {
				checked++
				if why := missing(strings.TrimPrefix(m[1], "/"), known); why != "" {
					t.Errorf("%s: %s: %s", name, m[1], why)
				}
			}
		}
		if checked < least {
			t.Errorf("%s: got %d names, want %d at least", name, checked, least)
		}
	}
}

// TestPagesNameFilesThatExist: the pages for users name few files of the source, and these exist.
func TestPagesNameFilesThatExist(t *testing.T) {
	known, seen := declarations(t), 0
	for _, name := range userPages(t) {
		for _, m := range codeSpan.FindAllStringSubmatch(codeBlock.ReplaceAllString(readPage(t, name), ""), -1) {
			if !ofTheSource.MatchString(m[1]) {
				continue
			}
			seen++
			if why := missing(m[1], known); why != "" {
				t.Errorf("%s: `%s`: %s", name, m[1], why)
			}
		}
	}
	if seen < 8 {
		t.Errorf("got %d files, want 8 at least", seen)
	}
}

// TestMissingIsSeen plants names.
func TestMissingIsSeen(t *testing.T) {
	known := declarations(t)
	for span, want := range map[string]bool{
		"engine.Engine.Do":                      false,
		"workflow.builtins":                     false,
		"engine.crashRun":                       false,
		"durable.Dir":                           false,
		"TestCatalogues":                        false,
		"internal/engine/do.go":                 false,
		"store/filestore":                       false,
		"workflow/definitions/<name>.yaml":      false,
		".bmad-task/session-1.json":             false,
		"go test ./internal/engine":             false,
		"engine.Engine.Undo":                    true,
		"workflow.Nothing":                      true,
		"TestOfNothing":                         true,
		"internal/engine/none.go":               true,
		"testdata/english.txt.bak":              true,
		"workflow/definitions/<name>/none.yaml": true,
		"nopackage":                             true,
	} {
		if got := missing(span, known); (got != "") != want {
			t.Errorf("%s: got %q, want a problem: %t", span, got, want)
		}
	}
}

// TestMapNamesEveryWing: the map of the code has each wing.
func TestMapNamesEveryWing(t *testing.T) {
	text := readPage(t, "CLAUDE.md")
	for name := range wings {
		if name != "cmd" && !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("CLAUDE.md has no row for %s", name)
		}
	}
}
