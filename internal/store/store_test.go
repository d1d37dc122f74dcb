package store_test

import (
	"strings"
	"testing"

	"bmad-mcp/internal/store"
	"bmad-mcp/internal/store/storetest"
)

func TestMem(t *testing.T) {
	storetest.Run(t, func(*testing.T) (storetest.Backend, func() storetest.Backend) {
		m := store.NewMem()
		return m, func() storetest.Backend { return m }
	})
}

func TestFirstFree(t *testing.T) {
	for _, run := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 1000, 10000} {
		probes := 0
		got := store.FirstFree(func(n int) bool { probes++; return n < run })
		if got != run || probes > 40 {
			t.Errorf("run of %d: %d after %d probes", run, got, probes)
		}
	}
}

func TestDecodeSaysWhereAndWhat(t *testing.T) {
	good := `{"session_id":"a","current_stage":"po","current_state":"generating"}`
	if _, err := store.Decode([]byte(good), "f"); err != nil {
		t.Error(err)
	}
	for data, want := range map[string]string{
		"{\n  \"session_id\": x":          "line 2, column 17",
		"":                                "line 1, column 1",
		"{\n\n \"revision\": \"many\"\n}": "line 3",
		`{"session_id":"a","current_stage":"po","current_state":"generating","version":99}`: "format version 99",
		`{"session_id":"a","current_stage":"boss","current_state":"generating"}`:            `"current_stage": "boss"`,
		`{"session_id":"a","current_stage":"po","current_state":"dreaming"}`:                `"current_state": "dreaming"`,
		`{"current_stage":"po","current_state":"generating"}`:                               `"session_id"`,
		"[]": "line 1",
	} {
		_, err := store.Decode([]byte(data), "the-file.json")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "the-file.json") {
			t.Errorf("%q: %v", data, err)
		}
	}
}
