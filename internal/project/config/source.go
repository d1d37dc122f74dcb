package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Source has the places that settings are read from.
type Source struct {
	// UserFolder is the configuration folder of the user; "" reads no user file.
	UserFolder string
	// Environ is the environment as os.Environ gives it.
	Environ []string
	// Scoring is the rule of score gates; the definition's if empty.
	Scoring workflow.ScoringMode
}

// Load returns the settings of the project in dir, which is nil for a process outside
// every project.
func (s Source) Load(dir *durable.Dir) (Config, error) {
	var l loader
	if dir != nil {
		l.project = dir.Path()
	}
	c := Default()
	l.Config = &c
	c.rules.scoring = s.Scoring
	c.addWorkflows(s.UserFolder, dir) // settings name their stages
	if s.UserFolder != "" {
		l.userFile = filepath.Join(s.UserFolder, filepath.FromSlash(UserFile))
		data, err := durable.ReadPath(l.userFile, maxFile)
		if err := l.file(l.userFile, data, err); err != nil {
			return c, err
		}
	}
	l.from = own
	if dir != nil {
		data, err := dir.ReadFile(ProjectFile, maxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && dir.LeadsOut(".claude") {
			return c, fault.New(fault.InvalidArgument, "the folder %s is a symbolic link that leads out of the project", dir.Join(".claude")).
				WithHint("bmad-mcp stays inside the project: make .claude a real folder in it")
		}
		if err := l.file(ProjectFile, data, err); err != nil {
			return c, err
		}
	}
	l.from = environment
	if err := l.environ(s.Environ); err != nil {
		return c, err
	}
	return c, c.noteRefused()
}

func (l *loader) file(name string, data []byte, err error) error {
	var large *durable.TooLargeError
	switch {
	case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && !l.isThere(name):
		return nil
	case errors.As(err, &large):
		return fault.New(fault.InvalidArgument, "the configuration %w", err).
			WithHint("shorten it, or remove it to use the defaults")
	case err != nil:
		return fault.New(fault.Storage, "the configuration %s cannot be read: %w", name, err).
			WithHint("make it a readable file, or remove it to use the defaults")
	}
	l.at = Origin{Kind: kinds[l.from], File: name}
	return eachSetting(name, data, l.apply)
}

// isThere reports whether there is a file, or a link that leads to none.
func (l *loader) isThere(name string) bool {
	if !filepath.IsAbs(name) {
		name = filepath.Join(l.project, filepath.FromSlash(name))
	}
	_, err := os.Lstat(name)
	return err == nil
}

func (l *loader) environ(environ []string) error {
	read := map[string]string{} // the variable of each key
	for _, one := range environ {
		variable, value, _ := strings.Cut(one, "=")
		key, ok := l.keyOf(variable)
		if !ok || value == "" {
			continue
		}
		if other := read[key]; other != "" && other != variable {
			return fault.New(fault.InvalidArgument, "the environment variables %s and %s set the same", other, variable).WithHint("unset one of them where the server is started")
		}
		read[key] = variable
		l.at = Origin{Kind: kinds[l.from], Variable: variable}
		values := []string{value}
		if strings.HasSuffix(key, ".engines") {
			values = nil
			for v := range strings.SplitSeq(value, ",") {
				values = append(values, strings.TrimSpace(v))
			}
		}
		if err := l.apply(entry{key: key, values: values}); err != nil {
			return fault.New(fault.InvalidArgument, "environment variable %s: %w", variable, err).
				WithHint("correct or unset the variable where the server is started")
		}
	}
	return nil
}

// keyOf returns the key that a variable sets, for example stages.po.gate_score for BMAD_PO_GATE_SCORE. Other
// programs use the prefix too, so only a name that begins like one of our settings counts.
func (c *Config) keyOf(variable string) (string, bool) {
	name, ok := strings.CutPrefix(variable, "BMAD_")
	if !ok {
		return "", false
	}
	name = strings.ToLower(name)
	if _, was := gone[name]; was || slices.Contains(keys(), name) && name != "stages" {
		return name, true
	}
	for _, stage := range c.StageIDs() {
		if rest, ok := strings.CutPrefix(name, strings.ReplaceAll(stage, "-", "_")+"_"); ok {
			return "stages." + stage + "." + rest, true
		}
	}
	return "", false
}
