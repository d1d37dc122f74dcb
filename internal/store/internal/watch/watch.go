// Package watch reports that something has changed in the projects it watches, no matter who
// changed it: another server, the terminal, an editor.
//
// It reports only that there is a change, after a pause in which more may follow; the caller
// finds out which. It stays silent if a file system does not report changes, for example NFS.
package watch

import (
	"errors"
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
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
)

// maxFolders bounds the folders that are watched at once; systems allow a few thousand.
const maxFolders = 1000

// maxOthers bounds the changed files that are looked at: so many are not of runs alone.
const maxOthers = 50

// pause is the time in which changes are collected: one action writes several files.
const pause = 100 * time.Millisecond

// kind has the parts of a watched folder that matter.
type kind int

const (
	all      kind = 1 << iota // every file
	sessions                  // the sessions of a project
	awaited                   // a project's folder, until it has one for sessions
)

// Watcher watches folders.
type Watcher struct {
	fs      *fsnotify.Watcher
	changed func(outside bool)
	log     *slog.Logger
	state   string
	ended   chan struct{} // closed when run has ended

	mu      sync.Mutex
	folders map[string]kind
}

// New returns a watcher that calls changed until it is closed, one call at a time. outside is true if
// more may have changed than the state and the documents of runs, which the program itself writes. state is the
// person's state folder, which has records of runs; "" for none.
func New(changed func(outside bool), log *slog.Logger, state string) (*Watcher, error) {
	fsw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Watcher{fs: fsw, changed: changed, log: log, state: state, ended: make(chan struct{}), folders: map[string]kind{}}
	go w.run()
	return w, nil
}

// Project watches the sessions of a project, even before it has any.
func (w *Watcher) Project(cwd string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.project(cwd)
}

func (w *Watcher) project(cwd string) {
	state := filepath.Join(cwd, store.Folder)
	// A second look: the folder may appear before its parent is watched.
	if !w.add(state, sessions) && w.add(cwd, awaited) && w.add(state, sessions) {
		w.endWait(cwd)
	}
}

// Folder watches the files of a folder, not those of folders in it. It reports whether the
// folder was not watched before: earlier changes in it are not reported.
func (w *Watcher) Folder(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.folders[name]
	return w.add(name, all) && before&all == 0
}

// add reports whether the folder is watched now.
func (w *Watcher) add(name string, k kind) bool {
	if before, known := w.folders[name]; known {
		w.folders[name] = before | k
		return true
	}
	if len(w.folders) >= maxFolders {
		w.log.Warn("changes in this folder are not reported: too many are watched", "folder", name)
		return false
	}
	switch err := w.fs.Add(name); {
	case err == nil:
		w.folders[name] = k
		return true
	case !errors.Is(err, fs.ErrNotExist):
		w.log.Warn("changes in this folder are not reported", "folder", name, "error", err)
	}
	return false
}

// endWait stops watching a folder if it was watched only until something appears in it.
func (w *Watcher) endWait(name string) {
	if w.folders[name] &^= awaited; w.folders[name] == 0 {
		w.forget(name)
	}
}

func (w *Watcher) forget(name string) {
	delete(w.folders, name)
	_ = w.fs.Remove(name) // it may be gone already
}

// Close stops watching, and returns when changed is not called any longer.
func (w *Watcher) Close() error {
	err := w.fs.Close()
	<-w.ended
	return err
}

func (w *Watcher) run() {
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
			if !w.matters(event) {
				continue
			}
			if !OfRuns(event.Name) && len(others) < maxOthers {
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

// OfRuns reports whether a path is among the state or the documents of a project's runs.
func OfRuns(name string) bool {
	name = filepath.ToSlash(name) + "/"
	return strings.Contains(name, "/"+store.Folder+"/") || strings.Contains(name, "/"+artifact.Folder+"/")
}

// records are the names in the state folder that every run brings. The others are the person's lists.
var records = []string{"key", "checkpoints", "projects.json"}

// allOfRuns is OfRuns for several paths, also for records in the state folder and the folders that the first run makes:
// from now on those are watched, and they have nothing else yet.
func (w *Watcher) allOfRuns(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		base := filepath.Base(name)
		if OfRuns(name) || filepath.Dir(name) == w.state && (slices.Contains(records, base) || isPassing(base)) {
			return false
		}
		isAbove := strings.HasPrefix(w.state+string(filepath.Separator), name+string(filepath.Separator))
		if base != path.Dir(artifact.Folder) && !isAbove {
			return true
		}
		w.Folder(name) // first: nothing comes between
		within, err := list(name)
		return err != nil || !w.allOfRuns(within)
	})
}

// list returns the paths of what lies in a folder.
func list(folder string) ([]string, error) {
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

// isPassing reports whether a file is one that a write leaves for a moment, or a lock, which each change writes.
func isPassing(base string) bool {
	_, temporary := durable.IsTemp(base)
	return temporary || filepath.Ext(base) == ".lock"
}

// matters distinguishes the changes that a caller wants from those of temporary files, and
// follows folders that appear and disappear.
func (w *Watcher) matters(event fsnotify.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := filepath.Clean(event.Name)
	folder, base := filepath.Dir(name), filepath.Base(name)
	if k, watched := w.folders[name]; watched && (event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)) {
		w.forget(name)
		if k&sessions != 0 {
			w.project(folder)
		}
		return true
	}
	if event.Op == fsnotify.Chmod || isPassing(base) {
		return false
	}
	k := w.folders[folder]
	if k&awaited != 0 && base == store.Folder && w.add(name, sessions) {
		w.endWait(folder)
		return true
	}
	return k&all != 0 || k&sessions != 0 && strings.HasPrefix(base, "session-")
}
