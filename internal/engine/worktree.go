package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"bmad-mcp/internal/workflow"
)

// maxTree bounds how many files a fingerprint covers; a project with more has none.
const maxTree = 50000

// notWork are folders, besides hidden ones, that tools fill and no person or assistant writes.
var notWork = []string{"node_modules", "vendor", "target", "dist", "build", "out", "coverage", "__pycache__", "venv"}

// workTree returns a fingerprint of the project's files by path, size and time of
// change, "" where it cannot be had. Hidden folders, what tools make and the files that
// documents of the session were handed in from do not count: a report that is written
// does not change the work.
func (r run) workTree(s *workflow.Session) string {
	skip := map[string]bool{}
	for _, e := range s.History {
		for _, source := range e.Sources {
			skip[source] = true
		}
	}
	for _, source := range r.sources() {
		skip[source] = true
	}
	sum, n := sha256.New(), 0
	err := fs.WalkDir(r.project.dir.Tree(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(base, ".") || slices.Contains(notWork, base)) {
				return fs.SkipDir
			}
			return nil
		}
		if skip[name] {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if n++; n > maxTree {
			return fs.ErrInvalid
		}
		_, err = fmt.Fprintf(sum, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		return err
	})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// sources are the files of the project that the call hands in.
func (r run) sources() []string {
	var out []string
	for _, result := range r.req.Results {
		if result.Path != "" && r.req.Action == workflow.ActionSubmit {
			out = append(out, r.given(result.Path))
		}
	}
	return out
}
