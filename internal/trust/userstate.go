package trust

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// UserState is the path of the state folder; "" means no folder: nothing is signed and nothing is allowed.
type UserState string

// lockName is the lock for every change in the folder.
const lockName = "trust.lock"

// maxFile bounds the read of a file of the folder, in bytes: a list of many thousand
// allowances.
const maxFile = 16 << 20

// dir is the open folder.
type dir struct {
	*durable.Dir
	// link gives a file a second name, which must not exist; the error matches fs.ErrExist if it does.
	link func(from, to string) error
}

func openDir(path string) (dir, error) {
	d, err := durable.OpenPrivateDir(path)
	if err != nil {
		return dir{}, err
	}
	d.KeepFolders()
	return dir{d, func(from, to string) error {
		root, err := os.OpenRoot(path)
		if err != nil {
			return err
		}
		return errors.Join(root.Link(from, to), root.Close())
	}}, nil
}

// readIfExists reads a file, if it exists. A dangling link is an error, not a missing file: somebody
// meant one to exist.
func (d dir) readIfExists(name string) (data []byte, exists bool, err error) {
	if data, err = d.ReadFile(name, maxFile); !errors.Is(err, fs.ErrNotExist) {
		return data, true, err
	}
	if !d.Exists(name) {
		return nil, false, nil
	}
	data, err = d.ReadFile(name, maxFile) // again: it may have been created in between
	return data, true, err
}

// readJSON reads a file with one value.
func (d dir) readJSON(name string, value any) error {
	data, err := d.ReadFile(name, maxFile)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, value)
}

// writeJSON replaces a file by one value, and creates the folder.
func (d dir) writeJSON(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if _, err := d.MkdirAll(path.Dir(name)); err != nil {
		return err
	}
	return d.Replace(name, append(data, '\n'))
}

// withExisting calls do with the open folder; if there is none yet, it does nothing.
func (u UserState) withExisting(do func(dir) error) error {
	if u == "" {
		return nil
	}
	d, done, err := u.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return u.callWith(d, done, err, do)
}

// withFolder calls do with the open folder, which is created if it is missing.
func (u UserState) withFolder(do func(dir) error) error {
	d, done, err := u.openOrMake()
	return u.callWith(d, done, err, do)
}

// openOrMake opens the folder, and creates it if it is missing. done ends the use of it.
func (u UserState) openOrMake() (d dir, done func(), err error) {
	if u == "" {
		return d, nil, fault.New(fault.Storage, "there is no state folder to keep it in").
			WithHint("set HOME, or XDG_STATE_HOME to an absolute path, where the program is started")
	}
	d, done, err = u.open()
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeFolder(string(u)); err == nil {
			d, done, err = u.open()
		}
	}
	return d, done, err
}

// callWith calls do with the folder as it was opened, and done at the end.
func (u UserState) callWith(d dir, done func(), err error, do func(dir) error) error {
	if err != nil {
		return u.describeError(err)
	}
	defer done()
	return u.describeError(do(d))
}

// heldFor is longer than an action without a wait for anybody.
const heldFor = 250 * time.Millisecond

// visit is one use of the folder, by several callers.
type visit struct {
	since time.Time
	users int
	dir   *dir              // nil until somebody needs it
	real  map[string]string // the paths of projects without links, by the paths given
}

// isOver reports whether nobody may join the visit any more, if there is one at all.
func (v *visit) isOver() bool { return v == nil || time.Since(v.since) >= heldFor }

// visits are the visits under way, the latest of each folder.
var visits = struct {
	sync.Mutex
	of map[UserState]*visit
}{of: map[UserState]*visit{}}

// Hold has the folder opened once, and the path of a project resolved once, for the whole action, until release is
// called. A folder replaced by others meanwhile is noticed after heldFor.
func (u UserState) Hold() (release func()) {
	visits.Lock()
	defer visits.Unlock()
	v := visits.of[u]
	if v.isOver() {
		v = &visit{since: time.Now(), real: map[string]string{}} //nolint:forbidigo // a moment of this process, by the system's clock
		visits.of[u] = v
	}
	return u.joinVisit(v)
}

// joinVisit is called with the lock held.
func (u UserState) joinVisit(v *visit) (leave func()) {
	v.users++
	return func() {
		visits.Lock()
		defer visits.Unlock()
		if v.users--; v.users > 0 {
			return
		}
		if v.dir != nil {
			_ = v.dir.Close()
		}
		if visits.of[u] == v {
			delete(visits.of, u)
		}
	}
}

// open opens the folder, or returns it as it is held. done ends the use of it.
func (u UserState) open() (d dir, done func(), err error) {
	visits.Lock()
	defer visits.Unlock()
	v := visits.of[u]
	if !v.isOver() && v.dir != nil {
		return *v.dir, u.joinVisit(v), nil
	}
	if d, err = openDir(string(u)); err != nil || v.isOver() {
		return d, func() { _ = d.Close() }, err
	}
	v.dir = &d
	return d, u.joinVisit(v), nil
}

// realPath returns the place of a project, a path without links.
func (u UserState) realPath(project string) string {
	visits.Lock()
	defer visits.Unlock()
	v := visits.of[u]
	if v.isOver() {
		return placeOf(project)
	}
	if v.real[project] == "" {
		v.real[project] = placeOf(project)
	}
	return v.real[project]
}

// makeFolder creates a folder durably: nobody could check the histories of a key lost in a power failure.
func makeFolder(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	above := filepath.Dir(path)
	for _, err := os.Stat(above); err != nil && above != filepath.Dir(above); _, err = os.Stat(above) {
		above = filepath.Dir(above)
	}
	d, err := openDir(above)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	below, err := filepath.Rel(above, path)
	if err != nil {
		return err
	}
	_, err = d.MkdirAll(filepath.ToSlash(below))
	return err
}

// describeError gives an error of the disk a code and a hint. An error with a code, and the context's own, are
// returned as they are.
func (u UserState) describeError(err error) error {
	var coded *fault.Error
	if err == nil || errors.As(err, &coded) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var busy *durable.BusyError
	if errors.As(err, &busy) {
		return fault.New(fault.Conflict, "the state folder %s is in use: %w", string(u), busy).
			WithHint("wait for the other program to end, then repeat it; if it hangs, end it: its lock goes with it")
	}
	var unconfirmed *durable.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		return fault.New(fault.Storage, "the disk did not confirm a change in %s that is already visible: %w", string(u), unconfirmed).
			WithHint("a power loss could undo it: check the disk, then repeat it")
	}
	if remedy, ok := fault.Hostile(err); ok {
		return fault.New(fault.Storage, "the state folder %s cannot be used: %w", string(u), err).
			WithHint("%s, then repeat it", remedy)
	}
	if !fault.OfDisk(err) {
		return fault.Unexpected(err)
	}
	return fault.New(fault.Storage, "the state folder %s cannot be read or written: %w", string(u), err).
		WithHint("make it a folder that you can read and write, with free space, then repeat it")
}
