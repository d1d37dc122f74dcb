package durable

import (
	"os"
	"slices"
	"syscall"
)

// noting are the file systems that report every change to their one machine: ext2 to ext4, XFS, Btrfs,
// F2FS, ZFS and tmpfs.
var noting = []int64{0xEF53, 0x58465342, 0x9123683E, 0xF2F52010, 0x2FC12FC1, 0x01021994}

// noted are the kinds of changes to note: of the files of a folder, and of the folder itself.
const noted = syscall.IN_CREATE | syscall.IN_MODIFY | syscall.IN_ATTRIB | syscall.IN_DELETE | syscall.IN_MOVED_FROM | syscall.IN_MOVED_TO |
	syscall.IN_DELETE_SELF | syscall.IN_MOVE_SELF | syscall.IN_ONLYDIR

// notesOf has the system note the changes in a folder; nil if it cannot.
func notesOf(folder string) *os.File {
	var at syscall.Statfs_t
	if syscall.Statfs(folder, &at) != nil || !slices.Contains(noting, int64(at.Type)) { //nolint:unconvert // the field's type differs by architecture
		return nil
	}
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil // too many programs watch something
	}
	notes := os.NewFile(uintptr(fd), folder)
	if _, err := syscall.InotifyAddWatch(fd, folder, noted); err != nil {
		_ = notes.Close() // nothing was written
		return nil
	}
	return notes
}

// nothingIn takes the pending notes, and reports whether there were none.
func nothingIn(notes *os.File) bool {
	conn, err := notes.SyscallConn()
	if err != nil {
		return false
	}
	none := true
	var buf [4096]byte
	err = conn.Read(func(fd uintptr) bool {
		for {
			n, err := syscall.Read(int(fd), buf[:])
			if err == syscall.EINTR {
				continue
			}
			if n <= 0 || err != nil {
				none = none && err == syscall.EAGAIN
				return true // without waiting
			}
			none = false
		}
	})
	return err == nil && none
}
