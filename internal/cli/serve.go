package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bmad-mcp/internal/config"
	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/mcpserver"
)

// serve is the server on stdio.
func (a *app) serve(cmd *cobra.Command, _ []string) error {
	s := mcpserver.New(a.engine, mcpserver.Options{
		Version: version(), Places: serverPlaces(), HostConfirm: mcpserver.HostConfirm(a.hostConfirm),
		Method: a.library, Toolsets: a.toolsetNames(), Log: a.log,
	})
	// Only the protocol goes to stdout.
	fmt.Fprintln(a.err, "BMAD MCP Server running on stdio")
	if f, ok := a.in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			fmt.Fprintln(a.err, "It waits for an MCP client on its input. To see what it does, end it with Ctrl+C and run: bmad-mcp demo")
		}
	}
	err := s.ServeStdio(cmd.Context(), a.in, a.raw)
	if errors.Is(err, context.Canceled) {
		return nil // hosts end a server by a signal
	}
	return err
}

// serverPlaces returns where the server runs. Hosts that open no project start
// servers in / or the home folder; neither is one.
func serverPlaces() mcpserver.Places {
	p := mcpserver.Places{Project: os.Getenv("CLAUDE_PROJECT_DIR")}
	// Bundles fill it in with the folder that the person chose; some hosts leave their own
	// placeholder where there is none.
	if chosen := os.Getenv("BMAD_PROJECT_DIR"); p.Project == "" && filepath.IsAbs(chosen) {
		p.Project = chosen
	}
	here, err := os.Getwd()
	if err != nil {
		return p
	}
	home, _ := os.UserHomeDir()
	if here != filepath.Dir(here) && here != filepath.Clean(home) {
		p.Folder = here
	}
	return p
}

// toolsetFlag gives a command that serves the flag of its tools.
func (a *app) toolsetFlag(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&a.sets, "toolsets", nil,
		"tools to offer: "+strings.Join(config.Toolsets(), ", ")+" (default: auto, which is task, and method where BMAD is installed)")
}

// readToolsets reads the flag; it goes before the settings.
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
