package trust

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

var allowances = list[Allowance]{"allowed.json", "allowed", lang.T("nothing is allowed"), lang.T("allow again what you want")}

// Allowed reports whether a person has allowed a. An unreadable list allows nothing; Allowances returns the error.
func (u UserState) Allowed(a Allowance) bool {
	a = a.normalize()
	if a.check() != nil {
		return false
	}
	return slices.ContainsFunc(u.InForce(a.Project), a.allowsSame)
}

// Allow records that a person allows a, and removes the allowances it replaces.
func (u UserState) Allow(ctx context.Context, a Allowance) error {
	a = a.normalize()
	if err := a.check(); err != nil {
		return err
	}
	return u.withFolder(func(d dir) error { return d.addAllowance(ctx, a) })
}

func (d dir) addAllowance(ctx context.Context, a Allowance) error {
	return allowances.change(ctx, d, func(list []Allowance) ([]Allowance, error) {
		bound, err := a.bindToProject(list)
		return append(slices.DeleteFunc(list, bound.replaces), bound), err
	})
}

// Disallow takes back everything of a kind allowed in a project, and returns the number of things.
func (u UserState) Disallow(ctx context.Context, project, kind string) (n int, err error) {
	if !slices.Contains(Kinds(), kind) {
		return 0, unknownKind(kind)
	}
	project = PathOf(project)
	return allowances.remove(ctx, u, func(a Allowance) bool { return a.Project == project && a.Kind == kind })
}

// Allowances returns everything the person has allowed, in every project, the oldest first.
func (u UserState) Allowances() ([]Allowance, error) { return allowances.readList(u) }

// InForce returns the allowances that count in a project, the oldest first; none if the list cannot be read. An
// allowance from an older version counts for the path alone, until Bind.
func (u UserState) InForce(project string) []Allowance {
	list, err := u.Allowances()
	if err != nil || len(list) == 0 {
		return nil
	}
	project = PathOf(project)
	mark := readMark(project)
	return slices.DeleteFunc(list, func(a Allowance) bool {
		if a.isBound() && a.ProjectID != "" && a.ProjectID != mark {
			return true
		}
		return a.Project != project
	})
}

// Bind gives the project's mark to the allowances from an older version for the path.
func (u UserState) Bind(ctx context.Context, project string) error {
	project = PathOf(project)
	return u.withExisting(func(d dir) error {
		return allowances.change(ctx, d, func(list []Allowance) (out []Allowance, err error) {
			for i, a := range list {
				if a.Project == project && a.isBound() && a.ProjectID == "" && err == nil {
					list[i], err = a.bindToProject(list)
				}
			}
			return list, err
		})
	})
}
