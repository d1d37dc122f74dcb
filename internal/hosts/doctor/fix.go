package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
)

// Fixed lists the repairs of Fix, and the files left alone because they were in use.
type Fixed struct {
	Done []string `json:"done"`
	Left []string `json:"left,omitempty"`
}

// Fix rebuilds files from the sessions and moves orphans into a folder of the trash named after at. It returns
// the repairs, even if an error ended it. It checks each file again under the lock of a possible user before
// moving it, so that it can run beside working servers.
func (p *ProjectFiles) Fix(ctx context.Context, at time.Time) (f Fixed, err error) {
	f.Done = []string{}
	if !p.dir.Exists(store.Folder) {
		return f, nil
	}
	saved := artifactsFix{ProjectFiles: p}
	v, err := p.takeInventory(ctx, saved.visit)
	if err = cmp.Or(err, saved.err); err != nil {
		return f, store.Trouble(p.dir, err)
	}
	f.Done = append(f.Done, saved.done...)
	done, err := p.store.Repair(ctx, func(name string) error { return p.moveToTrash(name, at) })
	for _, what := range done {
		f.Done = append(f.Done, what.In(p.Language))
	}
	if busy := (*durable.BusyError)(nil); errors.As(err, &busy) {
		f.Left, err = append(f.Left, p.Say("names and mapping: %v", busy)), nil
	}
	if err != nil {
		return f, store.Trouble(p.dir, err)
	}
	held := map[string]bool{} // locks not to be waited for again
	for _, name := range append(v.orphanTexts(), v.temporaryLeftovers()...) {
		lock := p.lockFor(v, name)
		if held[lock] {
			f.Left = append(f.Left, name)
			continue
		}
		moved, err := p.sweepLeftover(ctx, lock, name, at)
		if busy := (*durable.BusyError)(nil); errors.As(err, &busy) {
			held[lock] = true
			f.Left = append(f.Left, fmt.Sprintf("%s: %v", name, busy))
			continue
		}
		if err != nil {
			return f, store.Trouble(p.dir, err)
		}
		if moved {
			f.Done = append(f.Done, p.Say("moved %s to the trash", name))
		}
	}
	return f, nil
}

// sweepLeftover moves one leftover away, unless it has come into use since the inventory.
func (p *ProjectFiles) sweepLeftover(ctx context.Context, lockName, name string, at time.Time) (bool, error) {
	lock, err := p.dir.Lock(ctx, lockName)
	if err != nil {
		return false, err
	}
	defer func() { _ = lock.Unlock() }()
	if strings.HasPrefix(name, textFolder+"/") {
		id := path.Base(path.Dir(name))
		if s, err := p.store.Get(ctx, id); err == nil {
			if refersTo(s, name) {
				return false, nil
			}
		} else if !fault.Is(err, fault.NotFound) {
			return false, nil // it cannot be read
		}
	}
	if !p.dir.Exists(name) {
		return false, nil
	}
	err = p.moveToTrash(name, at)
	if folder := path.Dir(name); folder != store.Folder && strings.HasPrefix(folder, textFolder+"/") {
		_ = p.dir.Remove(folder) // unless it holds more
	}
	return err == nil, err
}

// lockFor returns the lock under which a leftover would be in use: the session's, if it has one, or the
// project's.
func (p *ProjectFiles) lockFor(v *inventory, name string) string {
	folder := path.Dir(name)
	switch {
	case strings.HasPrefix(name, textFolder+"/"):
		return lockOr(p.dir, path.Base(folder))
	case strings.HasPrefix(folder, artifact.Folder+"/"):
		for _, s := range v.sessions {
			if s.TaskName == path.Base(folder) {
				return filestore.SessionLock(s.SessionID)
			}
		}
	case folder == store.Folder:
		if of, _ := durable.IsTemp(path.Base(name)); strings.HasPrefix(of, "session-") {
			return lockOr(p.dir, sessionID(of))
		}
	}
	return filestore.ProjectLock
}

// lockOr returns the lock of a stored session, or the project's.
func lockOr(dir *durable.Dir, id string) string {
	if dir.Exists(store.SessionPath(id)) {
		return filestore.SessionLock(id)
	}
	return filestore.ProjectLock
}

// moveToTrash moves a file into the trash, under its former path.
func (p *ProjectFiles) moveToTrash(name string, at time.Time) error {
	to := path.Join(Trash, at.UTC().Format(trashStamp), strings.TrimPrefix(name, store.Folder+"/"))
	if _, err := p.dir.MkdirAll(path.Dir(to)); err != nil {
		return err
	}
	for free, n := to, 1; p.dir.Exists(to); n++ {
		to = fmt.Sprintf("%s-%d", free, n)
	}
	if err := p.dir.Move(name, to); err != nil && (p.dir.Exists(name) || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	return nil
}
