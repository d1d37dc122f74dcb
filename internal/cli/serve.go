package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver"
)

// serve is the server on stdio, for a project or for the folders that are named. Its caller is an
// assistant, which may not open every folder that it names.
func (a *app) serve(cmd *cobra.Command, folders []string) error {
	folders = slices.DeleteFunc(slices.Clone(folders), placeholder)
	for _, folder := range folders {
		if !filepath.IsAbs(folder) {
			return fault.New(fault.InvalidArgument, "the folder %q is not an absolute path", folder).
				WithHint("name folders as serve /path/of/a/project; without any, the server works for the folder it is started in")
		}
	}
	places, opened := stdioPlaces(folders)
	a.reach, a.settings.Confined = newReach(a, opened), true
	a.engine, a.library = a.newEngine(nil)
	options := serverOptions(a, a.library, places)
	options.Reach = a.reach
	s := mcpserver.New(a.engine, options)
	// Only the protocol goes to stdout.
	fmt.Fprintln(a.Err, "BMAD MCP Server running on stdio")
	if f, ok := a.In.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			fmt.Fprintln(a.Err, a.Lang.Say("It waits for an MCP client on its input. To see what it does, end it with Ctrl+C and run: bmad-mcp demo"))
		}
	}
	err := s.ServeStdio(cmd.Context(), a.In, a.Raw)
	if errors.Is(err, context.Canceled) {
		return nil // hosts end a server by a signal
	}
	return err
}

// toolsetFlag gives a command that serves the flag of its tools.
func (a *app) toolsetFlag(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&a.sets, "toolsets", nil,
		"tools to offer: "+strings.Join(config.Toolsets(), ", ")+" (default: auto, which is task, and method where BMAD is installed)")
}

// readToolsets reads the flag, which takes precedence over the settings.
func (a *app) readToolsets() error {
	if len(a.sets) == 0 {
		return nil
	}
	var err error
	if a.toolsets, err = config.ParseToolsets(a.sets); err != nil {
		return fault.New(fault.InvalidArgument, "--%w", err).WithHint("name one or more of them, with commas between")
	}
	return nil
}
