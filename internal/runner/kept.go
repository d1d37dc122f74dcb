package runner

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Kept is the record of a run, for people to look at.
type Kept struct {
	SessionID, TaskName string
	Flags               Flags
	// Calls counts the calls of engines.
	Calls int
	Cost  price.Report
	// Reported is the cost that the engines state.
	Reported *float64
	// At is the time of the last save. Working is true while a process works on the run.
	At      time.Time
	Working bool
}

// Past returns the record of a session's run, nil if it had none. It changes nothing, and can be
// called while the run is at work.
func Past(dir *durable.Dir, sessionID string) (*Kept, error) {
	f := &files{dir: dir, folder: store.RunFolder(sessionID)}
	s, err := f.read()
	if s == nil {
		return nil, err
	}
	out := &Kept{SessionID: s.SessionID, TaskName: s.TaskName, Flags: s.Flags, Calls: s.Calls, Reported: s.Reported}
	out.Cost = price.NewBudget(price.Default(), s.Flags.Budget, s.Spent...).Report()
	if info, err := dir.Stat(f.stateName()); err == nil {
		out.At = info.ModTime()
	}
	if lock := f.folder + "/lock"; dir.Exists(lock) {
		holder, err := dir.Holder(lock)
		out.Working = err == nil && holder != ""
	}
	return out, nil
}

// Ran lists the ids of the sessions of a project that had a run, the latest first.
func Ran(dir *durable.Dir) ([]string, error) {
	entries, err := dir.ReadDir(path.Dir(store.RunFolder("x")))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	at := map[string]time.Time{}
	for _, e := range entries {
		f := &files{folder: store.RunFolder(e.Name())}
		if info, err := dir.Stat(f.stateName()); err == nil {
			out = append(out, e.Name())
			at[e.Name()] = info.ModTime()
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(at[b].Compare(at[a]), cmp.Compare(a, b)) })
	return out, err
}
