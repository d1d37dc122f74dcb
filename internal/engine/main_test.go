package engine_test

import (
	"os"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

func TestMain(m *testing.M) {
	scratch.Parallel(8)
	os.Exit(scratch.Run(m))
}
