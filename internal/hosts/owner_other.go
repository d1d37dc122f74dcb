//go:build !unix

package hosts

import (
	"io/fs"
	"os"
)

func hasOtherNames(fs.FileInfo) bool { return false }

// keepOwner does nothing: a new file has the rights of the folder.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
