//go:build !unix

package store

import "syscall"

// errQuota is what a user over quota gets: ERROR_DISK_QUOTA_EXCEEDED of Windows.
const errQuota = syscall.Errno(1295)
