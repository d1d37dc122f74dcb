package workflow

import "testing"

// Events lists the events of the table, in its order.
func Events() []Event {
	out := make([]Event, len(table))
	for i, r := range table {
		out[i] = r.event
	}
	return out
}

// EntryHash returns the hash of an entry, by which the next one is linked to it.
func EntryHash(t Transition) string { return t.hash() }

// SignEntry signs one entry, from 0, as it is.
func SignEntry(t *testing.T, s *Session, by Signer, i int) {
	t.Helper()
	if err := s.signEntry(by, i); err != nil {
		t.Fatal(err)
	}
}
