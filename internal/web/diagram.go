package web

import (
	"net/http"
)

// A diagram is drawn by Mermaid, which is code of others that reads text of others: in a frame
// without an origin, whose policy lets nothing in but the two scripts. The tag nomermaid leaves
// the drawing out of the program; the source of a diagram is shown in any case.

// handleDiagrams serves the frame and its scripts.
func handleDiagrams(mux *http.ServeMux) {
	for _, name := range []string{"frame.html", "frame.js", "mermaid.js"} {
		data, kind, packed := diagramFile(name)
		if data == nil {
			return
		}
		mux.HandleFunc("GET /diagram/"+name, func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Type", kind)
			h.Set("Content-Security-Policy", "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; script-src http://"+r.Host+"/diagram/")
			// The frame has no origin, so its scripts come from another one.
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
			h.Set("Cache-Control", "max-age=3600")
			if packed {
				h.Set("Content-Encoding", "gzip")
			}
			_, _ = w.Write(data) // an error means that the reader has gone
		})
	}
}
