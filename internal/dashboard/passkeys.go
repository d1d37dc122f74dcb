package dashboard

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/passkey"
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
	if d.o.Passkeys == nil {
		return out, noPasskeys()
	}
	keys, err := d.o.Passkeys.List()
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
			return out, fault.New(fault.GatePending, "the code was not typed at a terminal yet").WithHint("run in a terminal of your own: bmad-mcp pair %s", code)
		}
		allowedBy = "pairing"
	}
	return d.o.Passkeys.BeginEnrol(ctx, allowedBy)
}

// finishPasskey adds the passkey that a browser has made.
func (d *Dashboard) finishPasskey(ctx context.Context, e enrolment) (out enrolled, err error) {
	if d.o.Passkeys == nil {
		return out, noPasskeys()
	}
	key, err := d.o.Passkeys.FinishEnrol(ctx, e.Ticket, e.Response, e.Assertion, e.Name)
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
func (d *Dashboard) passkeyBegins(w http.ResponseWriter, r *http.Request) {
	var given struct {
		Code string `json:"code"`
	}
	d.answerPaired(w, r, &given, func() (any, error) { return d.beginPasskey(r.Context(), given.Code, d.door.approved) })
}

func (d *Dashboard) passkeyEnds(w http.ResponseWriter, r *http.Request) {
	var given enrolment
	d.answerPaired(w, r, &given, func() (any, error) { return d.finishPasskey(r.Context(), given) })
}

// answerPaired answers a request of a browser that may decide.
func (d *Dashboard) answerPaired(w http.ResponseWriter, r *http.Request, given any, do func() (any, error)) {
	switch {
	case d.door.readOnly:
		refuse(w, r, http.StatusForbidden, nothingDecides())
		return
	case !d.door.decides(r):
		refuse(w, r, http.StatusUnauthorized, errorUnpaired())
		return
	}
	if status, err := readJSON(r, given); err != nil {
		refuse(w, r, status, err)
		return
	}
	out, err := do()
	if err != nil {
		refuse(w, r, 0, err)
		return
	}
	answer(w, http.StatusOK, out)
}

func noPasskeys() error {
	return fault.New(fault.NotAllowed, "no passkeys are used here").WithHint("decide without one")
}
