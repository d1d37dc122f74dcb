package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
)

const (
	// maxPart is the largest file, in bytes, of which only a part may count.
	maxPart = 4 << 20
	// maxHashed bounds the part of a file that is hashed; a longer one counts by its size and time too.
	maxHashed = 256 << 20
)

// Fingerprint returns a hash of a file that a command names, "" if there is none. Of
// package.json only the scripts count. A link differs from a file with the same content,
// since its target can be replaced unnoticed.
func Fingerprint(tree fs.FS, name string) string {
	info, err := fs.Lstat(tree, name)
	if err != nil {
		return ""
	}
	sum := sha256.New()
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := fs.ReadLink(tree, name)
		if err != nil {
			return ""
		}
		_, _ = fmt.Fprintf(sum, "link to %q\n", target)
		if info, err = fs.Stat(tree, name); err != nil || !info.Mode().IsRegular() {
			if err == nil && info.IsDir() {
				return ""
			}
			return hex.EncodeToString(sum.Sum(nil)) // outside the project, if it cannot be read
		}
	}
	switch {
	case info.IsDir():
		return ""
	case !info.Mode().IsRegular(): // a pipe would block
		_, _ = fmt.Fprintf(sum, "mode %v\n", info.Mode())
		return hex.EncodeToString(sum.Sum(nil))
	}
	if err := hashFile(sum, tree, name, info); err != nil {
		_, _ = fmt.Fprintf(sum, "cannot be read: %d %d\n", info.Size(), info.ModTime().UnixNano())
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func hashFile(sum io.Writer, tree fs.FS, name string, info fs.FileInfo) (err error) {
	if path.Base(name) == "package.json" && info.Size() <= maxPart {
		data, err := durable.ReadFile(tree, name, maxPart)
		if err != nil {
			return err
		}
		_, err = sum.Write(scripts(data))
		return err
	}
	f, err := tree.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err := io.Copy(sum, io.LimitReader(f, maxHashed))
	if err == nil && n == maxHashed {
		_, err = fmt.Fprintf(sum, "%d %d\n", info.Size(), info.ModTime().UnixNano())
	}
	return err
}

// scripts returns the part of a package.json that names the commands; all of it if it is
// invalid.
func scripts(data []byte) []byte {
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(data, &pkg) != nil {
		return data
	}
	part, err := json.Marshal(pkg.Scripts)
	if err != nil {
		return data
	}
	return part
}
