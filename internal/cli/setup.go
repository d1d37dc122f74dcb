package cli

import (
	"log/slog"
	"os"

	"github.com/bmad-mcp/bmad-mcp/internal/config"
)

// setUp makes the engine. A configuration that cannot be read does not keep the
// program from starting: each action reports it.
func (a *app) setUp() error {
	a.settings = config.Source{UserFolder: userFolder("XDG_CONFIG_HOME", ".config"), Environ: os.Environ()}
	level := slog.LevelWarn
	dir := a.openProject()
	if c, err := a.settings.Load(dir); err == nil {
		level, a.hostConfirm = c.LogLevel, c.HostConfirm
		if a.toolsets == nil {
			a.toolsets = c.Toolsets
		}
	}
	if dir != nil {
		_ = dir.Close()
	}
	a.log = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	a.engine, a.library = a.newEngine(nil)
	return nil
}
