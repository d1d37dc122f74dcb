package contract_test

import (
	"os"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

func TestMain(m *testing.M) { os.Exit(scratch.Run(m)) }
