package app

import (
	"runtime/debug"
)

// release is set by the linker in released builds.
var release = ""

// Version returns the release, else the version of the build's source.
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
