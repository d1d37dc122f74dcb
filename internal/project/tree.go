package project

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// maxTree bounds the number of files in a fingerprint; a larger project has none.
const maxTree = 50000

// notWork are folders, besides hidden ones, that hold the output of tools and not the work
// of people and assistants.
var notWork = []string{"node_modules", "vendor", "target", "dist", "build", "out", "coverage", "__pycache__", "venv"}

func isOutput(folder string) bool { return slices.Contains(notWork, folder) }

// isSkipped reports whether the files of a folder do not count as work: those of hidden folders and of tools.
func isSkipped(folder string) bool {
	base := path.Base(folder)
	return folder != "." && (strings.HasPrefix(base, ".") || isOutput(base))
}

// Fingerprint hashes path, size and modification time of the project's files, "" if that fails.
// Hidden folders, the output of tools and documents, which maps files to the time when they were
// first handed in, do not count: writing a report does not change the work. same is the fingerprint
// that was taken at the time last if nothing has changed since: documents handed in only after it
// counted as work then.
func (p *Project) Fingerprint(documents map[string]time.Time, last time.Time) (now, same string) {
	sum, before, n := sha256.New(), sha256.New(), 0
	err := fs.WalkDir(p.Dir.Tree(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if isSkipped(name) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if n++; n > maxTree {
			return fs.ErrInvalid
		}
		line := fmt.Sprintf("%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		at, document := documents[name]
		if !document {
			sum.Write([]byte(line))
		}
		if !document || at.After(last) && !info.ModTime().After(last) {
			before.Write([]byte(line))
		}
		return nil
	})
	if err != nil {
		return "", ""
	}
	return hex.EncodeToString(sum.Sum(nil)), hex.EncodeToString(before.Sum(nil))
}
