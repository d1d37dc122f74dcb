package dashboard

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/passkey"
)

// beginning is the answer to a page that wants to add a passkey: what its browser needs, or the
// code that the person has to type at a terminal before.
type beginning struct {
	Code string `json:"code,omitempty"`
	*passkey.Enrolment
}

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

// passkeyRoutes are the addresses at which the page of a paired browser adds a passkey.
func (d *Dashboard) passkeyRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /passkeys/begin", func(w http.ResponseWriter, r *http.Request) {
		var given struct {
			Code string `json:"code"`
		}
		status, err := d.deciding(r, &given)
		var out beginning
		if err == nil {
			out, err = d.beginPasskey(r.Context(), given.Code)
		}
		if err != nil {
			d.refuse(w, r, status, err)
			return
		}
		answer(w, http.StatusOK, out)
	})
	mux.HandleFunc("POST /passkeys/finish", func(w http.ResponseWriter, r *http.Request) {
		var given enrolment
		status, err := d.deciding(r, &given)
		var out enrolled
		if err == nil {
			out, err = d.finishPasskey(r.Context(), given)
		}
		if err != nil {
			d.refuse(w, r, status, err)
			return
		}
		answer(w, http.StatusOK, out)
	})
}

// beginPasskey begins to add a passkey. The first one is allowed by a code that the person types
// at a terminal, as for the pairing of a browser: it is made where none is given.
func (d *Dashboard) beginPasskey(ctx context.Context, code string) (out beginning, err error) {
	if d.o.Passkeys == nil {
		return out, noPasskeys()
	}
	keys, err := d.o.Passkeys.List()
	if err != nil {
		return out, err
	}
	allowedBy := ""
	if len(keys) == 0 {
		if d.door.codes == nil {
			return out, nothingDecides()
		}
		if code == "" {
			out.Code, err = d.newCode()
			return out, err
		}
		ok, err := d.door.codes.Approved(code)
		if err != nil || !ok {
			return beginning{Code: code}, err
		}
		allowedBy = "pairing"
	}
	e, err := d.o.Passkeys.BeginEnrol(ctx, allowedBy)
	return beginning{Enrolment: &e}, err
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

// passkeyNews are the passkeys that were added or removed within a day, for the person to notice
// one that they did not add.
func (d *Dashboard) passkeyNews(l lang.Language) (out []string) {
	if d.o.Passkeys == nil {
		return nil
	}
	keys, err := d.o.Passkeys.Recent()
	if err != nil {
		return []string{lang.Of(err).In(l)}
	}
	for _, key := range keys {
		const minute = "2006-01-02 15:04"
		switch {
		case !key.Removed.IsZero():
			out = append(out, l.Say("The passkey “%s” was removed on %s.", key.Name, key.Removed.Local().Format(minute)))
		default:
			out = append(out, l.Say("The passkey “%s” was added on %s; if not by you: bmad-mcp passkeys remove %s", key.Name, key.Added.Local().Format(minute), key.Short()))
		}
	}
	return out
}

func noPasskeys() error {
	return fault.New(fault.NotAllowed, "no passkeys are used here").WithHint("decide without one")
}
