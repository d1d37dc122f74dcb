package web_test

import (
	"os"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/store/pgstore/pgtest"
	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

func TestMain(m *testing.M) {
	code := scratch.Run(m)
	pgtest.Stop()
	os.Exit(code)
}
