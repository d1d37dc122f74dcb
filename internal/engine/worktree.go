package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// maxTree bounds how many files a fingerprint covers; a project with more has none.
const maxTree = 50000

// notWork are folders, besides hidden ones, that tools fill and no person or assistant writes.
var notWork = []string{"node_modules", "vendor", "target", "dist", "build", "out", "coverage", "__pycache__", "venv"}

// workTree returns a fingerprint of the project's files by path, size and time of
// change, "" where it cannot be had. Hidden folders, what tools make and the files that
// documents of the session were handed in from do not count: a report that is written
// does not change the work. same is what the fingerprint of the stage's report before
// would be if nothing had changed: files that have been handed in only since counted then.
func (r run) workTree(s *workflow.Session) (now, same string) {
	handedIn, last := map[string]time.Time{}, time.Time{}
	for _, e := range s.History {
		for _, source := range e.Sources {
			if _, known := handedIn[source]; !known { // from the first time on
				handedIn[source] = e.At
			}
		}
		if e.Action == workflow.ActionSubmit && e.FromStage() == s.CurrentStage {
			last = e.At
		}
	}
	for _, source := range r.sources(s) {
		if _, known := handedIn[source]; !known {
			handedIn[source] = r.Now()
		}
	}
	sum, before, n := sha256.New(), sha256.New(), 0
	err := fs.WalkDir(r.project.Dir.Tree(), ".", func(name string, d fs.DirEntry, err error) error {
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
		info, err := d.Info()
		if err != nil {
			return err
		}
		if n++; n > maxTree {
			return fs.ErrInvalid
		}
		line := fmt.Sprintf("%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		at, document := handedIn[name]
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

// sources are the files of the project that the call hands in.
func (r run) sources(s *workflow.Session) []string {
	var out []string
	for _, result := range r.results(s) {
		if result.Path != "" && r.req.Action == workflow.ActionSubmit {
			out = append(out, r.given(result.Path))
		}
	}
	return out
}
