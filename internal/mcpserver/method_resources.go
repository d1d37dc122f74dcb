package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/visible"
)

// methodScheme begins the addresses of the method's files.
const methodScheme = catalog.Scheme + "://"

// addMethodResources offers the files of the method by their addresses. Which there are is in
// the list that goes out to each caller.
func (s *Server) addMethodResources() {
	t := mcp.NewResourceTemplate(methodScheme+"{+path}", "bmad-file",
		mcp.WithTemplateDescription("A file of the installed BMAD method as it is, such as bmad://_bmad/bmm/config.yaml; with ?view=resolved its text with placeholders filled in."))
	t.Title = "File of the BMAD method"
	s.wire.AddResourceTemplate(t, s.readResource)
}

// longestAddress bounds an address that is looked at, in bytes: an error repeats it.
const longestAddress = 4096

// plainAddress makes the address of a request one that the library takes: it has no template
// for what is not encoded in it, and says so with all of it.
func plainAddress(_ context.Context, _ any, message *mcp.ReadResourceRequest) {
	uri := message.Params.URI
	if len(uri) > longestAddress {
		uri = visible.Clip(uri, 200)
	}
	if !strings.HasPrefix(uri, methodScheme) {
		message.Params.URI = uri
		return
	}
	var b strings.Builder
	for _, c := range []byte(uri) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	message.Params.URI = b.String()
}

// readMethod returns the resource at an address of the method.
func (s *Server) readMethod(uri string, base engine.Request) (engine.Resource, string, error) {
	ref, err := catalog.ParseRef(uri)
	if err != nil {
		return engine.Resource{}, "", err
	}
	if ref.Cwd != "" {
		base.Cwd = ref.Cwd
	}
	shelf, err := s.shelfOf(base)
	if err != nil {
		return engine.Resource{}, "", err
	}
	r, err := shelf.Read(uri, 0)
	if err != nil {
		return engine.Resource{}, "", err
	}
	res := engine.Resource{Name: r.Path, MIMEType: r.MIMEType, Size: int64(len(r.Data)), Text: string(r.Data)}
	if r.Source == catalog.Project {
		res.Path = r.Path
	}
	return res, shelf.Project, nil
}

// methodResources lists what a caller may want to read first: what there is, the
// configuration, and the file that begins each item. Of the others the addresses are in
// those, and in the lists of the tool.
func methodResources(shelf *method.Shelf) []mcp.Resource {
	if shelf == nil || shelf.Empty() {
		return nil
	}
	add := func(uri, name, title, mime string) mcp.Resource {
		r := mcp.NewResource(uri, name, mcp.WithMIMEType(mime))
		r.Title = title
		return r
	}
	out := []mcp.Resource{
		add(methodScheme+"config/current", "bmad/config", "BMAD configuration, without secrets", "application/json"),
		add(methodScheme+"manifests/agents", "bmad/agents", "BMAD agents", "application/json"),
		add(methodScheme+"manifests/tasks", "bmad/tasks", "BMAD tasks", "application/json"),
		add(methodScheme+"manifests/workflows", "bmad/workflows", "BMAD workflows", "application/json"),
	}
	for _, i := range shelf.Catalog.Items() {
		if i.URI == "" {
			continue
		}
		title := i.Title
		if i.DisplayName != "" {
			title = strings.TrimSuffix(i.DisplayName+", "+i.Title, ", ")
		}
		out = append(out, add(i.URI, "bmad/"+string(i.Kind)+"/"+i.Full(), title, catalog.MIMEType(i.Path)))
	}
	return out
}
