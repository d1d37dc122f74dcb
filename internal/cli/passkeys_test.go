package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// list writes the list of passkeys.
func (d *desk) list(text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.state, "bmad-mcp", "passkeys.json"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// TestSignedDecisionsAreChecked changes nothing but the word of how a decision came, and seals it
// again as this machine would: only the missing signature shows it.
func TestSignedDecisionsAreChecked(t *testing.T) {
	d := newDesk(t)
	if out := d.run(0, "log", d.task, "--verify", "--json"); strings.Contains(out, "passkeys") {
		t.Errorf("a history without signatures: %s", out)
	}
	d.back(newest)
	s := d.session()
	signed := history(s)[6].(object)["grant"].(object)
	signed["channel"], signed["assurance"] = "passkey", "high"
	d.store(s)
	var found struct {
		Passkeys []struct {
			Entry  int
			Status string
		}
	}
	if err := json.Unmarshal([]byte(d.run(1, "log", d.task, "--verify", "--json")), &found); err != nil ||
		len(found.Passkeys) != 1 || found.Passkeys[0].Entry != 7 || found.Passkeys[0].Status != "missing" {
		t.Errorf("verified: %+v, %v", found, err)
	}
	for _, args := range [][]string{{"log", d.task}, {"show", d.task}} {
		out := d.run(0, args...)
		if !strings.Contains(out, "Entry 7 says that a passkey signed it, and has no signature") || strings.Contains(out, "passkey (high)") {
			t.Errorf("%v: %s", args, out)
		}
		if out = d.run(0, append(args, "--json")...); !strings.Contains(out, `"passkeys":[{"entry":7,"status":"missing"}]`) {
			t.Errorf("%v: %s", args, out)
		}
	}
	// A list that cannot be read is no reason to trust, and none to show nothing.
	d.list("{")
	d.run(0, "show", d.task)
	if out := d.run(1, "log", d.task, "--verify"); !strings.Contains(out, "passkeys.json cannot be read") {
		t.Errorf("with a broken list: %s", out)
	}
}

// TestPasskeysAreListed: only a person at a terminal of their own removes one.
func TestPasskeysAreListed(t *testing.T) {
	d := newDesk(t)
	if out := d.run(0, "passkeys"); !strings.Contains(out, "bmad-mcp dashboard") {
		t.Errorf("none: %s", out)
	}
	if out := d.run(0, "passkeys", "--json"); strings.TrimSpace(out) != `{"passkeys":[]}` {
		t.Errorf("none: %s", out)
	}
	kept := `{"user":"dQ","keys":[
		{"id":"abcdefghijkl","name":"laptop","public_key":"aw","added":"2026-01-02T03:04:05Z","by":"pairing"},
		{"id":"mnopqrstuvwx","name":"phone","public_key":"aw","added":"2026-01-03T03:04:05Z","by":"passkey:abcdefgh","used":"2026-01-04T03:04:05Z"},
		{"id":"gone-gone-gone","name":"tablet","public_key":"aw","added":"2026-01-03T03:04:05Z","by":"pairing","removed":"2026-01-04T03:04:05Z"}]}`
	d.list(kept)
	out := d.run(0, "passkeys", "list")
	for _, want := range []string{"abcdefgh ", "laptop", "allowed at a terminal", "never", "mnopqrst ", "phone", "allowed by abcdefgh"} {
		if !strings.Contains(out, want) {
			t.Errorf("the list lacks %q: %s", want, out)
		}
	}
	if strings.Contains(out, "tablet") {
		t.Errorf("a removed passkey is listed: %s", out)
	}
	if out := d.run(6, "passkeys", "remove", "laptop"); !strings.Contains(out, "no person can decide here") {
		t.Errorf("removed without a person: %s", out)
	}
	if got := d.read("passkeys.json"); got != kept {
		t.Errorf("a refusal changed the list: %s", got)
	}
}

func (d *desk) read(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.state, "bmad-mcp", name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}
