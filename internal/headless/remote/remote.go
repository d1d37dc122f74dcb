// Package remote gives tasks to agents of other servers, by Agent2Agent (A2A). The far side is not trusted: it is
// called at the address that a person has named, no redirection is followed, and all that it sends is bounded in bytes
// and in time. Whose card is allowed is the caller's to know.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// maxCard and maxAnswer bound the bytes of the far side, cardTimeout the time for a card.
	maxCard, maxAnswer = 256 << 10, 8 << 20
	cardTimeout        = 20 * time.Second
	// maxArtifacts bounds the artifacts of an answer, maxID the id of a task, in bytes.
	maxArtifacts, maxID = 50, 200
	// patience is the time between two looks at a task.
	patience = time.Second
)

var (
	errPrivate = lang.Errorf("it leads to an address that is not of the public network")
	errToken   = lang.Errorf("it wants a token, or another one")
	errTurned  = lang.Errorf("the server sends on to another address, which is not followed; name the address of the card itself")
)

// Card describes an agent of another server.
type Card struct {
	a2a.AgentCard
	// SHA256 is the hash of the card, Endpoint the address for tasks; IsElsewhere is true if the endpoint is on another
	// server than the card.
	SHA256, Endpoint string
	IsElsewhere      bool
	client           *http.Client
	params           a2aclient.ServiceParams
}

// ParseAddress returns the address of a card as it is remembered: a server alone stands for the usual path. It has to begin
// with https, so that nobody reads along, unless it is on this machine; any other one is a fault.InvalidArgument.
func ParseAddress(given string) (string, error) {
	u, err := parseURL(strings.TrimSpace(given), true)
	if err != nil {
		return "", fault.New(fault.InvalidArgument, "%q is not an address of an agent's card: %w", visible.Fit(given, 300), err).
			WithHint("give one such as https://agents.acme/.well-known/agent-card.json")
	}
	if !strings.HasSuffix(u.Path, ".json") { // it is the address of the agent
		u = u.JoinPath("/.well-known/agent-card.json")
	}
	return u.String(), nil
}

