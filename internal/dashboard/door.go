package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/pairing"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// door decides who may read the pages, and who may decide. A cookie reads: browsers send it to
// other ports of this machine too, so that it decides nothing. A key decides: it is given to a
// page of the exact origin, whose browser shows it to no other, and sent with each decision.
// Both end with the process.
type door struct {
	// origin is that of the pages, host the name in requests for them.
	origin, host string
	readOnly     bool
	now          func() time.Time
	// secret is exchanged for the cookie.
	secret, cookieName, cookie string
	// codes are nil if no person can pair a browser.
	codes *pairing.Codes
	csrf  *http.CrossOriginProtection

	mu sync.Mutex
	// keys are the hashes of those that decide, the oldest first, and launches those of the words
	// that are exchanged for one, with the time until which they are good.
	keys     [][sha256.Size]byte
	launches map[[sha256.Size]byte]time.Time
}

const (
	// maxBody bounds the body of a request, in bytes.
	maxBody = 64 << 10
	// maxKeys bounds the browsers that are paired at a time.
	maxKeys = 64
	// launchFor is how long the browser that the program opens has to begin.
	launchFor = time.Minute
	// maxLaunches bounds the browsers that are being opened at a time.
	maxLaunches = 16
)

// newDoor returns the door of the pages of an origin; "" if a server without a door serves them.
func newDoor(o Options) (*door, error) {
	d := &door{
		origin: o.Origin, readOnly: o.ReadOnly, now: o.Engine.Clock, csrf: http.NewCrossOriginProtection(), launches: map[[sha256.Size]byte]time.Time{},
		secret: random(), cookieName: "bmad-" + rand.Text()[:16], cookie: random(),
	}
	if o.Origin == "" {
		return d, nil
	}
	u, err := url.Parse(o.Origin)
	if err != nil || u.Scheme+"://"+u.Host != o.Origin || u.Hostname() != "localhost" {
		return nil, fmt.Errorf("%q is not an origin of localhost", o.Origin)
	}
	d.host = u.Host
	if o.Pairing != "" {
		d.codes = pairing.NewCodes(o.Pairing, o.Origin, o.Engine.Clock)
	}
	return d, nil
}

// random returns 256 random bits as text.
func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// equal compares without showing in the time how much is right.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// Address returns the address at which a person opens a page of the dashboard. Its fragment lets the browser
// read; browsers send fragments to no server.
func (d *Dashboard) Address(page string) string {
	return d.door.origin + localPath(page) + "#k=" + d.door.secret
}

// Launch returns an address whose first visitor can decide too. It is good once, for a minute.
func (d *Dashboard) Launch(page string) string {
	word := random()
	d.door.mu.Lock()
	defer d.door.mu.Unlock()
	for hash, until := range d.door.launches {
		if len(d.door.launches) >= maxLaunches || d.door.now().After(until) {
			delete(d.door.launches, hash)
		}
	}
	d.door.launches[sha256.Sum256([]byte(word))] = d.door.now().Add(launchFor)
	return d.Address(page) + "&p=" + word
}

// foreign reports whether a page of another origin loads something into itself, which it could not
// read, but which can take codes and streams away. Opening a page in a tab of its own is not that.
func foreign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if site != "same-site" && site != "cross-site" || strings.HasPrefix(r.URL.Path, "/diagram/") {
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

// open reports whether a request needs no cookie: it asks to be let in, or for something that
// shows nothing of the projects.
func open(r *http.Request) bool {
	return r.URL.Path == "/enter" || r.URL.Path == "/healthz" || strings.HasPrefix(r.URL.Path, "/assets/") || strings.HasPrefix(r.URL.Path, "/diagram/")
}

// checkHost reports whether a request names the host as the pages do. A page whose own name leads to
// this machine sends its name; 127.0.0.1 leads to the right one.
func (o *door) checkHost(w http.ResponseWriter, r *http.Request) bool {
	if r.Host == o.host {
		return true
	}
	_, port, _ := strings.Cut(o.host, ":")
	ip := "127.0.0.1"
	if port != "" {
		ip += ":" + port
	}
	to := r.URL.RequestURI()
	if r.Host == ip && strings.HasPrefix(to, "/") && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		w.Header().Set("Location", o.origin+to)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return false
	}
	http.Error(w, languageOf(w, r).Say("The host %s is not this dashboard; its address is %s.", visible.Clip(r.Host, 200), o.origin), http.StatusForbidden)
	return false
}

// stranger returns an error if a request that could change something comes neither from a page of the dashboard
// nor from a program.
func (o *door) stranger(r *http.Request) *fault.Error {
	given := r.Header.Values("Origin")
	err := o.csrf.Check(r)
	// Forms send no origin, because the pages name no referrer.
	form := r.URL.Path == "/enter" && slices.Equal(given, []string{"null"})
	own := len(given) == 0 || slices.Equal(given, []string{o.origin})
	if err == nil && (own || form) {
		return nil
	}
	return fault.New(fault.NotAllowed, "only pages of %s may send this, and it comes from elsewhere", o.origin).WithHint("nothing was changed; open the dashboard itself")
}

// reads reports whether a request has the cookie.
func (o *door) reads(r *http.Request) bool {
	for _, c := range r.CookiesNamed(o.cookieName) {
		if equal(c.Value, o.cookie) {
			return true
		}
	}
	return false
}

// decides reports whether a request has a key.
func (o *door) decides(r *http.Request) bool {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") || key == "" {
		return false
	}
	got := sha256.Sum256([]byte(key))
	o.mu.Lock()
	defer o.mu.Unlock()
	found := 0
	for _, known := range o.keys {
		found |= subtle.ConstantTimeCompare(got[:], known[:])
	}
	return found == 1
}

// countPaired returns the number of keys.
func (o *door) countPaired() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.keys)
}

// key makes a key.
func (o *door) key() string {
	key := random()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keys = append(o.keys, sha256.Sum256([]byte(key)))
	o.keys = o.keys[max(len(o.keys)-maxKeys, 0):]
	return key
}

// localPath returns an address within the dashboard; "/" if another was given.
func localPath(given string) string {
	u, err := url.Parse(given)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(given, "/") || strings.HasPrefix(given, "//") || strings.ContainsAny(given, "\\#") {
		return "/"
	}
	return given
}

// knock answers a browser that may not read with a page that lets it in.
func (d *Dashboard) knock(w http.ResponseWriter, r *http.Request, status int, why string) {
	l := languageOf(w, r)
	back := localPath(r.URL.RequestURI())
	if r.Method != http.MethodGet {
		back = localPath(r.PostFormValue("back"))
	}
	d.write(w, r, status, &page{
		Lang: l, Screen: "door", Path: "/", Languages: lang.All(), Title: l.Say("Open the dashboard"),
		Body: doorPage{Back: back, Why: why},
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
	} else if status, err := readJSON(r, &given); err != nil {
		d.refuse(w, r, status, err)
		return
	}
	if !equal(given.Secret, d.door.secret) && (form || given.Secret != "" || !d.door.reads(r)) {
		if form {
			d.knock(w, r, http.StatusUnauthorized, languageOf(w, r).Say("This is not the address that the dashboard has printed. A new one is made each time it starts."))
			return
		}
		d.refuse(w, r, http.StatusUnauthorized, fault.New(fault.NotAllowed,
			"the address is not that of this dashboard").WithHint("open the one that bmad-mcp dashboard prints; a new one is made each time it starts"))
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
