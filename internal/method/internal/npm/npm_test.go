package npm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/method/internal/npm"
	"github.com/bmad-mcp/bmad-mcp/internal/method/methodtest"
)

// fetch returns the files of a package, or the error of the first step that failed.
func fetch(t *testing.T, address, name, wanted string) (string, error) {
	t.Helper()
	registry, err := npm.Open(address)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	release, err := registry.Find(ctx, name, wanted)
	if err != nil {
		return "", err
	}
	archive, err := registry.Download(ctx, release)
	if err != nil {
		return "", err
	}
	got, err := unpack(t, archive)
	return release.Version + " " + got, err
}

// unpack returns the names of the files in an archive, each with the permissions.
func unpack(t *testing.T, archive []byte) (string, error) {
	t.Helper()
	folder := t.TempDir()
	dir, err := durable.OpenDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	if err := npm.Unpack(t.Context(), archive, dir, 1000); err != nil {
		return "", err
	}
	var out []string
	err = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		rel, _ := filepath.Rel(folder, name)
		out = append(out, fmt.Sprint(filepath.ToSlash(rel), " ", info.Mode()&0o111))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, ", "), nil
}

var files = map[string]string{"package.json": `{"scripts": {"postinstall": "touch /tmp/ran"}}`, "agents/po.md": "po"}

const fetched = "agents/po.md ----------, package.json ----------"

func TestFetch(t *testing.T) {
	archive := methodtest.Pack(t, files)
	sum := func(sum []byte) string { return base64.StdEncoding.EncodeToString(sum) }
	weak, strong := sha1.Sum(archive), sha256.Sum256(archive)
	right, wrong := methodtest.Integrity(archive), methodtest.Integrity([]byte("other"))
	elsewhere := methodtest.NewRegistry(t)
	elsewhere.Publish("kit", "1.2.3", archive)
	for name, c := range map[string]struct {
		dist   map[string]any
		wanted string
		want   string // the error if it does not begin with the version
	}{
		"an exact version":          {nil, "1.2.3", "1.2.3 " + fetched},
		"a tag":                     {nil, "latest", "1.2.3 " + fetched},
		"two good hashes":           {map[string]any{"integrity": "sha256-" + sum(strong[:]) + " " + right}, "1.2.3", "1.2.3 " + fetched},
		"a hash with an option":     {map[string]any{"integrity": right + "?x=y"}, "1.2.3", "1.2.3 " + fetched},
		"a weak hash beside":        {map[string]any{"integrity": "sha1-AAAA " + right}, "1.2.3", "1.2.3 " + fetched},
		"a wrong hash":              {map[string]any{"integrity": wrong}, "1.2.3", "does not have the hash"},
		"two, of which one is bad":  {map[string]any{"integrity": right + " sha256-" + sum(weak[:])}, "1.2.3", "does not have the hash"},
		"two, of one kind":          {map[string]any{"integrity": right + " " + wrong}, "1.2.3", "does not have the hash"},
		"a malformed hash":          {map[string]any{"integrity": "sha512-%%%"}, "1.2.3", "does not have the hash"},
		"half a hash":               {map[string]any{"integrity": right[:20]}, "1.2.3", "does not have the hash"},
		"no hash":                   {map[string]any{"x": 1}, "1.2.3", "names no hash"},
		"a weak hash alone":         {map[string]any{"shasum": fmt.Sprintf("%x", weak), "integrity": "sha1-" + sum(weak[:])}, "1.2.3", "names no hash"},
		"a hash that is no text":    {map[string]any{"integrity": 1}, "1.2.3", "something else than a package"},
		"an archive elsewhere":      {map[string]any{"integrity": right, "tarball": elsewhere.URL + "/kit/-/kit-1.2.3.tgz"}, "1.2.3", "not on the same host"},
		"an archive on disk":        {map[string]any{"integrity": right, "tarball": "file:///etc/passwd"}, "1.2.3", "not on the same host"},
		"an archive without a host": {map[string]any{"integrity": right, "tarball": "/kit/-/kit-1.2.3.tgz"}, "1.2.3", "not on the same host"},
		"no archive":                {map[string]any{"integrity": right, "tarball": ""}, "1.2.3", "not on the same host"},
		"a missing archive":         {map[string]any{"integrity": right, "tarball": "self/gone.tgz"}, "1.2.3", "HTTP 404"},
		"a login for the archive":   {map[string]any{"integrity": right, "tarball": "login/kit/-/kit-1.2.3.tgz"}, "1.2.3", "not on the same host"},
		"a near version":            {nil, "1.2.4", "has no version 1.2.4"},
		"no such tag":               {nil, "latst", "has no version latst"},
	} {
		t.Run(name, func(t *testing.T) {
			r := methodtest.NewRegistry(t)
			if c.dist == nil {
				c.dist = map[string]any{"integrity": right}
			}
			if at, ok := c.dist["tarball"].(string); ok {
				at = strings.Replace(at, "self", r.URL, 1)
				c.dist["tarball"] = strings.Replace(at, "login", strings.Replace(r.URL, "//", "//me:secret@", 1), 1)
			}
			r.PublishDist("@scope/kit", "1.2.3", archive, c.dist)
			got, err := fetch(t, r.URL+"/", "@scope/kit", c.wanted)
			if strings.HasPrefix(c.want, "1.2.3") {
				if err != nil || got != c.want {
					t.Errorf("got %q, %v, want %q", got, err, c.want)
				}
				if asked := r.Asked(); asked[0] != "/@scope%2fkit" {
					t.Errorf("asked for %q", asked)
				}
				return
			}
			checkRefusal(t, err, c.want)
		})
	}
	r := methodtest.NewRegistry(t)
	r.Publish("kit", "6.0.1", archive)
	if _, err := fetch(t, r.URL, "kit", "6.0.10"); !slices.Equal(fault.From(err).Suggestions, []string{"6.0.1"}) {
		t.Errorf("got the suggestions %q", fault.From(err).Suggestions)
	}
	r.Tag("kit", "latest", "../../6.0.1")
	if _, err := fetch(t, r.URL, "kit", "latest"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a tag that leads out: %v", err)
	}
}

