package codebase

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

// TestWords: each line of words.tsv is a concept.
func TestWords(t *testing.T) {
	words, left := recall.ParseLexicon(wordsText)
	if len(left) > 0 || words.Concepts() < 80 {
		t.Errorf("%d concepts, left out are %+v", words.Concepts(), left)
	}
}
