package mcpserver

import (
	"net/url"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
)

// scheme is the scheme of the addresses of resources.
const scheme = "bmad-task"

// The addresses of resources. Each takes the project folder as the query parameter cwd, unless the server
// knows it.
const (
	sessionsURI      = scheme + "://sessions"
	workflowURI      = scheme + "://workflow"
	sessionsTemplate = sessionsURI + "{?cwd}"
	sessionTemplate  = sessionsURI + "/{id}{?cwd}"
	historyTemplate  = sessionsURI + "/{id}/history{?cwd}"
	artifactTemplate = scheme + "://tasks/{task}/artifacts/{name}{?cwd}"
)

// reviewSuffix follows the id of a stage in the address of a document for the review app. No artifact has
// such a name.
const reviewSuffix = ".review.json"

// address is the address of a resource, in parts.
type address struct {
	// view is one of the engine's views, or the name of an artifact.
	view string
	// session is an id or a task name; "" for a resource of the whole project.
	session string
	// stage is the stage of a review.
	stage string
	cwd   string
}

// parseAddress reads the address of a resource.
func parseAddress(text string) (address, error) {
	unknown := noResource(text)
	u, err := url.Parse(text)
	if err != nil || u.Scheme != scheme || u.Fragment != "" || u.User != nil {
		return address{}, unknown
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return address{}, unknown
	}
	parts := []string{u.Host}
	if rest := strings.TrimPrefix(u.EscapedPath(), "/"); rest != "" {
		for part := range strings.SplitSeq(rest, "/") {
			plain, err := url.PathUnescape(part)
			if err != nil || plain == "" {
				return address{}, unknown
			}
			parts = append(parts, plain)
		}
	}
	a, ok := readParts(parts)
	if !ok {
		return address{}, unknown
	}
	a.cwd = query.Get("cwd")
	return a, nil
}

// noResource returns the error for an unknown address.
func noResource(text string) error {
	return fault.New(fault.NotFound, "unknown resource %q", clipText(text)).
		WithHint("there are: %s, %s/{id}, %s/{id}/history, %s://tasks/{task}/artifacts/{name}, %s", sessionsURI, sessionsURI, sessionsURI, scheme, workflowURI).
		Suggest(text, []string{sessionsURI, workflowURI})
}

// readParts reads host and path of an address.
func readParts(parts []string) (a address, ok bool) {
	switch n := len(parts); {
	case n == 1 && parts[0] == "workflow":
		a.view = engine.ViewWorkflow
	case n == 1 && parts[0] == "sessions":
		a.view = engine.ViewSessions
	case n == 2 && parts[0] == "sessions":
		a.view, a.session = engine.ViewSession, parts[1]
	case n == 3 && parts[0] == "sessions" && parts[2] == "history":
		a.view, a.session = engine.ViewHistory, parts[1]
	case n == 4 && parts[0] == "tasks" && parts[2] == "artifacts":
		a.view, a.session = parts[3], parts[1]
		if stage, ok := strings.CutSuffix(a.view, reviewSuffix); ok {
			a.view, a.stage = engine.ViewReview, stage
			break
		}
		switch a.view { // names of views, not of artifacts
		case engine.ViewSession, engine.ViewHistory, engine.ViewSessions, engine.ViewWorkflow, engine.ViewReview:
			return a, false
		}
	default:
		return a, false
	}
	return a, true
}

// sessionURI returns the address of a session.
func sessionURI(id string) string { return sessionsURI + "/" + url.PathEscape(id) }

// artifactURI returns the address of a task's artifact.
func artifactURI(task, name string) string {
	return scheme + "://tasks/" + url.PathEscape(task) + "/artifacts/" + url.PathEscape(name)
}
