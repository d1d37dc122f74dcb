package gitsource

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/method/internal/npm"
)

// Prefix begins the address of a remote, and never the path of a folder.
const Prefix = "git+"

// form is the example for an unreadable address.
var form = lang.T("git+https://host/org/repo.git#ref:/folder, git+ssh://git@host/org/repo.git or git+file:///absolute/path; " +
	"#ref (a branch, tag or commit) and :/folder can be left out; for a package of npm npm:name, npm:@scope/name@1.2.3 or npm:name@latest#:/folder")

// Nobody writes a longer one by hand.
const (
	maxText = 2000
	maxRef  = 200
	maxSub  = 500
)

// The supported schemes.
const (
	schemeHTTPS = "https"
	schemeSSH   = "ssh"
	schemeFile  = "file"
	schemeNPM   = "npm" // a package in a registry
)

// Spec names a remote and the part of it to copy. It is made by [Parse]; the zero Spec names
// nothing. However it is printed, it shows no credentials.
type Spec struct {
	scheme string
	host   string // with the port
	path   string // percent-encoded, absolute; the name of a package
	user   string // of ssh, if it is not a secret
	ref    string // "" is the HEAD of the remote, or the tag latest
	sub    string // "" is all of it
	// sealed holds credentials; nil if there are none.
	sealed *hiddenLogin
}

// Parse reads the address of a remote: git+https://, git+ssh:// or git+file:// followed by
// host and path of a repository, then optionally #ref, then optionally :/folder (after # also
// without a ref); or npm:name@version of a package, with a tag or nothing for the version, then
// optionally #:/folder. An error is fault.InvalidArgument and repeats nothing of the text, which
// may hold a password.
func Parse(text string) (Spec, error) {
	s, why := parseSpec(text)
	if !why.Empty() {
		for _, prefix := range []string{Prefix, schemeNPM + ":"} {
			if s, whyNot := parseSpec(prefix + text); whyNot.Empty() {
				return Spec{}, fault.New(fault.InvalidArgument, "this is not the address of a git repository, or of a package: %s", why).WithHint("write %s", s)
			}
		}
		return Spec{}, fault.New(fault.InvalidArgument, "this is not the address of a git repository, or of a package: %s", why).WithHint("write %s", form)
	}
	return s, nil
}

// String returns the address without credentials. Parse reads it.
func (s Spec) String() string {
	if s.scheme == "" {
		return ""
	}
	text := Prefix + s.url() + "#" + s.ref
	if s.scheme == schemeNPM {
		text = strings.TrimSuffix(s.url()+"@"+s.ref, "@") + "#"
	}
	if s.sub != "" {
		return text + ":/" + s.sub
	}
	return strings.TrimSuffix(text, "#")
}

// Key returns the name of the remote's folder in the cache: one for all folders of a ref and all
// callers.
func (s Spec) Key() string {
	sum := sha256.Sum256([]byte(s.url() + "#" + s.ref))
	return slug(s.host+s.path) + "-" + hex.EncodeToString(sum[:12])
}

// url returns the address as passed to git, or the package.
func (s Spec) url() string {
	if s.scheme == schemeNPM {
		return schemeNPM + ":" + s.path
	}
	authority := s.host
	if s.user != "" {
		authority = s.user + "@" + s.host
	}
	return s.scheme + "://" + authority + s.path
}

// notInSlug matches characters not accepted in names by every file system.
var notInSlug = pattern.New(`[^a-z0-9.]+`)

// slug makes a name for people to recognize, accepted by every file system.
func slug(text string) string {
	const most = 48
	name := notInSlug.ReplaceAllString(strings.ToLower(strings.TrimSuffix(text, ".git")), "-")
	name = strings.TrimLeft(name, "-")
	return strings.Trim(name[:min(len(name), most)], "-.")
}

