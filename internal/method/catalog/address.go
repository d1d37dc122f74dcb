package catalog

import (
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// Scheme is the scheme of file addresses.
const Scheme = "bmad"

// maxAddress bounds the length of an address, in bytes.
const maxAddress = 2000

// Ref is a parsed address.
type Ref struct {
	// Source names the source; "" is the first source with the file.
	Source string
	// Path is relative to the source, or to an installation in it.
	Path string
	// Resolved asks for the text with placeholders filled in.
	Resolved bool
	// Offset is the place to begin in the file, in bytes.
	Offset int
	// Cwd is the project's folder, for callers without another way to know it.
	Cwd string
}

// Address returns the address of a file of a source.
func Address(source, name string) string {
	var b strings.Builder
	b.WriteString(Scheme + "://")
	named := source != "" && source != Project
	if named {
		b.WriteString("~" + escape(source) + "/")
	}
	for i, part := range strings.Split(name, "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		if i == 0 && !named && strings.HasPrefix(part, "~") { // else it would name a source
			b.WriteString("%7E")
			part = part[1:]
		}
		b.WriteString(escape(part))
	}
	return b.String()
}

// inAddress turns an escaped part of a path into a part of an address.
var inAddress = strings.NewReplacer("+", "%2B", "%40", "@", "%3A", ":", "%24", "$")

// escape escapes the characters with a meaning of their own in a part of an address.
func escape(part string) string { return inAddress.Replace(url.PathEscape(part)) }

// String returns the address.
func (r Ref) String() string {
	query := url.Values{}
	if r.Resolved {
		query.Set("view", "resolved")
	}
	if r.Offset > 0 {
		query.Set("offset", strconv.Itoa(r.Offset))
	}
	if r.Cwd != "" {
		query.Set("cwd", r.Cwd)
	}
	out := Address(r.Source, r.Path)
	if len(query) > 0 {
		out += "?" + query.Encode()
	}
	return out
}

// parseQuery reads the query of an address; why names the mistake in it.
func parseQuery(query string) (r Ref, why lang.Text) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return r, lang.T("what follows the ? cannot be read")
	}
	switch values.Get("view") {
	case "":
	case "resolved":
		r.Resolved = true
	default:
		return r, lang.T("the only other view is resolved")
	}
	if text := values.Get("offset"); text != "" {
		if r.Offset, err = strconv.Atoi(text); err != nil || r.Offset < 0 {
			return r, lang.T("the offset is a number of bytes")
		}
	}
	r.Cwd = values.Get("cwd")
	return r, lang.Text{}
}

// ParseRef reads an address. The scheme may be left out, and {project-root} may stand
// before the path: texts of the method name their files so.
func ParseRef(text string) (Ref, error) {
	bad := func(why lang.Text) (Ref, error) {
		return Ref{}, fault.New(fault.InvalidArgument, "%q is not the address of a file: %s", visible.Fit(text, 200), why).
			WithHint("give it as lists and replies do, such as %s://_bmad/bmm/config.yaml", Scheme)
	}
	rest := strings.TrimSpace(text)
	if scheme, after, ok := strings.Cut(rest, "://"); ok {
		if !strings.EqualFold(scheme, Scheme) {
			return bad(lang.T("only %s:// is read", Scheme))
		}
		rest = after
	} else {
		for _, prefix := range []string{"{project-root}/", "{project_root}/", "./"} {
			rest = strings.TrimPrefix(rest, prefix)
		}
	}
	if len(rest) > maxAddress {
		return bad(lang.T("it is too long"))
	}
	rest, query, _ := strings.Cut(rest, "?")
	r, why := parseQuery(query)
	if !why.Empty() {
		return bad(why)
	}
	plain, err := url.PathUnescape(rest)
	switch {
	case err != nil:
		return bad(lang.T("a %% in it is not followed by two hexadecimal digits"))
	case strings.HasPrefix(plain, "/"):
		return bad(lang.T("it is an absolute path"))
	case strings.ContainsAny(plain, "\x00\\\n\r"):
		return bad(lang.T("it has characters that no path has"))
	}
	if name, after, ok := strings.Cut(rest, "/"); ok && strings.HasPrefix(name, "~") {
		// An escaped ~ belongs to a file's name; this one names a source.
		if r.Source, err = url.PathUnescape(name[1:]); err != nil || r.Source == "" {
			return bad(lang.T("the name of its source cannot be read"))
		}
		if plain, err = url.PathUnescape(after); err != nil {
			return bad(lang.T("its path cannot be read"))
		}
	}
	plain = strings.TrimSuffix(plain, "/")
	if plain == "" || plain == "." {
		return bad(lang.T("it names no file"))
	}
	if !fs.ValidPath(plain) || path.Clean(plain) != plain {
		return bad(lang.T("it leads out of the folders that are served, or is not a plain path"))
	}
	r.Path = plain
	return r, nil
}
