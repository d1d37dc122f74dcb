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
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/bmad-mcp/bmad-mcp/internal/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// maxFolders bounds the folders that are watched at once; systems allow a few thousand.
const maxFolders = 1000

// pause is the time in which changes are collected: one action writes several files.
const pause = 100 * time.Millisecond

// kind is the part of a watched folder that matters.
type kind int

const (
	all      kind = iota // every file
	sessions             // the sessions of a project
	awaited              // a project's folder, until it has one for sessions
)

// Watcher watches folders.
type Watcher struct {
	fs      *fsnotify.Watcher
	changed func(outside bool)
	log     *slog.Logger
	ended   chan struct{} // closed when run has ended

	mu      sync.Mutex
	folders map[string]kind
}

// New returns a watcher that calls changed until it is closed, one call at a time. outside is true if
// more may have changed than the state and the documents of runs, which the program itself writes.
func New(changed func(outside bool), log *slog.Logger) (*Watcher, error) {
	fsw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Watcher{fs: fsw, changed: changed, log: log, ended: make(chan struct{}), folders: map[string]kind{}}
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
	before, known := w.folders[name]
	return w.add(name, all) && (!known || before == awaited)
}

// add reports whether the folder is watched now.
func (w *Watcher) add(name string, k kind) bool {
	if before, known := w.folders[name]; known {
		if before == awaited { // more of it matters now
			w.folders[name] = k
		}
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
	if w.folders[name] == awaited {
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
	for {
		select {
		case event, ok := <-w.fs.Events:
			if !ok {
				return
			}
			if !w.matters(event) {
				continue
			}
			outside = outside || !OfRuns(event.Name)
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
			w.changed(outside)
			pending, outside = false, false
		}
	}
}

// OfRuns reports whether a path is among the state or the documents of a project's runs.
func OfRuns(name string) bool {
	name = filepath.ToSlash(name) + "/"
	return strings.Contains(name, "/"+store.Folder+"/") || strings.Contains(name, "/"+artifact.Folder+"/")
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
		if k == sessions {
			w.project(folder)
		}
		return true
	}
	if _, temporary := durable.IsTemp(base); temporary || event.Op == fsnotify.Chmod || filepath.Ext(base) == ".lock" {
		return false // a lock is written by each change, and says nothing
	}
	switch k, known := w.folders[folder]; {
	case !known:
		return false
	case k == awaited:
		if base != store.Folder || !w.add(name, sessions) {
			return false
		}
		w.endWait(folder)
		return true
	case k == sessions:
		return strings.HasPrefix(base, "session-")
	case base == store.Folder:
		w.add(name, sessions)
	}
	return true
}
