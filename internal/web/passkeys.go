package web

import (
	"context"
	"encoding/json"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
)

// enrolment is a page's message about a new passkey.
type enrolment struct {
	Ticket string `json:"ticket"`
	Name   string `json:"name"`
	// Response is the browser's answer to Create of [passkey.Enrolment], Assertion the answer to Assert.
	Response  json.RawMessage `json:"response"`
	Assertion json.RawMessage `json:"assertion"`
}

// enrolled is the answer about an added passkey.
type enrolled struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// beginPasskey begins to add a passkey. The first one is allowed by a code on the page that the person types
// at a terminal, as for pairing; approved reports whether they have typed it.
func (d *Dashboard) beginPasskey(ctx context.Context, code string, approved func(code string) (bool, error)) (out passkey.Enrolment, err error) {
	known, err := d.signingKeys()
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

// finishPasskey adds the passkey made by a browser.
func (d *Dashboard) finishPasskey(ctx context.Context, e enrolment) (out enrolled, err error) {
	known, err := d.signingKeys()
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

// browsers describes the paired browsers and the passkeys on the settings page.
type browsers struct {
	Browsers     int
	UsesPasskeys bool
	Passkeys     []passkey.Key
	// ReadOnly reports whether the dashboard takes no decisions.
	ReadOnly bool
	// Code allows the first passkey once the person has typed it at a terminal.
	Code string
}

func (d *Dashboard) pairedBrowsers() (out browsers, err error) {
	out.Browsers, out.ReadOnly = d.door.countKeys(), d.door.readOnly
	if out.UsesPasskeys = d.o.Passkeys != nil && !d.door.readOnly; !out.UsesPasskeys {
		return out, nil
	}
	if out.Passkeys, err = d.o.Passkeys.List(); err != nil || len(out.Passkeys) > 0 || d.door.codes == nil {
		return out, err
	}
	out.Code, err = d.door.codes.New()
	return out, err
}

// handleBeginPasskey begins to add a passkey, for a browser with a key.
func (d *Dashboard) handleBeginPasskey(a *asked) (any, error) {
	var given struct {
		Code string `json:"code"`
	}
	if err := d.door.readPaired(a.r, &given); err != nil {
		return nil, err
	}
	return d.beginPasskey(a, given.Code, d.door.isApproved)
}

func (d *Dashboard) handleFinishPasskey(a *asked) (any, error) {
	var given enrolment
	if err := d.door.readPaired(a.r, &given); err != nil {
		return nil, err
	}
	return d.finishPasskey(a, given)
}

// signingKeys returns the passkeys, or an error if none are used here.
func (d *Dashboard) signingKeys() (*passkey.Keys, error) {
	if d.o.Passkeys == nil {
		return nil, fault.New(fault.NotAllowed, "no passkeys are used here").WithHint("decide without one")
	}
	return d.o.Passkeys, nil
}
