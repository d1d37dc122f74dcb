package mcpserver

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/httpguard"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/recent"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/gate"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/mcp/internal/mcpwire"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// formKey is the id of a form among the inputs that a result asks for.
	formKey = "form"
	// statePrefix begins the state of a form, folderPrefix that of one about a folder, samplePrefix
	// that of a question to the host's model.
	statePrefix, folderPrefix, samplePrefix = "form-", "folder-", "sample-"
	// humanTime is the least time in which a person can read a form and answer it. Some hosts
	// decline forms by themselves, or accept empty ones, within milliseconds.
	humanTime = time.Second
	// maxForms bounds the forms of a client that hold a worker each, so that others stay free.
	maxForms = 8
	// maxRemembered bounds the forms whose answers come with a later call, if ever.
	maxRemembered = 256
	// maxSilent bounds the clients that are remembered for their silence.
	maxSilent = 1000
)

// forms are the questions on their way to a person, or to the model of a host. The state that travels with a form is only
// the name of its entry here: the purpose of the answer never leaves the server, and an entry is
// used once.
type forms struct {
	now func() time.Time

	mu   sync.Mutex
	open map[string]*form // by state
	// silent has the clients whose last form was seen by no person, and when that was. One that
	// was forgotten is sent a form again.
	silent *recent.Map[string, time.Time]
}

// forgetSilence is the time for which that is remembered of a client without a session: another
// window of the same program on the same machine may show forms.
const forgetSilence = 5 * time.Minute

// form is one question that was sent.
type form struct {
	bound  gate.Bound
	cwd    string
	client string
	asked  time.Time
	limit  time.Duration
	// held is true if the call waits for the answer, and a worker with it.
	held  bool
	sheet sheet
	// begun are the answers of the form before, if this one completes it.
	begun *gate.Response
}

func newForms(now func() time.Time) *forms {
	return &forms{now: now, open: map[string]*form{}, silent: recent.New[string, time.Time](maxSilent)}
}

// add remembers a form and returns its state, which begins with a prefix; "" and the reason if it must
// not be sent.
func (f *forms) add(prefix string, n form) (state string, why lang.Text) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.asked = f.now()
	held, oldest := 0, ""
	for state, other := range f.open {
		switch {
		case n.asked.Sub(other.asked) > other.limit+time.Minute:
			delete(f.open, state)
			continue
		case other.bound == n.bound && other.cwd == n.cwd && other.held:
			return "", lang.T("a form with this question is open already")
		}
		if other.held {
			if other.client == n.client {
				held++ // of this client: others are not to wait for its person
			}
		} else if oldest == "" || other.asked.Before(f.open[oldest].asked) {
			oldest = state
		}
	}
	if n.held && held >= maxForms {
		return "", lang.T("too many forms are open at once")
	}
	if len(f.open) >= maxRemembered && oldest != "" {
		delete(f.open, oldest)
	}
	state = prefix + rand.Text()
	f.open[state] = &n
	return state, why
}

// take returns the form that a client was sent with a state, once; nil for one that was never
// sent, was sent to another client, or was answered before.
func (f *forms) take(state, client string) *form {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.open[state]
	if found == nil || found.client != client {
		return nil // it stays open for the one who was asked
	}
	delete(f.open, state)
	return found
}

// limit returns how long the form of a state may take.
func (f *forms) limit(state string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if found := f.open[state]; found != nil {
		return found.limit
	}
	return 0
}

func (f *forms) setSilent(client string, silent bool) {
	if f.silent.Delete(client); silent {
		f.silent.Put(client, f.now())
	}
}

func (f *forms) isSilent(client string) bool {
	since, silent := f.silent.Get(client)
	if silent && mcpwire.Sessionless(client) && f.now().Sub(since) > forgetSilence {
		f.silent.Delete(client)
		return false
	}
	return silent
}

// formChannel asks the person by a form of their host, for one call.
type formChannel struct {
	formStyle
	forms  *forms
	client string
	// held is true for clients whose forms hold the call.
	held bool

	// answered is the form that this call brings the answer of, and answer that.
	answered *form
	answer   *mcp.ElicitationResult

	// lost is true if the call brings the answer of a form that is not open any more.
	lost bool

	// asking is the result that asks, once Ask has returned ErrAsked.
	asking *mcp.CallToolResult
}

// newFormChannel returns the way to the person by forms, or nil if their host has none, and
// for web pages, which are nobody's host. A call that brings the answer of a form carries it in.
func newFormChannel(ctx context.Context, f *forms, call mcp.CallToolRequest) *formChannel {
	if httpguard.FromPage(ctx) {
		return nil
	}
	c := &formChannel{formStyle: styleOf(ctx), forms: f, client: mcpwire.ClientKey(ctx), held: !server.IsModernRequest(ctx)}
	if state := call.Params.RequestState; strings.HasPrefix(state, statePrefix) {
		if c.answered = f.take(state, c.client); c.answered != nil {
			c.answer = server.ElicitationResponse(call.Params.InputResponses, formKey)
			return c
		}
		c.lost = true
	}
	if !showsForms(ctx) {
		return nil
	}
	return c
}

// showsForms reports whether the client of a request shows forms.
func showsForms(ctx context.Context) bool {
	can := mcpwire.Capabilities(ctx).Elicitation
	return can != nil && (can.Form != nil || can.URL == nil)
}

// hasAnswer reports whether the call brings an answer that a person may have given to a form, so that
// nothing else in it may decide.
func (c *formChannel) hasAnswer() bool {
	return c != nil && c.answered != nil && (c.answered.begun != nil || c.forms.now().Sub(c.answered.asked) >= humanTime)
}

