package sdk

import (
	"context"
	"testing"
)

type benchInput struct {
	Item  string   `json:"item"`
	Count int      `json:"count"`
	Tags  []string `json:"tags,omitempty"`
}

// BenchmarkOwnTool: what the checks, the limit of time and the bounded result add to a function.
func BenchmarkOwnTool(b *testing.B) {
	tool, err := Tool[benchInput, benchInput]{Name: "echo", Run: func(_ context.Context, in benchInput) (benchInput, error) { return in, nil }}.raw()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if text, failed := tool.use(b.Context(), `{"item":"box","count":3,"tags":["a","b"]}`); failed {
			b.Fatal(text)
		}
	}
}
