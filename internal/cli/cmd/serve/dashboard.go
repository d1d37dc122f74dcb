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
	"github.com/bmad-mcp/bmad-mcp/internal/trust/pairing"
	"github.com/bmad-mcp/bmad-mcp/internal/web"
)

// dashboardOptions are those of dashboard.
type dashboardOptions struct {
	*app.App
	port             int
	roots            []string
	noOpen, readOnly bool
}

// Dashboard returns the command that serves pages.
func Dashboard(a *app.App) *cobra.Command {
	o := dashboardOptions{App: a}
	cmd := a.MayOfTask(&cobra.Command{
		Use:   "dashboard",
		Short: "Read runs in a web browser, and decide there",
		Long: `Serves pages on this machine alone, for all projects that are known or for those in the
folders of --root, until Ctrl+C ends it. With TASK, it opens the page of that run.

The address that is printed lets a browser read. To decide, a browser has to be paired: the
one that this command opens at your terminal is paired at once, another one by the code
that its page /pair shows, which you type as: bmad-mcp pair CODE

An assistant that starts it gets pages that read: it cannot pair a browser.`,
		Example: `  bmad-mcp dashboard
  bmad-mcp dashboard --port 7788 --root ~/src --read-only`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args, len(args) > 0) },
	})
	flags := cmd.Flags()
	flags.IntVar(&o.port, "port", 0, "port of this machine; 0 takes a free one")
	flags.StringArrayVar(&o.roots, "root", nil, "folder whose projects are shown; can be repeated")
	flags.BoolVar(&o.noOpen, "no-open", false, "open no browser")
	flags.BoolVar(&o.readOnly, "read-only", false, "let nobody decide in a browser")
	return cmd
}

// Open returns the command that shows one run in the person's browser.
func Open(a *app.App) *cobra.Command {
	o := dashboardOptions{App: a}
	return a.OfTask(&cobra.Command{
		Use:   "open",
		Short: "Open the page of a run in your browser",
		Long: `Opens the page of a run in your browser, where you can read it and decide, until Ctrl+C
ends it. Without a browser it prints the address. It is the same as: bmad-mcp dashboard TASK

` + terminal.ExitHelp,
		Example: "  bmad-mcp open sign-in",
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args, true) },
	})
}

// Pair is the person's word at a terminal that a browser may decide.
func Pair(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "pair CODE",
		Short: "Let the browser that shows a code decide in your name",
		Long: `A browser that reads the dashboard shows a code on its page /pair. Type it here, at a
terminal of your own, and that page can decide in your name until the dashboard ends. A
code is good for five minutes, once. Type only a code that your own browser shows.`,
		Example: "  bmad-mcp pair 7K2M-9QXD",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := a.Person(); err != nil {
				return err
			}
			origin, err := pairing.Approve(app.StateFolder(), args[0], a.Engine().Clock())
			if err != nil {
				return err
			}
			return a.Conclude(map[string]any{"origin": origin},
				"The page of %s that shows this code can decide now, until that dashboard ends.\nIf it is not in your own browser, end the dashboard at once.", origin)
		},
	}
}

func (o *dashboardOptions) run(ctx context.Context, args []string, one bool) error {
	if o.port < 0 || o.port > 65535 {
		return fault.New(fault.InvalidArgument, "there is no port %d", o.port).WithHint("take one from 1 to 65535, or 0 for a free one")
	}
	var roots []string
	served := o.Parts()
	if len(o.roots) > 0 {
		var err error
		if roots, err = o.Roots(o.roots); err != nil {
			return err
		}
		served = o.Build(roots)
	}
	page := "/"
	if one {
		at, err := o.Address(args)
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
	shown, err := openDashboard(ctx, o.App, net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)), o.readOnly, roots, served)
	if err != nil {
		return err
	}
	defer func() { shown.remove() }()
	if err := o.announce(ctx, shown, page); err != nil {
		return errors.Join(err, shown.close())
	}
	return app.RunHTTP(ctx, o.Terminal, shown.server, shown.first, shown.d, 10*time.Second)
}

// announce prints the address, and opens the browser of a person at a terminal.
func (o *dashboardOptions) announce(ctx context.Context, s *dashboardServer, page string) error {
	address := s.d.Address(page)
	_, nobody := o.Person()
	opens := nobody == nil && !o.noOpen
	if o.JSON {
		return o.PrintJSON(map[string]any{"address": address})
	}
	o.Say("The dashboard is at %s\nIt lets the browser that opens it read. End it with Ctrl+C.", address)
	if opens {
		opened, err := openBrowser(ctx, app.StateFolder(), s.d, page)
		if err == nil {
			o.Say("Your browser opens, paired to decide.")
			registered := s.remove
			s.remove = func() { opened(); registered() }
			return nil
		}
		o.Warnf("no browser could be opened: %v", err)
	}
	if !o.readOnly {
		o.Say("To decide there, open its page /pair and type the code at a terminal of your own: bmad-mcp pair CODE")
	}
	return nil
}
