package hosts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Errors of Write and Delete.
var (
	// ErrChanged is returned if a file has changed since it was read.
	ErrChanged = lang.Errorf("another program has just changed the file")
	// ErrReadOnly is returned if the file's owner has made it read-only.
	ErrReadOnly = lang.Errorf("the file is read-only")
)

// maxFile bounds the read of a host's file, in bytes: some hosts keep histories in theirs.
const maxFile = 64 << 20

// Read returns the text of a host's file, or nil if there is none.
func Read(path string) ([]byte, error) {
	text, err := durable.ReadPath(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linkErr := os.Readlink(path); linkErr == nil {
			return nil, lang.Errorf("%s is a link that leads nowhere", path)
		}
		return nil, nil
	}
	return text, err
}

// Write replaces a host's file atomically if it still holds before. A link stays a link, and the file keeps
// permissions and owner; a new one is for the person alone, because such files hold keys.
func Write(path string, before, after []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o600)
	info, err := os.Stat(path)
	switch {
	case err == nil:
		if mode = info.Mode().Perm(); mode&0o200 == 0 {
			return ErrReadOnly
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as hosts make theirs
			return err
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone, unless something failed
	_, err = tmp.Write(after)
	for _, step := range []func() error{
		func() error { return tmp.Chmod(mode) },
		func() error { return keepOwner(tmp, info) },
		tmp.Sync, tmp.Close,
	} {
		if stepErr := step(); err == nil {
			err = stepErr
		}
	}
	if err != nil {
		return err
	}
	if err := checkUnchanged(path, before); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Delete removes a host's file if it still holds before. A link is the person's and stays; the target is
// emptied.
func Delete(path string, before, after []byte) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return Write(path, before, after)
	}
	if err := checkUnchanged(path, before); err != nil {
		return err
	}
	return os.Remove(path)
}

func checkUnchanged(path string, before []byte) error {
	now, err := Read(path)
	if err == nil && (!bytes.Equal(now, before) || (now == nil) != (before == nil)) {
		err = ErrChanged
	}
	return err
}

// Keep writes a copy of a host's file into a folder, under a new name with stem at the beginning, and returns
// the path.
func Keep(folder, stem string, text []byte) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(folder, stem+"-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	return f.Name(), errors.Join(err, f.Close())
}

// recordFile returns the place of a host's file as it was before our first entry, below the state folder; "" without
// such a folder.
func recordFile(state, path string) string {
	if state == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(state, "hosts", hex.EncodeToString(sum[:8]))
}

// keepRecord writes a record, or removes it if there was no file. Without one, uninstall takes an empty list and
// an empty file for our own.
func keepRecord(path string, text []byte) {
	_ = os.Remove(path)
	if path != "" && text != nil && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = os.WriteFile(path, text, 0o600)
	}
}
