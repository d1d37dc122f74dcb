package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// Scope is the audience of an entry.
type Scope string

// The scopes.
const (
	// User is the person, in all their projects.
	User Scope = "user"
	// Project is everyone who works in a project.
	Project Scope = "project"
)

// Entry is a server as a host starts it, on stdio.
type Entry struct {
	Name    string
	Command string
	Args    []string
	// Pass names variables of the host's environment needed by the server. Hosts that pass all of them need no
	// list.
	Pass []string
}

// FoundEntry is an entry in a host's file.
type FoundEntry struct {
	Name    string `toml:"-"`
	Command string
	Args    []string
	// Env are the variables that the host sets for it.
	Env map[string]any
	// URL is the address of a server called by the host instead of a program.
	URL string
	// Folder is the project of the entry if the file keeps entries for single projects.
	Folder string `toml:"-"`
	// More is true if the entry has more than a type, a command and arguments.
	More bool `toml:"-"`
	// Place is the file of the entry, with the folder if it has one; only EntriesOf sets it.
	Place string `toml:"-"`
}

// isMore reports whether a key of an entry is not one of the keys that install writes.
func isMore(key string) bool { return !slices.Contains([]string{"type", "command", "args"}, key) }

// startsAs reports whether the host starts the server as an entry says.
func (f FoundEntry) startsAs(e Entry) bool {
	return f.Command == e.Command && slices.Equal(f.Args, e.Args)
}

// Ours reports whether a command starts this server: under the usual name, or as the running program.
func Ours(command, program string) bool {
	name := func(path string) string {
		path = path[strings.LastIndexAny(path, `/\`)+1:]
		return strings.TrimSuffix(strings.ToLower(path), ".exe")
	}
	return command != "" && (ownName.MatchString(name(command)) || command == program)
}

// ownName matches the names under which the program is built and released.
var ownName = pattern.New(`^bmad-mcp(-(linux|darwin|windows)-[a-z0-9]+)?$`)

// Complete returns the entry with this program if it names none, and, for a person, with the
// variables to pass on.
func (e Entry) Complete(scope Scope) (Entry, error) {
	if scope == Project {
		if e.Command == "" {
			e.Command = "bmad-mcp" // a path of this machine is useless to others
		}
		return e, nil
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "BMAD_") || name == "XDG_STATE_HOME" || name == "XDG_CONFIG_HOME" || name == "XDG_CACHE_HOME" {
			e.Pass = append(e.Pass, name)
		}
	}
	slices.Sort(e.Pass)
	if e.Command != "" {
		return e, nil
	}
	self, err := os.Executable()
	if err != nil {
		return e, fault.New(fault.Storage, "the path of this program is unknown: %w", err).WithHint("name it with --command")
	}
	if strings.Contains(self, "go-build") {
		return e, fault.New(fault.InvalidArgument, "this program was made for one run (go run) and is gone after it").
			WithHint("install it first: go install ./cmd/bmad-mcp; or name another with --command")
	}
	// The program on the PATH may be a link with a longer life than the version behind it.
	if onPath, err := exec.LookPath(filepath.Base(self)); err == nil {
		if onPath, err = filepath.Abs(onPath); err == nil && SameFile(onPath, self) {
			self = onPath
		}
	}
	e.Command = self
	return e, nil
}

// SameFile reports whether two paths lead to one file.
func SameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Repository returns the nearest folder upwards that is a repository or has sessions, else the folder itself.
func Repository(folder string) string {
	for dir := folder; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		for _, name := range []string{".git", ".bmad-task"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return dir
			}
		}
	}
	return folder
}
