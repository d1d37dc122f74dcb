package httpguard

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// defaultPorts are the ports that browsers leave out of an origin.
var defaultPorts = map[string]string{"http": "80", "https": "443"}

// ParseOrigin reads the origin of web pages, such as https://inspector.example:8443, and
// returns it as browsers send it.
func ParseOrigin(given string) (string, error) {
	switch strings.ToLower(given) {
	case "*":
		return "", errors.New("every web page would be let in; name each origin by itself")
	case "null":
		return "", errors.New("browsers send it for sandboxed frames and files of any site; serve the page from an address of its own")
	}
	if strings.ContainsFunc(given, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", errors.New("it has characters that browsers do not send in an origin; write other scripts as punycode (xn--…)")
	}
	u, err := url.Parse(strings.ToLower(given))
	if err != nil || u.Scheme == "" || u.Hostname() == "" || strings.ContainsAny(u.Host, "*,") {
		return "", errors.New("an origin is a scheme, a host and, if it is not the usual one, a port")
	}
	if u.Scheme+"://"+u.Host != strings.ToLower(given) {
		return "", errors.New("an origin ends with its host or port: no path, no slash, no user, no query")
	}
	if strings.HasSuffix(u.Host, ":") || strings.HasSuffix(u.Hostname(), ".") {
		return "", errors.New("its host ends with a colon or a dot")
	}
	port := u.Port()
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return "", fmt.Errorf("there is no port %s", port)
	}
	if port == defaultPorts[u.Scheme] {
		return u.Scheme + "://" + strings.TrimSuffix(u.Host, ":"+port), nil
	}
	return u.Scheme + "://" + u.Host, nil
}
