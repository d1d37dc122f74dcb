package embedding

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
)

// errAddress refuses an address at which clouds and devices answer any caller: a name could be
// made to lead there.
var errAddress = lang.Errorf("link-local and metadata addresses are not asked")

// newClient returns a client that follows no redirection, so that texts and keys go to the named
// server only, and does not reach link-local addresses, whatever a name resolves to.
func newClient() *http.Client {
	dialer := &net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || isForbidden(at.Addr().Unmap()) {
			return errAddress
		}
		return nil
	}}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: timeout,
			MaxIdleConns: 4, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// isForbidden reports whether an address is link-local, or belongs to a metadata service that is not:
// those of AWS over IPv6 and of Alibaba Cloud.
func isForbidden(at netip.Addr) bool {
	return at.IsLinkLocalUnicast() || at.IsLinkLocalMulticast() || at.IsUnspecified() ||
		at == netip.MustParseAddr("fd00:ec2::254") || at == netip.MustParseAddr("100.100.100.200")
}

// host returns the server of an address, for messages: the address itself may hold more than people
// want to see.
func host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return "the server"
}

// cause returns the innermost part of an error of the client, which does not repeat the address.
func cause(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return err
}
