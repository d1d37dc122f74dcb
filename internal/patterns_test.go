package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp/syntax"
	"strconv"
	"strings"
	"testing"
)

// TestPatternsWaitForTheirUse: a process that answers a hook, or waits in a window that is never
// used for a run, needs next to none of the patterns. One that a package compiles for a variable is
// compiled by each of them; package pattern compiles it at its use. It then cannot say at the start
// that an expression is a wrong one, so that is done here.
func TestPatternsWaitForTheirUse(t *testing.T) {
	packages := map[string][]*ast.File{}
	files := token.NewFileSet()
	for _, root := range []string{".", "../cmd", "../prompts"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], file)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read := 0
	for name, pkg := range packages {
		texts := textsOf(pkg)
		for _, file := range pkg {
			for _, decl := range file.Decls {
				if vars, ok := decl.(*ast.GenDecl); ok && vars.Tok == token.VAR {
					eachCall(vars, func(call *ast.CallExpr, of, function string) {
						if of == "regexp" && strings.Contains(function, "Compile") && name != filepath.FromSlash("base/lang/langtest") {
							t.Errorf("%s: compiled at each start; use pattern.New", files.Position(call.Pos()))
						}
					}, false)
				}
			}
			eachCall(file, func(call *ast.CallExpr, of, function string) {
				if of != "pattern" || function != "New" || len(call.Args) != 1 {
					return
				}
				if source, known := textOf(call.Args[0], texts); known {
					read++
					if _, err := syntax.Parse(source, syntax.Perl); err != nil {
						t.Errorf("%s: %v", files.Position(call.Pos()), err)
					}
				}
			}, true)
		}
	}
	if read < 200 {
		t.Errorf("only %d patterns were found", read)
	}
}

// eachCall calls f for the calls of functions of packages, in functions too if inside is true.
func eachCall(n ast.Node, f func(call *ast.CallExpr, of, function string), inside bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok {
				if of, ok := s.X.(*ast.Ident); ok {
					f(call, of.Name, s.Sel.Name)
				}
			}
		}
		_, function := n.(*ast.FuncLit)
		return inside || !function
	})
}

// textsOf returns the names of a package that stand for texts.
func textsOf(pkg []*ast.File) map[string]ast.Expr {
	texts := map[string]ast.Expr{}
	for _, file := range pkg {
		for _, decl := range file.Decls {
			values, ok := decl.(*ast.GenDecl)
			if !ok || values.Tok != token.CONST {
				continue
			}
			for _, spec := range values.Specs {
				spec := spec.(*ast.ValueSpec)
				for i, value := range spec.Values {
					texts[spec.Names[i].Name] = value
				}
			}
		}
	}
	return texts
}

// textOf returns the text that an expression stands for; known is false if that shows only in the running
// program.
func textOf(e ast.Expr, texts map[string]ast.Expr) (text string, known bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.ParenExpr:
		return textOf(e.X, texts)
	case *ast.Ident:
		if value, ok := texts[e.Name]; ok {
			return textOf(value, texts)
		}
	case *ast.BinaryExpr:
		left, ok := textOf(e.X, texts)
		right, also := textOf(e.Y, texts)
		return left + right, ok && also
	}
	return "", false
}
