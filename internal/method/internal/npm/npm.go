// Package npm fetches packages from a registry of npm, as files and nothing more: no script of a package is run, no
// dependency fetched, no token sent. Nothing is unpacked before all hashes that the registry names agree.
package npm

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// The bounds on an answer of a registry, on an unpacked package and on the name of a file in it, in bytes.
const (
	maxAnswer = 32 << 20
	maxBytes  = 64 << 20
	maxName   = 500
	// maxKnown bounds the names for suggestions.
	maxKnown = 1000
)

// The forms of a package's name, of an exact version, and of a tag, which is a name for a version. A range of versions
// is none of them.
var (
	NameForm    = pattern.New(`^(?:@[a-z0-9_~-][a-z0-9._~-]{0,99}/)?[a-z0-9][a-z0-9._~-]{0,99}$`)
	VersionForm = pattern.New(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,18}(?:-[0-9A-Za-z-]{1,50}(?:\.[0-9A-Za-z-]{1,50}){0,4})?$`)
	TagForm     = pattern.New(`^(?:[A-UWYZa-uwyz]|[VvXx][0-9._VvXx-]{0,20}[A-UWYZa-uwyz])[0-9A-Za-z._-]{0,99}$`)
)

// Registry serves packages.
type Registry struct{ base *url.URL }

// Open returns the registry at an address; "" is the public one. Nothing is asked yet.
func Open(address string) (*Registry, error) {
	base, err := url.Parse(strings.TrimRight(cmp.Or(address, "https://registry.npmjs.org"), "/"))
	if err == nil && base.Hostname() != "" && base.User == nil && base.RawQuery+base.Fragment == "" {
		if isLocal := base.Scheme == "http" && httpguard.Loopback(base.Host); isLocal || base.Scheme == "https" {
			return &Registry{base}, nil
		}
	}
	return nil, fault.New(fault.InvalidArgument, "npm_config_registry is not the address of a registry that can be asked").
		WithHint("set it to an address that begins with https://, without a login, query or fragment, or remove it from the environment")
}

// Release is one version of a package, with the address of an archive and the hashes that it has to have.
type Release struct{ Version, archive, integrity string }

// ID names the release and its bytes: the version, a hyphen and 64 hexadecimal digits.
func (r Release) ID() string {
	return fmt.Sprintf("%s-%x", r.Version, sha256.Sum256([]byte(r.integrity)))
}

// VersionIn returns the version in the ID of a release.
func VersionIn(id string) string { return id[:max(0, len(id)-65)] }

// Find asks for the release of a package with a version, or with a tag.
func (r *Registry) Find(ctx context.Context, name, wanted string) (Release, error) {
	text, err := r.getAnswer(ctx, r.base.String()+"/"+strings.Replace(name, "/", "%2f", 1))
	if err != nil {
		return Release{}, err
	}
	about, err := readPackage(text, wanted)
	if err != nil {
		return Release{}, r.explainFailure(lang.Errorf("it answered with something else than a package"))
	}
	version, found := about.version, about.release
	if found == nil || !VersionForm.MatchString(version) {
		return Release{}, fault.New(fault.NotFound, "the package %s has no version %s", name, wanted).
			WithHint("the registry %s has %d versions of it; one that is missing was taken back, or never published", r.base.Host, about.count).
			Suggest(wanted, slices.Concat(about.versions, about.tags))
	}
	if at, err := url.Parse(found.Dist.Tarball); err != nil || !r.isOwn(at) {
		return Release{}, r.explainFailure(lang.Errorf("the archive of version %s is not on the same host", version))
	}
	return Release{version, found.Dist.Tarball, found.Dist.Integrity}, nil
}

// about is the answer on a package: the version wanted, with the release or nil, how many versions there are, and the
// last names of versions and tags, at most maxKnown of each.
type about struct {
	version string
	release *struct {
		Dist struct{ Integrity, Tarball string }
	}
	count          int
	versions, tags []string
}

// readPackage reads an answer by tokens, because it may have millions of versions.
func readPackage(text []byte, wanted string) (a about, err error) {
	if VersionForm.MatchString(wanted) {
		a.version = wanted
	}
	keep := func(list []string, name string, form *pattern.Pattern) []string {
		if !form.MatchString(name) {
			return list
		}
		list = append(list, name)
		return list[max(0, len(list)-maxKnown):]
	}
	err = eachMember(text, "dist-tags", func(name string, d *jsontext.Decoder) error {
		if a.tags = keep(a.tags, name, TagForm); name != wanted || a.version == wanted {
			return d.SkipValue()
		}
		return readInto(d, &a.version)
	})
	if err != nil {
		return a, err
	}
	return a, eachMember(text, "versions", func(name string, d *jsontext.Decoder) error {
		a.count++
		if a.versions = keep(a.versions, name, VersionForm); name != a.version {
			return d.SkipValue()
		}
		return readInto(d, &a.release)
	})
}

func readInto(d *jsontext.Decoder, target any) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	return json.Unmarshal(value, target)
}

// eachMember visits the members of the object at a key of a text. visit takes the value of each.
func eachMember(text []byte, key string, visit func(name string, d *jsontext.Decoder) error) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := walkObject(d, func(name string) error {
		if name != key {
			return d.SkipValue()
		}
		return walkObject(d, func(name string) error { return visit(name, d) })
	})
	if err == nil {
		if _, err = d.ReadToken(); err == nil {
			err = errors.New("something follows")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	return err
}

// walkObject visits the members of the next value, an object or null.
func walkObject(d *jsontext.Decoder, visit func(name string) error) error {
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return err
	case token.Kind() == 'n':
		return nil
	case token.Kind() != '{':
		return errors.New("an object is missing")
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err == nil {
			err = visit(name.String())
		}
		if err != nil {
			return err
		}
	}
	_, err = d.ReadToken()
	return err
}

// Download returns the archive of a release, which has all the hashes.
func (r *Registry) Download(ctx context.Context, release Release) ([]byte, error) {
	archive, err := r.getAnswer(ctx, release.archive)
	if err != nil {
		return nil, err
	}
	sha512, sha384, sha256 := sha512.Sum512(archive), sha512.Sum384(archive), sha256.Sum256(archive)
	sums := map[string][]byte{"sha512": sha512[:], "sha384": sha384[:], "sha256": sha256[:]}
	agreed := 0
	for field := range strings.FieldsSeq(release.integrity) { // by Subresource Integrity
		kind, digest, _ := strings.Cut(field, "-")
		digest, _, _ = strings.Cut(digest, "?")
		switch sum := sums[kind]; {
		case sum == nil: // a weak one does not count
		case digest != base64.StdEncoding.EncodeToString(sum):
			return nil, fault.New(fault.NotFound, "the archive of version %s does not have the hash that the registry %s names", release.Version, r.base.Host).
				WithHint("it was changed on the way or in the registry: do not use it, and tell the author of the package")
		default:
			agreed++
		}
	}
	if agreed == 0 {
		return nil, fault.New(fault.NotFound, "the registry %s names no hash of version %s by sha512, sha384 or sha256", r.base.Host, release.Version).
			WithHint("take a version that was published later, or the git repository of the package")
	}
	return archive, nil
}

// getAnswer returns an answer of the registry, byte for byte.
func (r *Registry) getAnswer(ctx context.Context, address string) (data []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fault.Unexpected(err) // the address was read before
	}
	request.Header = http.Header{"Accept": {"application/vnd.npm.install-v1+json, */*"}, "Accept-Encoding": {"identity"}} // archives are not decompressed
	answer, err := (&http.Client{CheckRedirect: r.checkRedirect}).Do(request)
	if err == nil {
		defer func() { _ = answer.Body.Close() }() // it was only read
		data, err = durable.ReadStream(answer.Body, "the answer", maxAnswer)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		err = httpguard.WithoutAddress(err) // it may be an address made for this call alone
	case answer.StatusCode != http.StatusOK:
		err = lang.Errorf("it answered with HTTP %d", answer.StatusCode)
	default:
		return data, nil
	}
	return nil, r.explainFailure(err)
}

// explainFailure returns the error for a registry without a package to use.
func (r *Registry) explainFailure(err error) error {
	return fault.New(fault.NotFound, "the registry %s did not give the package: %w", r.base.Host, err).
		WithHint("check the name and the network, and HTTPS_PROXY and npm_config_registry where they are needed; no token is sent, so that " +
			"packages that take a login cannot be fetched; after HTTP 429 or 5xx update it again later")
}

// isOwn reports whether an address is on the host of the registry, by the same protocol.
func (r *Registry) isOwn(at *url.URL) bool {
	host := func(u *url.URL) string { return strings.TrimSuffix(strings.ToLower(u.Host), ":443") }
	return at.Scheme == r.base.Scheme && host(at) == host(r.base) && at.User == nil
}

// checkRedirect follows the registry on its own host, and by https to hosts of the public network. It asks for the
// addresses itself, because a connection by a proxy does not show them; a name that only the proxy can resolve is followed.
func (r *Registry) checkRedirect(next *http.Request, before []*http.Request) error {
	isSafe := r.isOwn(next.URL)
	if !isSafe && next.URL.Scheme == "https" && next.URL.User == nil {
		found, _ := net.DefaultResolver.LookupNetIP(next.Context(), "ip", next.URL.Hostname())
		isSafe = !slices.ContainsFunc(found, func(at netip.Addr) bool { return !httpguard.IsPublic(at) })
	}
	if isSafe && len(before) <= 5 {
		return nil
	}
	return lang.Errorf("it sends on to %q, and only a few steps by https to public addresses are followed", next.URL.Host)
}

// Unpack writes the files of an archive into an empty folder, without the folder around them and without permissions:
// plain files and folders with names that mean the same on every system, no more than most of both. Any other archive
// is refused; after an error the folder is to be thrown away.
func Unpack(ctx context.Context, archive []byte, to *durable.Dir, most int) error {
	packed, plain := bytes.NewReader(archive), &io.LimitedReader{N: maxBytes + 1}
	u := unpacking{to: to, most: most, taken: map[string]string{}}
	content, err := gzip.NewReader(packed)
	if err == nil {
		content.Multistream(false)
		plain.R = content
		err = u.takeAll(ctx, tar.NewReader(plain))
	}
	if err == nil {
		_, err = io.Copy(io.Discard, plain) // the checksum is at its end
	}
	var coded *fault.Error
	var ofFile *fs.PathError
	switch {
	case errors.As(err, &coded), errors.As(err, &ofFile), ctx.Err() != nil:
		return err
	case plain.N <= 0:
		return refuseArchive(lang.T("it has more than %d MB", maxBytes>>20))
	case err != nil:
		return refuseArchive(lang.T("it is damaged: %v", err))
	case packed.Len() > 0, len(u.taken) == 0:
		return refuseArchive(lang.T("it has no files, or something follows its end"))
	}
	return nil
}

func refuseArchive(why lang.Text) error {
	return fault.New(fault.NotFound, "the archive of the package is refused: %s", why).WithHint("tell the author of the package, or use the git repository of it")
}

// unpacking is an archive being unpacked.
type unpacking struct {
	to   *durable.Dir
	most int
	top  string // the folder around all files, with a slash; "" before the first one
	// taken has the files, and the folders with a slash at the end, by the name that a file system without capitals sees.
	taken map[string]string
}

// takeAll writes all files.
func (u *unpacking) takeAll(ctx context.Context, content *tar.Reader) error {
	for {
		header, err := content.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case header.Typeflag == tar.TypeXGlobalHeader: // git archive writes one, with the commit
			continue
		case header.Typeflag != tar.TypeDir && header.Typeflag != tar.TypeReg, header.PAXRecords["GNU.sparse.major"]+header.PAXRecords["GNU.sparse.map"] != "":
			return refuseArchive(lang.T("%.100q is not a plain file or folder", header.Name))
		}
		name := header.Name
		if header.Typeflag == tar.TypeDir {
			name = strings.TrimSuffix(name, "/") + "/"
		}
		if u.top == "" {
			u.top = name[:strings.Index(name, "/")+1]
		}
		inside, isInside := strings.CutPrefix(name, u.top)
		if !isInside || u.top == "" || !isPortable(strings.TrimSuffix(name, "/")) {
			return refuseArchive(lang.T("the name %.100q is not in one folder with the others, or not the same on every system", header.Name))
		}
		if err := u.takeEntry(inside, content); err != nil {
			return err
		}
	}
}

// badPart matches a part of a name with a meaning of its own on some system, or for git.
var badPart = pattern.New(`(?i)[. ]$|[\\:*?"<>|]|^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(?:\.|$)|^\.git$`)

// isPortable reports whether a name is relative, visible, and the same file on every system.
func isPortable(name string) bool {
	isHidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if !fs.ValidPath(name) || len(name) > maxName || strings.ContainsFunc(name, isHidden) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > 255 || badPart.MatchString(part) {
			return false
		}
	}
	return true
}

// takeEntry writes a file, or makes a folder, whose name ends with a slash, after the missing folders above it. Only a folder
// may be there already, spelled in the same way.
func (u *unpacking) takeEntry(name string, content io.Reader) (err error) {
	path := ""
	for part := range strings.SplitAfterSeq(name, "/") {
		if path += part; part == "" {
			break // after the slash of a folder
		}
		plain, isFolder := strings.CutSuffix(path, "/")
		key := strings.ToLower(strings.ToUpper(norm.NFC.String(plain)))
		switch known, isTaken := u.taken[key]; {
		case isFolder && known == path:
			continue
		case isTaken:
			return refuseArchive(lang.T("%.100q and %.100q are one name on some systems", known, path))
		case len(u.taken) == u.most:
			return refuseArchive(lang.T("it has more than %d files and folders", u.most))
		case isFolder:
			err = u.to.Mkdir(plain)
		default:
			err = u.writeFile(path, content)
		}
		if err != nil {
			return err
		}
		u.taken[key] = path
	}
	return nil
}

func (u *unpacking) writeFile(name string, content io.Reader) error {
	file, err := u.to.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
