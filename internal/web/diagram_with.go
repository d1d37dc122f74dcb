//go:build !nomermaid

package web

import _ "embed"

// Of @mermaid-js/tiny 12.0.0 (MIT), dist/mermaid.tiny.js as published, packed by gzip.
//
//go:embed diagram/mermaid.tiny.js.gz
var mermaid []byte

//go:embed diagram/frame.html
var diagramFrame []byte

//go:embed diagram/frame.js
var diagramScript []byte

// drawsDiagrams reports whether the program was built with Mermaid.
const drawsDiagrams = true

// diagramFile returns a file of the frame.
func diagramFile(name string) (data []byte, kind string, packed bool) {
	switch name {
	case "frame.html":
		return diagramFrame, "text/html; charset=utf-8", false
	case "frame.js":
		return diagramScript, "text/javascript; charset=utf-8", false
	}
	return mermaid, "text/javascript; charset=utf-8", true
}
