package main

import (
	"fmt"
	"go/types"
	"reflect"
)

// types measures the types that a package declares.
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
		all := types.NewMethodSet(types.NewPointer(named)).Len()
		f.methods = append(f.methods, sized{name, all, fmt.Sprintf(" (%d of its own)", named.NumMethods())})
	}
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
