package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/store/filestore"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Trimmed is a file that Trim removes, or would remove.
type Trimmed struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	// Why is the reason why it is superfluous.
	Why string `json:"why"`
}

// Trim finds unreferenced texts of sessions that were finished before a time (submissions of rounds
// before the last), and files that were put into the trash before it. With apply it removes them,
// and returns those it removed, even if an error ended it.
func (p *ProjectFiles) Trim(ctx context.Context, before time.Time, apply bool) ([]Trimmed, error) {
	v, err := p.takeInventory(ctx)
	if err != nil {
		return nil, store.Trouble(p.dir, err)
	}
	var out []Trimmed
	loose := map[string][]loose{} // by folder
	for _, text := range v.unusedTexts() {
		loose[path.Dir(text.name)] = append(loose[path.Dir(text.name)], text)
	}
	for _, s := range v.sessions {
		if !isFinished(s, before) {
			continue
		}
		found, err := p.trimSession(ctx, s, before, loose[store.ContentFolder(s.SessionID)], apply)
		out = append(out, found...)
		if busy := (*durable.BusyError)(nil); errors.As(err, &busy) {
			continue // in use; the next time will do
		}
		if err != nil {
			return out, store.Trouble(p.dir, err)
		}
	}
	rest, err := p.trimRest(ctx, v.sessions, func(id string) bool { return !p.dir.Exists(store.SessionPath(id)) }, before, apply)
	return append(out, rest...), err
}

// TrimShared is Trim for a project whose sessions are in a store that is not its folder.
func (p *ProjectFiles) TrimShared(ctx context.Context, in store.Trimmer, before time.Time, apply bool) (out []Trimmed, err error) {
	all, err := in.All(ctx)
	if err != nil {
		return nil, err
	}
	if len(all.Broken) == 0 { // one that cannot be read may refer to any text
		if out, err = p.trimTexts(ctx, in, all.Sessions, before, apply); err != nil {
			return out, err
		}
	}
	gone := func(id string) bool {
		_, err := in.Stored(ctx, id)
		return fault.Is(err, fault.NotFound)
	}
	rest, err := p.trimRest(ctx, all.Sessions, gone, before, apply)
	return append(out, rest...), err
}

// trimTexts is the part of TrimShared for texts.
func (p *ProjectFiles) trimTexts(ctx context.Context, in store.Trimmer, sessions []workflow.Summary, before time.Time, apply bool) (out []Trimmed, err error) {
	used := map[string]bool{}
	for _, known := range sessions {
		s, err := in.Get(ctx, known.SessionID)
		if err != nil {
			return nil, err
		}
		for _, ref := range references(s) {
			used[ref.path] = true
		}
	}
	unused := map[string][]Trimmed{} // by the id of the session
	err = in.Texts(ctx, func(id, path string, size int64) {
		if !used[path] {
			unused[id] = append(unused[id], Trimmed{Path: path, Size: size})
		}
	})
	for _, s := range sessions {
		texts := unused[s.SessionID]
		if err != nil || len(texts) == 0 || !isFinished(s, before) {
			continue
		}
		for i := range texts {
			texts[i].Why = p.Say("%s is finished, and nothing refers to it", s.TaskName)
		}
		if apply {
			err = in.Discard(ctx, s.SessionID, func(now *workflow.Session) (paths []string) {
				texts = slices.DeleteFunc(texts, func(t Trimmed) bool { return !isFinished(now.Summary(), before) || refersTo(now, t.Path) })
				for _, t := range texts {
					paths = append(paths, t.Path)
				}
				return paths
			})
			if fault.Is(err, fault.Conflict) { // in use; the next time will do
				texts, err = nil, nil
			}
		}
		if err == nil {
			out = append(out, texts...)
		}
	}
	return out, err
}

// trimRest trims the files that are beside the sessions: runs, whose session can be gone, and the trash.
func (p *ProjectFiles) trimRest(ctx context.Context, sessions []workflow.Summary, gone func(id string) bool, before time.Time, apply bool) ([]Trimmed, error) {
	out, err := p.trimRuns(sessions, gone, before, apply)
	if err != nil {
		return out, store.Trouble(p.dir, err)
	}
	old, err := p.trimTrash(ctx, before, apply)
	return append(out, old...), store.Trouble(p.dir, err)
}

