package config

import (
	"net/url"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
)

// withoutPassword returns the address of a store without the password and the parameters; "set" if the address cannot
// be parsed, since any part of it may be the password.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return ""
	case err != nil || strings.Contains(u.Path+u.RawQuery+u.Fragment, "@"):
		return "set"
	}
	clean := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		clean.User = url.User(name)
	}
	return clean.String()
}

// withoutSecrets returns the values that are set for a key as a text, without passwords.
func withoutSecrets(key string, values []string) string {
	out := slices.Clone(values)
	if key == "notify" { // any word of it may be secret
		target, err := notify.Parse(values)
		if err != nil {
			return "set"
		}
		return target.String()
	}
	if key == "sources" {
		out = entries(values)
	}
	for i, v := range out {
		switch key {
		case "store":
			out[i] = withoutPassword(v)
		case "sources":
			out[i] = withoutKey(v)
		case "tool_servers":
			out[i], _, _ = strings.Cut(v, "=")
		}
	}
	return strings.Join(out, ", ")
}

// withoutKey returns the address of a repository without a password; "" if it is none.
func withoutKey(address string) string {
	spec, err := gitsource.Parse(address)
	if err != nil {
		return ""
	}
	return spec.String()
}
