package durable

import (
	"io/fs"
	"syscall"
)

func identityOf(info fs.FileInfo) identity {
	if is, ok := info.Sys().(*syscall.Stat_t); ok {
		return identity{uint64(is.Dev), is.Ino, is.Ctim.Nano()} //nolint:unconvert // the fields' types differ by architecture
	}
	return identity{}
}
