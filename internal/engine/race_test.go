//go:build race

package engine_test

// every is which actions a sweep over all faults tries: under the race detector, which
// looks for something else and takes fifteen times as long, not each of them.
var every = 4
