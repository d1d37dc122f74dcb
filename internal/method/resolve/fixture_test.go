package resolve_test

import (
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
