package main

import (
	"bytes"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// figures are the measures of a module. A list has an entry for each file, function, interface or
// type.
type figures struct {
	production, test     int
	comments, wide       int
	files                []sized
	functions, cyclo     []sized
	parameters, nesting  []sized
	interfaces, methods  []sized
	exported, documented int
	packages             map[string]arrows
}

// sized is a name with its measure.
type sized struct {
	name string
	size int
}

// widest is the number of columns that a line should not exceed.
const widest = 120

// lines counts the lines of a file, and of those that are not tests the comments and the wide ones.
func (f *figures) lines(name string, data []byte) {
	count := bytes.Count(data, []byte("\n"))
	if strings.HasSuffix(name, "_test.go") {
		f.test += count
		return
	}
	f.production += count
	f.files = append(f.files, sized{name, count})
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(strings.TrimSpace(line), "//") {
			f.comments++
		}
		if len([]rune(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    "))) > widest {
			f.wide++
		}
	}
}

// syntax measures what a file declares.
func (f *figures) syntax(set *token.FileSet, file *ast.File) {
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			name := filepath.Base(set.Position(d.Pos()).Filename) + ":" + d.Name.Name
			f.parameters = append(f.parameters, sized{name, d.Type.Params.NumFields()})
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
				f.export(d.Doc != nil)
			}
			if d.Body == nil {
				continue
			}
			length := set.Position(d.End()).Line - set.Position(d.Pos()).Line + 1
			f.functions = append(f.functions, sized{name, length})
			f.cyclo = append(f.cyclo, sized{name, cyclomatic(d.Body)})
			f.nesting = append(f.nesting, sized{name, depth(d.Body)})
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				f.spec(d, spec)
			}
		}
	}
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

// types counts the methods of each type that a package declares, and the methods and embedded
// interfaces of each interface.
func (f *figures) types(path string, pkg *types.Package) {
	for _, name := range pkg.Scope().Names() {
		object, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() {
			continue
		}
		named, ok := object.Type().(*types.Named)
		if !ok {
			continue
		}
		if i, ok := named.Underlying().(*types.Interface); ok {
			f.interfaces = append(f.interfaces, sized{path + "." + name, i.NumExplicitMethods() + i.NumEmbeddeds()})
			continue
		}
		f.methods = append(f.methods, sized{path + "." + name, named.NumMethods()})
	}
}

// cyclomatic is 1 and 1 more for each branch, loop, case, && and ||. A function literal counts with
// the function around it.
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

// depth is how many branches, loops and function literals lie around the innermost statement. An
// else-if is as deep as its if.
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
