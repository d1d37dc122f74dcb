//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package durable

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the lock of an open file, and writes the holder into it unless holder is "". The file is
// closed when the lock is released, or if it is not taken.
func lockFile(_ *os.Root, f *os.File, name, holder string) (unlock func() error, ok bool, err error) {
	err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, false, nil
		}
		return nil, false, &os.PathError{Op: "flock", Path: name, Err: err}
	}
	release := func() error { return errors.Join(flock(f, syscall.LOCK_UN), f.Close()) }
	size, err := regularSize(f, name)
	if err != nil {
		return nil, false, errors.Join(err, release())
	}
	if holder == "" {
		return release, true, nil
	}
	// For the message of a caller that waits in vain; it may fail without harm.
	if size > 0 { // left by a killed holder
		_ = f.Truncate(0)
	}
	_, _ = f.WriteAt([]byte(holder), 0)
	return func() error {
		_ = f.Truncate(0)
		return release()
	}, true, nil
}

// flock calls flock(2), which ends with the process, and with the last copy of the file's
// descriptor.
func flock(f *os.File, how int) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if ctl := raw.Control(func(fd uintptr) { err = syscall.Flock(int(fd), how) }); ctl != nil {
		return ctl
	}
	return err
}
