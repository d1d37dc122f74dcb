package agents

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/cmd/run"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/sdkhttp"
	"github.com/bmad-mcp/bmad-mcp/sdk"
)

// serveOptions are the flags of the server of agents.
type serveOptions struct {
	app.HTTP
	noToken   bool
	servers   []string
	agents    []string
	publicURL string
}

func serveCommand(cs *clients) *cobra.Command {
	o := serveOptions{HTTP: app.HTTP{MaxBody: 1, Idle: time.Hour}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve agents over HTTP",
		Long: `Serve the agents of the project over HTTP: conversations, with a stream of events for
each, and single commands. docs/agents-http.md describes the API. Other agents find each
by Agent2Agent (A2A), with a card at /a2a/AGENT/.well-known/agent-card.json.

Clients send the token of --token-file as Authorization: Bearer …: one line of at least
16 characters, such as made by: openssl rand -base64 24. --no-token lets in every program
of this machine, and works on its own addresses only. On other addresses the token
travels as the Authorization header, so put a proxy with TLS in front. Of web pages, only
those of the server's own origin and of each --allow-origin may call.

Conversations are saved after each step. One that was at work when the server ended is
paused, and goes on by bmad-mcp agent resume. The first Ctrl+C or SIGTERM ends the server.`,
		Example: `  bmad-mcp agent serve --http 127.0.0.1:7788 --token-file token
  bmad-mcp agent serve --http 127.0.0.1:7788 --no-token
  bmad-mcp agent serve --no-token --agent pm --public-url https://agents.acme`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.serveAgents(cmd.Context(), cs) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Addr, "http", "127.0.0.1:7788", "address to serve on; port 0 takes a free one")
	flags.StringVar(&o.TokenFile, "token-file", "", "file with the token that clients have to send")
	flags.BoolVar(&o.noToken, "no-token", false, "let in every program of this machine")
	flags.StringArrayVar(&o.Origins, "allow-origin", nil, "origin of web pages that may call, such as http://localhost:3000; can be repeated")
	flags.DurationVar(&o.Grace, "grace", 10*time.Second, "how long accepted requests have to be answered when it ends")
	flags.StringArrayVar(&o.agents, "agent", nil, "agent for other agents (A2A), all without it; can be repeated, and the first has the card of the server")
	flags.StringVar(&o.publicURL, "public-url", "", "address in the cards of agents, such as https://agents.acme of a proxy with TLS")
	run.ToolFlag(cmd, &o.servers)
	return cmd
}

func (o *serveOptions) serveAgents(ctx context.Context, cs *clients) error {
	if o.noToken == (o.TokenFile != "") {
		return fault.New(fault.InvalidArgument, "a server of agents spends money for its callers, and has to know who may call").
			WithHint("give either --token-file FILE (openssl rand -base64 24 > FILE) or, on this machine only, --no-token")
	}
	host, _, _ := net.SplitHostPort(o.Addr) // Check refuses an address without a host
	if o.AllowRemote = !httpguard.Loopback(host); o.AllowRemote && o.noToken {
		return fault.New(fault.InvalidArgument, "--no-token on %q would let other machines in", o.Addr).WithHint("take 127.0.0.1, or give --token-file")
	}
	who, err := o.Check()
	if err != nil {
		return err
	}
	client, err := cs.workingClient()
	if err != nil {
		return err
	}
	defer client.Close()
	if err := o.checkCards(ctx, client); err != nil {
		return err
	}
	tools, endTools, err := run.Tools(ctx, cs.term, cs.tasks, o.servers)
	defer endTools()
	if err != nil {
		return err
	}
	listener, err := o.Listen(ctx)
	if err != nil {
		return err
	}
	o.Warn(cs.term)
	settings, _ := cs.modelSettings(cs.tasks.Workspace) // workingClient has refused wrong flags
	h := sdkhttp.New(sdkhttp.Options{Options: who, Client: client, Log: cs.tasks.Log, CostLimit: settings.CostLimit, Tools: tools,
		Agents: o.agents, Address: o.publicURL, Version: app.Version()})
	fmt.Fprintln(cs.term.Err, cs.term.Lang.Say("Agents are served on http://%s. End it with Ctrl+C.", listener.Addr()))
	o.SayOpen(cs.term)
	return app.RunHTTP(ctx, cs.term, httpguard.NewServer(h), listener, h, o.Grace)
}

// checkCards checks the agents and the address in cards.
func (o *serveOptions) checkCards(ctx context.Context, client *sdk.Client) (err error) {
	for _, id := range o.agents {
		if _, err := client.Agent(ctx, id); err != nil {
			return fault.New(fault.NotFound, "--agent %q cannot be served: %w", id, err).WithHint("bmad-mcp agent list shows their ids")
		}
	}
	given := o.publicURL
	if given == "" {
		return nil
	}
	if o.publicURL, err = httpguard.ParseOrigin(given); err != nil {
		return fault.New(fault.InvalidArgument, "--public-url %q is not the address of a server: %w", given, err).
			WithHint("give scheme, host and port, such as https://agents.acme")
	}
	return nil
}
