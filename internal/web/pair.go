package web

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// pairPage shows a code, which a person types at a terminal to let this browser decide.
type pairPage struct {
	Code, Back string
	// ReadOnly is true if the page takes no decisions.
	ReadOnly bool
	// Alone is true without a state folder, by which a terminal and the dashboard know of each other.
	Alone bool
}

func (d *Dashboard) pair(a *asked) (templ.Component, error) {
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

// keyGiven answers a browser that is paired; it has no key while nobody has approved it.
type keyGiven struct {
	Key string `json:"key,omitempty"`
}

// claim gives the page that shows a code its key, once the person has approved the code.
func (d *Dashboard) claim(a *asked) (any, error) {
	var given struct {
		Code string `json:"code"`
	}
	if err := readJSON(a.r, &given); err != nil {
		return nil, err
	}
	if d.door.readOnly || d.door.codes == nil {
		return nil, nothingDecides()
	}
	ok, err := d.door.codes.Approved(given.Code)
	if err != nil || !ok {
		return keyGiven{}, err
	}
	d.log.Info("a browser was paired by a code")
	return keyGiven{d.door.key()}, nil
}

// admitLaunched gives a key to the browser that the program itself has opened at a person's terminal.
func (d *Dashboard) admitLaunched(a *asked) (any, error) {
	var given struct {
		Launch string `json:"launch"`
	}
	if err := readJSON(a.r, &given); err != nil {
		return nil, err
	}
	admitted := d.door.admits(given.Launch)
	switch {
	case d.door.readOnly:
		return nil, nothingDecides()
	case !admitted:
		d.log.Warn("a browser was not paired: its address was used before, or has expired")
		return nil, fault.New(fault.Conflict, "the address that pairs this browser was used before, or has expired").
			WithHint("if you have not opened it yourself, end the dashboard and start it again; else pair this browser by a code")
	}
	d.log.Info("the browser that was opened at the terminal was paired")
	return keyGiven{d.door.key()}, nil
}

// readPaired reads the body of a request, and refuses a browser that may not decide.
func (d *Dashboard) readPaired(r *http.Request, into any) error {
	switch {
	case d.door.readOnly:
		return nothingDecides()
	case !d.door.decides(r):
		return errorUnpaired()
	}
	return readJSON(r, into)
}

func nothingDecides() error {
	return fault.New(fault.NotAllowed, "this dashboard only shows: nothing is decided here").WithHint("start it without --read-only, or decide at a terminal")
}

// Address returns the address at which a person opens a page of the dashboard. Its fragment lets the browser
// read; browsers send fragments to no server.
func (d *Dashboard) Address(page string) string {
	return d.door.origin + localPath(page) + "#k=" + d.door.secret
}

// Launch returns an address whose first visitor can decide too. It is good once, for a minute.
func (d *Dashboard) Launch(page string) string {
	return d.Address(page) + "&p=" + d.door.launch()
}

// knock answers a browser that may not read with a page that lets it in.
func (d *Dashboard) knock(w http.ResponseWriter, r *http.Request, status int, why string) {
	l := languageOf(w, r)
	back := localPath(r.URL.RequestURI())
	if r.Method != http.MethodGet {
		back = localPath(r.PostFormValue("back"))
	}
	d.screens.write(w, r, status, &page{
		Lang: l, Screen: "door", Path: "/", Title: l.Say("Open the dashboard"),
		Body: doorScreen(l, doorPage{Back: back, Why: why}),
	})
}

// doorPage is the page of a browser that may not read.
type doorPage struct{ Back, Why string }

// entry is the request of a browser to be let in.
type entry struct {
	Secret string `json:"secret"`
}

// enter exchanges the secret for the cookie. The page's script sends it as JSON, a browser without
// script as a form, in which the person has put it or the whole address.
func (d *Dashboard) enter(w http.ResponseWriter, r *http.Request) {
	var given entry
	form := strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	if form {
		given.Secret = strings.TrimSpace(r.PostFormValue("secret"))
		if _, after, ok := strings.Cut(given.Secret, "#k="); ok {
			given.Secret, _, _ = strings.Cut(after, "&")
		}
	} else if err := readJSON(r, &given); err != nil {
		refuse(w, r, err)
		return
	}
	if !equal(given.Secret, d.door.secret) && (form || given.Secret != "" || !d.door.reads(r)) {
		if form {
			d.knock(w, r, http.StatusUnauthorized, languageOf(w, r).Say("This is not the address that the dashboard has printed. A new one is made each time it starts."))
			return
		}
		refuse(w, r, unauthorized(fault.New(fault.NotAllowed, "the address is not that of this dashboard").
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

func errorUnpaired() error {
	return unauthorized(fault.New(fault.NotAllowed, "this browser may not decide").WithHint("pair it: the page /pair shows how; a browser is paired until the dashboard ends"))
}
