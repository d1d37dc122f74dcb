package trust

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Check returns why nothing could be signed or remembered, and changes nothing.
func (u UserState) Check() error {
	if u == "" {
		return u.withFolder(nil)
	}
	folder := string(u)
	for _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder); _, err = os.Stat(folder) {
		folder = filepath.Dir(folder)
	}
	if err := takesFiles(folder); err != nil {
		return u.describeError(&fs.PathError{Op: "access", Path: folder, Err: err})
	}
	_, signer := u.ReadSigner()
	_, allowed := u.Allowances()
	_, places := u.Places()
	_, sources := u.Sources()
	_, under := settings.readList(u)
	return cmp.Or(signer, allowed, places, sources, under)
}