var (
	hostForm = pattern.New(`^(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$`)
	userForm = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$`)
	refForm  = pattern.New(`^[A-Za-z0-9._/+-]+$`)
)

// parseSpec returns the Spec, or why the text is invalid.
func parseSpec(text string) (s Spec, why lang.Text) {
	switch {
	case len(text) > maxText:
		return s, lang.T("it is too long")
	case !isPrintable(text) || strings.ContainsAny(text, ` \`):
		return s, lang.T("it has spaces, backslashes or characters that cannot be seen")
	}
	if name, isPackage := strings.CutPrefix(text, schemeNPM+":"); isPackage {
		return parsePackage(name)
	}
	rest, ok := strings.CutPrefix(text, Prefix)
	if !ok {
		return s, lang.T("it does not begin with %s", Prefix)
	}
	address, fragment, marked := strings.Cut(rest, "#")
	if strings.Contains(address, "?") {
		return s, lang.T("it has a query (?)")
	}
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" {
		return s, lang.T("it is not a URL; a host ends with / or :port, and in a password / is written as %%2F, # as %%23, ? as %%3F and %% as %%25")
	}
	s.scheme = u.Scheme
	if why := s.readAuthority(u); !why.Empty() {
		return s, why
	}
	if why := s.readRepository(u); !why.Empty() {
		return s, why
	}
	if !marked {
		return s, lang.Text{}
	}
	return s, s.readFragment(fragment)
}

// parsePackage reads the address of a package of npm, from the name on.
func parsePackage(text string) (s Spec, why lang.Text) {
	address, fragment, hasFragment := strings.Cut(text, "#")
	scope := address[:strings.Index(address, "/")+1]
	name, ref, hasRef := strings.Cut(address[len(scope):], "@")
	switch {
	case !npm.NameForm.MatchString(scope + name):
		return s, lang.T("the name of the package is missing or malformed; it has small letters, digits and . _ ~ -")
	case hasRef && !npm.VersionForm.MatchString(ref) && !npm.TagForm.MatchString(ref):
		return s, lang.T("after @ one exact version or a tag is taken, such as 1.2.3 or latest; a range is not")
	case hasFragment && !strings.HasPrefix(fragment, ":"):
		return s, lang.T("only :/folder can follow the # of a package; the version stands after @")
	case hasFragment:
		why = s.readFragment(fragment)
	}
	s.scheme, s.path, s.ref = schemeNPM, scope+name, ref
	return s, why
}

// readAuthority reads the scheme, the host and the credentials.
func (s *Spec) readAuthority(u *url.URL) (why lang.Text) {
	switch u.Scheme {
	case schemeHTTPS, schemeSSH:
	case schemeFile:
		if u.Host != "" || u.User != nil {
			return lang.T("git+file:// is followed by an absolute path, so by a third slash")
		}
		return lang.Text{}
	case "http":
		return lang.T("git+http:// is read and changed by everybody on the way; use git+https://")
	default:
		return lang.T("the scheme is none of git+https://, git+ssh:// and git+file://")
	}
	if !hostForm.MatchString(u.Host) {
		return lang.T("the host is missing or malformed; the path begins with a slash, also after git+ssh://host")
	}
	s.host = u.Host
	if u.User == nil {
		return lang.Text{}
	}
	name := u.User.Username()
	password, has := u.User.Password()
	if u.Scheme == schemeSSH {
		if has {
			return lang.T("a password does not work with git+ssh://; use a key")
		}
		if !userForm.MatchString(name) {
			return lang.T("the user before @ is malformed")
		}
		s.user = name
		return lang.Text{}
	}
	if name+password == "" || strings.Contains(name, ":") || !isPrintable(name+password) {
		return lang.T("user and password before @ are empty, or cannot be sent")
	}
	s.sealed = hideLogin(login{user: name, password: password})
	return lang.Text{}
}

// readRepository reads the path.
func (s *Spec) readRepository(u *url.URL) (why lang.Text) {
	s.path = strings.TrimSuffix(u.EscapedPath(), "/")
	plain, err := url.PathUnescape(s.path)
	switch {
	case err != nil || !isPrintable(plain) || strings.Contains(plain, `\`):
		return lang.T("the path has characters that cannot be seen, or backslashes")
	case len(plain) < 2 || plain[0] != '/':
		return lang.T("it names no repository")
	case path.Clean(plain) != plain:
		return lang.T("the path has empty parts, or . or ..")
	case plain[1] == '-':
		return lang.T("the path begins with a dash")
	case s.scheme != schemeFile && strings.Contains(s.path, "@"):
		// Most likely the end of a password with a slash in it.
		return lang.T("the path has an @; write it as %%40, and a / in a password as %%2F")
	}
	return lang.Text{}
}

// readFragment reads ref and folder.
func (s *Spec) readFragment(text string) (why lang.Text) {
	var named bool
	s.ref, s.sub, named = strings.Cut(text, ":")
	switch {
	case s.ref == "" && !named:
		return lang.T("nothing follows the #")
	case s.ref != "" && !validRef(s.ref):
		return lang.T("the ref after # is none that git allows, or has other characters than letters, digits and . _ / + -")
	case !named:
		return lang.Text{}
	case !strings.HasPrefix(s.sub, "/"):
		return lang.T("the folder begins with :/")
	}
	s.sub = strings.TrimSuffix(s.sub[1:], "/")
	if !fs.ValidPath(s.sub) || s.sub == "." || len(s.sub) > maxSub || s.sub[0] == '-' || strings.ContainsAny(s.sub, `:*?"<>|`) {
		return lang.T("the folder after :/ is empty or too long, has empty parts, . or .. or one of : * ? \" < > |, or begins with a dash")
	}
	return lang.Text{}
}

// validRef reports whether a ref is a simple one, with the same meaning everywhere.
func validRef(ref string) bool {
	if len(ref) > maxRef || !refForm.MatchString(ref) || ref[0] == '-' || strings.Contains(ref, "..") || strings.HasSuffix(ref, ".") {
		return false
	}
	for part := range strings.SplitSeq(ref, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// isPrintable reports whether a text is valid UTF-8 with only visible characters and plain spaces.
func isPrintable(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
