package methodtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
)

// Registry is a registry of npm on this machine.
type Registry struct {
	*httptest.Server
	mu sync.Mutex
	// tags, releases and archives are by the name of the package, and archives by their path.
	tags     map[string]map[string]string
	releases map[string]map[string]any
	archives map[string][]byte
	asked    []string
}

// StartRegistry starts an empty registry, which the caller closes.
func StartRegistry() *Registry {
	r := &Registry{tags: map[string]map[string]string{}, releases: map[string]map[string]any{}, archives: map[string][]byte{}}
	r.Server = httptest.NewServer(r)
	return r
}

// NewRegistry starts an empty registry, which ends with the test.
func NewRegistry(t testing.TB) *Registry {
	r := StartRegistry()
	t.Cleanup(r.Close)
	return r
}

// Publish adds a version of a package, or replaces it, and makes it the latest one.
func (r *Registry) Publish(name, version string, archive []byte) {
	r.PublishDist(name, version, archive, map[string]any{"integrity": Integrity(archive)})
}

// PublishDist is like Publish with other words about the archive than the true ones. Without a tarball it adds that.
func (r *Registry) PublishDist(name, version string, archive []byte, dist map[string]any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := "/" + name + "/-/" + path.Base(name) + "-" + version + ".tgz"
	if dist["tarball"] == nil {
		dist["tarball"] = r.URL + at
	}
	if r.releases[name] == nil {
		r.tags[name], r.releases[name] = map[string]string{}, map[string]any{}
	}
	r.tags[name]["latest"] = version
	r.releases[name][version] = map[string]any{"name": name, "version": version, "dist": dist}
	r.archives[at] = archive
}

// Tag gives a version of a package a name.
func (r *Registry) Tag(name, tag, version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tags[name][tag] = version
}

// Asked returns the paths that were asked for since the last call, as they were sent.
func (r *Registry) Asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.asked
	r.asked = nil
	return out
}

// ServeHTTP answers as a registry.
func (r *Registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, request.URL.EscapedPath())
	if archive, ok := r.archives[request.URL.Path]; ok {
		_, _ = w.Write(archive)
		return
	}
	name, err := url.PathUnescape(strings.TrimPrefix(request.URL.EscapedPath(), "/"))
	if err != nil || r.releases[name] == nil {
		http.Error(w, `{"error":"not found"}`, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.npm.install-v1+json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "dist-tags": r.tags[name], "versions": r.releases[name]})
}

// Integrity returns the hash of an archive as a registry names it.
func Integrity(archive []byte) string {
	sum := sha512.Sum512(archive)
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Pack returns the archive of a package with some files, below the folder package.
func Pack(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var entries []Entry
	for name, text := range files {
		entries = append(entries, Entry{Header: tar.Header{Name: "package/" + name, Mode: 0o755, Size: int64(len(text))}, Text: text})
	}
	return PackEntries(t, entries...)
}

// Entry is an entry of an archive, as it is.
type Entry struct {
	tar.Header
	Text string
}

// PackEntries returns an archive of entries.
func PackEntries(t testing.TB, entries ...Entry) []byte {
	t.Helper()
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	w := tar.NewWriter(compressed)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.Text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}
