package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/reply"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// bmadScheme begins the address of a file of the method.
const bmadScheme = catalog.Scheme + "://"

// longestAddress bounds an address in a request, in bytes, because errors repeat the address.
const longestAddress = 4096

// plainAddress encodes the address in a request, so that a template matches it. The library's own refusal
// would repeat the whole address.
func plainAddress(_ context.Context, _ any, message *mcp.ReadResourceRequest) {
	uri := message.Params.URI
	if len(uri) > longestAddress {
		uri = visible.Fit(uri, 200)
	}
	if !strings.HasPrefix(uri, bmadScheme) {
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

// readBMAD returns the resource at an address of the method, and the folder of the project.
func (o *offer) readBMAD(uri string, base request.Request) (reply.Resource, string, error) {
	ref, err := catalog.ParseRef(uri)
	if err != nil {
		return reply.Resource{}, "", err
	}
	if ref.Cwd != "" {
		base.Cwd = ref.Cwd
	}
	shelf, err := o.shelfOf(base)
	if err != nil {
		return reply.Resource{}, "", err
	}
	r, err := shelf.Read(uri, 0)
	if err != nil {
		return reply.Resource{}, "", err
	}
	res := reply.Resource{Name: r.Path, MIMEType: r.MIMEType, Size: int64(len(r.Data)), Text: string(r.Data)}
	if r.Source == catalog.Project {
		res.Path = r.Path
	}
	return res, shelf.Project, nil
}

// aboutItem describes an item in a list of resources, with the source, because people choose from the list.
func aboutItem(i catalog.Item) string {
	return strings.TrimSpace(fmt.Sprintf("%s (source: %s)", visible.Fit(i.Description, 120), i.Source))
}

// bmadResources returns the resources to read first: the manifests, the configuration, and the first file of
// each item. They and the lists of bmad-resources have the addresses of all other files.
func bmadResources(shelf *method.Snapshot) []mcp.Resource {
	if shelf == nil || shelf.Empty() {
		return nil
	}
	add := func(uri, name, title, description, mime string) mcp.Resource {
		r := mcp.NewResource(uri, name, mcp.WithMIMEType(mime), mcp.WithResourceDescription(description))
		r.Title = title
		return r
	}
	out := []mcp.Resource{
		add(bmadScheme+"config/current", "bmad/config", "BMAD configuration, without secrets", "", "application/json"),
		add(bmadScheme+"manifests/agents", "bmad/agents", "BMAD agents", "", "application/json"),
		add(bmadScheme+"manifests/tasks", "bmad/tasks", "BMAD tasks", "", "application/json"),
		add(bmadScheme+"manifests/workflows", "bmad/workflows", "BMAD workflows", "", "application/json"),
	}
	for _, i := range shelf.Catalog.Items() {
		if i.URI == "" {
			continue
		}
		out = append(out, add(i.URI, "bmad/"+string(i.Kind)+"/"+i.Full(), titleOf(i), aboutItem(i), catalog.MIMEType(i.Path)))
	}
	return out
}
