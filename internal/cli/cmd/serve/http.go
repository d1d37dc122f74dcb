// Package serve has the servers: MCP on stdio and HTTP, and the dashboard.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
	"github.com/bmad-mcp/bmad-mcp/internal/web"
)

// Server has the parts of the program for servers: the terminal and the tasks, and functions for the engine,
// for other folders, and to confine an assistant.
type Server struct {
	Term    *terminal.Terminal
	Tasks   *app.Tasks
	Parts   func() *app.Parts
	Build   func(within []string) *app.Parts
	Confine func(opened []string) *reach.Reach
	// Model returns the person's model for tasks handed over by an assistant, nil without one.
	Model func() mcpserver.Model
	// Remote gives tasks to agents of other servers.
	Remote mcpserver.Remote
	Health web.HealthFunc
	// Databases have the queue of the team.
	Databases *app.Databases
}

// options are the flags of serve.
type options struct {
	app.HTTP
	roots     []string
	metrics   bool
	dashboard string
}

// Command returns the command that serves MCP.
func Command(s Server) *cobra.Command {
	var o options
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
asked in your place: its decisions count as passed on by an assistant at most.

The first Ctrl+C or SIGTERM ends it: accepted requests are answered, for at most --grace.`,
		Example: `  bmad-mcp serve --http 127.0.0.1:7777
  bmad-mcp serve --http :7777 --allow-remote --token-file token --root /srv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("http") {
				if len(args) > 0 {
					return fault.New(fault.InvalidArgument, "%q is a folder for stdio, and --http serves HTTP", args[0]).WithHint("name it with --root")
				}
				return nil
			}
			for _, name := range []string{"root", "allow-remote", "token-file", "allow-origin", "max-body-bytes", "idle-timeout", "grace", "metrics", "dashboard"} {
				if cmd.Flags().Changed(name) {
					return fault.New(fault.InvalidArgument, "--%s is for --http", name).WithHint("add --http 127.0.0.1:7777, or leave it out")
				}
			}
			return checkFolders(args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("http") {
				return o.serveHTTP(cmd.Context(), s)
			}
			return Stdio(cmd.Context(), s, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Addr, "http", "", "serve HTTP on this address, such as 127.0.0.1:7777; port 0 takes a free one")
	flags.StringArrayVar(&o.roots, "root", nil, "folder in which projects may be named; can be repeated")
	flags.BoolVar(&o.AllowRemote, "allow-remote", false, "listen for other machines too; needs --token-file")
	flags.StringVar(&o.TokenFile, "token-file", "", "file with the token that clients have to send")
	flags.StringArrayVar(&o.Origins, "allow-origin", nil, "origin of web pages that may call, such as http://localhost:6274; can be repeated")
	flags.Int64Var(&o.MaxBody, "max-body-bytes", 32<<20, "largest request that is read")
	flags.DurationVar(&o.Idle, "idle-timeout", 30*time.Minute, "end a client's session that had no request for so long")
	flags.DurationVar(&o.Grace, "grace", 10*time.Second, "how long accepted requests have to be answered when it ends")
	flags.StringVar(&o.dashboard, "dashboard", "", "also serve the dashboard, on this address of this machine, such as 127.0.0.1:7778")
	flags.BoolVar(&o.metrics, "metrics", false, "serve /metrics, for Prometheus")
	return cmd
}

// serveHTTP serves MCP over HTTP.
func (o *options) serveHTTP(ctx context.Context, s Server) error {
	who, err := o.Check()
	if err != nil {
		return err
	}
	roots, err := s.Tasks.Roots(o.roots)
	if err != nil {
		return err
	}
	places := mcpserver.Places{Remote: true, Served: roots}
	if len(o.roots) == 0 {
		places.Project = roots[0]
	}
	p := s.Build(roots)
	h := mcpserver.New(p.Engine, serverOptions(s, p, places)).Handler(mcpserver.HTTPOptions{
		Options: who,
		MaxBody: o.MaxBody, Idle: o.Idle, Metrics: o.metrics, Queue: queueFigures(s.Databases), Now: p.Engine.Clock,
	})
	listener, err := o.Listen(ctx)
	if err != nil {
		return err
	}
	if o.dashboard != "" {
		end, err := o.serveDashboard(ctx, s, roots, p)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		defer end()
	}
	o.Warn(s.Term)
	fmt.Fprintf(s.Term.Err, "BMAD MCP Server running on http://%s%s, for projects in %s. End it with Ctrl+C.\n", listener.Addr(), mcpserver.Endpoint, strings.Join(roots, ", "))
	o.SayOpen(s.Term)
	return app.RunHTTP(ctx, s.Term, httpguard.NewServer(h), listener, h, o.Grace)
}

// serveDashboard serves the dashboard beside MCP, until end.
func (o *options) serveDashboard(ctx context.Context, s Server, roots []string, p *app.Parts) (end func(), err error) {
	host, _, err := net.SplitHostPort(o.dashboard)
	isLocal := host == "127.0.0.1" || host == "localhost"
	if err != nil || !isLocal {
		return nil, fault.New(fault.InvalidArgument, "invalid --dashboard address %q",
			o.dashboard).WithHint("the dashboard is for this machine alone: give 127.0.0.1 and a port, such as 127.0.0.1:7778")
	}
	shown, err := openDashboard(ctx, s, o.dashboard, false, roots, p)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(s.Term.Err, s.Term.Lang.Say("The dashboard is at %s\nIt lets the browser that opens it read. End it with Ctrl+C.", shown.d.Address("/")))
	done := make(chan struct{})
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(done)
		if err := app.RunHTTP(ctx, s.Term, shown.server, shown.first, shown.d, o.Grace); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.Tasks.Log.Error("the dashboard ended", "error", err)
		}
	}()
	return func() { stop(); <-done; shown.remove() }, nil
}
