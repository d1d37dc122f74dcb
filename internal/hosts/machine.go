package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Machine is the environment behind the places of a host's files. A nil function asks the system.
type Machine struct {
	// OS is linux, darwin or windows, as Go names them.
	OS string
	// Home is the person's home folder, Folder the project's.
	Home, Folder string
	// Getenv, LookPath, Exists and Glob ask the system.
	Getenv   func(name string) string
	LookPath func(program string) string
	Exists   func(path string) bool
	Glob     func(pattern string) []string
}

// This returns the machine of the program, for a project.
func This(project string) Machine {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return Machine{OS: runtime.GOOS, Home: home, Folder: project}
}

func (m Machine) lookupEnv(name string) string {
	if m.Getenv != nil {
		return m.Getenv(name)
	}
	return os.Getenv(name)
}

func (m Machine) lookPath(program string) string {
	if m.LookPath != nil {
		return m.LookPath(program)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	return path
}

func (m Machine) pathExists(path string) bool {
	if m.Exists != nil {
		return m.Exists(path)
	}
	_, err := os.Stat(path)
	return err == nil
}

func (m Machine) globPaths(pattern string) []string {
	if pattern == "" {
		return nil
	}
	if m.Glob != nil {
		return m.Glob(pattern)
	}
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil // an invalid pattern finds nothing
	}
	return found
}

// joinPath puts a path together as the machine's system does. It returns "" if the first part is "".
func (m Machine) joinPath(first string, parts ...string) string {
	if first == "" {
		return ""
	}
	sep := "/"
	if m.OS == "windows" {
		sep = `\`
	}
	return strings.Join(append([]string{strings.TrimRight(first, `/\`)}, parts...), sep)
}

func (m Machine) homePath(parts ...string) string    { return m.joinPath(m.Home, parts...) }
func (m Machine) projectPath(parts ...string) string { return m.joinPath(m.Folder, parts...) }

// appData returns a path in the folder of the programs' settings.
func (m Machine) appData(parts ...string) string {
	switch m.OS {
	case "darwin":
		return m.homePath(append([]string{"Library", "Application Support"}, parts...)...)
	case "windows":
		if roaming := m.lookupEnv("APPDATA"); roaming != "" {
			return m.joinPath(roaming, parts...)
		}
		return m.homePath(append([]string{"AppData", "Roaming"}, parts...)...)
	}
	if config := m.lookupEnv("XDG_CONFIG_HOME"); config != "" {
		return m.joinPath(config, parts...)
	}
	return m.homePath(append([]string{".config"}, parts...)...)
}
