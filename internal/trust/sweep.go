package trust

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// Forgotten is a record that is superfluous, and was removed if that was asked for.
type Forgotten struct {
	// Path is absolute.
	Path string
	Size int64
	// Why is the reason that it is superfluous.
	Why string
}

// sweep finds the files below a folder from before a time that are superfluous, and with apply removes them:
// parts of writes that died, and records whose session is gone, for which of returns the project.
func (u UserState) sweep(ctx context.Context, folder string, before time.Time, apply bool, of func(name string, data []byte) string) (out []Forgotten, err error) {
	err = u.existing(func(d dir) error {
		return fs.WalkDir(d.Tree(), folder, func(name string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case !e.Type().IsRegular():
				return ctx.Err()
			}
			info, err := e.Info()
			if err != nil || !info.ModTime().Before(before) {
				return ctx.Err()
			}
			why := d.superfluous(name, of)
			if why == "" {
				return ctx.Err()
			}
			if apply {
				if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				_ = d.Remove(path.Dir(name)) // fails unless it is empty
			}
			out = append(out, Forgotten{d.Join(name), info.Size(), why})
			return ctx.Err()
		})
	})
	return out, err
}

// superfluous returns the reason why a file may go; "" if it may not.
func (d dir) superfluous(name string, of func(name string, data []byte) string) string {
	if target, temp := durable.IsTemp(path.Base(name)); temp {
		return "a write of " + target + " that never came to its end"
	}
	data, err := d.ReadFile(name, maxFile)
	if err != nil {
		return ""
	}
	if project := of(name, data); project != "" {
		return "its project in " + project + " is gone"
	}
	return ""
}
