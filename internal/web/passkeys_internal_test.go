package web

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey/passkeytest"
)

// TestPasskeyIsAllowed: the first passkey needs a code that was typed at a terminal, which is
// taken only then, and a later one a passkey.
func TestPasskeyIsAllowed(t *testing.T) {
	const page = "http://localhost:8123"
	keys, err := passkey.New(passkey.Options{Folder: t.TempDir(), Origins: []string{page}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	d := &Dashboard{o: Options{Passkeys: keys}, log: slog.New(slog.DiscardHandler)}
	taken := 0
	typed := func(string) (bool, error) { taken++; return true, nil }
	for name, c := range map[string]struct {
		code     string
		approved func(string) (bool, error)
		want     fault.Code
	}{
		"no code":       {"", typed, fault.NotAllowed},
		"not typed yet": {"ABCD-EFGH", func(string) (bool, error) { return false, nil }, fault.GatePending},
		"used before":   {"ABCD-EFGH", func(string) (bool, error) { return false, fault.New(fault.Conflict, "used") }, fault.Conflict},
	} {
		if _, err := d.beginPasskey(t.Context(), c.code, c.approved); !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if taken != 0 {
		t.Fatal("a code was taken that nobody sent")
	}
	e, err := d.beginPasskey(t.Context(), "ABCD-EFGH", typed)
	if err != nil || taken != 1 {
		t.Fatal(err, taken)
	}
	first := passkeytest.New(page)
	added, err := d.finishPasskey(t.Context(), enrolment{Ticket: e.Ticket, Name: "laptop", Response: first.Create(e.Create)})
	if err != nil || added.Name != "laptop" || len(added.ID) != 8 {
		t.Fatalf("%+v, %v", added, err)
	}
	// A code allows no second one.
	e, err = d.beginPasskey(t.Context(), "ABCD-EFGH", typed)
	if err != nil || taken != 1 || e.Assert == nil {
		t.Fatalf("%+v, %v, %d", e, err, taken)
	}
	second := enrolment{Ticket: e.Ticket, Name: "phone", Response: passkeytest.New(page).Create(e.Create)}
	if _, err := d.finishPasskey(t.Context(), second); err == nil {
		t.Error("a passkey was added on a code alone")
	}
	e, err = d.beginPasskey(t.Context(), "", typed)
	if err != nil {
		t.Fatal(err)
	}
	second = enrolment{Ticket: e.Ticket, Name: "phone", Response: passkeytest.New(page).Create(e.Create), Assertion: first.Get(e.Assert)}
	if _, err := d.finishPasskey(t.Context(), second); err != nil {
		t.Error(err)
	}
	d.o.Passkeys = nil
	_, begins := d.beginPasskey(t.Context(), "", typed)
	_, ends := d.finishPasskey(t.Context(), second)
	if !fault.Is(begins, fault.NotAllowed) || !fault.Is(ends, fault.NotAllowed) {
		t.Error("without passkeys: ", errors.Join(begins, ends))
	}
}
