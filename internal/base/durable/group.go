package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// group says whether a folder is shared by the accounts of its group: it can write in it, and new files are the group's.
// Then new files and folders can be written by the group, whatever the umask of an account is, and the others have no
// more rights than in the folder.
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

// share lets the group write a new file or folder. One that is not empty may be an older one that a member of the group
// has put here, and stays as it is. Without the permission to do so, it is that of another account.
func (o osFS) share(f *os.File) {
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
