package dashboard

import (
	"context"
	"encoding/json"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/passkey"
)

// enrolment is what a page sends once its browser has made a passkey.
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

func noPasskeys() error {
	return fault.New(fault.NotAllowed, "no passkeys are used here").WithHint("decide without one")
}
