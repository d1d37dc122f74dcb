package config

import (
	"net/url"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// ToolServer is an MCP server whose tools agents without a host may use. It never holds a key.
type ToolServer struct {
	Name string
	// Variables are the variables of the environment that a program is given besides the basic ones, or whose
	// value an address gets as its bearer token.
	Variables []string
	// Command is a program with its arguments; URL an address of streamable HTTP. One of them is set.
	Command []string
	URL     string
}

var (
	toolServerName = pattern.New(`^[a-zA-Z0-9-]{1,24}$`)
	variableName   = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// maxToolServers bounds the servers of the setting.
const maxToolServers = 50

// parseToolServer reads NAME=[$VARIABLE …] COMMAND …, or an address in place of the command.
func parseToolServer(text string) (s ToolServer, err error) {
	name, rest, _ := strings.Cut(text, "=")
	s.Name = strings.TrimSpace(name)
	wrong := func(why lang.Text) (ToolServer, error) {
		return ToolServer{}, lang.Errorf("tool_servers: %q: %s", visible.Cut(s.Name, 80, "…"), why)
	}
	if !toolServerName.MatchString(s.Name) {
		return wrong(lang.T("write it as NAME=COMMAND; the name has 1 to 24 letters, digits and -"))
	}
	if strings.ContainsAny(rest, `'"`) {
		return wrong(lang.T("its words are separated by spaces, and quotes are not read; write a script that starts it"))
	}
	words := strings.Fields(rest)
	for len(words) > 0 && strings.HasPrefix(words[0], "$") {
		variable := words[0][1:]
		if !variableName.MatchString(variable) {
			return wrong(lang.T("%q is not the name of a variable", words[0]))
		}
		s.Variables, words = append(s.Variables, variable), words[1:]
	}
	switch {
	case len(words) == 0:
		return wrong(lang.T("it has neither a command nor an address"))
	case !strings.Contains(words[0], "://"):
		s.Command = words
		return s, nil
	}
	u, err := url.Parse(words[0])
	switch {
	case err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.User != nil || len(words) > 1:
		return wrong(lang.T("its address is not one, such as https://host/mcp (without a password)"))
	case len(s.Variables) > 1:
		return wrong(lang.T("an address takes one variable, its token"))
	}
	s.URL = words[0]
	return s, nil
}
