package cli

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/contract"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// app is shared by the subcommands.
type app struct {
	*terminal.Terminal
	log *slog.Logger
	// command is the command that was run, or refused.
	command  *cobra.Command
	engine   *engine.Engine
	library  *library.Library
	memory   *memory.Memory
	contract *contract.Runner
	settings config.Source
	// kept has the summaries of sessions that were listed.
	kept *filestore.Summaries
	// reach bounds an assistant on stdio; nil if a person works at a terminal.
	reach *reach.Reach
	// hostConfirm is the setting for the folder that the program works for.
	hostConfirm config.HostConfirm
	// language is the setting for the same folder.
	language string
	// model is the setting for the same folder.
	model config.Model
	// unread is the error of reading the settings, nil if there is none.
	unread error
	// toolsets are the toolsets of the same folder, or of --toolsets.
	toolsets []config.Toolset

	sets []string // --toolsets

	cwd string // --cwd
}

// stateFolder returns the folder of the state of all projects, "" without a home folder.
func (a *app) stateFolder() string {
	if state := userFolder("XDG_STATE_HOME", ".local/state"); state != "" {
		return filepath.Join(state, "bmad-mcp")
	}
	return ""
}

func (a *app) trust() trust.UserState { return trust.UserState(a.stateFolder()) }

// openProject opens the folder the program works for, or returns nil.
func (a *app) openProject() *durable.Dir {
	name := os.Getenv("CLAUDE_PROJECT_DIR")
	if name == "" {
		var err error
		if name, err = a.project(); err != nil {
			return nil
		}
	}
	dir, err := durable.OpenDir(name)
	if err != nil {
		return nil
	}
	return dir
}

// userFolder returns a folder of the user by the XDG base directory rules: the
// variable if it is an absolute path, else the default below the home folder.
func userFolder(variable, below string) string {
	if v := os.Getenv(variable); filepath.IsAbs(v) {
		return v
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(below))
}

// project returns the folder a command is for: --cwd, else the nearest folder
// upwards that has sessions, else the working folder.
func (a *app) project() (string, error) {
	if a.cwd != "" {
		return filepath.Abs(a.cwd)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return project.Nearest(here), nil
}
