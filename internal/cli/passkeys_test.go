package cli_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey/passkeytest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// list writes the list of passkeys.
func (d *desk) list(text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.state, "bmad-mcp", "passkeys.json"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// said is a person who has answered already.
type said gate.Response

func (a said) Ask(context.Context, gate.Question) (gate.Response, error) {
	return gate.Response(a), nil
}

// signer is a person with a passkey on this machine.
type signer struct {
	keys *passkey.Keys
	*passkeytest.Authenticator
}

func (d *desk) signer() signer {
	d.t.Helper()
	const page = "http://localhost:8123"
	s := signer{Authenticator: passkeytest.New(page)}
	var err error
	s.keys, err = passkey.New(passkey.Options{Folder: filepath.Join(d.state, "bmad-mcp"), Origins: []string{page}, Now: time.Now})
	if err != nil {
		d.t.Fatal(err)
	}
	e, err := s.keys.BeginEnrol(d.t.Context(), "pairing")
	if err == nil {
		_, err = s.keys.FinishEnrol(d.t.Context(), e.Ticket, s.Create(e.Create), nil, "laptop")
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// sign signs a decision on the run as it is.
func (s signer) sign(d *desk, g workflow.Grant) *workflow.Signature {
	d.t.Helper()
	q, err := d.engine().Gate(d.t.Context(), d.confirm())
	if err != nil {
		d.t.Fatal(err)
	}
	g.Stage, g.Revision, g.SHA256 = q.Stage, q.Revision, q.SHA256
	words := passkey.StatementOf(q.SessionID, g, "", "page")
	options, err := s.keys.BeginDecision(words)
	if err != nil {
		d.t.Fatal(err)
	}
	signature, err := s.keys.FinishDecision(d.t.Context(), words, s.Get(options))
	if err != nil {
		d.t.Fatal(err)
	}
	return signature
}

// engine is this machine's own, which signs its records.
func (d *desk) engine() *engine.Engine {
	return engine.New(engine.Options{
		Projects: project.New(project.Options{Backend: storetest.At}),
		Trust:    trust.UserState(filepath.Join(d.state, "bmad-mcp")), Log: slog.New(slog.DiscardHandler),
	})
}

// confirm is the call for a decision on the only session.
func (d *desk) confirm() request.Request {
	return request.Request{Action: workflow.ActionConfirm, Address: project.Address{Cwd: d.project, Session: d.session()["session_id"].(string)}, Caller: request.Caller{By: "browser"}}
}

// decide has the person send the waiting document back.
func (d *desk) decide(by said) {
	d.t.Helper()
	by.Channel, by.Decision, by.Took = workflow.ChannelPasskey, workflow.DecisionChanges, 3*time.Second
	req := d.confirm()
	req.Ask = by
	if _, err := d.engine().Do(d.t.Context(), req); err != nil {
		d.t.Fatal(err)
	}
}

// TestSignedDecisionsAreChecked: the signatures of these histories hold, so that only the signature shows
// the entries that are recorded and were not signed.
func TestSignedDecisionsAreChecked(t *testing.T) {
	d := newDesk(t)
	if out := d.run(0, "log", d.task, "--verify", "--json"); strings.Contains(out, "passkeys") {
		t.Errorf("a history without signatures: %s", out)
	}
	no := workflow.Grant{Decision: workflow.DecisionChanges, Feedback: "name the queue"}
	for _, c := range []struct {
		name   string
		decide func(signer) said
		code   int
		status passkey.Status
		says   string
	}{
		{"signed", func(s signer) said { return said{Feedback: no.Feedback, Passkey: s.sign(d, no)} }, 0, passkey.Holds, "as signed: entry 9 by \"laptop\""},
		{"other words", func(s signer) said { return said{Feedback: "drop the queue", Passkey: s.sign(d, no)} }, 1, passkey.Changed, "Entry 9 was changed: the passkey signed another"},
		{"other decision", func(s signer) said {
			return said{Feedback: no.Feedback, Passkey: s.sign(d, workflow.Grant{Decision: workflow.DecisionApprove, Feedback: no.Feedback})}
		}, 1, passkey.Changed, "Entry 9 was changed: the passkey signed another"},
		{"not signed", func(signer) said { return said{Feedback: no.Feedback} }, 1, passkey.Missing, "Entry 9 says that a passkey signed it"},
		{"forged", func(s signer) said {
			signature := s.sign(d, no)
			signature.PublicKey = ""
			return said{Feedback: no.Feedback, Passkey: signature}
		}, 1, passkey.Wrong, "Entry 9 was changed: its signature is not"},
		{"elsewhere", func(s signer) said {
			signature := s.sign(d, no)
			d.list(`{"user":"dQ","keys":[]}`)
			return said{Feedback: no.Feedback, Passkey: signature}
		}, 3, passkey.UnknownKey, "Entry 9 was signed with a passkey that is not in use here"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			d.t = t
			d.back(newest)
			d.decide(c.decide(d.signer()))
			if out := d.run(c.code, "log", d.task, "--verify"); !strings.Contains(out, "as it was written, and every entry is signed (9)") || !strings.Contains(out, c.says) {
				t.Errorf("verified: %s", out)
			}
			found := `"passkeys":[{"entry":9,"status":"` + string(c.status) + `"`
			for _, args := range [][]string{{"log", d.task}, {"show", d.task}} {
				out := d.run(0, args...)
				if warned := strings.Contains(out, c.says); warned != c.status.Fails() || strings.Contains(out, "(passkey") == c.status.Fails() {
					t.Errorf("%v: %s", args, out)
				}
				if out = d.run(0, append(args, "--json")...); !strings.Contains(out, found) {
					t.Errorf("%v: %s", args, out)
				}
			}
			if out := d.run(c.code, "log", d.task, "--verify", "--json"); !strings.Contains(out, found) {
				t.Errorf("verified: %s", out)
			}
			// A list that cannot be read is no reason to trust, and none to show nothing.
			d.list("{")
			d.run(0, "show", d.task)
			if out := d.run(1, "log", d.task, "--verify"); !strings.Contains(out, "passkeys.json cannot be read") {
				t.Errorf("with a broken list: %s", out)
			}
		})
	}
}

// TestPasskeysAreListed: only a person at a terminal of their own removes one.
func TestPasskeysAreListed(t *testing.T) {
	d := newDesk(t)
	if out := d.run(0, "dashboard", "passkeys"); !strings.Contains(out, "bmad-mcp dashboard") {
		t.Errorf("none: %s", out)
	}
	if out := d.run(0, "dashboard", "passkeys", "--json"); strings.TrimSpace(out) != `{"passkeys":[]}` {
		t.Errorf("none: %s", out)
	}
	kept := `{"user":"dQ","keys":[
		{"id":"abcdefghijkl","name":"laptop","public_key":"aw","added":"2026-01-02T03:04:05Z","by":"pairing"},
		{"id":"mnopqrstuvwx","name":"phone","public_key":"aw","added":"2026-01-03T03:04:05Z","by":"passkey:abcdefgh","used":"2026-01-04T03:04:05Z"},
		{"id":"gone-gone-gone","name":"tablet","public_key":"aw","added":"2026-01-03T03:04:05Z","by":"pairing","removed":"2026-01-04T03:04:05Z"}]}`
	d.list(kept)
	out := d.run(0, "dashboard", "passkeys")
	for _, want := range []string{"abcdefgh ", "laptop", "allowed at a terminal", "never", "mnopqrst ", "phone", "allowed by abcdefgh"} {
		if !strings.Contains(out, want) {
			t.Errorf("the list lacks %q: %s", want, out)
		}
	}
	if strings.Contains(out, "tablet") {
		t.Errorf("a removed passkey is listed: %s", out)
	}
	if out := d.run(6, "dashboard", "passkeys", "remove", "laptop"); !strings.Contains(out, "no person can decide here") {
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
