package setup

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/sdk/pandoc"
)

// programWants returns the programs allowed in a project, as they are now, and the one of a name, unless that is empty.
func programWants(l lang.Language, cwd, name string) (out []engine.Want, err error) {
	if name != "" && name != pandoc.Name {
		return nil, fault.New(fault.InvalidArgument, "agents have no use for a program %q", name).WithHint("there is one: --program %s", pandoc.Name)
	}
	known := app.Trust().Programs(cwd)
	if name != "" {
		file, err := app.FindPandoc()
		if err != nil {
			return nil, err
		}
		known = append(known, trust.Allowance{Text: file})
	}
	seen := map[string]bool{}
	for _, a := range known {
		now, err := trust.Program(cwd, a.Text)
		switch {
		case err != nil && a.SHA256 == "":
			return nil, err
		case err != nil || seen[a.Text]: // an allowed one may be gone
			continue
		}
		seen[a.Text] = true
		want := engine.Want{Allowance: now, Use: l.Say("documents of agents"), Allowed: now.SHA256 == a.SHA256}
		if !want.Allowed && a.SHA256 != "" {
			want.Note = trust.HasChanged(a.Text, a.At).In(l)
		}
		out = append(out, want)
	}
	return out, nil
}
