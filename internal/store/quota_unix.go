//go:build unix

package store

import "syscall"

// errQuota is the error for a user over quota.
const errQuota = syscall.EDQUOT
