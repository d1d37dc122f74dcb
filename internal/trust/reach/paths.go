package reach

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxLinks bounds the links followed for one path.
const maxLinks = 40

// followLinks follows all links of a path. It keeps a missing end as it is named, even behind a
// link: the place of a path must not depend on whether something exists there.
func followLinks(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	volume := filepath.VolumeName(path)
	at, rest := volume+string(filepath.Separator), splitPath(path[len(volume):])
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		target, err := os.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return filepath.Join(append([]string{next}, rest...)...)
		}
		if filepath.IsAbs(target) {
			volume := filepath.VolumeName(target)
			at, target = volume+string(filepath.Separator), target[len(volume):]
		}
		rest = append(splitPath(target), rest...)
	}
	return at
}

func splitPath(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator || r == '/' })
}

// pathNames returns the names in a path, the volume first.
func pathNames(path string) []string {
	volume := filepath.VolumeName(path)
	return append([]string{volume}, splitPath(path[len(volume):])...)
}

// plainName returns a name as the file system reads it: Windows drops trailing dots and blanks.
func plainName(name string) string {
	if runtime.GOOS == "windows" {
		name, _, _ = strings.Cut(name, ":")
		return strings.TrimRight(name, ". ")
	}
	return name
}

// key is the form of a path for comparisons: paths in other letter case have the same key.
type key string

func keyOf(path string) key {
	names := pathNames(path)
	for i, name := range names {
		// Up and down again: some letters have the capital of another.
		names[i] = strings.ToLower(strings.ToUpper(plainName(name)))
	}
	return key(strings.Join(names, "/"))
}

// isBelow reports whether the path lies below another.
func (k key) isBelow(above key) bool {
	return len(k) > len(above) && k[len(above)] == '/' && k[:len(above)] == above
}

// relativeIn returns the path from a folder to name if name is the folder or lies below it. If they differ only in
// case, it compares the folders on the disk.
func relativeIn(folder, name string) (rel string, ok bool) {
	rel, err := filepath.Rel(folder, name)
	if err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	if above, below := keyOf(folder), keyOf(name); above != below && !below.isBelow(above) {
		return "", false
	}
	above := name
	for range len(pathNames(name)) - len(pathNames(folder)) {
		above = filepath.Dir(above)
	}
	if !sameFile(folder, above) {
		return "", false
	}
	rel, err = filepath.Rel(above, name)
	return rel, err == nil && filepath.IsLocal(rel)
}

func sameFile(a, b string) bool {
	x, errX := os.Lstat(a)
	y, errY := os.Lstat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Real returns the path of a folder without links. If the folder lies in a home with a second path, for example
// through a mount, the result begins with the home's own path, so that the rules apply.
func (r Rules) Real(folder string) string {
	real := followLinks(folder)
	var homes []fs.FileInfo // read when they are first needed
	for above := real; ; above = filepath.Dir(above) {
		var at fs.FileInfo
		for n, home := range r.homes {
			if above == home {
				return real
			}
			if homes == nil {
				homes = statAll(r.homes)
			}
			if at == nil {
				at, _ = os.Lstat(above) // if it is missing, it is not a home
			}
			if at == nil || homes[n] == nil || !os.SameFile(at, homes[n]) {
				continue
			}
			if rel, err := filepath.Rel(above, real); err == nil {
				return filepath.Join(home, rel)
			}
		}
		if above == filepath.Dir(above) {
			return real
		}
	}
}

// statAll returns the file information of each path, or nil if nothing is there.
func statAll(paths []string) []fs.FileInfo {
	out := make([]fs.FileInfo, len(paths))
	for n, path := range paths {
		if info, err := os.Lstat(path); err == nil {
			out[n] = info
		}
	}
	return out
}
