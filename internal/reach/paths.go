package reach

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxLinks bounds how many links are followed for one path.
const maxLinks = 40

// resolve returns the path without links that a path leads to. What is missing at its end
// stays as it is named, also behind a link: whether something is there must make no
// difference to where it lies.
func resolve(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	volume := filepath.VolumeName(path)
	at, rest := volume+string(filepath.Separator), split(path[len(volume):])
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
		rest = append(split(target), rest...)
	}
	return at
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// parts are the names in a path, the volume's first.
func parts(path string) []string {
	volume := filepath.VolumeName(path)
	return append([]string{volume}, split(path[len(volume):])...)
}

// plain returns a name as the file system takes it: Windows drops what trails it.
func plain(name string) string {
	if runtime.GOOS == "windows" {
		name, _, _ = strings.Cut(name, ":")
		return strings.TrimRight(name, ". ")
	}
	return name
}

// same reports whether two paths may be the same where case makes no difference.
func same(a, b string) bool { return matches(parts(a), parts(b)) }

// below reports whether a path may lie below another where case makes no difference.
func below(path, above string) bool {
	a, b := parts(path), parts(above)
	return len(a) > len(b) && matches(a[:len(b)], b)
}

func matches(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !strings.EqualFold(plain(a[i]), plain(b[i])) {
			return false
		}
	}
	return true
}

// in returns the way from a folder down to another that is it or lies below it. Paths that
// differ in case are compared by the folder on the disk.
func in(folder, name string) (rel string, ok bool) {
	rel, err := filepath.Rel(folder, name)
	if err == nil && filepath.IsLocal(rel) {
		return rel, true
	}
	if !same(folder, name) && !below(name, folder) {
		return "", false
	}
	above := name
	for range len(parts(name)) - len(parts(folder)) {
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

// Real returns the path without links of a folder. Where a home has another path too, as
// through a mount, it is given the home's own, so that what is said of it holds.
func (r Rules) Real(folder string) string {
	real := resolve(folder)
	for above := real; ; above = filepath.Dir(above) {
		for _, home := range r.homes {
			if above == home {
				return real
			}
			if sameFile(above, home) {
				if rel, err := filepath.Rel(above, real); err == nil {
					return filepath.Join(home, rel)
				}
			}
		}
		if above == filepath.Dir(above) {
			return real
		}
	}
}