// parseURL reads an address for agents, of this machine only if mayBeLocal is true. A person may type it into a shell.
func parseURL(given string, mayBeLocal bool) (*url.URL, error) {
	u, err := url.Parse(given)
	isOdd := func(r rune) bool {
		return !strings.ContainsRune("-._~:/%[]", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if err != nil || u.Host == "" || strings.ContainsFunc(given, isOdd) {
		return nil, lang.Errorf("it has more than a host and a path, or others than plain characters")
	}
	at, err := netip.ParseAddr(u.Hostname())
	switch isLocal := httpguard.Loopback(u.Host); {
	case isLocal && mayBeLocal && u.Scheme == "http":
	case u.Scheme != "https":
		return nil, lang.Errorf("it does not begin with https, so that others could read along")
	case isLocal && !mayBeLocal, !isLocal && err == nil && !httpguard.IsPublic(at):
		return nil, errPrivate
	}
	return u, nil
}

// newClient returns a client for the public network, and for this machine if mayBeLocal is true.
func newClient(mayBeLocal bool) *http.Client {
	mayCall := func(at netip.Addr) bool { return httpguard.IsPublic(at) || mayBeLocal && at.IsLoopback() }
	dialer := &net.Dialer{Timeout: cardTimeout, Control: httpguard.CheckDialed(mayCall, errPrivate)}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: cardTimeout, ForceAttemptHTTP2: true, DisableKeepAlives: true}
	return &http.Client{
		Transport:     httpguard.Bounded{RoundTripper: transport, Max: maxAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errTurned },
	}
}

// ReadToken returns the token in a variable of the environment; none for no variable. An empty one is a fault.NotAllowed.
func ReadToken(variable string) (string, error) {
	token := os.Getenv(variable)
	if variable != "" && token == "" {
		return "", fault.New(fault.NotAllowed, "the variable %q has no token for the agent", visible.Fit(variable, 100)).
			WithHint("set it in the environment of this program, and name it without $")
	}
	return token, nil
}

// Fetch reads the card at an address of [ParseAddress]. The token, unless it is empty, goes to the server of the card
// alone. A card that cannot be used is a fault.NotFound.
func Fetch(ctx context.Context, address, token string) (*Card, error) {
	ctx, cancel := context.WithTimeout(ctx, cardTimeout)
	defer cancel()
	c := &Card{params: a2aclient.ServiceParams{a2a.SvcParamVersion: {string(a2a.Version)}}}
	if err := c.readCard(ctx, address, token); err != nil {
		failed := fault.New(fault.NotFound, "the card of the agent at %s cannot be used: %s", visible.Line(address), describeError(err))
		if errors.Is(err, errToken) {
			return nil, failed.WithHint("the token for it is read from a variable: bmad-mcp allow --card %s --token-variable NAME", visible.Line(address))
		}
		return nil, failed.WithHint("check that the server runs, and ask the owner of the agent for the address of the card")
	}
	return c, nil
}

// readCard reads the card from the server.
func (c *Card) readCard(ctx context.Context, address, token string) error {
	at, err := parseURL(address, true)
	if err != nil {
		return err
	}
	c.client = newClient(httpguard.Loopback(at.Host))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := c.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	data, err := durable.ReadStream(response.Body, "the card", maxCard)
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode == http.StatusUnauthorized, response.StatusCode == http.StatusForbidden:
		return lang.Errorf("the server answers %s: %w", response.Status, errToken)
	case response.StatusCode != http.StatusOK:
		return lang.Errorf("the server answers %s", response.Status)
	case err != nil:
		return err
	case kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		return lang.Errorf("it is not sent as JSON")
	}
	if err := json.Unmarshal(data, &c.AgentCard); err != nil {
		return err
	}
	c.SHA256 = workflow.Hash(data)
	return c.chooseEndpoint(at, token)
}

// chooseEndpoint takes the first address for tasks by JSON-RPC of version 1. The token goes there if it is on the server of the card.
func (c *Card) chooseEndpoint(at *url.URL, token string) error {
	for _, way := range c.SupportedInterfaces {
		if way == nil || way.ProtocolBinding != a2a.TransportProtocolJSONRPC || !strings.HasPrefix(string(way.ProtocolVersion)+".", "1.") {
			continue
		}
		to, err := parseURL(way.URL, httpguard.Loopback(at.Host))
		if err != nil {
			return lang.Errorf("its address for tasks, %q: %w", visible.Fit(way.URL, 300), err)
		}
		c.Endpoint, c.IsElsewhere = way.URL, to.Scheme != at.Scheme || to.Host != at.Host
		if token != "" && !c.IsElsewhere {
			c.params["Authorization"] = []string{"Bearer " + token}
		}
		return nil
	}
	return lang.Errorf("it has no address for JSON-RPC of version 1")
}

// describeError returns the words of an error of a request.
func describeError(err error) string {
	return visible.Fit(visible.Line(httpguard.WithoutAddress(err).Error()), 500)
}

// Answer is the state of a task: answered, needs_answer with the question as text, or working.
type Answer struct {
	Status, Agent, TaskID, Text string
	// Artifacts are the names of documents; Text has them behind the answer.
	Artifacts []string
}

