package scratch

import "syscall"

// memory is the folder whose files Linux keeps in memory, for everyone.
const memory = "/dev/shm"

const (
	// magic tells a file system in memory from others, and noExec that nothing in it can be
	// started, as containers have it; the kernel's names are TMPFS_MAGIC and ST_NOEXEC.
	magic, noExec = 0x01021994, 0x8
	// room is the least free space; a container has less as a rule.
	room = 1 << 30
)

// roomy returns whether a folder is in memory, has room, and may hold programs.
func roomy(folder string) bool {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return false
	}
	free := fs.Bavail * uint64(fs.Bsize) //nolint:gosec // a block has a size
	return fs.Type == magic && fs.Flags&noExec == 0 && free >= room
}
