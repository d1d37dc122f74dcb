package main

import (
	"go/ast"
	"go/token"
)

// mixedIn counts the conditions of a file that mix && and || and have three or more of them: few readers see at
// once if one holds.
func mixedIn(file *ast.File) int {
	count, parts := 0, map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && !parts[n] {
			ands, ors := operators(e, parts)
			if ands > 0 && ors > 0 && ands+ors >= 3 {
				count++
			}
		}
		return true
	})
	return count
}

// operators counts those of a condition, and notes the conditions that are a part of it.
func operators(e ast.Expr, parts map[ast.Node]bool) (ands, ors int) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		ands, ors = operators(e.X, parts)
	case *ast.UnaryExpr:
		ands, ors = operators(e.X, parts)
	case *ast.BinaryExpr:
		if e.Op != token.LAND && e.Op != token.LOR {
			return 0, 0
		}
		ands, ors = operators(e.X, parts)
		a, o := operators(e.Y, parts)
		ands, ors = ands+a, ors+o
		if e.Op == token.LAND {
			ands++
		} else {
			ors++
		}
	}
	parts[e] = true
	return ands, ors
}
