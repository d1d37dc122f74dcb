package git

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // git names its objects by it
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// largeStore returns the folder in which Git LFS keeps the contents of large files: the person's, else that of the
// repository. Below the view they would be deleted with it.
func (d *desk) largeStore() string {
	return resolvePath(d.common, cmp.Or(d.ownSetting("lfs.storage"), "lfs"))
}

// hashPointers returns the hashes of the blobs that git has in place of the large files in the store, for commits with hashes
// of a length.
func (d *desk) hashPointers(length int) map[string]bool {
	out := map[string]bool{}
	_ = filepath.WalkDir(filepath.Join(d.largeStore(), "objects"), func(_ string, e fs.DirEntry, err error) error { // without it there are none
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // an unreadable one cannot be pushed either
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // it has just been removed
		}
		text := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", e.Name(), info.Size())
		blob := fmt.Appendf(nil, "blob %d\x00%s", len(text), text)
		if length == 2*sha256.Size {
			sum := sha256.Sum256(blob)
			out[hex.EncodeToString(sum[:])] = true
			return nil
		}
		sum := sha1.Sum(blob) //nolint:gosec // git names its objects by it
		out[hex.EncodeToString(sum[:])] = true
		return nil
	})
	return out
}

// needLargeFiles refuses to push a commit to a branch if files of Git LFS come with it whose contents are not known to be
// on the remote. Git LFS pushes them itself, with programs and to places that the repository's settings name, so it does
// not run here. expected is where the branch is on the remote, or "".
func (r *remote) needLargeFiles(ctx context.Context, branch, commit, expected string) error {
	pointers := r.hashPointers(len(commit))
	if len(pointers) == 0 {
		return nil
	}
	walk := commit + "\n"
	for _, known := range append(r.branchTips(refsRemotes), expected) {
		if known != "" {
			walk += "^" + known + "\n"
		}
	}
	c := r.view
	c.In = strings.NewReader(walk)
	list, err := c.runForOutput(ctx, "rev-list", "--objects", "--no-object-names", "--missing=allow-any", "--ignore-missing", "--stdin")
	if err != nil {
		return r.explain(err, "rev-list")
	}
	for line := range strings.Lines(list) {
		if pointers[strings.TrimSpace(line)] {
			return fault.New(fault.NotAllowed, "the branch %s has files of Git LFS, whose contents are not pushed from here", branch).
				WithHint("push it yourself: git push %s %s", r.name, branch)
		}
	}
	return nil
}
