package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// measure reads the module in dir: the text of every Go file outside testdata and hidden folders but
// this one's, and the types of each package as it is built here. Packages for tests count apart.
func measure(dir string) (*figures, error) {
	f := &figures{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci"
		skipped := hidden || d.Name() == "testdata"
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && skipped:
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		return f.file(dir, path)
	})
	if err != nil {
		return nil, err
	}
	return f, f.load(dir)
}

// file adds the measures of the text of a file.
func (f *figures) file(dir, path string) error {
	data, err := os.ReadFile(path) //nolint:gosec // a file of the module
	if err != nil {
		return err
	}
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	name = filepath.ToSlash(name)
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, path, data, parser.ParseComments)
	if err != nil || ast.IsGenerated(syntax) {
		return err
	}
	f.lines(name, data)
	if !strings.HasSuffix(name, "_test.go") && !isSupport(filepath.ToSlash(filepath.Dir(name))) {
		f.syntax(set, syntax)
	}
	return nil
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct {
		Main bool
		Path string
	}
}

// load adds the measures that need types. The imports come from the compiler's own export data.
func (f *figures) load(dir string) error {
	cmd := exec.CommandContext(context.Background(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	// Dependencies come before the packages that import them.
	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := packages.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		exports[l.ImportPath] = l.Export
		if l.Module == nil || !l.Module.Main {
			continue
		}
		if err := f.check(set, imports, l); err != nil {
			return err
		}
	}
}

// check checks the types of a package and adds them with its arrows.
func (f *figures) check(set *token.FileSet, imports types.Importer, l listed) error {
	var files []*ast.File
	for _, name := range l.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: imports}).Check(l.ImportPath, set, files, info)
	if err != nil {
		return err
	}
	prefix := l.Module.Path + "/"
	name := strings.TrimPrefix(l.ImportPath, prefix)
	f.types(name, pkg)
	drawn := between(set, pkg, info.Uses)
	up := drawn.upward()
	f.arrows += drawn.count()
	f.up = append(f.up, sized{name, len(up), "\n  " + strings.Join(up, "\n  ")})
	return nil
}
