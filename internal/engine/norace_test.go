//go:build !race

package engine_test

const every = 1
