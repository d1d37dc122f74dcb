//go:build !unix

package store

import "syscall"

// errQuota is the error for a user over quota: ERROR_DISK_QUOTA_EXCEEDED of Windows.
const errQuota = syscall.Errno(1295)
