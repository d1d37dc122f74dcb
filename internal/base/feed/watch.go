package feed

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// maxFolders bounds the folders watched at once; systems allow a few thousand.
const maxFolders = 1000

// maxOthers bounds the changed files to look at: so many do not come from runs alone.
const maxOthers = 50

// pause is the time in which changes are collected: one action writes several files.
const pause = 100 * time.Millisecond

// kind has the interesting parts of a watched folder.
type kind int

const (
	all      kind = 1 << iota // every file
	sessions                  // the sessions of a project
	awaited                   // a project's folder, until it has one for sessions
)

// Folders are the places of runs in a project's folder, relative to it.
type Folders struct {
	// Sessions is the name of the folder of sessions, Documents the path of the folder of their documents.
	Sessions, Documents string
}

// hasPath reports whether a path is among the sessions or the documents of a project's runs.
func (f Folders) hasPath(name string) bool {
	name = filepath.ToSlash(name) + "/"
	return strings.Contains(name, "/"+f.Sessions+"/") || strings.Contains(name, "/"+f.Documents+"/")
}

// watcher reports changes in the folders it watches, whether another server, the terminal or an editor
// makes them. It reports only that there is a change, after a pause for further ones. It stays silent on a
// file system without reports, for example NFS.
type watcher struct {
	fs      *fsnotify.Watcher
	changed func(outside bool)
	log     *slog.Logger
	runs    Folders
	state   string
	ended   chan struct{} // closed when run has ended

	mu      sync.Mutex
	folders map[string]kind
	// unwatched counts the folders that could not be watched since the last look, first is the error of the first one.
	unwatched int
	first     error
	isLogged  bool
}

// newWatcher returns a watcher that calls changed until it is closed, one call at a time. outside reports
// whether more may have changed than the state and the documents of runs, which the program itself writes.
// state is the person's state folder, with records of runs; "" for none.
func newWatcher(changed func(outside bool), log *slog.Logger, runs Folders, state string) (*watcher, error) {
	fsw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{fs: fsw, changed: changed, log: log, runs: runs, state: state, ended: make(chan struct{}), folders: map[string]kind{}}
	go w.reportChanges()
	return w, nil
}

// watchProject watches the sessions of a project, even before it has any.
func (w *watcher) watchProject(cwd string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watchProjectLocked(cwd)
}

// watchProjectLocked is watchProject for a caller that holds mu.
func (w *watcher) watchProjectLocked(cwd string) {
	state := filepath.Join(cwd, w.runs.Sessions)
	// A second look: the folder may appear before its parent is watched.
	if !w.addFolder(state, sessions) && w.addFolder(cwd, awaited) && w.addFolder(state, sessions) {
		w.endWait(cwd)
	}
}

// watchFolder watches the files of a folder, without the folders in it. It reports whether the watch is
// new: earlier changes in the folder are not reported.
func (w *watcher) watchFolder(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.folders[name]
	return w.addFolder(name, all) && before&all == 0
}

// addFolder reports whether the folder is watched now.
func (w *watcher) addFolder(name string, k kind) bool {
	if before, known := w.folders[name]; known {
		w.folders[name] = before | k
		return true
	}
	err := errTooMany
	if len(w.folders) < maxFolders {
		err = w.fs.Add(name)
	}
	switch {
	case err == nil:
		w.folders[name] = k
		return true
	case !errors.Is(err, fs.ErrNotExist):
		if w.unwatched++; w.unwatched == 1 {
			w.first = fmt.Errorf("%s: %w", name, err)
		}
	}
	return false
}

var errTooMany = errors.New("too many folders are watched")

// logUnwatched says once that folders are not watched: a look at thousands would fill the log each time.
func (w *watcher) logUnwatched() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unwatched > 0 && !w.isLogged {
		w.isLogged = true
		w.log.Warn("changes in some folders are not reported", "folders", w.unwatched, "watched", len(w.folders), "first", w.first)
	}
	w.unwatched = 0
}

// endWait stops watching a folder if it was watched only until something appears in it.
func (w *watcher) endWait(name string) {
	if w.folders[name] &^= awaited; w.folders[name] == 0 {
		w.forgetFolder(name)
	}
}

func (w *watcher) forgetFolder(name string) {
	delete(w.folders, name)
	_ = w.fs.Remove(name) // it may be gone already
}

// close stops watching, and returns after the last call of changed.
func (w *watcher) close() error {
	err := w.fs.Close()
	<-w.ended
	return err
}

func (w *watcher) reportChanges() {
	defer close(w.ended)
	timer := time.NewTimer(0)
	<-timer.C
	pending, outside := false, false
	var others []string // changed, and not of runs by their names
	for {
		select {
		case event, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if !w.isInteresting(event) {
				continue
			}
			if !w.runs.hasPath(event.Name) && len(others) < maxOthers {
				others = append(others, event.Name)
			}
			if !pending {
				pending = true
				timer.Reset(pause)
			}
		case err, ok := <-w.fs.Errors:
			if !ok {
				return
			}
			w.log.Warn("some changes may not be reported", "error", err)
			outside = true // the queue overflowed: anything may have changed
			if !pending {
				pending = true
				timer.Reset(pause)
			}
		case <-timer.C:
			w.changed(outside || len(others) == maxOthers || !w.allOfRuns(others))
			pending, outside, others = false, false, nil
		}
	}
}

// records are the names in the state folder that every run makes. The others are the person's lists.
var records = []string{"key", "checkpoints", "projects.json"}

// allOfRuns reports whether all paths belong to runs, including records in the state folder and the folders
// made by the first run: from now on these are watched, and they are still empty otherwise.
func (w *watcher) allOfRuns(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		base := filepath.Base(name)
		mayBeRecord := slices.Contains(records, base) || isPassing(base)
		isRecord := mayBeRecord && w.state == filepath.Dir(name)
		if isRecord || w.runs.hasPath(name) {
			return false
		}
		isAbove := strings.HasPrefix(w.state+string(filepath.Separator), name+string(filepath.Separator))
		if base != path.Dir(w.runs.Documents) && !isAbove {
			return true
		}
		w.watchFolder(name) // first: nothing comes between
		within, err := listPaths(name)
		return err != nil || !w.allOfRuns(within)
	})
}

// listPaths returns the paths of the entries of a folder.
func listPaths(folder string) ([]string, error) {
	above, err := durable.OpenDir(filepath.Dir(folder))
	if err != nil {
		return nil, err
	}
	defer func() { _ = above.Close() }()
	names, err := above.Names(filepath.Base(folder))
	for i, name := range names {
		names[i] = filepath.Join(folder, name)
	}
	return names, err
}

// isPassing reports whether a file is a write's temporary file, or a lock, which each change writes.
func isPassing(base string) bool {
	_, temporary := durable.IsTemp(base)
	return temporary || filepath.Ext(base) == ".lock"
}

// isInteresting tells the changes for a caller from the changes of temporary files, and follows folders as they
// appear and disappear.
func (w *watcher) isInteresting(event fsnotify.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := filepath.Clean(event.Name)
	folder, base := filepath.Dir(name), filepath.Base(name)
	if k, watched := w.folders[name]; watched && (event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)) {
		w.forgetFolder(name)
		if k&sessions != 0 {
			w.watchProjectLocked(folder)
		}
		return true
	}
	if event.Op == fsnotify.Chmod || isPassing(base) {
		return false
	}
	k := w.folders[folder]
	if k&awaited != 0 && base == w.runs.Sessions && w.addFolder(name, sessions) {
		w.endWait(folder)
		return true
	}
	return k&all != 0 || k&sessions != 0 && strings.HasPrefix(base, "session-")
}
