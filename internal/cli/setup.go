package cli

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
)

// setUp makes the engine. A configuration that cannot be read does not keep the
// program from starting: each action reports it.
func (a *app) setUp() error {
	level := a.readSettings()
	a.log = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	a.engine, a.library = a.newEngine(nil)
	return nil
}

// readSettings reads the settings for the folder that the program works for, as far as they can
// be read, and returns the level of the log.
func (a *app) readSettings() (level slog.Level) {
	a.settings = config.Source{UserFolder: userFolder("XDG_CONFIG_HOME", ".config"), Environ: os.Environ()}
	level = slog.LevelWarn
	dir := a.openProject()
	if dir != nil {
		defer func() { _ = dir.Close() }()
	}
	c, err := a.settings.Load(dir)
	a.language = c.Language
	if err == nil {
		level, a.hostConfirm = c.LogLevel, c.HostConfirm
		if a.toolsets == nil {
			a.toolsets = c.Toolsets
		}
	} else if l := os.Getenv("BMAD_LANGUAGE"); l != "" { // the variables come last
		a.language = l
	}
	a.speak("")
	return level
}

// completeTasks completes the task names of the project in a shell.
func (a *app) completeTasks(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || a.setUp() != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, err := a.project()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	sessions, _, _, err := a.engine.Sessions(cmd.Context(), project.Address{Cwd: dir})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, s := range sessions {
		names = append(names, cobra.CompletionWithDesc(s.TaskName, string(s.CurrentStage)+", "+string(s.CurrentState)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
