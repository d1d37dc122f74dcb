package web

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// pairPage shows a code for the person to type at a terminal, which lets this browser decide.
type pairPage struct {
	Code, Back string
	// ReadOnly reports whether the dashboard takes no decisions.
	ReadOnly bool
	// Alone reports whether there is no state folder to exchange codes with a terminal.
	Alone bool
}

func (d *Dashboard) showPairing(a *asked) (templ.Component, error) {
	a.page.Title = a.lang.Say("Pair this browser")
	out := pairPage{Back: localPath(a.r.URL.Query().Get("back")), ReadOnly: d.door.readOnly}
	out.Alone = d.door.codes == nil
	if !out.ReadOnly && !out.Alone {
		code, err := d.door.codes.New()
		if err != nil {
			return nil, err
		}
		out.Code = splitCode(code)
	}
	return pairScreen(a.lang, out), nil
}

// keyGiven is the answer to a request for a key; it is empty until a person has approved the code.
type keyGiven struct {
	Key string `json:"key,omitempty"`
}

// claimKey answers the page with a code: with a key, once the person has approved the code.
func (d *Dashboard) claimKey(a *asked) (any, error) {
	var given struct {
		Code string `json:"code"`
	}
	if err := readJSON(a.r, &given); err != nil {
		return nil, err
	}
	if d.door.readOnly || d.door.codes == nil {
		return nil, errReadOnly()
	}
	ok, err := d.door.codes.Approved(given.Code)
	if err != nil || !ok {
		return keyGiven{}, err
	}
	d.log.Info("a browser was paired by a code")
	return keyGiven{d.door.addKey()}, nil
}

// admitLaunched gives a key to the browser opened by the program at a person's terminal.
func (d *Dashboard) admitLaunched(a *asked) (any, error) {
	var given struct {
		Launch string `json:"launch"`
	}
	if err := readJSON(a.r, &given); err != nil {
		return nil, err
	}
	admitted := d.door.useLaunchWord(given.Launch)
	switch {
	case d.door.readOnly:
		return nil, errReadOnly()
	case !admitted:
		d.log.Warn("a browser was not paired: its address was used before, or has expired")
		return nil, fault.New(fault.Conflict, "the address that pairs this browser was used before, or has expired").
			WithHint("if you have not opened it yourself, end the dashboard and start it again; else pair this browser by a code")
	}
	d.log.Info("the browser that was opened at the terminal was paired")
	return keyGiven{d.door.addKey()}, nil
}

// Address returns the address for a person to open a page of the dashboard. The secret for reading is in the
// fragment, because browsers send fragments to no server.
func (d *Dashboard) Address(page string) string {
	return d.door.origin + localPath(page) + "#k=" + d.door.secret
}

// Launch returns an address whose first visitor can decide too, within a minute.
func (d *Dashboard) Launch(page string) string {
	return d.Address(page) + "&p=" + d.door.newLaunchWord()
}

// writeDoorPage answers a browser without the cookie with a page that asks for the secret.
func (d *Dashboard) writeDoorPage(w http.ResponseWriter, r *http.Request, status int, why string) {
	l := languageOf(w, r)
	back := localPath(r.URL.RequestURI())
	if r.Method != http.MethodGet {
		back = localPath(r.PostFormValue("back"))
	}
	d.screens.writePage(w, r, status, &page{
		Lang: l, Screen: "door", Path: "/", Title: l.Say("Open the dashboard"),
		Body: doorScreen(l, doorPage{Back: back, Why: why}),
	})
}

// doorPage is the page for a browser without the cookie.
type doorPage struct{ Back, Why string }

// entry is the request of a browser for the cookie.
type entry struct {
	Secret string `json:"secret"`
}

// exchangeSecret sets the cookie in exchange for the secret. The page's script sends the secret as JSON;
// without script, the person types the secret or the whole address into a form.
func (d *Dashboard) exchangeSecret(w http.ResponseWriter, r *http.Request) {
	var given entry
	form := strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	if form {
		given.Secret = strings.TrimSpace(r.PostFormValue("secret"))
		if _, after, ok := strings.Cut(given.Secret, "#k="); ok {
			given.Secret, _, _ = strings.Cut(after, "&")
		}
	} else if err := readJSON(r, &given); err != nil {
		answerError(w, r, err)
		return
	}
	renews := !form && given.Secret == "" && d.door.hasCookie(r)
	if !renews && !equalSecrets(given.Secret, d.door.secret) {
		if form {
			d.writeDoorPage(w, r, http.StatusUnauthorized, languageOf(w, r).Say("This is not the address that the dashboard has printed. A new one is made each time it starts."))
			return
		}
		answerError(w, r, asUnauthorized(fault.New(fault.NotAllowed, "the address is not that of this dashboard").
			WithHint("open the one that bmad-mcp dashboard prints; a new one is made each time it starts")))
		return
	}
	//nolint:gosec // the pages come over plain HTTP from this machine
	http.SetCookie(w, &http.Cookie{Name: d.door.cookieName, Value: d.door.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	if form {
		//nolint:gosec // localPath leads to no other site
		http.Redirect(w, r, localPath(r.PostFormValue("back")), http.StatusSeeOther)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
