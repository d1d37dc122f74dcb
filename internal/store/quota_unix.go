//go:build unix

package store

import "syscall"

// errQuota is what a user over quota gets.
const errQuota = syscall.EDQUOT
