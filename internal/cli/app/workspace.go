package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Workspace is the folder of a command, with the settings there.
type Workspace struct {
	// Cwd is the flag --cwd.
	Cwd string
	// Settings are the places of the settings. Config has the settings for the program's folder, as far as
	// they can be read; Unread is the error, nil if all can be read.
	Settings config.Source
	Config   config.Config
	Unread   error
	// Notices tell what of the settings has no effect.
	Notices []config.Notice
}

// loadSettings reads the settings, as far as they can be read.
func (w *Workspace) loadSettings() {
	w.Settings = config.Source{UserFolder: SettingsFolder(), Environ: os.Environ()}
	dir := w.openProject()
	if dir != nil {
		defer func() { _ = dir.Close() }()
	}
	if w.Config, w.Unread = w.Settings.Load(dir); w.Unread != nil {
		w.Config.HostConfirm, w.Config.Toolsets = "", nil
		if l := os.Getenv("BMAD_LANGUAGE"); l != "" { // the variables come last
			w.Config.Language = l
		}
	}
	w.Notices = w.NoticesIn(dir, &w.Config)
}

// NoticesIn lists the settings of a folder that have no effect, and a store with runs of the folder that no setting names.
func (w *Workspace) NoticesIn(dir *durable.Dir, c *config.Config) []config.Notice {
	out := w.Settings.Notices(dir, c)
	if dir == nil || c.Store.Address != "" || w.Unread != nil {
		return out
	}
	if in := Trust().StoreOf(dir.Path()); in != "" {
		out = append(out, config.Notice{Place: lang.T("%s", "store"), What: lang.T("no setting names one here, and the runs of this folder were in %s: you see only files "+
			"here; name it in %s, so that every program does", in, filepath.Join(w.Settings.UserFolder, filepath.FromSlash(config.UserFile)))})
	}
	return out
}

// openProject opens the program's folder, or returns nil.
func (w *Workspace) openProject() *durable.Dir {
	name, err := w.Project()
	if host := os.Getenv("CLAUDE_PROJECT_DIR"); host != "" && w.Cwd == "" {
		name, err = project.Nearest(host), nil
	}
	if err != nil {
		return nil
	}
	dir, err := durable.OpenDir(name)
	if err != nil {
		return nil
	}
	return dir
}

// Project returns the folder of a command: the project of --cwd, else of the working folder.
func (w *Workspace) Project() (string, error) {
	here, err := filepath.Abs(w.Cwd)
	if err != nil {
		return "", err
	}
	nearest := project.Nearest(here)
	if w.Cwd == "" && nearest == here && w.Config.Store.Address != "" {
		return project.Top(here), nil
	}
	return nearest, nil
}

// Opened returns the folder of --cwd for a server, which an assistant may use; "" without the flag.
func (w *Workspace) Opened() (string, error) {
	if w.Cwd == "" {
		return "", nil
	}
	folder, err := w.Project()
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", fault.New(fault.InvalidArgument, "the folder %s of --cwd is not there", folder).WithHint("name the folder of the project")
	}
	if why := Rules().Judge(Rules().Real(folder), reach.Opened); !why.Empty() {
		return "", fault.New(fault.NotAllowed, "the folder %s of --cwd is not for assistants: %s", folder, why).WithHint("name the folder of the project")
	}
	return folder, nil
}

// Judge returns the reason for which a server in this workspace could not work if some variables were added to the
// environment.
func (w *Workspace) Judge(environ []string) error {
	if _, err := w.Opened(); err != nil || w.Unread != nil || len(environ) == 0 { // the check of the settings names what is unread
		return err
	}
	with := w.Settings
	with.Environ = slices.Concat(with.Environ, environ)
	dir := w.openProject()
	if dir != nil {
		defer func() { _ = dir.Close() }()
	}
	_, err := with.Load(dir)
	return err
}

// Address returns the address of the session in the arguments.
func (w *Workspace) Address(args []string) (project.Address, error) {
	dir, err := w.Project()
	at := project.Address{Session: TaskName(args), Places: []string{dir}}
	if w.Cwd != "" {
		at.Cwd = dir
	}
	return at, err
}

