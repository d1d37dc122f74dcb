package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/bmad/library"
	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/terminal"
)

// httpFlags are the flags of serve.
type httpFlags struct {
	address     string
	roots       []string
	allowRemote bool
	tokenFile   string
	origins     []string
	maxBody     int64
	idle        time.Duration
	grace       time.Duration
	metrics     bool
	dashboard   string
}

// minToken is the length of the shortest token: 16 random characters are 80 bits or more, which
// nobody guesses over a network.
const minToken = 16

// maxTokenFile bounds the file with the token, in bytes.
const maxTokenFile = 64 << 10

func (a *app) serveCommand() *cobra.Command {
	var f httpFlags
	cmd := &cobra.Command{
		Use:   "serve [FOLDER...]",
		Short: "Serve MCP: on stdio, or with --http to several clients at once",
		Long: `Serve MCP on stdio, as without a subcommand and for the project of each FOLDER too, or
with --http over HTTP (streamable
HTTP, protocols 2025-03-26 to 2026-07-28) at http://ADDRESS/mcp.

Over HTTP, clients can name only projects in the folders of --root (default: the
project of the working folder). A call is for its cwd, else for the client's root if it
is served, else for the one folder that is served if that is itself a project (a
repository, say); otherwise it is refused and asks for cwd. Only this machine is served. --allow-remote serves others too, and takes a token: one line of at
least 16 characters in a file, such as made by: openssl rand -base64 24. It travels as
the Authorization header, so put a proxy with TLS in front. /healthz and /readyz need no
token; /metrics does.

Of web pages, only those of the server's own origin may call, and those of each
--allow-origin, such as http://localhost:6274 for the MCP Inspector. No page is ever
asked in your place: its decisions count as relayed by an assistant at most.

The first Ctrl+C or SIGTERM ends it: accepted requests are answered, for at most --grace.

` + terminal.ExitHelp,
		Example: `  bmad-mcp serve --http 127.0.0.1:7777
  bmad-mcp serve --http :7777 --allow-remote --token-file /etc/bmad-mcp/token --root /srv/projects --metrics`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("http") {
				if len(args) > 0 {
					return fault.New(fault.InvalidArgument, "%q is a folder for stdio, and --http serves HTTP", args[0]).WithHint("name it with --root")
				}
				return a.serveHTTP(cmd.Context(), f)
			}
			for _, name := range []string{"root", "allow-remote", "token-file", "allow-origin", "max-body-bytes", "idle-timeout", "grace", "metrics", "dashboard"} {
				if cmd.Flags().Changed(name) {
					return fault.New(fault.InvalidArgument, "--%s is for --http", name).WithHint("add --http 127.0.0.1:7777, or leave it out")
				}
			}
			return a.serve(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.address, "http", "", "serve HTTP on this address, such as 127.0.0.1:7777; port 0 takes a free one")
	flags.StringArrayVar(&f.roots, "root", nil, "folder in which projects may be named; can be repeated")
	flags.BoolVar(&f.allowRemote, "allow-remote", false, "listen for other machines too; needs --token-file")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token that clients have to send")
	flags.StringArrayVar(&f.origins, "allow-origin", nil, "origin of web pages that may call, such as http://localhost:6274; can be repeated")
	flags.Int64Var(&f.maxBody, "max-body-bytes", 32<<20, "largest request that is read")
	flags.DurationVar(&f.idle, "idle-timeout", 30*time.Minute, "end a client's session that had no request for so long")
	flags.DurationVar(&f.grace, "grace", 10*time.Second, "how long accepted requests have to be answered when it ends")
	flags.StringVar(&f.dashboard, "dashboard", "", "also serve the dashboard, on this address of this machine, such as 127.0.0.1:7778")
	flags.BoolVar(&f.metrics, "metrics", false, "serve /metrics, for Prometheus")
	a.toolsetFlag(cmd)
	return cmd
}

// serveHTTP is the server on HTTP.
func (a *app) serveHTTP(ctx context.Context, f httpFlags) error {
	token, err := f.check()
	if err != nil {
		return err
	}
	origins, err := parseOrigins(f.origins)
	if err != nil {
		return err
	}
	roots, err := a.roots(f.roots)
	if err != nil {
		return err
	}
	places := mcpserver.Places{Remote: true, Served: roots}
	if len(f.roots) == 0 {
		places.Project = roots[0]
	}
	e, library := a.newEngine(roots)
	s := mcpserver.New(e, serverOptions(a, library, places))
	h := s.Handler(mcpserver.HTTPOptions{
		Options: httpguard.Options{Token: token, Remote: f.allowRemote, Origins: origins},
		MaxBody: f.maxBody, Idle: f.idle, Metrics: f.metrics, Now: e.Clock,
	})
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.address)
	if err != nil {
		return fault.New(fault.Storage, "cannot listen on %s: %w", f.address, err).WithHint("take a free port of this machine, or 0 for any; ss -ltnp shows who has one")
	}
	if f.dashboard != "" {
		end, err := f.serveDashboard(ctx, a, roots, e, library)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		defer end()
	}
	f.warn(a)
	fmt.Fprintf(a.Err, "BMAD MCP Server running on http://%s%s, for projects in %s. End it with Ctrl+C.\n", listener.Addr(), mcpserver.Endpoint, strings.Join(roots, ", "))
	if token == "" {
		fmt.Fprintln(a.Err, a.Lang.Say("Every program and user of this machine may call it; --token-file keeps others out."))
	}
	return a.runHTTP(ctx, httpguard.NewServer(h), listener, h, f.grace)
}

