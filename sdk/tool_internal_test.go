package sdk

import (
	"context"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/scratch"
)

// TestOwnToolsAnswerSoon: the checks, the limit of time and the bounded result add at most 50 µs to a
// function of the caller's: 100 calls take 5 units.
func TestOwnToolsAnswerSoon(t *testing.T) {
	scratch.NeedsTime(t, "it compares durations")
	type input struct {
		Item  string   `json:"item"`
		Count int      `json:"count"`
		Tags  []string `json:"tags,omitempty"`
	}
	tool, err := Tool[input, input]{Name: "echo", Run: func(_ context.Context, in input) (input, error) { return in, nil }}.rawTool()
	if err != nil {
		t.Fatal(err)
	}
	scratch.Within(t, "100 calls of an own tool", 5, func() {
		for range 100 {
			if text, failed := tool.use(t.Context(), `{"item":"box","count":3,"tags":["a","b"]}`); failed {
				t.Fatal(text)
			}
		}
	})
}
