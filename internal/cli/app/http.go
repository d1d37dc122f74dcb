package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
)

// HTTP has the flags about access to a server on HTTP.
type HTTP struct {
	Addr        string
	AllowRemote bool
	TokenFile   string
	Origins     []string
	MaxBody     int64
	Idle        time.Duration
	// Grace is the time at the end to answer accepted requests.
	Grace time.Duration
}

// minToken is the length of the shortest token: 16 random characters have 80 bits or more, too many to guess
// over a network.
const minToken = 16

// maxTokenFile bounds the file with the token, in bytes.
const maxTokenFile = 64 << 10

// Check returns the guard's options for the flags, or an error for flags that would let too many call.
func (f HTTP) Check() (o httpguard.Options, err error) {
	host, _, err := net.SplitHostPort(f.Addr)
	if err != nil {
		return o, fault.New(fault.InvalidArgument, "invalid --http address %q", f.Addr).WithHint("give host and port, such as 127.0.0.1:7777")
	}
	if f.MaxBody < 1 || f.Idle < time.Second || f.Grace < 0 {
		return o, fault.New(fault.InvalidArgument, "--max-body-bytes has to be at least 1, --idle-timeout 1s, --grace 0s").WithHint("leave them out for the defaults")
	}
	if !f.AllowRemote && !httpguard.Loopback(host) {
		return o, fault.New(fault.InvalidArgument, "--http %q would serve other machines", f.Addr).
			WithHint("take 127.0.0.1, or add --allow-remote and --token-file")
	}
	o.Remote = f.AllowRemote
	switch {
	case f.TokenFile != "":
		if o.Token, err = readToken(f.TokenFile); err != nil {
			return o, err
		}
	case f.AllowRemote:
		return o, fault.New(fault.InvalidArgument, "--allow-remote without a token would let everyone in").
			WithHint("write one into a file (openssl rand -base64 24 > token) and add --token-file token")
	}
	o.Origins, err = parseOrigins(f.Origins)
	return o, err
}

// parseOrigins parses and checks the origins of pages that may call.
func parseOrigins(given []string) ([]string, error) {
	var out []string
	for _, g := range given {
		origin, err := httpguard.ParseOrigin(g)
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "--allow-origin %q is not an origin: %w", g, err).
				WithHint("give scheme, host and port as browsers send them, such as https://inspector.example or http://localhost:6274; repeat the flag for more")
		}
		out = append(out, origin)
	}
	return out, nil
}

func readToken(name string) (string, error) {
	data, err := terminal.ReadPath(context.Background(), name, maxTokenFile)
	if err != nil {
		return "", fault.New(fault.NotFound, "the token file cannot be read: %w", err).WithHint("give the path of a file with one line")
	}
	token := strings.TrimSpace(string(data))
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fault.New(fault.InvalidArgument, "the token in %s has to be one line of at least %d printable characters", name, minToken).
			WithHint("make one in a new file: openssl rand -base64 24 > token")
	}
	return token, nil
}

// Listen listens on the address.
func (f HTTP) Listen(ctx context.Context) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.Addr)
	if err != nil {
		return nil, CannotListen(f.Addr, err)
	}
	return listener, nil
}

// CannotListen returns the fault for an error of listening on an address.
func CannotListen(address string, err error) error {
	return fault.New(fault.Storage, "cannot listen on %s: %w", address, err).WithHint("take a free port of this machine, or 0 for any; ss -ltnp shows who has one")
}

// Warn warns of a token file that others can read.
func (f HTTP) Warn(t *terminal.Terminal) {
	if info, err := os.Stat(f.TokenFile); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Warnf("other users of this machine can read %s; chmod 600 keeps them out", f.TokenFile)
	}
}

// SayOpen says, without a token, that everybody on this machine may call.
func (f HTTP) SayOpen(t *terminal.Terminal) {
	if f.TokenFile == "" {
		fmt.Fprintln(t.Err, t.Lang.Say("Every program and user of this machine may call it; --token-file keeps others out."))
	}
}

// RunHTTP serves until ctx ends, and then answers the accepted requests within grace.
func RunHTTP(ctx context.Context, t *terminal.Terminal, server *http.Server, listener net.Listener, h interface{ Close(context.Context) }, grace time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	var failed error
	select {
	case failed = <-ended:
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	h.Close(ctx)
	err := errors.Join(failed, server.Shutdown(ctx))
	if errors.Is(err, context.DeadlineExceeded) {
		t.Warnf("some requests were not done after %s and were cut off; their changes are stored whole or not at all", grace)
		_ = server.Close() // the grace is over
		return failed
	}
	return err
}
