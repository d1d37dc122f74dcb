//go:build race

package audit_test

// slow is how much the race detector slows this package's loops down, roughly.
const slow = 15
