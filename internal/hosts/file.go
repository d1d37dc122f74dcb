package hosts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Read returns the text of a host's file; nil where there is none.
func Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a host's own file
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// Write replaces a host's file at once, so that nobody meets half of it. A link stays one,
// and the file keeps its permissions; a new one is for the person alone, since such files
// hold keys. backup, if not empty, is where the text before is kept.
func Write(path string, before, after []byte, backup string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o600)
	info, err := os.Stat(path)
	switch {
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as hosts make theirs
			return err
		}
	}
	if err := keep(before, backup); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone, unless something failed
	_, err = tmp.Write(after)
	for _, step := range []func() error{func() error { return tmp.Chmod(mode) }, tmp.Sync, tmp.Close} {
		if stepErr := step(); err == nil {
			err = stepErr
		}
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Delete removes a host's file, and keeps what was in it as Write does.
func Delete(path string, before []byte, backup string) error {
	if err := keep(before, backup); err != nil {
		return err
	}
	return os.Remove(path)
}

func keep(before []byte, backup string) error {
	if backup == "" || before == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(backup), 0o700); err != nil {
		return err
	}
	return os.WriteFile(backup, before, 0o600)
}
