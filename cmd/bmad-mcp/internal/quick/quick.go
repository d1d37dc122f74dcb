// Package quick ends a call of the hook of Claude Code that is about nothing of this program. It is initialised
// before the libraries, which take most of the time of such a call, and nearly all calls are.
package quick

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/hosts/mention"
)

// Input is the standard input, with what was read of it.
var Input io.Reader = os.Stdin

// maxEvent bounds an event that is read here, in bytes.
const maxEvent = 1 << 20

func init() {
	if !slices.Equal(os.Args[1:], []string{"hook", "claude-code"}) {
		return
	}
	var read bytes.Buffer
	var e struct {
		Name  string          `json:"hook_event_name"`
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
	}
	err := json.NewDecoder(io.TeeReader(io.LimitReader(os.Stdin, maxEvent), &read)).Decode(&e)
	program, _ := os.Executable()
	if err == nil && mention.Nothing(e.Name, e.Tool, e.Input, program) {
		os.Exit(0)
	}
	Input = io.MultiReader(&read, os.Stdin)
}
