// Package app is the program as its commands see it: the flags of all, the settings, and the engine
// with its neighbours, which are built when a command needs them. It alone puts them together.
package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// App is the program as a command sees it. The settings are read before a command runs; the engine
// is built when one needs it.
type App struct {
	*terminal.Terminal
	Log *slog.Logger
	// Cwd is the flag --cwd, toolsets the flag --toolsets.
	Cwd      string
	toolsets []string
	// Settings are the places of the settings. Config has those for the folder that the program works
	// for, as far as they can be read, and Unread is the error, nil if all can be.
	Settings config.Source
	Config   config.Config
	Unread   error
	// Reach bounds an assistant on stdio; nil if a person works at a terminal.
	Reach *reach.Reach
	// Who says who the program acts for in a folder; nil is the account that it runs under.
	Who func(folder string) workflow.Person
	// built are the parts, once they are needed; nil before SetUp.
	built     *lazyParts
	databases *databases
}

// SetUp reads the flags and settings. Settings that cannot be read do not keep the program from
// starting: each action reports them.
func (a *App) SetUp() error {
	var toolsets []config.Toolset
	if len(a.toolsets) > 0 {
		var err error
		if toolsets, err = config.ParseToolsets(a.toolsets); err != nil {
			return fault.New(fault.InvalidArgument, "--%w", err).WithHint("name one or more of them, with commas between")
		}
	}
	if !slices.Contains([]string{"", "auto", "always", "never"}, a.Color) {
		return fault.New(fault.InvalidArgument, "--color %q is not one of auto, always, never", a.Color).WithHint("leave it out for colours at a terminal")
	}
	a.ReadSettings()
	if toolsets != nil {
		a.Config.Toolsets = toolsets
	}
	a.Log = slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: a.Config.LogLevel}))
	a.built = &lazyParts{}
	a.databases = &databases{open: map[string]*pgstore.Database{}}
	return nil
}

// ReadSettings reads the settings for the folder that the program works for, as far as they can be read.
func (a *App) ReadSettings() {
	a.Settings = config.Source{UserFolder: userFolder("XDG_CONFIG_HOME", ".config"), Environ: os.Environ()}
	dir := a.openProject()
	if dir != nil {
		defer func() { _ = dir.Close() }()
	}
	if a.Config, a.Unread = a.Settings.Load(dir); a.Unread != nil {
		a.Config.HostConfirm, a.Config.Toolsets, a.Config.LogLevel = "", nil, slog.LevelWarn
		if l := os.Getenv("BMAD_LANGUAGE"); l != "" { // the variables come last
			a.Config.Language = l
		}
	}
	a.Speak("")
}

// openProject opens the folder the program works for, or returns nil.
func (a *App) openProject() *durable.Dir {
	name := os.Getenv("CLAUDE_PROJECT_DIR")
	if name == "" {
		var err error
		if name, err = a.Project(); err != nil {
			return nil
		}
	}
	dir, err := durable.OpenDir(name)
	if err != nil {
		return nil
	}
	return dir
}

// Project returns the folder a command is for: --cwd, else the nearest folder
// upwards that has sessions, else the working folder.
func (a *App) Project() (string, error) {
	if a.Cwd != "" {
		return filepath.Abs(a.Cwd)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	nearest := project.Nearest(here)
	if nearest == here && a.Config.Store.Address != "" {
		return project.Top(here), nil
	}
	return nearest, nil
}

// StayHere makes the working folder that of the command, whatever lies above it, if --cwd names none.
func (a *App) StayHere() (err error) {
	if a.Cwd == "" {
		a.Cwd, err = os.Getwd()
	}
	return err
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

// StateFolder returns the folder of the state of all projects, "" without a home folder.
func (a *App) StateFolder() string {
	if state := userFolder("XDG_STATE_HOME", ".local/state"); state != "" {
		return filepath.Join(state, "bmad-mcp")
	}
	return ""
}

// Trust returns this machine's records of the person's word.
func (a *App) Trust() trust.UserState { return trust.UserState(a.StateFolder()) }

// Speak chooses the language for a person who has written a text, for example the objective of the
// session that a command is about, "" if there is none.
func (a *App) Speak(written string) {
	a.Lang = lang.Choose(a.Config.Language, written, lang.Locale(os.Getenv))
}

// SpeakOf chooses the language of a session.
func (a *App) SpeakOf(s *workflow.Session) {
	if s != nil {
		a.Speak(s.Objective)
	}
}

// For returns the program for another folder and another reader.
func (a *App) For(folder string, l lang.Language) *App {
	out, shown := *a, *a.Terminal
	out.Terminal, out.Cwd, shown.Lang = &shown, folder, l
	return &out
}

// ToolsetFlag gives a command that serves the flag of its tools.
func (a *App) ToolsetFlag(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&a.toolsets, "toolsets", nil,
		"tools to offer: "+strings.Join(config.Toolsets(), ", ")+" (default: auto, which is task, and method where BMAD is installed)")
}
