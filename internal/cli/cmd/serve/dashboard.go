package serve

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/web"
	"github.com/bmad-mcp/bmad-mcp/internal/web/pairing"
)

// dashboardOptions are the flags of dashboard.
type dashboardOptions struct {
	port             int
	roots            []string
	noOpen, readOnly bool
}

// Dashboard returns the command that serves the dashboard.
func Dashboard(s Server) *cobra.Command {
	var o dashboardOptions
	cmd := s.Tasks.MayOfTask(&cobra.Command{
		Use:   "dashboard",
		Short: "Read runs in a browser, and decide there",
		Long: `Serves pages on this machine alone, for all projects that are known or for those in the
folders of --root, until Ctrl+C ends it. With RUN, it opens the page of that run.

The address that is printed lets a browser read. To decide, a browser has to be paired: the
one that this command opens at your terminal is paired at once, another one by the code
that its page /pair shows, which you type as: bmad-mcp dashboard pair CODE

An assistant that starts it gets pages that read: it cannot pair a browser.`,
		Example: `  bmad-mcp dashboard
  bmad-mcp dashboard sign-in
  bmad-mcp dashboard --port 7788 --root ~/src --read-only`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.servePages(cmd.Context(), s, args)
		},
	})
	flags := cmd.Flags()
	flags.IntVar(&o.port, "port", 0, "port of this machine; 0 takes a free one")
	flags.StringArrayVar(&o.roots, "root", nil, "folder whose projects are shown; can be repeated")
	flags.BoolVar(&o.noOpen, "no-open", false, "open no browser")
	flags.BoolVar(&o.readOnly, "read-only", false, "let nobody decide in a browser")
	cmd.AddCommand(pairCommand(s.Term, func() time.Time { return s.Tasks.Engine().Clock() }))
	return cmd
}

// pairCommand returns the command for a person at a terminal to let a browser decide.
func pairCommand(term *terminal.Terminal, clock func() time.Time) *cobra.Command {
	return &cobra.Command{
		Use:   "pair CODE",
		Short: "Let the browser that shows a code decide in your name",
		Long: `A browser that reads the dashboard shows a code on its page /pair. Type it here, at a
terminal of your own, and that page can decide in your name until the dashboard ends. A
code is good for five minutes, once. Type only a code that your own browser shows.`,
		Example: "  bmad-mcp dashboard pair 7K2M-9QXD",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := term.Person(); err != nil {
				return err
			}
			origin, err := pairing.Approve(app.StateFolder(), args[0], clock())
			if err != nil {
				return err
			}
			return term.Conclude(map[string]any{"origin": origin},
				"The page of %s that shows this code can decide now, until that dashboard ends.\nIf it is not in your own browser, end the dashboard at once.", origin)
		},
	}
}

func (o *dashboardOptions) servePages(ctx context.Context, s Server, args []string) error {
	if o.port < 0 || o.port > 65535 {
		return fault.New(fault.InvalidArgument, "there is no port %d", o.port).WithHint("take one from 1 to 65535, or 0 for a free one")
	}
	var roots []string
	served := s.Parts()
	if len(o.roots) > 0 {
		var err error
		if roots, err = s.Tasks.Roots(o.roots); err != nil {
			return err
		}
		served = s.Build(roots)
	}
	page := "/"
	if len(args) > 0 {
		at, err := s.Tasks.Address(args)
		if err != nil {
			return err
		}
		p, id, err := served.Engine.Projects().Find(ctx, at)
		if err != nil {
			return err
		}
		page = web.PageOf(p.Dir.Path(), id, "")
		p.Close()
	}
	shown, err := openDashboard(ctx, s, net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)), o.readOnly, roots, served)
	if err != nil {
		return err
	}
	defer func() { shown.remove() }()
	if err := o.sayAddress(ctx, s.Term, shown, page); err != nil {
		return errors.Join(err, shown.closeListeners())
	}
	return app.RunHTTP(ctx, s.Term, shown.server, shown.first, shown.d, 10*time.Second)
}

// sayAddress prints the address, and opens the browser for a person at a terminal.
func (o *dashboardOptions) sayAddress(ctx context.Context, term *terminal.Terminal, shown *dashboardServer, page string) error {
	address := shown.d.Address(page)
	_, nobody := term.Person()
	opens := nobody == nil && !o.noOpen
	if term.JSON {
		return term.PrintJSON(map[string]any{"address": address})
	}
	term.Say("The dashboard is at %s\nIt lets the browser that opens it read. End it with Ctrl+C.", address)
	if opens {
		opened, err := openBrowser(ctx, app.StateFolder(), shown.d, page)
		if err == nil {
			term.Say("Your browser opens, paired to decide.")
			registered := shown.remove
			shown.remove = func() { opened(); registered() }
			return nil
		}
		term.Warnf("no browser could be opened: %v", err)
	}
	if !o.readOnly {
		term.Say("To decide there, open its page /pair and type the code at a terminal of your own: bmad-mcp dashboard pair CODE")
	}
	return nil
}
