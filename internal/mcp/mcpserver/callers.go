package mcpserver

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
)

// Places are the folders served by a server; all may be empty.
type Places struct {
	// Project is the folder in CLAUDE_PROJECT_DIR, which the host sets; over HTTP, the project in which the
	// server was started, unless Served is set.
	Project string
	// Folder is the server's working folder, unless it is / or the home folder, which no host means as a
	// project.
	Folder string
	// Served are the folders of a server for several clients, with links followed. Remote reports whether
	// clients may be on other machines, so that only folders inside of Served count.
	Served []string
	Remote bool
}

// byRoots reports whether the client's roots are needed to find the project, because the host does not name
// it.
func (p Places) byRoots() bool { return p.Project == "" }

// foldersFor returns the folders to search for sessions of a client with these roots, the likeliest first.
func (p Places) foldersFor(roots []string) []string {
	var out []string
	if p.Project != "" {
		out = append(out, p.Project)
	}
	out = append(out, roots...)
	if p.Folder != "" {
		out = append(out, p.Folder)
	}
	return out
}

// callers finds out who calls, for which project, and how to reach the person.
type callers struct {
	engine      *engine.Engine
	places      Places
	reach       Reach
	roots       rootsOf
	forms       *forms
	hostConfirm config.HostConfirm
	// page is [Options.Page].
	page func(cwd, task, stage string) string
	log  *slog.Logger
}

// requestFrom returns an engine request for the caller of a request.
func (c *callers) requestFrom(ctx context.Context) request.Request {
	req := request.Request{Caller: request.Caller{By: callerName(ctx)}}
	who, overHTTP := httpguard.VisitorIn(ctx)
	isLocalProgram := !who.Page && net.ParseIP(who.Address).IsLoopback()
	if !overHTTP || isLocalProgram {
		req.Page = c.page // the dashboard serves this machine only
	}
	if c.places.Remote { // on stdio there is only one client
		req.Client = mcpwire.ClientKey(ctx)
	}
	return req
}

// callerName names the client for the history.
func callerName(ctx context.Context) string {
	client := mcpwire.ClientInfo(ctx)
	name := visible.Line(client.Name + " " + client.Version)
	if name == "" {
		name = "mcp client"
	}
	if who, _ := httpguard.VisitorIn(ctx); who.Page {
		name = who.Label() + ", " + name
	}
	return visible.Fit(name, 100)
}

// askingHosts are the clients known to ask the person on each call of a tool with requiresUserInteraction,
// with the first such version.
var askingHosts = map[string][]int{"claude-code": {2, 1, 199}}

// hostConfirms reports whether the host of a request asks the person about bmad-confirm.
func (c *callers) hostConfirms(ctx context.Context) bool {
	who, overHTTP := httpguard.VisitorIn(ctx)
	switch {
	case who.Page:
		return false // a page is not a host, whatever the settings are
	case c.hostConfirm == config.HostConfirmAlways:
		return true
	case c.hostConfirm == config.HostConfirmNever:
		return false
	case overHTTP:
		return false // every program at the port can claim a host's name
	}
	client := mcpwire.ClientInfo(ctx)
	return Asks(client.Name, client.Version)
}

// Asks reports whether a host is known to ask the person on each call of bmad-confirm.
func Asks(host, version string) bool { return isKnown(askingHosts, host, version) }

// isKnown reports whether a host is in a table of first versions, and not older. It takes the version in the host's own
// form, "2.1.199-beta (Claude Code)"; missing numbers are 0.
func isKnown(hosts map[string][]int, host, version string) bool {
	first, known := hosts[host]
	var numbers [3]int
	_, _ = fmt.Sscanf(version, "%d.%d.%d", &numbers[0], &numbers[1], &numbers[2])
	return known && slices.Compare(numbers[:], first) >= 0
}
