package sdk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/method"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// Options configure a [Client]. The zero value can list agents; sessions need a Provider.
type Options struct {
	// Provider carries requests to a model.
	Provider provider.Provider
	// Providers has the providers of single agents, by agent id, sub-agents included; Provider is for all
	// others.
	Providers map[string]provider.Provider
	// Models, if not nil, chooses the model of a turn, a section, a sub-agent or a repair; nil is the default, as
	// in Provider and Providers. It returns at once, and calls nothing of the client. In the middle of a talk the
	// choice counts only if the messages can go to the other model: it is of the same kind of server, and they
	// hold nothing signed by the first. A session that is opened again asks the same question once more.
	Models func(Use) provider.Provider
	// Project is the folder of a project with an installation of the BMAD method, absolute; "" is
	// none. Installations in the home folder are found besides.
	Project string
	// Folders are further places with agents, as for [Client.LoadAgents].
	Folders []string
	// CostLimit bounds each session with all sub-agents; 0 sets no limit. It needs a model with a known price.
	CostLimit price.Money
	// Store keeps the sessions: by default, with a Project, in the folder .bmad-task/conversations, otherwise
	// in memory.
	Store Store
	// Rights, if not nil, keeps the rights of each session out of the agent's reach. See [OpenOptions].
	Rights Rights
	// Prices default to [price.Default].
	Prices *price.Table
	// Log gets each event but the pieces of answers; nil is none. Neither keys nor texts are logged.
	Log *slog.Logger
	// Clock defaults to [time.Now], NewID to random UUIDs.
	Clock func() time.Time
	NewID func() string
}

// Client starts and opens sessions. Methods may be called at the same time.
type Client struct {
	o     Options
	store Store
	shelf *shelf

	base context.Context
	end  context.CancelFunc
	// mu is held while work begins, and while the client closes.
	mu   sync.Mutex
	work sync.WaitGroup
}

// New returns a client. Close ends it.
func New(o Options) (*Client, error) {
	if o.Project != "" && !filepath.IsAbs(o.Project) {
		return nil, fmt.Errorf("the project %q is not an absolute path", o.Project)
	}
	if o.CostLimit < 0 {
		return nil, errors.New("the cost limit is negative")
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	o.Prices = cmp.Or(o.Prices, price.Default())
	c := &Client{o: o, store: o.Store}
	if c.store == nil && o.Project != "" {
		store, err := OpenDirStore(o.Project)
		if err != nil {
			return nil, err
		}
		c.store = store
	} else if c.store == nil {
		c.store = NewMemStore()
	}
	c.shelf = newShelf(o.Project, method.Options{Folders: slices.Clone(o.Folders), Now: o.Clock})
	c.base, c.end = context.WithCancel(context.Background())
	return c, nil
}

// providerOf returns the provider of an agent, by the id or any alias.
func (c *Client) providerOf(a *Agent) provider.Provider {
	for _, id := range append([]string{a.ID}, a.Aliases...) {
		if p := c.o.Providers[id]; p != nil {
			return p
		}
	}
	return c.o.Provider
}

// modelFor returns the model for some work: the caller's choice, else the agent's default.
func (c *Client) modelFor(a *Agent, u Use) (m provider.Provider) {
	m = c.providerOf(a)
	defer func() {
		if cause := recover(); cause != nil {
			c.o.Log.Warn("Options.Models failed by a fault of its own", "cause", fmt.Sprint(cause))
		}
	}()
	if c.o.Models == nil {
		return m
	}
	return cmp.Or(c.o.Models(u), m)
}

// Close cancels all work under way, waits for it, and saves it.
func (c *Client) Close() {
	c.mu.Lock()
	c.end()
	c.mu.Unlock()
	c.work.Wait()
}

// beginWork counts work about to begin; false once the client is closed.
func (c *Client) beginWork() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base.Err() != nil {
		return false
	}
	c.work.Add(1)
	return true
}

// SessionOptions configure a session of one command.
type SessionOptions struct {
	// CostLimit, if not 0, replaces the client's.
	CostLimit price.Money
	// PauseTimeout is how long a question waits before the session is paused: 30 minutes by
	// default, for ever if it is negative.
	PauseTimeout time.Duration
	// Context is given to the agent with the first message, as JSON.
	Context map[string]any
	// FS are the agent's files. By default they are kept in memory, over the installation's, which can be read.
	FS vfs.FS
	// ReadOnly leaves out the tools for writing files.
	ReadOnly bool
	// Tools are the caller's own, which sub-agents have too. A call that may have done the work is not
	// repeated, in this process or another, unless the tool is idempotent.
	Tools []AnyTool
	// Output, if not nil, is the type of the answer to each message: [Turn.Output] and [Result.Output] have it.
	// An unfit answer goes back to the model, twice at most.
	Output AnyOutput
	// OnQuestion, if not nil, answers the questions of the agent, one after the other. [Session.Answer] can
	// answer them meanwhile, which ends the context. An error pauses the session: it is a [*QuestionError].
	OnQuestion func(ctx context.Context, q Question) (string, error)
	// Commands are command lines for the agent to run as they are, by Run.
	Commands []string
	Run      func(ctx context.Context, command string) (output string, failed bool)
	// MaxTokens bounds one answer of the model: 16,000 by default. Rounds bounds the calls of a
	// turn until the person is asked: 50 by default.
	MaxTokens int
	Rounds    int
	// Instructions are added to the system prompt.
	Instructions string
	// Agent is an agent of the caller's own. No id is given then, and no installation is needed.
	Agent *Agent
	// NoQuestions leaves out the tool by which the agent asks.
	NoQuestions bool
}

// ConversationOptions configure a conversation.
type ConversationOptions struct {
	SessionOptions
	// ID, if not empty, is the id of the conversation, in place of a new one: lower-case letters, digits and -, at
	// most 64. Where a conversation of the id is saved already, the first message is refused with [ErrChanged].
	ID string
	// SaveTurnsOnly saves at the end of a turn and at a question, but not after each round of tools.
	SaveTurnsOnly bool
	// Job, if not nil, describes the work of a program in steps, as JSON: it is saved, and [Conversation.Job]
	// returns it in any process.
	Job json.RawMessage
	// PlainText takes a final question in the agent's text for text: no event announces it.
	PlainText bool
}

// Sessions lists the saved sessions and conversations, the one changed last first.
func (c *Client) Sessions(ctx context.Context) ([]Summary, error) { return listSummaries(ctx, c.store) }

// Delete removes a saved session for good.
func (c *Client) Delete(ctx context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	return c.store.Delete(ctx, id)
}

// Transcript returns the events of a session in their order.
func (c *Client) Transcript(ctx context.Context, id string) ([]Event, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	return storedEvents(ctx, c.store, id)
}

// Agents lists the agents of all installations.
func (c *Client) Agents(context.Context) ([]AgentInfo, error) { return c.shelf.listAgents() }

// Agent returns an agent by id or alias.
func (c *Client) Agent(_ context.Context, id string) (*Agent, error) {
	a, _, err := c.shelf.findAgent(id)
	return a, err
}

// LoadAgents adds a folder with agents: an installation, a package with a folder "agents", or a folder of agent
// files. It returns all agents known then.
func (c *Client) LoadAgents(_ context.Context, folder string) ([]AgentInfo, error) {
	if err := c.shelf.addFolder(folder); err != nil {
		return nil, err
	}
	return c.shelf.listAgents()
}
