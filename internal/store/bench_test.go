package store_test

import (
	"os"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/store"
)

// BenchmarkCodec reads and writes a session of a whole run.
func BenchmarkCodec(b *testing.B) {
	const file = "../../testdata/sessions/v1/session-b8f4150a-a356-4ed9-bf1b-d05f41203a2b.json"
	data, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Decode(data, file)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := store.Decode(data, file); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := store.Encode(s); err != nil {
				b.Fatal(err)
			}
		}
	})
}
