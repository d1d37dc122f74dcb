package setup

import (
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/sdk/pandoc"
)

// listPrograms returns the programs allowed in a project, as they are now, or the one of a name, unless that is empty.
func listPrograms(l lang.Language, project, name string) (out []engine.Want, err error) {
	if name != "" && name != pandoc.Name {
		return nil, fault.New(fault.InvalidArgument, "agents have no use for a program %q", name).WithHint("there is one: --program %s", pandoc.Name)
	}
	listed := app.Trust().OfKind(project, trust.KindProgram)
	if name != "" {
		found, err := app.FindPandoc(project)
		if err != nil {
			return nil, err
		}
		listed = slices.DeleteFunc(listed, func(a trust.Allowance) bool { return a.Text != found.Path })
		listed = append(listed, trust.Allowance{Text: found.Path})[:1]
	}
	for _, a := range listed {
		now, err := trust.ReadProgram(project, a.Text)
		if err != nil && name != "" {
			return nil, err
		}
		want := engine.Want{Allowance: now, Use: l.Say("documents of agents"), Allowed: now.SHA256 == a.SHA256}
		if !want.Allowed && a.SHA256 != "" {
			want.Note = trust.HasChanged(a.Text, a.At).In(l)
		}
		if err == nil { // an allowed one may be gone
			out = append(out, want)
		}
	}
	return out, nil
}
