package dashboard

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

//go:embed assets
var assets embed.FS

// asset is a file of the pages, packed for the network.
type asset struct {
	hash          string
	whole, packed []byte
	kind          string
}

// packedAssets are all assets by name. An address has the hash of the content, so that a browser
// keeps it for good.
var packedAssets = sync.OnceValue(func() map[string]asset {
	out := map[string]asset{}
	entries, err := assets.ReadDir("assets")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		data, err := fs.ReadFile(assets, "assets/"+e.Name())
		if err != nil {
			panic(err)
		}
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = z.Write(data) // a buffer takes everything
		_ = z.Close()
		out[e.Name()] = asset{workflow.Hash(data)[:12], data, packed.Bytes(), mime.TypeByExtension(path.Ext(e.Name()))}
	}
	return out
})

// assetPath is the address of an asset.
func assetPath(name string) (string, error) {
	a, ok := packedAssets()[name]
	if !ok {
		return "", fmt.Errorf("no asset %q", name)
	}
	return "/assets/" + a.hash + "/" + name, nil
}

func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, ok := packedAssets()[r.PathValue("name")]
	if !ok || a.hash != r.PathValue("hash") {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(a.packed) // an error means that the reader has gone
		return
	}
	_, _ = w.Write(a.whole)
}
