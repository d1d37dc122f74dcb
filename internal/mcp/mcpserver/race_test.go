//go:build race

package mcpserver_test

// raced says that the tests run under the race detector; so does then what they start.
const raced = true
