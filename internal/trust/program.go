package trust

import (
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/verify"
)

// Program returns the allowance in a project for a program, by the absolute path of its file, as the file is now.
func Program(project, file string) (Allowance, error) {
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

// Programs returns the allowances of programs in a project, whatever their files are now.
func (u UserState) Programs(project string) (out []Allowance) {
	for _, a := range u.InForce(project) {
		if a.Kind == KindProgram {
			out = append(out, a)
		}
	}
	return out
}
