package trust

import (
	"path/filepath"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
)

// ReadProgram returns the allowance in a project for a program, by the absolute path of its file, as the file is now.
func ReadProgram(project, file string) (Allowance, error) {
	dir, err := durable.OpenDir(filepath.Dir(file))
	if err != nil {
		return Allowance{}, err
	}
	defer func() { _ = dir.Close() }()
	hash := verify.Fingerprint(dir.Tree(), filepath.Base(file))
	if hash == "" {
		return Allowance{}, fault.New(fault.Storage, "the program %s cannot be read", file).WithHint("install it again, or allow another one")
	}
	return Allowance{Project: PathOf(project), Kind: KindProgram, Text: file, SHA256: hash}, nil
}

// OfKind returns the allowances of a kind in a project, whatever the files are now.
func (u UserState) OfKind(project, kind string) []Allowance {
	return slices.DeleteFunc(u.InForce(project), func(a Allowance) bool { return a.Kind != kind })
}
