package httpguard_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
)

func TestIsPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "93.184.216.34": true, "2606:4700::1111": true, "::ffff:1.1.1.1": true, "172.32.0.1": true, "100.128.0.1": true,
		"127.0.0.1": false, "127.9.9.9": false, "::1": false, "::ffff:127.0.0.1": false, "0.0.0.0": false, "0.1.2.3": false, "::": false,
		"255.255.255.255": false, "240.0.0.1": false,
		"10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "::ffff:192.168.1.1": false,
		"fd00:ec2::254": false, "fec0::1": false, "100.64.0.1": false, "192.0.0.8": false, "198.18.0.1": false,
		"169.254.169.254": false, "fe80::1": false, "fe80::1%eth0": false,
		"224.0.0.1": false, "ff02::1": false, "64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "2001::1": false,
	} {
		if got := httpguard.IsPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
	refusal := errors.New("no")
	check := httpguard.CheckDialed(httpguard.IsPublic, refusal)
	for address, want := range map[string]error{"1.1.1.1:443": nil, "[::ffff:10.0.0.1]:443": refusal, "127.0.0.1:80": refusal, "/run/socket": refusal, "localhost:80": refusal} {
		if got := check("tcp", address, nil); !errors.Is(got, want) {
			t.Errorf("%s: %v", address, got)
		}
	}
}