// TaskName returns the task in the arguments; "" without one.
func TaskName(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// Roots returns the folders whose projects clients may name, with links followed.
func (w *Workspace) Roots(names []string) ([]string, error) {
	if len(names) == 0 {
		project, err := w.Project()
		if err != nil {
			return nil, err
		}
		if home, _ := os.UserHomeDir(); project == filepath.Dir(project) || project == filepath.Clean(home) {
			return nil, fault.New(fault.InvalidArgument, "the working folder %s is not a project", project).WithHint("name the folder of your projects with --root")
		}
		names = []string{project}
	}
	var out []string
	for _, name := range names {
		path, err := filepath.Abs(name)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "--root %q cannot be used: %w", name, err).WithHint("name an existing folder")
		}
		dir, err := durable.OpenDir(path)
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "--root %q cannot be opened: %w", name, err).WithHint("name an existing folder that you may read")
		}
		_ = dir.Close()
		out = append(out, path)
	}
	return out, nil
}

// userFolder returns a folder of the user by the XDG base directory rules: the variable if it has an absolute
// path, else the default below the home folder.
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

// StateFolder returns the folder for the state of all projects; "" without a home folder.
func StateFolder() string {
	if state := userFolder("XDG_STATE_HOME", ".local/state"); state != "" {
		return filepath.Join(state, "bmad-mcp")
	}
	return ""
}

// Trust returns this machine's records of the person's word.
func Trust() trust.UserState { return trust.UserState(StateFolder()) }

// Person is the state of the person, with the settings of this program.
type Person struct {
	trust.UserState
	settings string
}

// Signer returns the signer of the person, if the person's key signs under these settings.
func (p Person) Signer(ctx context.Context) (workflow.Signer, error) {
	return p.SignerUnder(ctx, p.settings)
}

// SettingsFolder returns the folder of the person's settings.
func SettingsFolder() string { return userFolder("XDG_CONFIG_HOME", ".config") }

// KnownProjects returns the list of projects in which sessions were started.
func KnownProjects() project.Known { return project.Known{Folder: StateFolder()} }

// The records of folders for assistants.
const (
	FromTerminal = "added"
	FromForm     = "form"
	FromSettings = "settings"
	FromSessions = "runs"
)

// RecordedPlace is a folder in which assistants may work, if the rules allow it.
type RecordedPlace struct {
	reach.Place
	From string
}

// RecordedPlaces returns the folders on record, and the first problem in reading them.
func (w *Workspace) RecordedPlaces() (out []RecordedPlace, err error) {
	places, err := Trust().Places()
	for _, p := range places {
		r := RecordedPlace{reach.Place{Folder: p.Folder, By: reach.Listed, Real: true, Record: StateFolder()}, FromTerminal}
		if p.By == trust.ByForm {
			r.By, r.From = reach.Asked, FromForm
		}
		out = append(out, r)
	}
	own, ownErr := w.Settings.Load(nil)
	if err == nil {
		err = ownErr
	}
	file := ""
	if w.Settings.UserFolder != "" {
		file = filepath.Join(w.Settings.UserFolder, filepath.FromSlash(config.UserFile))
	}
	for _, folder := range own.Projects {
		out = append(out, RecordedPlace{reach.Place{Folder: folder, By: reach.Listed, Record: file}, FromSettings})
	}
	known, real, knownErr := KnownProjects().Recorded()
	if err == nil {
		err = knownErr
	}
	for _, folder := range known {
		out = append(out, RecordedPlace{reach.Place{Folder: folder, By: reach.Known, Real: real, Record: StateFolder()}, FromSessions})
	}
	return out, err
}

// Rules are the rules for folders that this person keeps from assistants. They are read once, because each
// search for an installation of the method needs them.
var Rules = sync.OnceValue(func() reach.Rules { return reach.NewRules(nil, os.Environ()) })

// newReach returns the folders that an assistant on stdio may use. opened are the folders for which the
// server was started.
func (a *App) newReach(opened []string) *reach.Reach {
	o := reach.Options{
		Rules: Rules(),
		Remembered: func() []reach.Place {
			list, err := a.Tasks.RecordedPlaces()
			if err != nil {
				a.Tasks.Log.Warn("not all folders that assistants may work in are known", "error", err)
			}
			out := make([]reach.Place, len(list))
			for i, r := range list {
				out[i] = r.Place
			}
			return out
		},
		Remember: func(ctx context.Context, folder string) error {
			_, err := Trust().AddPlace(ctx, trust.Place{Folder: folder, By: trust.ByForm, At: a.Terminal.Now()})
			return err
		},
	}
	for _, folder := range opened {
		o.Opened = append(o.Opened, reach.Place{Folder: folder, By: reach.Opened})
	}
	return reach.New(o)
}
