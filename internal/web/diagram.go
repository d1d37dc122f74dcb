package web

import (
	"net/http"
)

// Mermaid, foreign code, draws diagrams from foreign text: in a frame without an origin, whose policy allows
// nothing but the two scripts. The build tag nomermaid leaves Mermaid out of the program; the source of a
// diagram is shown in any case.

// handleDiagrams serves the frame and the scripts in it.
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
			// The frame has no origin, so the scripts come from another one.
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
			h.Set("Cache-Control", "max-age=3600")
			if packed {
				h.Set("Content-Encoding", "gzip")
			}
			_, _ = w.Write(data) // the reader may have gone
		})
	}
}
