package main

import (
	"fmt"
	"go/types"
	"reflect"
)

// types measures the types that a package declares.
func (f *figures) types(path string, pkg *types.Package) {
	taken := firstTaken(pkg)
	for _, name := range pkg.Scope().Names() {
		object, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() {
			continue
		}
		named, ok := object.Type().(*types.Named)
		if !ok {
			continue
		}
		name = path + "." + name
		switch under := named.Underlying().(type) {
		case *types.Interface:
			f.interfaces = append(f.interfaces, sized{name: name, size: under.NumExplicitMethods() + under.NumEmbeddeds()})
			continue
		case *types.Struct:
			if !wireFormat(under) {
				f.fields = append(f.fields, sized{name: name, size: under.NumFields()})
			}
		}
		f.methods = append(f.methods, sized{name, named.NumMethods() + taken[object], fmt.Sprintf(" (%d methods and %d functions)", named.NumMethods(), taken[object])})
	}
}

// firstTaken counts, by type, the functions of a package that take a value of it, or a pointer to
// one, as their first argument: they are its methods in all but the spelling.
func firstTaken(pkg *types.Package) map[types.Object]int {
	out := map[types.Object]int{}
	for _, name := range pkg.Scope().Names() {
		function, ok := pkg.Scope().Lookup(name).(*types.Func)
		if !ok || function.Signature().Params().Len() == 0 {
			continue
		}
		first := types.Unalias(function.Signature().Params().At(0).Type())
		if pointer, ok := first.(*types.Pointer); ok {
			first = types.Unalias(pointer.Elem())
		}
		if named, ok := first.(*types.Named); ok {
			out[named.Obj()]++
		}
	}
	return out
}

// wireFormat reports whether a struct is the form of a file or message, whose width is not the code's
// choice: at least half of its fields say how they are written.
func wireFormat(s *types.Struct) bool {
	written := 0
	for i := range s.NumFields() {
		tag := reflect.StructTag(s.Tag(i))
		_, json := tag.Lookup("json")
		_, yaml := tag.Lookup("yaml")
		if json || yaml {
			written++
		}
	}
	return written > 0 && 2*written >= s.NumFields()
}