// silent reports whether no person has seen the client's last form.
func (c *formChannel) silent() bool { return c.forms.isSilent(c.client) }

// form returns the form that the call brings the answer of, or nil.
func (c *formChannel) form() *form {
	if c == nil {
		return nil
	}
	return c.answered
}

// Ask implements request.Channel.
func (c *formChannel) Ask(_ context.Context, q gate.Question) (gate.Response, error) {
	f := c.answered
	if f == nil {
		return c.send(q, c.sheetOf(q), nil)
	}
	c.answered = nil
	if f.bound != q.Bound || f.cwd != q.Cwd {
		return silence(lang.T("the run or its draft changed while the form was open, so the answer was not used"), false), nil
	}
	return c.read(f, q)
}

// send puts a form to the person; its answer comes with the call that follows.
func (c *formChannel) send(q gate.Question, s sheet, begun *gate.Response) (gate.Response, error) {
	state, why := c.forms.add(statePrefix, form{bound: q.Bound, cwd: q.Cwd, client: c.client, limit: gate.FormTimeout, held: c.held, sheet: s, begun: begun})
	if state == "" {
		return silence(why, false), nil
	}
	c.asking = server.NewInputRequestBuilder(state).Elicit(formKey, c.params(s)).ToolResult()
	return gate.Response{}, request.ErrAsked
}

func silence(why lang.Text, unasked bool) gate.Response {
	return gate.Response{Silence: gate.Silence{Why: why, Unasked: unasked}}
}

// read turns the client's response to a form into the person's answer, or into the form that asks for
// the rest of it.
func (c *formChannel) read(f *form, q gate.Question) (gate.Response, error) {
	if out := c.explainSilence(f); !out.Silence.Why.Empty() {
		return out, nil
	}
	filled, why := f.sheet.read(c.answer.Content)
	if !why.Empty() {
		return gate.Response{}, fault.New(fault.GatePending, "no decision was taken: the host's answer to the form cannot be used: %s", why).
			WithHint("nothing was recorded; tell the human, and repeat the call when they are ready: the form comes back")
	}
	a := gate.Response{Channel: workflow.ChannelElicited}
	if f.begun != nil {
		a = *f.begun
	}
	a.Took += c.forms.now().Sub(f.asked)
	if len(q.Questions) > 0 {
		return c.readAnswers(f, q, a, filled)
	}
	if f.begun != nil {
		a.Feedback = filled[wordsField]
		return a, nil
	}
	switch filled[decisionField] {
	case notNow:
		return silence(lang.T("not now"), false), nil
	case viewFirst:
		return gate.Response{Silence: gate.Silence{Why: lang.T("the document is to be read first"), View: true}}, nil
	}
	for _, chosen := range q.Choices {
		if chosen.Value() != filled[decisionField] {
			continue
		}
		a.Decision = chosen.Decision
		if chosen.Words == "" {
			return a, nil
		}
		// The form had a field for them once, and who filled that in has said them.
		if a.Feedback = filled[wordsField]; a.Feedback == "" {
			return c.send(q, wordsSheet(q, chosen), &a)
		}
		return a, nil
	}
	return silence(lang.T("the chosen decision is not offered any more"), false), nil
}

// explainSilence says why no person has answered a form; it returns nothing if one may have. Nobody
// else decides if a person has answered the form before.
func (c *formChannel) explainSilence(f *form) gate.Response {
	took, unasked := c.forms.now().Sub(f.asked), f.begun == nil
	switch {
	case c.answer == nil && took >= f.limit:
		return silence(lang.T("the form was not answered within %v", f.limit), false)
	case took >= f.limit:
		return silence(lang.T("the form was answered after its %v were over", f.limit), false)
	case c.answer == nil && took >= humanTime:
		return silence(lang.T("the host gave no answer to the form"), false)
	case took < humanTime:
		if unasked {
			c.forms.setSilent(c.client, true)
		}
		if c.answer == nil {
			return silence(lang.T("the host could not show the form"), unasked)
		}
		return silence(lang.T("the host answered the form by itself, in %d ms", took.Milliseconds()), unasked)
	}
	c.forms.setSilent(c.client, false)
	switch c.answer.Action {
	case mcp.ElicitationResponseActionAccept:
		return gate.Response{}
	case mcp.ElicitationResponseActionDecline:
		return silence(lang.T("the form was declined"), false)
	default:
		return silence(lang.T("the form was closed"), false)
	}
}

// readAnswers takes the answers of a form into those so far. Those in own words are asked for in the
// form that follows.
func (c *formChannel) readAnswers(f *form, q gate.Question, a gate.Response, filled map[string]string) (gate.Response, error) {
	if f.begun == nil {
		a.Answers, a.SkipRest = map[string]string{}, filled[restField] == skipRest
	}
	var own []int
	for i, question := range q.Questions {
		at := slices.IndexFunc(f.sheet.fields, func(f field) bool { return f.name == answerField(i) })
		text := filled[answerField(i)]
		switch {
		case text == "", at < 0:
		case len(f.sheet.fields[at].choices) == 0:
			a.Answers[question.ID] = text
		case text == ownWords:
			own = append(own, i)
		default:
			for j, offered := range question.Options {
				if text == option(j) {
					a.Answers[question.ID] = offered
				}
			}
		}
	}
	switch {
	case len(own) > 0:
		return c.send(q, c.ownWordsSheet(q, own), &a)
	case len(a.Answers) > 0, a.SkipRest:
		return a, nil
	}
	// Answers and a decision contradict each other, so the decision counts only without any.
	for _, chosen := range q.Choices {
		if chosen.Value() == filled[restField] {
			a.Decision = chosen.Decision
			return a, nil
		}
	}
	return silence(lang.T("the form came back empty"), false), nil
}
