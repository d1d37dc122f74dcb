package mcpserver_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/mcpserver"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/store/storetest"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
	"github.com/bmad-mcp/bmad-mcp/internal/trust/reach"
)

// A test about forms waits as a person does. It runs in a bubble, whose clock goes on when everything in it
// waits, with a server in the test's own process: it takes none of the person's time, and the machine may be as
// busy as it likes. What pipes and processes add is tried by the tests that start the program.

// inBubble runs a test beside others, on a clock of its own.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, test)
	})
}

// insideServer has the parts of a server that differ from test to test.
type insideServer struct {
	// project is the folder that the server is started in.
	project string
	// settings are variables of the environment.
	settings []string
	// state is the person's folder; a new one if it is empty.
	state string
	// reach bounds the folders of calls; nil lets any be used.
	reach *reach.Reach
	// http is true for a server of several clients, for the projects in some folders: without any, for that of project.
	http    bool
	folders []string
}

// start puts a server together as the program does.
func (o insideServer) start(t testing.TB) *mcpserver.Server {
	t.Helper()
	if o.state == "" {
		o.state = t.TempDir()
	}
	environ, folder := ownFile(t, o.settings)
	settings := config.Source{UserFolder: folder, Environ: environ}
	own, err := settings.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	places := mcpserver.Places{Folder: o.project}
	var within []string
	if o.http {
		places = mcpserver.Places{Remote: true, Served: o.folders}
		if len(o.folders) == 0 {
			places.Project, places.Served = o.project, []string{o.project}
		}
		within = places.Served
	}
	e := engine.New(engine.Options{
		Trust: trust.UserState(o.state), Names: engine.Names{Confirm: mcpserver.ConfirmTool, Program: "bmad-mcp"},
		Projects: project.New(project.Options{Backend: storetest.At, Settings: settings, Reach: o.reach, Within: within, Known: project.Known{Folder: o.state}}),
	})
	options := mcpserver.Options{Version: "test", Places: places, HostConfirm: own.HostConfirm, State: o.state}
	if o.reach != nil { // a nil pointer would be an interface that is not nil
		options.Reach = o.reach
	}
	s := mcpserver.New(e, options)
	t.Cleanup(s.Close)
	return s
}

// serveInside starts a server on HTTP in the test's own process, for a folder or for projects in some, and for web
// pages of an origin.
func serveInside(t *testing.T, dir string, settings []string, folders ...string) *served {
	t.Helper()
	s := &served{t: t, state: t.TempDir()}
	h := insideServer{project: dir, settings: settings, state: s.state, http: true, folders: folders}.start(t).Handler(mcpserver.HTTPOptions{
		Options: httpguard.Options{Origins: []string{inspectorOrigin}}, MaxBody: 32 << 20, Idle: time.Hour, Now: time.Now,
	})
	listener := httptest.NewServer(h)
	t.Cleanup(func() { h.Close(context.Background()); listener.Close() })
	s.url = listener.URL + mcpserver.Endpoint
	return s
}

// launch returns a client of a server for a project.
func launch(t testing.TB, dir string, l mcpserver.Launch, settings ...string) *mcpserver.Client {
	t.Helper()
	return insideServer{project: dir, settings: settings}.connect(t, l)
}

// connect returns a client of the server.
func (o insideServer) connect(t testing.TB, l mcpserver.Launch) *mcpserver.Client {
	t.Helper()
	var options []transport.InProcessOption
	if l.Form != nil {
		options = append(options, transport.WithElicitationHandler(mcpserver.FormHandler(l.Form)))
	}
	c, err := mcpserver.ShakeHands(t.Context(), transport.NewInProcessTransportWithOptions(o.start(t).MCPServer(), options...), l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// insideCaller sends a request of protocol 2026-07-28, and returns the result of the answer, and its text's object.
type insideCaller func(line string) (result, text object)

// caller returns a client that writes each request itself.
func (o insideServer) caller(t testing.TB) insideCaller {
	t.Helper()
	s := o.start(t).MCPServer()
	ctx := s.WithContext(t.Context(), server.NewInProcessSession("one", nil))
	return func(line string) (result, text object) {
		t.Helper()
		data, err := json.Marshal(s.HandleMessage(ctx, json.RawMessage(line)))
		if err != nil {
			t.Fatal(err)
		}
		var m message
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		if content, ok := m.Result["content"].([]any); ok && len(content) == 1 {
			if err := json.Unmarshal([]byte(content[0].(object)["text"].(string)), &text); err != nil {
				t.Fatal(err)
			}
		}
		return m.Result, text
	}
}
