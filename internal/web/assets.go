package web

import (
	"bytes"
	"compress/gzip"
	"embed"
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
	whole, packed []byte
	kind          string
}

// assetSet are all assets. Each address has the hash of all contents, so browsers can cache the files for
// good, and scripts import each other by plain name.
type assetSet struct {
	hash   string
	byName map[string]asset
}

// joined are the scripts sent as one with another, which they use: one request fewer.
var joined = map[string]string{"review.js": "words.js", "run.js": "words.js"}

var packedAssets = sync.OnceValue(func() assetSet {
	out := assetSet{byName: map[string]asset{}}
	var hashes []byte
	entries, err := assets.ReadDir("assets")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		data := readAsset(e.Name())
		if other := joined[e.Name()]; other != "" {
			data = append(readAsset(other), data...)
		}
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = z.Write(data) // a buffer takes everything
		_ = z.Close()
		hashes = append(hashes, workflow.Hash(data)...)
		out.byName[e.Name()] = asset{data, packed.Bytes(), mime.TypeByExtension(path.Ext(e.Name()))}
	}
	out.hash = workflow.Hash(hashes)[:12]
	return out
})

func readAsset(name string) []byte {
	data, err := fs.ReadFile(assets, "assets/"+name)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return data
}

// assetPath returns the address of an asset.
func assetPath(name string) string { return "/assets/" + packedAssets().hash + "/" + name }

func serveAsset(w http.ResponseWriter, r *http.Request) {
	all := packedAssets()
	a, ok := all.byName[r.PathValue("name")]
	if !ok || all.hash != r.PathValue("hash") {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(a.packed) // the reader may have gone
		return
	}
	_, _ = w.Write(a.whole)
}
