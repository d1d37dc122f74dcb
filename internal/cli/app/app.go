// Package app puts the program together: the flags of all commands, the settings, and the engine with the
// packages around it, built when a command needs them.
//
// No command gets the App. A command is a struct of flags and a function whose parameters are just the parts
// in use: the terminal.Terminal; the Workspace, or the Tasks in it; and for anything else a value, or an
// interface with few methods declared in the command's package. The root of the commands passes them.
package app

import (
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// App is the program. The settings are read before a command runs; the engine is built when a command needs
// it.
type App struct {
	Terminal  *terminal.Terminal
	Tasks     *Tasks
	Databases *Databases
	// Who returns the person for whom the program acts in a folder; nil means the account of the process.
	Who func(folder string) workflow.Person
	// toolsets is the flag --toolsets.
	toolsets []string
	// logLevel is the flag --log-level.
	logLevel string
	level    *slog.LevelVar
	log      *logQueue
	// reach bounds an assistant on stdio; nil for a person at a terminal.
	reach *reach.Reach
	// order, if not nil, puts each new session into the queue.
	order NewOrder
	// built builds the parts once they are needed; nil before SetUp.
	built *lazyParts
}

// New returns the program at a terminal.
func New(t *terminal.Terminal) *App {
	a := &App{Terminal: t, level: new(slog.LevelVar), logLevel: "warn", log: &logQueue{out: t.Err}}
	t.Err = afterLog{a.log}
	a.Tasks = a.newTasks(Workspace{}, slog.New(slog.NewTextHandler(a.log, &slog.HandlerOptions{Level: a.level})))
	a.Databases = &Databases{workspace: a.Tasks.Workspace, opened: map[string]*pgstore.Database{}}
	return a
}

// newTasks returns the tasks of a workspace, with the engine of the program.
func (a *App) newTasks(w Workspace, log *slog.Logger) *Tasks {
	return &Tasks{Workspace: &w, Engine: a.Engine, Log: log, term: a.Terminal, setUp: a.SetUp}
}

// SetUp reads the flags and settings. The program starts even with unreadable settings, which each action
// reports.
func (a *App) SetUp() error {
	if err := checkHome(); err != nil {
		return err
	}
	var toolsets []config.Toolset
	if len(a.toolsets) > 0 {
		var err error
		if toolsets, err = config.ParseToolsets(a.toolsets); err != nil {
			return fault.New(fault.InvalidArgument, "--%w", err).WithHint("name one or more of them, with commas between")
		}
	}
	if !slices.Contains([]string{"", "auto", "always", "never"}, a.Terminal.Color) {
		return fault.New(fault.InvalidArgument, "--color %q is not one of auto, always, never", a.Terminal.Color).WithHint("leave it out for colours at a terminal")
	}
	if levels := []string{"debug", "info", "warn", "error"}; !slices.Contains(levels, a.logLevel) {
		return fault.New(fault.InvalidArgument, "--log-level %q is not one of %s", a.logLevel, strings.Join(levels, ", ")).WithHint("leave it out for warn")
	}
	_ = a.level.UnmarshalText([]byte(a.logLevel)) // it reads all of these
	a.ReadSettings()
	if toolsets != nil {
		a.Tasks.Config.Toolsets = toolsets
	}
	a.built = &lazyParts{}
	return nil
}

// checkHome refuses a home that is not absolute, since keys and records would go into the working folder. Without one,
// the home of the account counts: its settings can make a gate stricter.
func checkHome() error {
	home := os.Getenv("HOME")
	if runtime.GOOS == "windows" || filepath.IsAbs(home) {
		return nil
	}
	if home != "" {
		return fault.New(fault.InvalidArgument, "HOME is %q, and not an absolute path", home).WithHint("set HOME to your home folder")
	}
	who, err := user.Current()
	if err != nil || !filepath.IsAbs(who.HomeDir) {
		return nil //nolint:nilerr // an account without a home has no settings
	}
	return os.Setenv("HOME", who.HomeDir)
}

// ReadSettings reads the settings for the program's folder, as far as they can be read.
func (a *App) ReadSettings() {
	a.Tasks.loadSettings()
	a.Terminal.Setting = a.Tasks.Config.Language
	a.Terminal.Speak("")
}

// For returns the program for another folder and another reader.
func (a *App) For(folder string, l lang.Language) *App {
	out, shown, there := *a, *a.Terminal, *a.Tasks.Workspace
	shown.Lang, there.Cwd = l, folder
	out.Terminal = &shown
	out.Tasks = out.newTasks(there, a.Tasks.Log)
	return &out
}

// ServerFlags gives a command that serves the flags of its tools and its log.
func (a *App) ServerFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringSliceVar(&a.toolsets, "toolsets", nil,
		"tools to offer: "+strings.Join(config.Toolsets(), ", ")+" (default: auto, which is task, and method where BMAD is installed)")
	cmd.Flags().StringVar(&a.logLevel, "log-level", a.logLevel, "what the log on standard error has: debug, info, warn or error")
	return cmd
}

// release is set by the linker in released builds.
var release = ""

// Version returns the release, or else the version of the source in the build information.
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
