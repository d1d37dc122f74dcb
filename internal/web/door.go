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

// newDoor returns the door of the pages of an origin; "" if a server without a door serves them. Browsers are paired
// in a state folder; "" pairs none.
func newDoor(origin, folder string, readOnly bool, clock func() time.Time) (*door, error) {
	d := &door{
		origin: origin, readOnly: readOnly, now: clock, csrf: http.NewCrossOriginProtection(), launches: map[[sha256.Size]byte]time.Time{},
		secret: random(), cookieName: "bmad-" + rand.Text()[:16], cookie: random(),
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
	http.Error(w, languageOf(w, r).Say("The host %s is not this dashboard; its address is %s.", visible.Fit(r.Host, 200), o.origin), http.StatusForbidden)
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

// approved reports whether the person has typed a code at a terminal.
func (o *door) approved(code string) (bool, error) {
	if o.codes == nil {
		return false, nil
	}
	return o.codes.Approved(code)
}

// launch returns a word that is exchanged for a key, once within a minute.
func (o *door) launch() string {
	word := random()
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

// admits reports whether a word is one of launch, which it uses up.
func (o *door) admits(word string) bool {
	hash := sha256.Sum256([]byte(word))
	o.mu.Lock()
	defer o.mu.Unlock()
	until, ok := o.launches[hash]
	delete(o.launches, hash)
	return ok && !o.now().After(until)
}

// localPath returns an address within the dashboard; "/" if another was given.
func localPath(given string) string {
	u, err := url.Parse(given)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(given, "/") || strings.HasPrefix(given, "//") || strings.ContainsAny(given, "\\#") {
		return "/"
	}
	return given
}