func isFinished(s workflow.Summary, before time.Time) bool {
	return !s.CurrentState.Active() && s.UpdatedAt.Before(before)
}

func (p *ProjectFiles) trimSession(ctx context.Context, s workflow.Summary, before time.Time, texts []loose, apply bool) ([]Trimmed, error) {
	var found []Trimmed
	for _, text := range texts {
		found = append(found, Trimmed{text.name, text.size, p.Say("%s is finished, and nothing refers to it", s.TaskName)})
	}
	if !apply || len(found) == 0 {
		return found, nil
	}
	lock, err := p.dir.Lock(ctx, filestore.SessionLock(s.SessionID))
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }()
	// If it was reopened in between, it may refer to more.
	now, err := p.store.Get(ctx, s.SessionID)
	if err != nil || !isFinished(now.Summary(), before) {
		return nil, err
	}
	var removed []Trimmed
	for _, t := range found {
		if refersTo(now, t.Path) {
			continue
		}
		if err := p.dir.Remove(t.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, t)
	}
	return removed, nil
}

// trimRuns removes the output of engines from the runs of finished sessions, and all files of a run if
// its session is gone.
func (p *ProjectFiles) trimRuns(sessions []workflow.Summary, gone func(id string) bool, before time.Time, apply bool) ([]Trimmed, error) {
	known := map[string]workflow.Summary{}
	for _, s := range sessions {
		known[s.SessionID] = s
	}
	runs, err := p.dir.ReadDir(path.Dir(store.RunFolder("x")))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []Trimmed
	for _, run := range runs {
		s, listed := known[run.Name()]
		var isOver bool
		if listed {
			isOver = isFinished(s, before)
		} else {
			isOver = gone(run.Name())
		}
		if !isOver {
			continue
		}
		files, readErr := p.dir.ReadDir(store.RunFolder(run.Name()))
		err = errors.Join(err, readErr)
		for _, file := range files {
			info, infoErr := file.Info()
			if infoErr != nil {
				continue
			}
			isSuperfluous := info.ModTime().Before(before)
			if listed {
				isSuperfluous = strings.HasPrefix(file.Name(), "engine-")
			}
			if !isSuperfluous {
				continue
			}
			why := p.Say("the session of this run is gone")
			if listed {
				why = p.Say("%s is finished, and this is what its worker printed", s.TaskName)
			}
			t := Trimmed{store.RunFolder(run.Name()) + "/" + file.Name(), info.Size(), why}
			if apply {
				if removeErr := p.dir.Remove(t.Path); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
					return out, removeErr
				}
			}
			out = append(out, t)
		}
		if apply {
			_ = p.dir.Remove(store.RunFolder(run.Name())) // it stays if it is not empty
		}
	}
	return out, err
}

// trimTrash removes the folders of the trash that are older, by their names.
func (p *ProjectFiles) trimTrash(ctx context.Context, before time.Time, apply bool) ([]Trimmed, error) {
	var out []Trimmed
	var folders []string
	err := fs.WalkDir(p.dir.Tree(), Trash, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || name == Trash {
			return err
		}
		stamp, _, _ := strings.Cut(strings.TrimPrefix(name, Trash+"/"), "/")
		at, parseErr := time.Parse(trashStamp, stamp)
		if parseErr != nil || !at.Before(before) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			folders = append(folders, name)
			return ctx.Err()
		}
		size := int64(0)
		if info, err := d.Info(); err == nil {
			size = info.Size()
		}
		out = append(out, Trimmed{name, size, p.Say("in the trash since %s", at.Format(time.DateOnly))})
		return ctx.Err()
	})
	if err != nil || !apply {
		return out, err
	}
	for i, t := range out {
		if err := p.dir.Remove(t.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out[:i], err
		}
	}
	for i := len(folders) - 1; i >= 0; i-- { // the inner ones first
		_ = p.dir.Remove(folders[i]) // it stays if it is not empty
	}
	return out, nil
}
