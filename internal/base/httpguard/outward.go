package httpguard

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
)

// CheckDialed returns a function for the Control of a net.Dialer: it ends a connection with refusal unless the address
// may be called. By then every name is resolved, so that none leads elsewhere.
func CheckDialed(mayCall func(netip.Addr) bool, refusal error) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !mayCall(at.Addr().Unmap()) {
			return refusal
		}
		return nil
	}
}

// kept are networks that package netip takes for public: the networks of carriers, of tests and of protocols, and the
// forms of IPv4 addresses in IPv6.
var kept = []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "fec0::/10"}

// IsPublic reports whether an address is one of the public network.
func IsPublic(at netip.Addr) bool {
	at = at.Unmap()
	return at.IsGlobalUnicast() && !at.IsPrivate() && !slices.ContainsFunc(kept, func(net string) bool { return netip.MustParsePrefix(net).Contains(at) })
}

// WithoutAddress returns the cause of an error of a client, without the addresses of the request and of the server, which may
// hold more than people want to see; other errors stay as they are.
func WithoutAddress(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return err
}

// Bounded ends answers longer than Max, in bytes.
type Bounded struct {
	http.RoundTripper
	Max int64
}

// RoundTrip implements http.RoundTripper.
func (b Bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, b.Max)
	}
	return response, err
}
