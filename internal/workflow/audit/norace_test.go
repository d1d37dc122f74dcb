//go:build !race

package audit_test

const slow = 1
