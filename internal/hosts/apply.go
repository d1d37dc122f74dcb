package hosts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Applier makes changes. It keeps a lock and copies of the previous files in Folder, or neither if Folder is
// "".
type Applier struct {
	lang.Language // of the results

	Folder string
	// Now is the clock for the names of copies.
	Now    func() time.Time
	DryRun bool
}

// attempts bounds how often a change is planned again because another program has changed the
// file.
const attempts = 3

// Apply works out a change and makes it. A failure is a change with the status Failed.
func (a Applier) Apply(ctx context.Context, plan func() Change) Change {
	for n := 1; ; n++ {
		c := plan()
		if c.DryRun = a.DryRun; !a.DryRun && (c.Diff != "" || c.Commands != nil) {
			err := a.writeChange(ctx, &c)
			if errors.Is(err, ErrChanged) && n < attempts {
				continue
			}
			if err != nil {
				c.Why = ""
				if why := lang.Of(err).In(a.Language); c.Commands != nil {
					c.leaveToPerson(a.Language, Failed, why)
				} else {
					c.Status, c.Why, c.Backup = Failed, why, "" // the file is as it was
				}
			}
		}
		if c.Status == Failed {
			c.Next, c.Allow, c.Diff = "", "", ""
		}
		return c
	}
}

// Lock keeps another install from working on the same files. Without the lock, each
// file is still compared once more before it is replaced.
func (a Applier) Lock(ctx context.Context) (unlock func()) {
	none := func() {}
	if a.DryRun || a.Folder == "" || os.MkdirAll(a.Folder, 0o700) != nil {
		return none
	}
	dir, err := durable.OpenDir(a.Folder)
	if err != nil {
		return none
	}
	lock, err := dir.Lock(ctx, "hosts.lock")
	if err != nil {
		_ = dir.Close()
		return none
	}
	return func() {
		_ = lock.Unlock() // the process ends, and the lock with it
		_ = dir.Close()
	}
}

// writeChange makes a change and keeps a copy of the previous file.
func (a Applier) writeChange(ctx context.Context, c *Change) error {
	if a.Folder != "" && c.before != nil {
		stem := fmt.Sprintf("%s-%s-%s-%s", a.Now().Format("20060102T150405Z"), c.Host, c.Scope, strings.TrimPrefix(filepath.Base(c.Path), "."))
		var err error
		if c.Backup, err = Keep(filepath.Join(a.Folder, "backups"), stem, c.before); err != nil {
			return lang.Errorf("the file as it is cannot be kept: %w", err)
		}
	}
	switch {
	case c.Commands != nil:
		return c.runCommands(ctx)
	case c.gone:
		return Delete(c.Path, c.before, c.after)
	}
	if c.Status == Added && c.first {
		keepRecord(recordFile(a.Folder, c.Path), c.before)
	}
	return Write(c.Path, c.before, c.after)
}

// isEmpty reports whether a file is empty except for the frame made by install itself.
func isEmpty(text []byte) bool {
	left := strings.TrimSpace(string(text))
	return left == "" || left == "{}" || left == "{\n}"
}
