package web

import (
	"context"
	"encoding/json"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
)

// enrolment is the message of a page whose browser has made a passkey.
type enrolment struct {
	Ticket string `json:"ticket"`
	Name   string `json:"name"`
	// Response is the browser's answer to Create of [passkey.Enrolment], Assertion that to Assert.
	Response  json.RawMessage `json:"response"`
	Assertion json.RawMessage `json:"assertion"`
}

// enrolled is the passkey that was added.
type enrolled struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// beginPasskey begins to add a passkey. The first one is allowed by a code that the page shows and
// the person types at a terminal, as for the pairing of a browser; approved reports whether they
// have.
func (d *Dashboard) beginPasskey(ctx context.Context, code string, approved func(code string) (bool, error)) (out passkey.Enrolment, err error) {
	known, err := d.passkeys()
	if err != nil {
		return out, err
	}
	keys, err := known.List()
	if err != nil {
		return out, err
	}
	allowedBy := ""
	if len(keys) == 0 && code != "" {
		ok, err := approved(code)
		if err != nil {
			return out, err
		}
		if !ok {
			return out, fault.New(fault.GatePending, "the code was not typed at a terminal yet").WithHint("run in a terminal of your own: bmad-mcp dashboard pair %s", code)
		}
		allowedBy = "pairing"
	}
	return known.BeginEnrol(ctx, allowedBy)
}

// finishPasskey adds the passkey that a browser has made.
func (d *Dashboard) finishPasskey(ctx context.Context, e enrolment) (out enrolled, err error) {
	known, err := d.passkeys()
	if err != nil {
		return out, err
	}
	key, err := known.FinishEnrol(ctx, e.Ticket, e.Response, e.Assertion, e.Name)
	if err != nil {
		return out, err
	}
	d.log.Warn("a passkey was added", "id", key.Short(), "by", key.By)
	return enrolled{key.Short(), key.Name}, nil
}

// browsers are those that decide, and the passkeys that sign.
type browsers struct {
	Browsers     int
	UsesPasskeys bool
	Passkeys     []passkey.Key
	// ReadOnly is true if the page takes no decisions.
	ReadOnly bool
	// Code allows the first passkey once it was typed at a terminal.
	Code string
}

func (d *Dashboard) browsers() (out browsers, err error) {
	out.Browsers, out.ReadOnly = d.door.countPaired(), d.door.readOnly
	if out.UsesPasskeys = d.o.Passkeys != nil && !d.door.readOnly; !out.UsesPasskeys {
		return out, nil
	}
	if out.Passkeys, err = d.o.Passkeys.List(); err != nil || len(out.Passkeys) > 0 || d.door.codes == nil {
		return out, err
	}
	out.Code, err = d.door.codes.New()
	return out, err
}

// passkeyBegins and passkeyEnds add a passkey for a browser that may decide.
func (d *Dashboard) passkeyBegins(a *asked) (any, error) {
	var given struct {
		Code string `json:"code"`
	}
	if err := d.readPaired(a.r, &given); err != nil {
		return nil, err
	}
	return d.beginPasskey(a, given.Code, d.door.approved)
}

func (d *Dashboard) passkeyEnds(a *asked) (any, error) {
	var given enrolment
	if err := d.readPaired(a.r, &given); err != nil {
		return nil, err
	}
	return d.finishPasskey(a, given)
}

// passkeys returns the passkeys that sign decisions.
func (d *Dashboard) passkeys() (*passkey.Keys, error) {
	if d.o.Passkeys == nil {
		return nil, fault.New(fault.NotAllowed, "no passkeys are used here").WithHint("decide without one")
	}
	return d.o.Passkeys, nil
}
