package catalog_test

import (
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
	"github.com/bmad-mcp/bmad-mcp/internal/method/methodtest"
)

const shop = methodtest.Shop

var (
	layouts = methodtest.Layouts
	at      = methodtest.Target

	layout      = methodtest.Layout
	with        = methodtest.With
	source      = methodtest.Source
	project     = methodtest.Project
	onDisk      = methodtest.OnDisk
	write       = methodtest.Write
	put         = methodtest.Put
	openSource  = methodtest.OpenSource
	find        = methodtest.Find
	resolveItem = methodtest.ResolveItem
	words       = methodtest.Words
	more        = methodtest.More
	read        = methodtest.Read
	follow      = methodtest.Follow
	asJSON      = methodtest.AsJSON
	wantFault   = methodtest.WantFault
	describe    = methodtest.Describe
	readable    = methodtest.Readable
)

// names returns the items of a kind with their modules.
func names(c *catalog.Catalog, kind catalog.Kind) string {
	var out []string
	for _, i := range c.Items(kind) {
		out = append(out, i.Full())
	}
	return strings.Join(out, ", ")
}

// problems returns the problems of a catalog, a line each.
func problems(c *catalog.Catalog) string {
	var out []string
	for _, p := range c.Problems() {
		out = append(out, p.Path+": "+p.Text)
	}
	return strings.Join(out, "\n")
}
