package serve

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
)

// serverOptions returns the options of a server for some places.
func serverOptions(s Server, p *app.Parts, places mcpserver.Places) mcpserver.Options {
	return mcpserver.Options{
		Version: app.Version(), Places: places, HostConfirm: s.Tasks.Config.HostConfirm,
		Method: p.Library, Memory: p.Memory, Model: s.Model(), Toolsets: s.Tasks.Config.Toolsets, Log: s.Tasks.Log,
		Page: draftPage(app.StateFolder()), State: app.StateFolder(),
	}
}

// draftPage returns a function for the address at which a running dashboard shows the document of a
// stage, "" if none does.
func draftPage(state string) func(cwd, task, stage string) string {
	return func(cwd, task, _ string) string {
		for _, d := range pairing.Running(state) {
			in := func(root string) bool { return cwd == root || strings.HasPrefix(cwd, root+string(filepath.Separator)) }
			if len(d.Roots) == 0 || slices.ContainsFunc(d.Roots, in) {
				return d.Origin + web.ShortOf(cwd, task)
			}
		}
		return ""
	}
}
