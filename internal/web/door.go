package web

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

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
)

// door decides who may read the pages, and who may decide. The cookie permits reading only, because browsers
// send it to other ports of this machine too. A key permits decisions: it is given to a page of the exact
// origin, which the browser keeps from all others, and sent with each decision. Cookie and keys end with the
// process.
type door struct {
	// origin is the origin of the pages, host the value of Host in requests for them.
	origin, host string
	readOnly     bool
	now          func() time.Time
	// secret is exchanged for the cookie.
	secret, cookieName, cookie string
	// codes are nil if browsers cannot be paired.
	codes *pairing.Codes
	csrf  *http.CrossOriginProtection

	mu sync.Mutex
	// keys are the hashes of the keys for decisions, the oldest first. launches are the hashes of the words
	// of newLaunchWord, each with the time when the word expires.
	keys     [][sha256.Size]byte
	launches map[[sha256.Size]byte]time.Time
}

// newDoor returns the door of the pages of an origin; "" is for a server without a door. folder is the state
// folder with the pairings; "" pairs no browser.
func newDoor(origin, folder string, readOnly bool, clock func() time.Time) (*door, error) {
	d := &door{
		origin: origin, readOnly: readOnly, now: clock, csrf: http.NewCrossOriginProtection(), launches: map[[sha256.Size]byte]time.Time{},
		secret: randomText(), cookieName: "bmad-" + rand.Text()[:16], cookie: randomText(),
	}
	if origin == "" {
		return d, nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme+"://"+u.Host != origin || u.Hostname() != "localhost" {
		return nil, fmt.Errorf("%q is not an origin of localhost", origin)
	}
	d.host = u.Host
	if folder != "" {
		d.codes = pairing.NewCodes(folder, origin, clock)
	}
	return d, nil
}

// randomText returns 256 random bits in base64url.
func randomText() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// equalSecrets compares two texts in constant time.
func equalSecrets(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// isForeignLoad reports whether a page of another origin loads something into itself. The page could not read
// it, but could use up codes and streams. Opening a page in a new tab does not count.
func isForeignLoad(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	isForeign := site == "same-site" || site == "cross-site"
	if !isForeign || strings.HasPrefix(r.URL.Path, "/diagram/") {
		return false
	}
	opensPage := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return !opensPage
}

// needsNoCookie reports whether a request needs no cookie: it sends the secret for one, or asks for something
// without facts of the projects.
func needsNoCookie(r *http.Request) bool {
	return r.URL.Path == "/enter" || r.URL.Path == "/healthz" || strings.HasPrefix(r.URL.Path, "/assets/") || strings.HasPrefix(r.URL.Path, "/diagram/")
}

// checkHost reports whether a request has the host of the pages, and answers others. A foreign page whose
// name resolves to this machine (DNS rebinding) sends that name, and is refused; 127.0.0.1 is redirected.
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
	http.Error(w, languageOf(w, r).Say("The host %s is not this dashboard; its address is %s.", visible.Fit(r.Host, 200), o.origin), http.StatusForbidden)
	return false
}

// checkOrigin returns an error if a request for a change comes neither from a page of the dashboard nor from
// a program.
func (o *door) checkOrigin(r *http.Request) *fault.Error {
	given := r.Header.Values("Origin")
	err := o.csrf.Check(r)
	// Forms send the origin null, because of the referrer policy of the pages.
	form := r.URL.Path == "/enter" && slices.Equal(given, []string{"null"})
	own := len(given) == 0 || slices.Equal(given, []string{o.origin})
	if err == nil && (own || form) {
		return nil
	}
	return fault.New(fault.NotAllowed, "only pages of %s may send this, and it comes from elsewhere", o.origin).WithHint("nothing was changed; open the dashboard itself")
}

// hasCookie reports whether a request has the cookie.
func (o *door) hasCookie(r *http.Request) bool {
	for _, c := range r.CookiesNamed(o.cookieName) {
		if equalSecrets(c.Value, o.cookie) {
			return true
		}
	}
	return false
}

// hasKey reports whether a request has a key for decisions.
func (o *door) hasKey(r *http.Request) bool {
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

// countKeys returns the number of paired browsers.
func (o *door) countKeys() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.keys)
}

// addKey makes a key for a browser, and drops the oldest beyond maxKeys.
func (o *door) addKey() string {
	key := randomText()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keys = append(o.keys, sha256.Sum256([]byte(key)))
	o.keys = o.keys[max(len(o.keys)-maxKeys, 0):]
	return key
}

// isApproved reports whether the person has typed a code at a terminal, and uses up the approval.
func (o *door) isApproved(code string) (bool, error) {
	if o.codes == nil {
		return false, nil
	}
	return o.codes.Approved(code)
}

// newLaunchWord returns a word to exchange for a key, once, within launchFor.
func (o *door) newLaunchWord() string {
	word := randomText()
	o.mu.Lock()
	defer o.mu.Unlock()
	for hash, until := range o.launches {
		if len(o.launches) >= maxLaunches || o.now().After(until) {
			delete(o.launches, hash)
		}
	}
	o.launches[sha256.Sum256([]byte(word))] = o.now().Add(launchFor)
	return word
}

// useLaunchWord reports whether a word of newLaunchWord is still good, and uses it up.
func (o *door) useLaunchWord(word string) bool {
	hash := sha256.Sum256([]byte(word))
	o.mu.Lock()
	defer o.mu.Unlock()
	until, ok := o.launches[hash]
	delete(o.launches, hash)
	return ok && !o.now().After(until)
}

// localPath returns an address within the dashboard, or "/" in place of any other address.
func localPath(given string) string {
	u, err := url.Parse(given)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(given, "/") || strings.HasPrefix(given, "//") || strings.ContainsAny(given, "\\#") {
		return "/"
	}
	return given
}

// readPaired reads the body of a request, and refuses browsers without a key.
func (d *door) readPaired(r *http.Request, into any) error {
	switch {
	case d.readOnly:
		return errReadOnly()
	case !d.hasKey(r):
		return errUnpaired()
	}
	return readJSON(r, into)
}

func errReadOnly() error {
	return fault.New(fault.NotAllowed, "this dashboard only shows: nothing is decided here").WithHint("start it without --read-only, or decide at a terminal")
}

func errUnpaired() error {
	return asUnauthorized(fault.New(fault.NotAllowed, "this browser may not decide").
		WithHint("pair it: the page /pair shows how; a browser is paired until the dashboard ends"))
}