// Give gives a text to the agent, as a task, or with taskID as the answer to a question of that task; without a text
// the task is looked at again. It waits until the task is over, asks, or ctx ends: then it is working. A failed task is a
// fault.NotAllowed, a server without an answer a fault.Storage.
func (c *Card) Give(ctx context.Context, taskID, text string) (*Answer, error) {
	wire := a2aclient.NewJSONRPCTransport(c.Endpoint, c.client)
	task, err := c.beginTask(ctx, wire, a2a.TaskID(taskID), text)
	if errors.Is(err, a2a.ErrTaskNotFound) && taskID != "" {
		return nil, fault.New(fault.NotFound, "the agent %s knows no task %q", c.showName(), taskID).WithHint("leave task_id out to begin a new one")
	}
	if err != nil {
		return nil, fault.New(fault.Storage, "the agent %s gives no answer: %s", c.showName(), describeError(err)).
			WithHint("whether it has begun the task is not known: ask the owner before you send it again")
	}
	for id := task.ID; ; {
		answer, err := c.judgeTask(id, task)
		if err != nil || answer.Status != "working" {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return answer, nil
		case <-time.After(patience):
		}
		if got, err := wire.GetTask(ctx, c.params, &a2a.GetTaskRequest{ID: id}); err == nil {
			task = got
		}
	}
}

// beginTask returns the task of a text.
func (c *Card) beginTask(ctx context.Context, wire a2aclient.Transport, id a2a.TaskID, text string) (*a2a.Task, error) {
	if text == "" {
		task, err := wire.GetTask(ctx, c.params, &a2a.GetTaskRequest{ID: id})
		if err == nil {
			task.ID = id
		}
		return task, err
	}
	q := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text)), Config: &a2a.SendMessageConfig{ReturnImmediately: true}}
	q.Message.TaskID = id
	result, err := wire.SendMessage(ctx, c.params, q)
	switch result := result.(type) {
	case *a2a.Task:
		if len(result.ID) > maxID {
			return nil, lang.Errorf("the id of its task is too long")
		}
		return result, nil
	case *a2a.Message:
		return &a2a.Task{Status: a2a.TaskStatus{State: a2a.TaskStateCompleted, Message: result}}, nil
	}
	return nil, err
}

// judgeTask returns the answer that a task has for its caller; the error is an end without one.
func (c *Card) judgeTask(id a2a.TaskID, t *a2a.Task) (*Answer, error) {
	out := &Answer{Status: "working", Agent: c.showName(), TaskID: string(id)}
	said := ""
	if t.Status.Message != nil {
		said = textOf(t.Status.Message.Parts)
	}
	switch t.Status.State {
	case a2a.TaskStateCompleted:
		out.Status, out.Text = "answered", said
		for _, a := range t.Artifacts[:min(len(t.Artifacts), maxArtifacts)] {
			switch {
			case a == nil:
			case out.Text == "":
				out.Text = textOf(a.Parts)
			default:
				name := visible.Fit(visible.Line(cmp.Or(a.Name, string(a.ID))), maxID)
				out.Artifacts, out.Text = append(out.Artifacts, name), out.Text+"\n\n--- "+name+" ---\n\n"+textOf(a.Parts)
			}
		}
	case a2a.TaskStateInputRequired:
		out.Status, out.Text = "needs_answer", said
	case a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected, a2a.TaskStateAuthRequired:
		state := strings.ToLower(strings.TrimPrefix(string(t.Status.State), "TASK_STATE_"))
		return nil, fault.New(fault.NotAllowed, "the agent %s has not done the task (%s): %s", out.Agent, state, visible.Fit(visible.Line(said), 1000)).
			WithHint("do it yourself, or tell the person")
	}
	return out, nil
}

func (c *Card) showName() string { return visible.Fit(visible.Line(c.Name), 100) }

// textOf returns the texts of parts. Files are named.
func textOf(parts a2a.ContentParts) string {
	var out []string
	for _, p := range parts {
		if p == nil {
			continue
		}
		switch content := p.Content.(type) {
		case a2a.Text:
			out = append(out, string(content))
		case a2a.Data:
			data, _ := json.Marshal(content.Value) // it was JSON
			out = append(out, string(data))
		default:
			out = append(out, fmt.Sprintf("[a file, %d bytes, is left out]", len(p.Raw())))
		}
	}
	return visible.Text(strings.Join(out, "\n\n"))
}
