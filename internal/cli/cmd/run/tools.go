package run

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/pandoc"
	"github.com/bmad-mcp/bmad-mcp/sdk/toolserver"
)

// ToolFlag adds the flag for tool servers.
func ToolFlag(cmd *cobra.Command, names *[]string) {
	cmd.Flags().StringArrayVar(names, "tool-server", nil, "the name of an MCP server of your tool_servers setting whose tools the agent may use")
}

// Tools returns the tools of the named tool servers, and of the programs allowed in the project. end is never nil.
func Tools(ctx context.Context, term *terminal.Terminal, tasks *app.Tasks, names []string) (tools []sdk.AnyTool, end func(), err error) {
	tools, end, err = connectTools(ctx, term, tasks.Config.ToolServers, names, nil)
	return append(tools, programTools(tasks)...), end, err
}

// programTools returns the tools by programs that the person has allowed in the project.
func programTools(tasks *app.Tasks) []sdk.AnyTool {
	project, err := tasks.Project()
	if err != nil || len(app.Trust().OfKind(project, trust.KindProgram)) == 0 {
		return nil
	}
	return []sdk.AnyTool{pandoc.NewTool(func() (pandoc.Program, error) {
		found, err := pandoc.Find(project)
		if err != nil {
			return found, err
		}
		now, err := trust.ReadProgram(project, found.Path)
		if err == nil && !app.Trust().Allowed(now) {
			err = fmt.Errorf("%s is not the program that the person has allowed; ask them to run bmad-mcp allow --program pandoc", found.Path)
		}
		return found, err
	})}
}

// silentServers are the tool servers that have not answered. Several runs may share them.
type silentServers struct{ names sync.Map }

func (s *silentServers) add(name string) { s.names.Store(name, true) }

func (s *silentServers) has(name string) bool {
	if s == nil {
		return false
	}
	_, known := s.names.Load(name)
	return known
}

// connectTools connects to the named tool servers among the known ones, except for the ones in silent, and returns their tools.
// end closes the connections, and adds the names of servers without an answer to silent, unless it is nil; end is never nil.
func connectTools(ctx context.Context, term *terminal.Terminal, known []config.ToolServer, names []string, silent *silentServers) (tools []sdk.AnyTool, end func(), err error) {
	servers := map[string]*toolserver.Server{}
	end = func() {
		for name, s := range servers {
			if s.Silent() && silent != nil {
				silent.add(name)
				term.Warnf("the tool server %s has not answered; the work goes on without its tools", name)
			}
			s.Close()
		}
	}
	options, err := toolServers(known, names)
	if err != nil {
		return nil, end, err
	}
	for _, o := range options {
		if silent.has(o.Name) {
			continue
		}
		s, err := toolserver.Connect(ctx, o)
		if err != nil {
			return nil, end, fault.New(fault.NotAllowed, "%s", visible.Line(err.Error())).WithHint("look at tool_servers in your own settings file")
		}
		servers[o.Name], tools = s, append(tools, s.Tools()...)
		if len(s.Skipped) > 0 {
			term.Warnf("the tool server %s has tools that are not offered: %s", o.Name, strings.Join(s.Skipped, "; "))
		}
	}
	return tools, end, nil
}

// toolServers returns the named servers, with the values of their variables.
func toolServers(known []config.ToolServer, names []string) (out []toolserver.Options, err error) {
	for n, name := range names {
		at := slices.IndexFunc(known, func(s config.ToolServer) bool { return s.Name == name })
		switch {
		case at < 0:
			return nil, fault.New(fault.InvalidArgument, "--tool-server %q is not in your settings", name).
				WithHint("name it in your own file, as docs/agents.md says: tool_servers: [%s=COMMAND]", name)
		case slices.Contains(names[:n], name):
			continue
		}
		s := known[at]
		o := toolserver.Options{Name: s.Name, Command: s.Command, URL: s.URL, Env: toolserver.BasicEnv()}
		for _, variable := range s.Variables {
			value, set := os.LookupEnv(variable)
			if !set {
				return nil, fault.New(fault.InvalidArgument, "the tool server %s needs the variable %s, which is not set", name, variable).
					WithHint("set it, or take it out of tool_servers in your settings")
			}
			o.Env = append(o.Env, variable+"="+value)
			o.Header = map[string]string{"Authorization": "Bearer " + value}
		}
		out = append(out, o)
	}
	return out, nil
}
