// Package config reads the settings of a project: defaults, under the user's
// file, under the project's file, under BMAD_* variables of the environment.
//
// A setting has a key, which is a dotted path in the YAML files and, in capitals
// with underscores and without "stages.", a variable: stages.po.gate_score is
// BMAD_PO_GATE_SCORE. An unknown key or a wrong value is an error that names
// where it stands and what is valid.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"bmad-mcp/internal/durable"
	"bmad-mcp/internal/fault"
	"bmad-mcp/internal/workflow"
)

const (
	// ProjectFile is the project's file, relative to the project.
	ProjectFile = ".claude/bmad-task.yaml"
	// UserFile is the user's file, relative to the configuration folder
	// ($XDG_CONFIG_HOME, else ~/.config).
	UserFile = "bmad-mcp/config.yaml"
	// DefaultPrompts is where a project's own prompts are looked for, relative to it.
	DefaultPrompts = ".claude/bmad-prompts"
	// DefaultMaxSubmission is the largest submission accepted, in bytes.
	DefaultMaxSubmission = 5 << 20
	// minLockTimeout and maxLockTimeout bound lock_timeout: below, a busy disk looks like
	// a conflict; above, hosts have given the call up.
	minLockTimeout, maxLockTimeout = 100 * time.Millisecond, 10 * time.Minute
	// maxFile is the largest configuration file read, in bytes.
	maxFile = 64 << 10
)

// Config is the settings in force for a project.
type Config struct {
	// Workflow has the gate scores and engines applied.
	Workflow *workflow.Workflow
	// Prompts is the absolute folder of prompt files that go before the built-in ones.
	Prompts string
	// MaxSubmission is the largest submission accepted, in bytes.
	MaxSubmission int64
	// LockTimeout is how long a call waits for another that holds its session.
	LockTimeout time.Duration
	LogLevel    slog.Level
}

// Source is where settings come from.
type Source struct {
	// UserFolder is the configuration folder of the user; "" reads no user file.
	UserFolder string
	// Environ is the environment as os.Environ gives it.
	Environ []string
}

// Default returns the settings of a project that sets nothing.
func Default(project string) Config {
	return Config{
		Workflow:      workflow.Default(),
		Prompts:       filepath.Join(project, filepath.FromSlash(DefaultPrompts)),
		MaxSubmission: DefaultMaxSubmission,
		LockTimeout:   durable.LockTimeout,
		LogLevel:      slog.LevelWarn,
	}
}

// Load returns the settings of the project in dir; dir may be nil for a process
// that is in no project.
func (s Source) Load(dir *durable.Dir) (Config, error) {
	project := ""
	if dir != nil {
		project = dir.Path()
	}
	c := Default(project)
	if s.UserFolder != "" {
		name := filepath.Join(s.UserFolder, filepath.FromSlash(UserFile))
		data, err := os.ReadFile(name) //nolint:gosec // the person's own configuration folder
		if err := c.file(name, data, err, filepath.Dir(name)); err != nil {
			return c, err
		}
	}
	if dir != nil {
		data, err := dir.ReadFile(ProjectFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && dir.LeadsOut(".claude") {
			return c, fault.New(fault.InvalidArgument, "the folder %s is a symbolic link that leads out of the project", dir.Join(".claude")).
				WithHint("bmad-mcp stays inside the project: make .claude a folder of it")
		}
		if err := c.file(ProjectFile, data, err, project); err != nil {
			return c, err
		}
	}
	return c, c.environ(s.Environ, project)
}

func (c *Config) file(name string, data []byte, err error, base string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	case err != nil:
		return fault.New(fault.Storage, "the configuration %s cannot be read: %w", name, err).
			WithHint("make it a readable file, or take it away to use the defaults")
	case len(data) > maxFile:
		return fault.New(fault.InvalidArgument, "the configuration %s has %d bytes; at most %d are read", name, len(data), maxFile)
	}
	return eachSetting(name, data, func(key string, values []string) error { return c.set(key, values, base) })
}

func (c *Config) environ(environ []string, project string) error {
	for _, entry := range environ {
		variable, value, _ := strings.Cut(entry, "=")
		key, ok := keyOf(variable)
		if !ok || value == "" {
			continue
		}
		var values []string
		for v := range strings.SplitSeq(value, ",") {
			values = append(values, strings.TrimSpace(v))
		}
		if err := c.set(key, values, project); err != nil {
			return fault.New(fault.InvalidArgument, "environment variable %s: %w", variable, err).
				WithHint("correct or unset the variable where the server is started")
		}
	}
	return nil
}

