package durable

import "io/fs"

// Entries lists an open folder, for tests of its bound.
func Entries(f fs.ReadDirFile, name string, limit int) ([]fs.DirEntry, error) {
	return listEntries(f.ReadDir, fs.DirEntry.Name, name, limit)
}

// Awaited returns how many of this process hold or await the lock file at a path.
func Awaited(path string) int {
	local.mu.Lock()
	defer local.mu.Unlock()
	if s := local.slots[path]; s != nil {
		return s.users
	}
	return 0
}

// KeptOpen returns how many folders a Dir keeps open.
func KeptOpen(d *Dir) int {
	n := d.FS.(osFS).near
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}
