//go:build !linux && !darwin && !windows

package exposition_test

var processFigures []string