// serveDashboard serves the dashboard beside MCP, until end.
func (f httpFlags) serveDashboard(ctx context.Context, a *app, roots []string, e *engine.Engine, l *library.Library) (end func(), err error) {
	host, _, err := net.SplitHostPort(f.dashboard)
	if err != nil || host != "127.0.0.1" && host != "localhost" {
		return nil, fault.New(fault.InvalidArgument, "invalid --dashboard address %q",
			f.dashboard).WithHint("the dashboard is for this machine alone: give 127.0.0.1 and a port, such as 127.0.0.1:7778")
	}
	s, err := openDashboard(ctx, a, f.dashboard, false, roots, e, l)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(a.Err, a.Lang.Say("The dashboard is at %s\nIt lets the browser that opens it read. End it with Ctrl+C.", s.d.Address("/")))
	done := make(chan struct{})
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(done)
		if err := a.runHTTP(ctx, s.server, s.first, s.d, f.grace); err != nil && !errors.Is(err, http.ErrServerClosed) {
			a.log.Error("the dashboard ended", "error", err)
		}
	}()
	return func() { stop(); <-done; s.remove() }, nil
}

// runHTTP serves until ctx ends, and then answers the accepted requests.
func (a *app) runHTTP(ctx context.Context, server *http.Server, listener net.Listener, h interface{ Close(context.Context) }, grace time.Duration) error {
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
		a.Warnf("some requests were not done after %s and were cut off; their changes are stored whole or not at all", grace)
		_ = server.Close() // that is the cut
		return failed
	}
	return err
}

// check returns the token, or an error if the flags would let in more than is meant.
func (f httpFlags) check() (token string, err error) {
	host, _, err := net.SplitHostPort(f.address)
	if err != nil {
		return "", fault.New(fault.InvalidArgument, "invalid --http address %q", f.address).WithHint("give host and port, such as 127.0.0.1:7777")
	}
	if f.maxBody < 1 || f.idle < time.Second || f.grace < 0 {
		return "", fault.New(fault.InvalidArgument, "--max-body-bytes has to be at least 1, --idle-timeout 1s, --grace 0s").WithHint("leave them out for the defaults")
	}
	if !f.allowRemote && !httpguard.Loopback(host) {
		return "", fault.New(fault.InvalidArgument, "--http %q would serve other machines", f.address).
			WithHint("take 127.0.0.1, or add --allow-remote and --token-file")
	}
	if f.tokenFile != "" {
		return readToken(f.tokenFile)
	}
	if f.allowRemote {
		return "", fault.New(fault.InvalidArgument, "--allow-remote without a token would let everyone in").
			WithHint("write one into a file (openssl rand -base64 24 > token) and add --token-file token")
	}
	return "", nil
}

// warn warns of a token that others can read.
func (f httpFlags) warn(a *app) {
	if info, err := os.Stat(f.tokenFile); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		a.Warnf("other users of this machine can read %s; chmod 600 keeps them out", f.tokenFile)
	}
}

// parseOrigins reads the origins of the pages that may call.
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

// roots returns the folders in which clients may name projects, with links followed.
func (a *app) roots(names []string) ([]string, error) {
	if len(names) == 0 {
		project, err := a.project()
		if err != nil {
			return nil, err
		}
		if home, _ := os.UserHomeDir(); project == filepath.Dir(project) || project == filepath.Clean(home) {
			return nil, fault.New(fault.InvalidArgument, "the working folder %s is not a project", project).WithHint("name the folder of your projects with --root")
		}
		names = []string{project}
	}
	var out []string
	for _, name := range names {
		path, err := filepath.Abs(name)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "--root %q cannot be used: %w", name, err).WithHint("name an existing folder")
		}
		dir, err := durable.OpenDir(path)
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "--root %q cannot be opened: %w", name, err).WithHint("name an existing folder that you may read")
		}
		_ = dir.Close()
		out = append(out, path)
	}
	return out, nil
}
