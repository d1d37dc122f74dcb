//go:build linux

// Package fleettest proves the promises of a fleet of workers, with the program, PostgreSQL, git and a stand-in for Claude
// Code that writes a bill of its calls. The short scenarios are ordinary tests; .ci/fleet runs the long ones, by the program
// that TEST_BMAD_FLEET names.
package fleettest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/cli"
	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// TestMain makes the test binary the program and the stand-in, by the names of links to it.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "bmad-mcp":
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case "claude":
		standIn()
		return
	}
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	defer scratch.Enter()()
	defer pgtest.Stop()
	defer printFigures()
	return m.Run()
}

// builtProgram returns the program of the long scenarios, or "".
func builtProgram() string { return os.Getenv("TEST_BMAD_FLEET") }

// needsFleet skips a long scenario.
func needsFleet(t *testing.T) {
	t.Helper()
	if builtProgram() == "" {
		t.Skip("set TEST_BMAD_FLEET to the path of the program to run it: a fleet for minutes; .ci/fleet does")
	}
}
