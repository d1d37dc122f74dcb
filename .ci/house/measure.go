package main

import (
	"bytes"
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// figures are the measures of a module. A list has an entry for each file, function, interface, type
// or package.
type figures struct {
	production, support, test int // lines
	comments, wide, long      int
	files, supporting         []sized
	functions, cyclo          []sized
	parameters, nesting       []sized
	interfaces, methods       []sized
	fields, up                []sized
	exported, documented      int
	unexported, participles   int // functions
	oneWord                   int
	mixed                     int
	arrows                    int // in all packages
}

// sized is a name with its measure, and the parts of that.
type sized struct {
	name   string
	size   int
	detail string
}

// A line should not exceed wide columns; one that exceeds long is read by scrolling.
const (
	wide = 120
	long = 180
)

// lines counts the lines of a file by its purpose, and of production those that are comments or wide.
func (f *figures) lines(name string, data []byte) {
	count := bytes.Count(data, []byte("\n"))
	if strings.HasSuffix(name, "_test.go") {
		f.test += count
		return
	}
	if isSupport(path.Dir(name)) {
		f.support += count
		f.supporting = append(f.supporting, sized{name: name, size: count})
		return
	}
	f.production += count
	f.files = append(f.files, sized{name: name, size: count})
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(strings.TrimSpace(line), "//") {
			f.comments++
		}
		columns := utf8.RuneCountInString(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    "))
		if columns > wide {
			f.wide++
		}
		if columns > long {
			f.long++
		}
	}
}

// syntax measures the declarations of a file.
func (f *figures) syntax(set *token.FileSet, file *ast.File) {
	f.mixed += mixedIn(file)
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			f.function(set, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				f.spec(d, spec)
			}
		}
	}
}

func (f *figures) function(set *token.FileSet, d *ast.FuncDecl) {
	name := filepath.Base(set.Position(d.Pos()).Filename) + ":" + d.Name.Name
	f.parameters = append(f.parameters, sized{name: name, size: d.Type.Params.NumFields()})
	switch {
	case !d.Name.IsExported():
		f.unexported++
		if participle(d.Name.Name) {
			f.participles++
		}
		if strings.ToLower(d.Name.Name) == d.Name.Name && d.Name.Name != "main" && d.Name.Name != "init" {
			f.oneWord++
		}
	case d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)):
		f.export(d.Doc != nil)
	}
	if d.Body == nil {
		return
	}
	length := set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1
	f.functions = append(f.functions, sized{name: name, size: length})
	f.cyclo = append(f.cyclo, sized{name: name, size: cyclomatic(d.Body)})
	f.nesting = append(f.nesting, sized{name: name, size: depth(d.Body)})
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// spec counts the exported names and whether each has a comment: its
// own, its group's, or at the end of its line.
func (f *figures) spec(d *ast.GenDecl, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			f.export(d.Doc != nil || s.Doc != nil || s.Comment != nil)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				f.export(d.Doc != nil || s.Doc != nil || s.Comment != nil)
			}
		}
	}
}

func (f *figures) export(documented bool) {
	f.exported++
	if documented {
		f.documented++
	}
}

// cyclomatic returns 1, and 1 more for each branch, loop, case, && and ||. A function literal counts with the
// function around it.
func cyclomatic(body *ast.BlockStmt) int {
	count := 1
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			count++
		case *ast.CaseClause:
			if n.List != nil {
				count++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				count++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				count++
			}
		}
		return true
	})
	return count
}

// depth returns the number of branches, loops and function literals around the innermost statement. An else-if
// is as deep as its if.
func depth(body *ast.BlockStmt) int {
	deepest := 0
	chained := map[ast.Node]bool{}
	var stack []bool
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		nests := false
		switch n := n.(type) {
		case *ast.IfStmt:
			nests = !chained[n]
			if n.Else != nil {
				chained[n.Else] = true
			}
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			nests = true
		}
		stack = append(stack, nests)
		current := 0
		for _, nested := range stack {
			if nested {
				current++
			}
		}
		deepest = max(deepest, current)
		return true
	})
	return deepest
}
