package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// group describes a folder shared by the accounts of a group: they can write in it, and new files belong to
// the group. New files and folders can then be written by the group, whatever the umask of an account, and
// others have no more rights than in the folder.
type group struct {
	once   sync.Once
	shared bool
	others fs.FileMode
}

const (
	groupFile fs.FileMode = 0o060
	groupDir              = fs.ModeSetgid | 0o070
)

// isShared reports whether the folder is shared.
func (o osFS) isShared() bool {
	if o.group == nil {
		return false
	}
	o.group.once.Do(func() {
		info, err := o.root.Stat(".")
		if err != nil {
			return
		}
		o.group.shared = info.Mode()&fs.ModeSetgid != 0 && info.Mode().Perm()&0o020 != 0
		o.group.others = info.Mode().Perm() & 0o007
	})
	return o.group.shared
}

// shareWithGroup lets the group write a new file or folder. One with contents may be an older one from a member of
// the group, and keeps its rights. Missing permission means another account's file.
func (o osFS) shareWithGroup(f *os.File) {
	if !o.isShared() {
		return
	}
	info, err := f.Stat()
	if err != nil {
		return
	}
	mode := info.Mode().Perm() | groupFile
	switch {
	case info.IsDir():
		if _, err := f.Readdirnames(1); !errors.Is(err, io.EOF) {
			return
		}
		mode |= groupDir
	case !info.Mode().IsRegular() || info.Size() > 0:
		return
	}
	_ = f.Chmod(mode &^ (0o007 &^ o.group.others))
}
