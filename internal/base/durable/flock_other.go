//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package durable

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lockFile takes the lock of a file in a folder, and writes the holder into it unless holder is "". It
// closes the file, which the caller opened only to check the kind.
func lockFile(root *os.Root, f *os.File, name, holder string) (unlock func() error, ok bool, err error) {
	_, err = regularSize(f, name)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, false, err
	}
	lock := flock.New(filepath.Join(root.Name(), filepath.FromSlash(name)), flock.SetPermissions(fileMode), flock.SetFlag(os.O_CREATE|os.O_RDWR|openFlags))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return nil, false, err
	}
	if holder == "" {
		return lock.Unlock, true, nil
	}
	// For the message of a caller that waits in vain; it may fail without harm.
	_ = root.WriteFile(name, []byte(holder), fileMode)
	return func() error {
		_ = root.WriteFile(name, nil, fileMode)
		return lock.Unlock()
	}, true, nil
}
