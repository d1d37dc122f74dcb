package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
)

// dashboardServer is a listening dashboard.
type dashboardServer struct {
	d      *web.Dashboard
	server *http.Server
	// first is served by the caller; second, on the same port of IPv6, is served already, until close.
	first, second net.Listener
	remove        func()
}

// openDashboard listens on an address of this machine, and registers the dashboard.
func openDashboard(ctx context.Context, s Server, address string, readOnly bool, roots []string, p *app.Parts) (*dashboardServer, error) {
	first, second, err := listenBoth(ctx, address)
	if err != nil {
		return nil, app.CannotListen(address, err)
	}
	origin := "http://localhost"
	if port := first.Addr().(*net.TCPAddr).Port; port != 80 {
		origin += ":" + strconv.Itoa(port)
	}
	state := app.StateFolder()
	o := web.Options{
		Version: app.Version(), Engine: p.Engine, Memory: p.Memory, Health: s.Health, Log: s.Tasks.Log,
		Recheck: p.Library.Recheck, Origin: origin, Pairing: state, ReadOnly: readOnly,
	}
	if q, err := s.Databases.Queue(); err == nil { // else there is no store, or the pages of its projects name the problem
		o.Queue = q
	}
	out := &dashboardServer{first: first, second: second, remove: func() {}}
	if state != "" {
		o.State = filepath.Join(state, "dashboard")
		if o.Runs, err = newLauncher(state); err == nil {
			o.Passkeys, err = passkey.New(passkey.Options{Folder: state, Origins: []string{origin}, Now: p.Engine.Clock})
		}
	}
	if err == nil {
		out.d, err = web.New(o)
	}
	if err == nil && state != "" {
		var registered func()
		if registered, err = pairing.Register(state, pairing.Dashboard{Origin: origin, Started: s.Term.Now(), Roots: roots}); err == nil {
			out.remove = registered
		} else { // it works unregistered, but assistants do not learn the address
			s.Term.Warnf("the dashboard is not registered: %v", err)
			err = nil
		}
	}
	if err != nil {
		return nil, errors.Join(err, out.closeListeners())
	}
	out.server = httpguard.NewServer(out.d.Guarded())
	out.server.WriteTimeout = time.Minute
	if second != nil {
		go out.server.Serve(second) //nolint:errcheck // the end comes with the first listener's
	}
	return out, nil
}

// closeListeners closes the listeners of a dashboard not served.
func (s *dashboardServer) closeListeners() error {
	if s.second != nil {
		return errors.Join(s.first.Close(), s.second.Close())
	}
	return s.first.Close()
}

// listenBoth listens on an address of this machine, and on the same port of ::1, because browsers try it
// first for localhost, and another program must not have it. second is nil without IPv6.
func listenBoth(ctx context.Context, address string) (first, second net.Listener, err error) {
	var c net.ListenConfig
	_, port, err := net.SplitHostPort(address)
	for range 10 { // a free port of IPv4 may be taken on IPv6
		if first, err = c.Listen(ctx, "tcp4", address); err != nil {
			return nil, nil, err
		}
		second, err = c.Listen(ctx, "tcp6", fmt.Sprintf("[::1]:%d", first.Addr().(*net.TCPAddr).Port))
		if err == nil {
			return first, second, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return first, nil, nil
		}
		_ = first.Close()
		if port != "0" {
			break
		}
	}
	return nil, nil, err
}
