package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
)

// Stdio serves on stdio, for a project or for some folders. The caller is an assistant, which may not open
// every folder it names.
func Stdio(ctx context.Context, s Server, folders []string) error {
	folder, err := s.Tasks.Opened()
	if err != nil {
		return err
	}
	places, opened := stdioPlaces(folder, slices.DeleteFunc(slices.Clone(folders), isPlaceholder))
	bounds := s.Confine(opened)
	options := serverOptions(s, s.Parts(), places)
	options.Reach = bounds
	server := mcpserver.New(s.Tasks.Engine(), options)
	// Only the protocol goes to stdout.
	fmt.Fprintln(s.Term.Err, "BMAD MCP Server running on stdio")
	if f, ok := s.Term.In.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			fmt.Fprintln(s.Term.Err, s.Term.Lang.Say("It waits for an MCP client on its input. To see what it does, end it with Ctrl+C and run: bmad-mcp demo"))
		}
	}
	err = server.ServeStdio(ctx, s.Term.In, s.Term.Raw)
	if errors.Is(err, context.Canceled) {
		return nil // hosts end a server by a signal
	}
	return err
}

// checkFolders refuses folders that a server on stdio cannot tell.
func checkFolders(folders []string) error {
	for _, folder := range folders {
		if !isPlaceholder(folder) && !filepath.IsAbs(folder) {
			return fault.New(fault.InvalidArgument, "the folder %q is not an absolute path", folder).
				WithHint("name folders as serve /path/of/a/project; without any, the server works for the folder it is started in")
		}
	}
	return nil
}

// stdioPlaces returns the places of a server on stdio, and the folders for which it was started: from the host's
// variables, from the arguments, and that of --cwd or else the working folder. A host without an open project starts
// servers in / or the home folder, so these do not count.
func stdioPlaces(cwd string, named []string) (p mcpserver.Places, opened []string) {
	rules := app.Rules()
	use := func(folder string) bool {
		if !filepath.IsAbs(folder) || !rules.Judge(rules.Real(folder), reach.Opened).Empty() {
			return false
		}
		if !slices.Contains(opened, folder) {
			opened = append(opened, folder)
		}
		return true
	}
	// Bundles set BMAD_PROJECT_DIR to the folder chosen by the person; without one, some hosts leave a
	// placeholder in it. BMAD_PROJECT_ROOT is in settings for other servers of the method.
	for _, folder := range []string{cwd, os.Getenv("CLAUDE_PROJECT_DIR"), os.Getenv("BMAD_PROJECT_DIR"), os.Getenv("BMAD_PROJECT_ROOT")} {
		if use(folder) && p.Project == "" {
			p.Project = folder
		}
	}
	for _, folder := range named {
		if use(folder) && p.Project == "" && len(named) == 1 {
			p.Project = folder
		}
	}
	if here, err := os.Getwd(); cwd == "" && err == nil && use(here) {
		p.Folder = here
	}
	return p, opened
}

// isPlaceholder reports whether a value is empty or still a host's placeholder.
func isPlaceholder(arg string) bool { return arg == "" || strings.HasPrefix(arg, "${") }

// serverOptions returns the options of a server for some places.
func serverOptions(s Server, p *app.Parts, places mcpserver.Places) mcpserver.Options {
	return mcpserver.Options{
		Version: app.Version(), Places: places, HostConfirm: s.Tasks.Config.HostConfirm,
		Method: p.Library, Memory: p.Memory, Model: s.Model(), Remote: s.Remote, Toolsets: s.Tasks.Config.Toolsets, Log: s.Tasks.Log,
		Page: FindPage, State: app.StateFolder(),
	}
}

// FindPage returns the address of a run in a running dashboard; "" if none runs.
func FindPage(cwd, task, _ string) string {
	for _, d := range pairing.Running(app.StateFolder()) {
		in := func(root string) bool { return cwd == root || strings.HasPrefix(cwd, root+string(filepath.Separator)) }
		if len(d.Roots) == 0 || slices.ContainsFunc(d.Roots, in) {
			return d.Origin + web.ShortOf(cwd, task)
		}
	}
	return ""
}