// keyOf returns the key a variable sets. Other programs use the prefix too, so
// only what begins like a setting of ours is taken for one.
func keyOf(variable string) (string, bool) {
	name, ok := strings.CutPrefix(variable, "BMAD_")
	if !ok {
		return "", false
	}
	name = strings.ToLower(name)
	if slices.Contains(topKeys, name) && name != "stages" {
		return name, true
	}
	stage, rest, ok := strings.Cut(name, "_")
	if ok && slices.Contains(workflow.Default().IDs(), stage) {
		return "stages." + stage + "." + rest, true
	}
	return "", false
}

var (
	topKeys   = []string{"lock_timeout", "log_level", "max_submission_bytes", "prompts", "stages"}
	stageKeys = []string{"engines", "gate_score"}
	logLevels = []string{"debug", "info", "warn", "error"}
)

// set applies one setting. base is the folder that relative paths start from.
func (c *Config) set(key string, values []string, base string) error {
	one := func() (string, error) {
		if len(values) != 1 {
			return "", fmt.Errorf("%s takes one value, not %d", key, len(values))
		}
		return values[0], nil
	}
	parts := strings.Split(key, ".")
	if parts[0] == "stages" && len(parts) == 3 {
		return c.setStage(parts[1], parts[2], key, values, one)
	}
	v, err := one()
	if err != nil {
		return err
	}
	switch key {
	case "log_level":
		if !slices.Contains(logLevels, v) {
			return fmt.Errorf("log_level %q is not one of %s", v, strings.Join(logLevels, ", "))
		}
		return c.LogLevel.UnmarshalText([]byte(v))
	case "lock_timeout":
		d, err := time.ParseDuration(v)
		if err != nil || d < minLockTimeout || d > maxLockTimeout {
			return fmt.Errorf("lock_timeout %q is not a duration from %v to %v, such as 10s", v, minLockTimeout, maxLockTimeout)
		}
		c.LockTimeout = d
	case "max_submission_bytes":
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 1024 || n > 1<<30 {
			return fmt.Errorf("max_submission_bytes %q is not a whole number from 1024 to %d", v, 1<<30)
		}
		c.MaxSubmission = n
	case "prompts":
		if v == "" {
			return errors.New("prompts names no folder")
		}
		if !filepath.IsAbs(v) {
			v = filepath.Join(base, filepath.FromSlash(v))
		}
		info, err := os.Stat(v)
		if err != nil || !info.IsDir() {
			return fmt.Errorf("prompts %q is not an existing folder", v)
		}
		c.Prompts = v
	default:
		return fmt.Errorf("unknown key %q; valid keys: %s", key, strings.Join(topKeys, ", "))
	}
	return nil
}

func (c *Config) setStage(stage, name, key string, values []string, one func() (string, error)) error {
	i := c.Workflow.Index(workflow.StageID(stage))
	if i < 0 {
		return fmt.Errorf("unknown stage %q; valid stages: %s", stage, strings.Join(c.Workflow.IDs(), ", "))
	}
	st := &c.Workflow.Stages[i]
	switch name {
	case "gate_score":
		if st.Gate != workflow.GateScore {
			return fmt.Errorf("stage %q has no score gate; gate_score is for po and architect", stage)
		}
		v, err := one()
		if err != nil {
			return err
		}
		n, err := strconv.ParseFloat(v, 64)
		// Written so that NaN is refused too.
		if err != nil || !(n >= 0 && n <= 100) {
			return fmt.Errorf("%s %q is not a number from 0 to 100", key, v)
		}
		st.GateScore = n
	case "engines":
		var engines []workflow.Engine
		for _, v := range values {
			e := workflow.Engine(v)
			if !slices.Contains(workflow.Engines(), e) || slices.Contains(engines, e) {
				return fmt.Errorf("%s: %q is not one of claude, codex, each at most once", key, v)
			}
			engines = append(engines, e)
		}
		if len(engines) == 0 {
			return fmt.Errorf("%s names no engine; valid engines: claude, codex", key)
		}
		st.Engines, st.CodexOnRequest = engines, false
	default:
		return fmt.Errorf("unknown key %q; valid keys of a stage: %s", name, strings.Join(stageKeys, ", "))
	}
	return nil
}
