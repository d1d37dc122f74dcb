package durable

import (
	"io/fs"
	"path"
	"time"
)

// Version tells the states of a file apart: a file with the same version as before is unchanged, if that
// version was [Version.Settled] when the file was read. The version of a folder tells apart the names in
// it, not their files.
type Version struct {
	size int64
	mode fs.FileMode
	// changed is the time of the last change, in nanoseconds; programs can set it.
	changed int64
	identity
}

// identity has the system's other facts about a file; it is zero if the system is not asked.
type identity struct {
	device, file uint64
	// altered is the system's time of the last change of any kind; no program can set it.
	altered int64
}

// VersionOf returns the version of a file from its description.
func VersionOf(info fs.FileInfo) Version {
	return Version{info.Size(), info.Mode(), info.ModTime().UnixNano(), identityOf(info)}
}

// granularity is the coarsest clock of the file systems in use: FAT's.
const granularity = 2 * time.Second

// Settled reports whether a change after a moment, by the clock of this machine, would have
// given the file another version: within one tick of the file system's clock two states of a
// file have the same times. One whose times lie in the future never settles.
func (v Version) Settled(at time.Time) bool {
	return (v.mode.IsRegular() || v.mode.IsDir()) && !time.Unix(0, max(v.changed, v.altered)).After(at.Add(-granularity))
}

// Exact reports whether the system notes every change by itself, so nobody can change the file and put the
// version back.
func (v Version) Exact() bool { return v.altered != 0 }

// Changed returns the time at which the file was changed, as programs can set it.
func (v Version) Changed() time.Time { return time.Unix(0, v.changed) }

// ReadVersion reads a file as [Dir.ReadFile] does, and returns the file's version at the time of opening.
func (d *Dir) ReadVersion(name string, limit int64) (data []byte, v Version, err error) {
	f, err := d.Tree().Open(path.Clean(name))
	if err != nil {
		return nil, v, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, v, err
	}
	data, err = readRegular(f, name, limit)
	return data, VersionOf(info), err
}
