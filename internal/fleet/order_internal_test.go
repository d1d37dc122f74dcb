package fleet

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/store/queue"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// machine is a signer as this program has it.
type machine struct{ signature.Signer }

func (machine) MAC(string) string { return "" }

func newMachine(t *testing.T, seed string) machine {
	t.Helper()
	s, err := signature.NewSigner(ed25519.NewKeyFromSeed([]byte(strings.Repeat(seed, ed25519.SeedSize))[:ed25519.SeedSize]))
	if err != nil {
		t.Fatal(err)
	}
	return machine{s}
}

const (
	session = "8f47de7c-70bb-4c68-b1c4-ade8be52a576"
	other   = "aa10d388-fc16-4c94-8242-bfce7eed6bb4"
)

// TestForgedOrders: an order counts by the signature of one who has a say in this very run.
func TestForgedOrders(t *testing.T) {
	ann, eve := newMachine(t, "a"), newMachine(t, "e")
	order := Order{Gates: headless.Yes, Commit: "abc", Flags: headless.Flags{Commands: []string{"go test"}}}
	encode := func(id string, by machine) []byte {
		data, err := order.Encode(id, by)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	changed := func(text string) []byte {
		return []byte(strings.Replace(string(encode(session, ann)), "go test", text, 1))
	}
	moved := order
	moved.Commit = "def"
	elsewhere, err := moved.Encode(session, ann)
	if err != nil {
		t.Fatal(err)
	}
	unsigned, err := order.Encode(session, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data    []byte
		counts  []machine // ann has begun the run
		allowed []string
		want    fault.Code
	}{
		"her own, allowed":                   {encode(session, ann), []machine{ann}, nil, ""},
		"her own, with a worker's commands":  {encode(session, ann), nil, []string{"go vet", "go test"}, ""},
		"her own, with other commands":       {encode(session, ann), nil, []string{"go"}, fault.NotAllowed},
		"a stranger's":                       {encode(session, eve), []machine{ann}, []string{"go test"}, fault.NotAllowed},
		"a colleague's, whose key counts":    {encode(session, eve), []machine{eve}, nil, ""},
		"of another run":                     {encode(other, ann), []machine{ann}, []string{"go test"}, fault.NotAllowed},
		"with another command":               {changed("rm -rf"), []machine{ann}, nil, fault.NotAllowed},
		"without a signature":                {unsigned, []machine{ann}, []string{"go test"}, fault.NotAllowed},
		"with a signature that is none":      {[]byte(`{"order": {"gates": "yes"}, "signature": "x"}`), []machine{ann}, nil, fault.NotAllowed},
		"that is no order":                   {[]byte(`[]`), []machine{ann}, nil, fault.Storage},
		"for another commit":                 {elsewhere, []machine{ann}, []string{"go test"}, fault.NotAllowed},
		"that is empty":                      {nil, []machine{ann}, nil, fault.Storage},
		"with another order behind the same": {append(encode(session, ann), `{"order": {"gates": "yes"}}`...), []machine{ann}, nil, fault.Storage},
	} {
		o, by, err := ReadOrder(session, c.data)
		if err == nil {
			counts := false
			for _, m := range c.counts {
				counts = counts || by == m.Public()
			}
			err = o.checkOrder(engine.Voucher{Began: by == ann.Public(), Counts: counts}, "abc", c.allowed)
		}
		if got := codeOf(err); got != c.want {
			t.Errorf("%s: %q, want %q (%v)", name, got, c.want, err)
		}
		if c.want != "" && fault.From(err).Hint == "" {
			t.Errorf("%s: no way to go on: %v", name, err)
		}
	}
}

// TestSignedAnew: an order that somebody has changed, or signed under a key of their own, is not signed by another.
func TestSignedAnew(t *testing.T) {
	ann, eve := newMachine(t, "a"), newMachine(t, "e")
	encode := func(by machine) string {
		data, err := Order{Gates: headless.Stop, Commit: "abc"}.Encode(session, by)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	vouch := func(by signature.Key) (engine.Voucher, error) {
		return engine.Voucher{Began: true, Counts: by == ann.Public()}, nil
	}
	if o, by, err := ReadCountedOrder(session, []byte(encode(ann)), vouch); o.Commit != "abc" || by != ann.Public() || err != nil {
		t.Errorf("%+v by %q, %v", o, by, err)
	}
	for _, data := range []string{strings.Replace(encode(ann), `"stop"`, `"yes"`, 1), `{"order": {"gates": "yes"}}`, encode(eve)} {
		if _, _, err := ReadCountedOrder(session, []byte(data), vouch); !fault.Is(err, fault.NotAllowed) || fault.From(err).Hint == "" {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// TestNextCommand: a run that waits at no gate is not decided on.
func TestNextCommand(t *testing.T) {
	for want, e := range map[string]queue.Entry{
		"decide x":                   {State: queue.Waiting, SessionState: string(workflow.AwaitingApproval)},
		"queue retry x":              {State: queue.Waiting, SessionState: string(workflow.Generating)},
		"queue retry x --budget USD": {State: queue.Spent, SessionState: string(workflow.Generating)},
		"queue show x":               {State: queue.Working, SessionState: string(workflow.Clarifying)},
	} {
		if e.TaskName = "x"; NextCommand(e) != "bmad-mcp "+want {
			t.Errorf("%+v: %s, want %s", e, NextCommand(e), want)
		}
	}
}

func codeOf(err error) fault.Code {
	if err == nil {
		return ""
	}
	return fault.From(err).Code
}

// FuzzReadOrder: whatever is in the database, an order that is read can be written and read again, as the same.
func FuzzReadOrder(f *testing.F) {
	f.Add([]byte(`{"order": {"gates": "yes", "flags": {"budget_nano_usd": 1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, by, err := ReadOrder(session, data)
		if err != nil {
			return
		}
		if by != "" {
			t.Fatalf("somebody has signed %q", data)
		}
		again, err := o.Encode(session, nil)
		if err != nil {
			t.Fatal(err)
		}
		same, _, err := ReadOrder(session, again)
		a, _ := json.Marshal(o)
		b, _ := json.Marshal(same)
		if err != nil || string(a) != string(b) {
			t.Errorf("%s became %s: %v", a, b, err)
		}
	})
}

// TestRecords: a record counts with the commits and under the lease that it was written for.
func TestRecords(t *testing.T) {
	ann := newMachine(t, "a")
	claim := func() *queue.Claim {
		c := &queue.Claim{Head: "abc", Work: []byte("bundle")}
		c.SessionID, c.LeaseNo = session, 4
		data, err := writeRecord(record{session, 3, "abc", workflow.Hash([]byte("bundle")), []byte(`{"calls": 2}`)}, ann)
		if err != nil {
			t.Fatal(err)
		}
		c.Kept = data
		return c
	}
	if data, by, err := readRecord(claim()); string(data) != `{"calls": 2}` || by != ann.Public() || err != nil {
		t.Fatalf("%s by %q: %v", data, by, err)
	}
	if data, by, err := readRecord(&queue.Claim{}); data != nil || by != "" || err != nil {
		t.Fatalf("without a record: %s by %q: %v", data, by, err)
	}
	for name, change := range map[string]func(c *queue.Claim){
		"another head":          func(c *queue.Claim) { c.Head = "def" },
		"other work":            func(c *queue.Claim) { c.Work = []byte("evil") },
		"no work":               func(c *queue.Claim) { c.Work = nil },
		"work alone":            func(c *queue.Claim) { c.Kept = nil },
		"other data":            func(c *queue.Claim) { c.Kept = bytes.Replace(c.Kept, []byte("2"), []byte("3"), 1) },
		"another run":           func(c *queue.Claim) { c.SessionID = other },
		"a lease that is to be": func(c *queue.Claim) { c.LeaseNo = 3 },
		"no signature":          func(c *queue.Claim) { c.Kept = []byte("3 \n{}") },
		"no number":             func(c *queue.Claim) { c.Kept = []byte("x y\n{}") },
		"no line":               func(c *queue.Claim) { c.Kept = []byte("{}") },
	} {
		c := claim()
		if change(c); bytes.Equal(c.Kept, claim().Kept) && c.Head == "abc" && c.LeaseNo == 4 && c.SessionID == session && string(c.Work) == "bundle" {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, by, err := readRecord(c); !fault.Is(err, fault.NotAllowed) || by != "" {
			t.Errorf("%s: by %q, %v", name, by, err)
		}
	}
}

// TestForeignRecords: under a strict gate, and with commands for this run alone, only the record of a key that counts is followed.
func TestForeignRecords(t *testing.T) {
	commands := Order{Flags: headless.Flags{Commands: []string{"go test", "go vet"}}}
	for name, c := range map[string]struct {
		v       engine.Voucher
		order   Order
		allowed []string
		want    fault.Code
	}{
		"an ordinary run":                    {engine.Voucher{}, Order{Gates: headless.Yes}, nil, ""},
		"a strict one":                       {engine.Voucher{Strict: true}, Order{}, nil, fault.NotAllowed},
		"a strict one by a key that counts":  {engine.Voucher{Strict: true, Counts: true}, commands, nil, ""},
		"with commands":                      {engine.Voucher{Began: true}, commands, nil, fault.NotAllowed},
		"with commands, by one that counts":  {engine.Voucher{Counts: true}, commands, nil, ""},
		"with commands of every run here":    {engine.Voucher{}, commands, []string{"go vet", "go test"}, ""},
		"with a command besides those":       {engine.Voucher{}, commands, []string{"go test"}, fault.NotAllowed},
		"with a command that is longer here": {engine.Voucher{}, commands, []string{"go test ./...", "go vet"}, fault.NotAllowed},
	} {
		if got := codeOf(checkRecord(c.v, c.order, c.allowed)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestLostWorkers: a run that ends its workers is not taken on for ever.
func TestLostWorkers(t *testing.T) {
	ann := newMachine(t, "a")
	data, err := Order{}.Encode(session, ann)
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{Vouch: func(context.Context, string, string, signature.Key) (engine.Voucher, error) {
		return engine.Voucher{Began: true}, nil
	}}
	for lost, want := range map[int]fault.Code{0: "", maxLost: "", maxLost + 1: fault.NotAllowed, 1_000_000: fault.NotAllowed} {
		c := &queue.Claim{Run: data}
		c.SessionID, c.WorkersLost = session, lost
		err := w.checkClaim(t.Context(), "", newLease(nil, c, 0))
		if got := codeOf(err); got != want {
			t.Errorf("%d lost: %q, want %q (%v)", lost, got, want, err)
		}
	}
}