func checkRefusal(t *testing.T, err error, want string) {
	t.Helper()
	isControl := func(r rune) bool { return r < ' ' }
	isRefusal := fault.Is(err, fault.NotFound) && fault.From(err).Hint != ""
	if !isRefusal || !strings.Contains(err.Error(), want) || strings.ContainsFunc(err.Error(), isControl) {
		t.Errorf("got %v (%s), want a refusal with %q", err, fault.From(err).Advice(), want)
	}
}

// TestManyVersions: an answer with as many versions as fit into it costs little more than the answer.
func TestManyVersions(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"versions":{"1.2.2":{"dist":{}},`)
	for n := range 2_200_000 {
		fmt.Fprintf(&b, `"%x":{},`, n)
	}
	for n := range 2000 {
		fmt.Fprintf(&b, `"2.0.%d":{"dist":[]},`, n)
	}
	b.WriteString(`"1.2.3":{"dist":{"tarball":"TARBALL"}}},"dist-tags":{"next":3,"latest":"1.2.3"}}`)
	text := b.String()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Replace(text, "TARBALL", "http://"+r.Host+"/x.tgz", 1))
	}))
	t.Cleanup(server.Close)
	registry, err := npm.Open(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for wanted, want := range map[string]string{"1.2.3": "1.2.3", "latest": "1.2.3", "2.0.2000": "", "lates": "", "next": ""} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		release, err := registry.Find(t.Context(), "kit", wanted)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		used := (after.TotalAlloc - before.TotalAlloc) >> 20
		t.Logf("%s: %v, %d MB", wanted, took, used)
		if release.Version != want || (err == nil) != (want != "") || used > 400 || took > 10*time.Second { // the machine may be busy
			t.Errorf("%s: %q, %v in %v, %d MB", wanted, release.Version, err, took, used)
		}
		if wanted == "2.0.2000" && !slices.Contains(fault.From(err).Suggestions, "2.0.1001") { // of the last 1,000
			t.Errorf("got the suggestions %q", fault.From(err).Suggestions)
		}
	}
}

// TestRegistries has registries that answer otherwise than they should.
func TestRegistries(t *testing.T) {
	elsewhere := methodtest.NewRegistry(t)
	elsewhere.Publish("kit", "1.2.3", methodtest.Pack(t, files))
	safe := httptest.NewTLSServer(elsewhere)
	t.Cleanup(safe.Close)
	to := func(address string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, http.StatusFound) }
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"no such package":               {status(404), "HTTP 404"},
		"a login is needed":             {status(401), "HTTP 401"},
		"forbidden":                     {status(403), "HTTP 403"},
		"too many questions":            {status(429), "HTTP 429"},
		"broken":                        {status(500), "HTTP 500"},
		"unavailable":                   {status(503), "HTTP 503"},
		"nothing":                       {status(204), "HTTP 204"},
		"a page":                        {says("<html>log in here</html>"), "something else than a package"},
		"an empty answer":               {says(""), "something else than a package"},
		"a list":                        {says("[]"), "something else than a package"},
		"something after it":            {says(`{"versions":{}} x`), "something else than a package"},
		"cut in the versions":           {says(`{"versions":{"1.2.3":{`), "something else than a package"},
		"a list of versions":            {says(`{"versions":["1.2.3"]}`), "something else than a package"},
		"a version that is a text":      {says(`{"versions":{"1.2.3":"x"}}`), "something else than a package"},
		"a tag that is a number":        {says(`{"dist-tags":{"latest":1,"1.2.3":1},"versions":{}}`), "has no version"},
		"null":                          {says("null"), "has no version"},
		"an unpublished package":        {says(`{"name":"kit","time":{"unpublished":{"versions":["1.2.3"]}}}`), "has no version"},
		"versions that are no versions": {says(`{"dist-tags":{"latest":"../x"},"versions":{"../x":{"dist":{}}}}`), "has no version"},
		"an answer without end": {func(w http.ResponseWriter, _ *http.Request) {
			for part := bytes.Repeat([]byte(" "), 1<<20); ; {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		}, "at most 33554432"},
		"a cut answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "{")
		}, "unexpected EOF"},
		"to another port":      {to(elsewhere.URL + "/kit"), "sends on to"},
		"to a private address": {to("https://10.0.0.1/kit"), "sends on to"},
		"to a cloud's own":     {to("https://169.254.169.254/kit"), "sends on to"},
		"to a private one, v6": {to("https://[fd00::1]/kit"), "sends on to"},
		"to one of carriers":   {to("https://100.64.0.1/kit"), "sends on to"},
		"to IPv4 by v6":        {to("https://[64:ff9b::a00:1]/kit"), "sends on to"},
		"to one mapped to v6":  {to("https://[::ffff:10.0.0.1]/kit"), "sends on to"},
		"to this machine":      {to(safe.URL + "/kit"), "sends on to"},
		"to a name of it":      {to("https://localhost/kit"), "sends on to"},
		"to http":              {to("http://example.org/kit"), "sends on to"},
		"to a file":            {to("file:///etc/passwd"), "sends on to"},
		"with a login":         {to("https://me:secret@example.org/kit"), "sends on to"},
		"round and round":      {to("/kit"), "sends on to"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.answer)
			defer server.Close()
			_, err := fetch(t, server.URL, "kit", "1.2.3")
			checkRefusal(t, err, c.want)
			if strings.Contains(fmt.Sprint(err, fault.From(err).Advice()), "secret") {
				t.Errorf("it names a secret: %v", err)
			}
		})
	}
	t.Run("it hangs", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		defer server.Close()
		ctx, cancel := context.WithCancel(t.Context())
		registry, _ := npm.Open(server.URL)
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := registry.Find(ctx, "kit", "latest"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	server := httptest.NewServer(elsewhere)
	server.Close()
	_, err := fetch(t, server.URL, "kit", "1.2.3")
	checkRefusal(t, err, "refused")
}

func TestOpen(t *testing.T) {
	for address, want := range map[string]bool{
		"": true, "https://registry.example.org": true, "https://example.org/npm/": true, "https://example.org:8443": true, "https://10.0.0.1": true,
		"http://127.0.0.1:4873": true, "http://localhost:4873/": true, "http://[::1]:4873": true,
		"http://registry.example.org": false, "http://10.0.0.1": false, "http://localhost.example.org": false, "https://": false, "https://:443": false,
		"https://me:secret@example.org": false, "https://token@example.org": false, "https://example.org/?a=b": false, "https://example.org/#a": false,
		"registry.example.org": false, "file:///srv/npm": false, "%": false, "https://exa mple.org": false,
	} {
		_, err := npm.Open(address)
		if (err == nil) != want || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%q: got %v", address, err)
		}
	}
}

// deep returns a file in 200 folders of a name.
func deep(folder string) methodtest.Entry {
	return entry("package/" + strings.Repeat(folder, 200) + "1")
}

// entry returns a file of an archive, or with a kind something else.
func entry(name string, change ...func(h *tar.Header)) methodtest.Entry {
	e := methodtest.Entry{Header: tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o777}}
	for _, f := range change {
		f(&e.Header)
	}
	return e
}

func kind(flag byte, to string) func(*tar.Header) {
	return func(h *tar.Header) { h.Typeflag, h.Linkname = flag, to }
}

// TestUnpack has one bad entry after a good one, or two that do not go together.
func TestUnpack(t *testing.T) {
	folder := kind(tar.TypeDir, "")
	for name, c := range map[string]struct {
		entries []methodtest.Entry
		want    string // the files, or after ! the refusal
	}{
		"files":                   {[]methodtest.Entry{entry("package/a"), entry("package/b/c")}, "a ----------, b/c ----------"},
		"folders":                 {[]methodtest.Entry{entry("package/", folder), entry("package/b/", folder), entry("package/b", folder), entry("package/b/c")}, "b/c ----------"},
		"a folder after its file": {[]methodtest.Entry{entry("package/b/c"), entry("package/b/", folder)}, "b/c ----------"},
		"another folder around":   {[]methodtest.Entry{entry("kit-1.2.3/a")}, "a ----------"},
		"odd but good names": {
			[]methodtest.Entry{entry("package/é/日本 (1) [x].md"), entry("package/..a"), entry("package/console")},
			"..a ----------, console ----------, é/日本 (1) [x].md ----------",
		},
		"the commit of git archive": {
			[]methodtest.Entry{{Header: tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "abc"}}}, entry("package/a")},
			"a ----------",
		},
		"nothing":                    {nil, "!no files"},
		"only a folder":              {[]methodtest.Entry{entry("package/", folder)}, "!no files"},
		"two folders around":         {[]methodtest.Entry{entry("package/a"), entry("other/b")}, "!in one folder"},
		"no folder around":           {[]methodtest.Entry{entry("a")}, "!in one folder"},
		"a file beside":              {[]methodtest.Entry{entry("package/a"), entry("b")}, "!in one folder"},
		"out of it":                  {[]methodtest.Entry{entry("package/../../x")}, "!in one folder"},
		"out of it at once":          {[]methodtest.Entry{entry("../x")}, "!in one folder"},
		"absolute":                   {[]methodtest.Entry{entry("/etc/x")}, "!in one folder"},
		"absolute behind":            {[]methodtest.Entry{entry("package//etc/x")}, "!in one folder"},
		"a point":                    {[]methodtest.Entry{entry("package/./x")}, "!in one folder"},
		"a link":                     {[]methodtest.Entry{entry("package/x", kind(tar.TypeSymlink, "/etc/passwd"))}, "!not a plain file"},
		"a link inside":              {[]methodtest.Entry{entry("package/a"), entry("package/x", kind(tar.TypeSymlink, "a"))}, "!not a plain file"},
		"a hard link":                {[]methodtest.Entry{entry("package/a"), entry("package/x", kind(tar.TypeLink, "package/a"))}, "!not a plain file"},
		"a device":                   {[]methodtest.Entry{entry("package/x", kind(tar.TypeChar, ""))}, "!not a plain file"},
		"a block device":             {[]methodtest.Entry{entry("package/x", kind(tar.TypeBlock, ""))}, "!not a plain file"},
		"a pipe":                     {[]methodtest.Entry{entry("package/x", kind(tar.TypeFifo, ""))}, "!not a plain file"},
		"an unknown kind":            {[]methodtest.Entry{entry("package/x", kind('7', ""))}, "!not a plain file"},
		"the same twice":             {[]methodtest.Entry{entry("package/a"), entry("package/a")}, "!one name"},
		"capitals":                   {[]methodtest.Entry{entry("package/a"), entry("package/A")}, "!one name"},
		"capitals of a folder":       {[]methodtest.Entry{entry("package/a/b"), entry("package/A/c")}, "!one name"},
		"two forms of Unicode":       {[]methodtest.Entry{entry("package/\u00e9"), entry("package/e\u0301")}, "!one name"},
		"the sign of kelvin":         {[]methodtest.Entry{entry("package/k"), entry("package/\u212a")}, "!one name"},
		"a file where a folder is":   {[]methodtest.Entry{entry("package/a/b"), entry("package/a")}, "!one name"},
		"a folder where a file is":   {[]methodtest.Entry{entry("package/a"), entry("package/a/b")}, "!one name"},
		"a folder made of a file":    {[]methodtest.Entry{entry("package/a"), entry("package/a/", folder)}, "!one name"},
		"a long name":                {[]methodtest.Entry{entry("package/" + strings.Repeat("x/", 2500) + "x")}, "!in one folder"},
		"a long part":                {[]methodtest.Entry{entry("package/" + strings.Repeat("x", 256))}, "!in one folder"},
		"a control character":        {[]methodtest.Entry{entry("package/a\n")}, "!in one folder"},
		"a hidden mark":              {[]methodtest.Entry{entry("package/a\u202eb")}, "!in one folder"},
		"no Unicode":                 {[]methodtest.Entry{entry("package/\xff")}, "!in one folder"},
		"a backslash":                {[]methodtest.Entry{entry(`package/..\x`)}, "!in one folder"},
		"a drive":                    {[]methodtest.Entry{entry("package/C:x")}, "!in one folder"},
		"a device of Windows":        {[]methodtest.Entry{entry("package/aux.md")}, "!in one folder"},
		"another":                    {[]methodtest.Entry{entry("package/COM1")}, "!in one folder"},
		"one as a folder":            {[]methodtest.Entry{entry("package/nul/x")}, "!in one folder"},
		"a point at the end":         {[]methodtest.Entry{entry("package/a.")}, "!in one folder"},
		"a space at the end":         {[]methodtest.Entry{entry("package/a /x")}, "!in one folder"},
		"a folder of git":            {[]methodtest.Entry{entry("package/.Git/hooks/post-checkout")}, "!in one folder"},
		"a thousand and one":         {manyEntries(1001), "!more than 1000 files"},
		"more folders than are read": {[]methodtest.Entry{deep("x/"), deep("y/"), deep("z/"), deep("v/"), deep("w/")}, "!more than 1000 files"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := unpack(t, methodtest.PackEntries(t, c.entries...))
			if want, isBad := strings.CutPrefix(c.want, "!"); isBad {
				checkRefusal(t, err, want)
			} else if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func manyEntries(n int) (out []methodtest.Entry) {
	for i := range n {
		out = append(out, entry(fmt.Sprint("package/", i)))
	}
	return out
}

// compress returns a gzip of parts.
func compress(t *testing.T, parts ...io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if _, err := io.Copy(w, io.MultiReader(parts...)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// rawEntry is an entry as it is in an archive, whatever the library thinks of it.
func rawEntry(t *testing.T, kind byte, size int64, body string) io.Reader {
	t.Helper()
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Name: "package/x", Typeflag: tar.TypeReg, Format: tar.FormatGNU}); err != nil {
		t.Fatal(err)
	}
	block := out.Bytes()
	block[156] = kind
	copy(block[124:136], fmt.Sprintf("%011o\x00", size))
	if size < 0 {
		copy(block[124:136], bytes.Repeat([]byte{0xff}, 12))
	}
	copy(block[148:156], "        ")
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:156], fmt.Sprintf("%06o\x00 ", sum))
	padding := make([]byte, (512-len(body)%512)%512)
	return io.MultiReader(bytes.NewReader(block), strings.NewReader(body), bytes.NewReader(padding))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestDamaged has archives that the library does not write.
func TestDamaged(t *testing.T) {
	whole := methodtest.Pack(t, files)
	end := func() io.Reader { return bytes.NewReader(make([]byte, 1024)) }
	big := bytes.Repeat([]byte("x"), 10<<20)
	file := func(size int) io.Reader { return rawEntry(t, tar.TypeReg, int64(size), "") }
	// record is a file with a header of POSIX.
	record := func(texts ...string) io.Reader {
		body := ""
		for _, text := range texts {
			size := len(text) + 2
			for size < len(text)+2+len(fmt.Sprint(size)) {
				size++
			}
			body += fmt.Sprintf("%d %s\n", size, text)
		}
		return io.MultiReader(rawEntry(t, tar.TypeXHeader, int64(len(body)), body), file(0), end())
	}
	for name, c := range map[string]struct {
		archive []byte
		want    string
	}{
		"nothing":               {nil, "damaged"},
		"a page":                {[]byte("<html>"), "damaged"},
		"a tar without gzip":    {bytes.Repeat([]byte{0}, 1024), "damaged"},
		"half of it":            {whole[:len(whole)/2], "damaged"},
		"without the checksum":  {whole[:len(whole)-8], "damaged"},
		"a wrong checksum":      {append(bytes.Clone(whole[:len(whole)-8]), 1, 2, 3, 4, 5, 6, 7, 8), "damaged"},
		"something after it":    {append(bytes.Clone(whole), "rubbish"...), "something follows"},
		"zeros after it":        {append(bytes.Clone(whole), 0), "something follows"},
		"two of them":           {append(bytes.Clone(whole), whole...), "something follows"},
		"many zeros":            {compress(t, io.LimitReader(zeros{}, 80<<20)), "more than 64 MB"},
		"a file too large":      {compress(t, file(80<<20), io.LimitReader(zeros{}, 80<<20)), "more than 64 MB"},
		"one that claims to be": {compress(t, file(1<<32)), "damaged"},
		"zeros after the files": {compress(t, file(0), io.LimitReader(zeros{}, 80<<20)), "more than 64 MB"},
		"a long PAX header":     {compress(t, record("X.y="+string(big[:900_000]))), ""},
		"too long a PAX header": {compress(t, record("X.y="+string(big))), "damaged"},
		"a hole":                {compress(t, record("GNU.sparse.numblocks=1", "GNU.sparse.size=10000000000", "GNU.sparse.map=10000000000,0")), "not a plain file"},
		"a hole of GNU":         {compress(t, rawEntry(t, tar.TypeGNUSparse, 0, ""), end()), "not a plain file"},
		"a negative size":       {compress(t, file(-1), end()), "damaged"},
		"a hole, newer":         {compress(t, record("GNU.sparse.major=0")), "not a plain file"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := unpack(t, c.archive)
			if c.want == "" {
				if err != nil || got != "x ----------" {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			checkRefusal(t, err, c.want)
		})
	}
}

// TestDiskIsTold: an error of this disk is not one of the archive.
func TestDiskIsTold(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "agents"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := durable.OpenDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	if err := npm.Unpack(t.Context(), methodtest.Pack(t, files), dir, 10); fault.From(err).Code != fault.Storage {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := npm.Unpack(ctx, methodtest.Pack(t, files), dir, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	var plain bytes.Buffer
	content, err := gzip.NewReader(bytes.NewReader(methodtest.Pack(f, files)))
	if err != nil {
		f.Fatal(err)
	}
	_, _ = plain.ReadFrom(content)
	f.Add(plain.Bytes())
	f.Fuzz(func(t *testing.T, archive []byte) {
		around := t.TempDir()
		inside := filepath.Join(around, "in")
		if err := os.Mkdir(inside, 0o700); err != nil {
			t.Fatal(err)
		}
		dir, err := durable.OpenDir(inside)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = dir.Close() }()
		err = npm.Unpack(t.Context(), compress(t, bytes.NewReader(archive)), dir, 100)
		if err != nil && !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v", err)
		}
		if entries, err := os.ReadDir(around); err != nil || len(entries) != 1 {
			t.Errorf("outside: %v, %v", entries, err)
		}
		err = filepath.WalkDir(inside, func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !e.Type().IsRegular() {
				t.Errorf("%s is %s", name, e.Type())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
