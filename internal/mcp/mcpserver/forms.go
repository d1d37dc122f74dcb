package mcpserver

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
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
	// formKey is the id of a form among the requested inputs of a result.
	formKey = "form"
	// statePrefix begins the state of a form at a gate, folderPrefix of a form about a folder, samplePrefix
	// of a question to the host's model.
	statePrefix, folderPrefix, samplePrefix = "form-", "folder-", "sample-"
	// humanTime is the least time in which a person can read a form and answer it. Some hosts
	// decline forms by themselves, or accept empty ones, within milliseconds.
	humanTime = time.Second
	// maxForms bounds the open forms of a client that hold a worker each, so that other workers stay free.
	maxForms = 8
	// maxRemembered bounds the forms answered in a later call, if ever.
	maxRemembered = 256
	// maxClients bounds the remembered clients.
	maxClients = 1000
)

// forms are the open questions to people, and to the models of hosts. The state in a message only names an
// entry in forms: the purpose of an answer never leaves the server, and each entry is used once.
type forms struct {
	now func() time.Time
	// awaitMove returns once a run is not at a point any more, or ctx ends.
	awaitMove func(ctx context.Context, at gate.Bound, cwd string)

	mu   sync.Mutex
	open map[string]*form // by state
	// silent has the clients whose last form no person has seen, with the time. A client dropped from silent
	// is sent forms again.
	silent *recent.Map[string, time.Time]
	// seen is the folder with an empty file for each program with a form that a person has answered, by a hash of
	// the name; "" without a folder. A quick answer of theirs is not replaced by the word of their assistant, in any
	// project and by any later process.
	seen string
	// seenHere has the same programs for this process.
	seenHere *recent.Map[string, bool]
}

// forgetSilence is the time for which a client without a session stays silent, since another window of the
// same program on the same machine may show forms.
const forgetSilence = 5 * time.Minute

// form is an open question.
type form struct {
	bound  gate.Bound
	cwd    string
	client string
	asked  time.Time
	limit  time.Duration
	// held reports whether the call waits for the answer, and holds a worker.
	held  bool
	sheet sheet
	// moved reports whether the wait ended because the run is at another point.
	moved bool
	// begun are the answers of an earlier form that this one completes; nil for a first form.
	begun *gate.Response
}

func newForms(now func() time.Time) *forms {
	return &forms{now: now, open: map[string]*form{}, silent: recent.New[string, time.Time](maxClients), seenHere: recent.New[string, bool](maxClients)}
}

// addForm stores a form and returns a new state with a prefix; "" and the reason if the form must not be
// sent.
func (f *forms) addForm(prefix string, n form) (state string, why lang.Text) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.asked = f.now()
	held, oldest := 0, ""
	for state, other := range f.open {
		switch {
		case n.asked.Sub(other.asked) > other.limit+time.Minute:
			delete(f.open, state)
			continue
		case other.bound == n.bound && other.cwd == n.cwd && other.held && other.client == n.client:
			return "", lang.T("a form with this question is open already")
		}
		if other.held {
			if other.client == n.client {
				held++ // of this client only: others do not wait for its person
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

// takeOpen removes the form with a state, and returns it; nil if it was never sent, was sent to another
// client, or is answered already.
func (f *forms) takeOpen(state, client string) *form {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.open[state]
	if found == nil || found.client != client {
		return nil // it stays open for the client that was asked
	}
	delete(f.open, state)
	taken := *found // the wait for its end may still write
	return &taken
}

// beginWait is [mcpwire.Options.Question]. It ends the wait for a person once the run is at another point.
func (f *forms) beginWait(ctx context.Context, state string) (waiting context.Context, done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.open[state]
	if found == nil { // a question that needs no memory
		return context.WithTimeout(ctx, gate.FormTimeout)
	}
	waiting, cancel := context.WithTimeout(ctx, found.limit)
	if found.bound.SessionID != "" {
		go func() { // ends with the wait
			f.awaitMove(waiting, found.bound, found.cwd)
			f.mu.Lock()
			defer f.mu.Unlock()
			found.moved = waiting.Err() == nil
			cancel()
		}()
	}
	return waiting, func() {
		cancel()
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.open, state)
	}
}

// noteSeen records that a person has answered a form of a program.
func (f *forms) noteSeen(name string) {
	if known, _ := f.seenHere.Get(name); known || name == "" {
		return
	}
	f.seenHere.Put(name, true)
	if f.seen != "" && os.MkdirAll(f.seen, 0o700) == nil {
		_ = os.WriteFile(f.seenFile(name), nil, 0o600) // without it, this process alone knows
	}
}

// hasSeen reports whether a person has answered a form of a program, here or in another process.
func (f *forms) hasSeen(name string) bool {
	if known, _ := f.seenHere.Get(name); known {
		return true
	}
	if f.seen == "" || name == "" {
		return false
	}
	_, err := os.Stat(f.seenFile(name))
	return err == nil
}

func (f *forms) seenFile(name string) string {
	return filepath.Join(f.seen, "shows-forms-"+workflow.Hash([]byte(name))[:16])
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

// formChannel asks the person by forms of the host, for one call.
type formChannel struct {
	formStyle
	forms  *forms
	client string
	// name is the program's own name.
	name string
	// held reports whether forms of the client hold the call.
	held bool

	// answered is the form whose answer came with the call, and answer the answer.
	answered *form
	answer   *mcp.ElicitationResult

	// lost reports whether the call came with an answer to a form no longer open.
	lost bool

	// asking is the result with the question, once Ask has returned ErrAsked.
	asking *mcp.CallToolResult
}

// newFormChannel returns the way to the person by forms; nil if the host has no forms, and for web pages,
// which are nobody's host. It takes the answer to a form from the call.
func newFormChannel(ctx context.Context, f *forms, call mcp.CallToolRequest) *formChannel {
	if httpguard.FromPage(ctx) {
		return nil
	}
	c := &formChannel{formStyle: styleOf(ctx), forms: f, client: mcpwire.ClientKey(ctx), name: mcpwire.ClientInfo(ctx).Name, held: !server.IsModernRequest(ctx)}
	if state := call.Params.RequestState; strings.HasPrefix(state, statePrefix) {
		if c.answered = f.takeOpen(state, c.client); c.answered != nil {
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

// hasAnswer reports whether the call came with a form's answer that a person may have given. Then nothing
// else in the call may decide.
func (c *formChannel) hasAnswer() bool {
	return c != nil && c.answered != nil && (c.answered.begun != nil || c.forms.now().Sub(c.answered.asked) >= humanTime)
}

// isSilent reports whether no person has seen the client's last form.
func (c *formChannel) isSilent() bool { return c.forms.isSilent(c.client) }

// answeredForm returns the form answered by the call, or nil.
func (c *formChannel) answeredForm() *form {
	if c == nil {
		return nil
	}
	return c.answered
}

// Ask implements request.Channel.
func (c *formChannel) Ask(_ context.Context, q gate.Question) (gate.Response, error) {
	f := c.answered
	if f == nil {
		return c.sendForm(q, c.sheetOf(q), nil)
	}
	c.answered = nil
	if f.bound != q.Bound || f.cwd != q.Cwd {
		return silentResponse(lang.T("the run or its draft changed while the form was open, so the answer was not used"), false), nil
	}
	return c.readResponse(f, q)
}

// sendForm puts a form to the person; the answer comes with a later call.
func (c *formChannel) sendForm(q gate.Question, s sheet, begun *gate.Response) (gate.Response, error) {
	state, why := c.forms.addForm(statePrefix, form{bound: q.Bound, cwd: q.Cwd, client: c.client, limit: gate.FormTimeout, held: c.held, sheet: s, begun: begun})
	if state == "" {
		return silentResponse(why, false), nil
	}
	c.asking = server.NewInputRequestBuilder(state).Elicit(formKey, c.elicitation(s)).ToolResult()
	return gate.Response{}, request.ErrAsked
}

func silentResponse(why lang.Text, unasked bool) gate.Response {
	return gate.Response{Silence: gate.Silence{Why: why, Unasked: unasked}}
}

// readResponse turns the client's response to a form into the person's answer, or into a second form for the
// rest of the answer.
func (c *formChannel) readResponse(f *form, q gate.Question) (gate.Response, error) {
	if out := c.explainSilence(f); !out.Silence.Why.Empty() {
		return out, nil
	}
	filled, why := f.sheet.readAnswer(c.answer.Content)
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
		return silentResponse(lang.T("not now"), false), nil
	case viewFirst:
		return gate.Response{Silence: gate.Silence{Why: lang.T("the document is to be read first"), View: true}}, nil
	}
	chosen, ok := q.Choose(filled[decisionField])
	if !ok {
		return silentResponse(lang.T("the chosen decision is not offered any more"), false), nil
	}
	a.Decision, a.Offer = chosen.Decision, chosen.Offer
	if chosen.Words == "" {
		return a, nil
	}
	// Older forms had a field for the words, which may be filled in.
	if a.Feedback = filled[wordsField]; a.Feedback == "" {
		return c.sendForm(q, wordsSheet(q, chosen), &a)
	}
	return a, nil
}

// explainSilence says why no person has answered a form; it returns the zero value if a person may have. If a
// person has answered a first form, the silence is not unasked, and no other way may decide.
func (c *formChannel) explainSilence(f *form) gate.Response {
	took, unasked := c.forms.now().Sub(f.asked), f.begun == nil && !c.forms.hasSeen(c.name)
	switch {
	case c.answer == nil && took >= f.limit:
		return silentResponse(lang.T("the form was not answered within %v", f.limit), false)
	case took >= f.limit:
		return silentResponse(lang.T("the form was answered after its %v were over", f.limit), false)
	case c.answer == nil && took >= humanTime:
		return silentResponse(lang.T("the host gave no answer to the form"), false)
	case took < humanTime:
		if unasked {
			c.forms.setSilent(c.client, true)
		}
		if c.answer == nil {
			return silentResponse(lang.T("the host could not show the form"), unasked)
		}
		return silentResponse(lang.T("the host answered the form by itself, in %d ms", took.Milliseconds()), unasked)
	}
	c.forms.setSilent(c.client, false)
	c.forms.noteSeen(c.name)
	switch c.answer.Action {
	case mcp.ElicitationResponseActionAccept:
		return gate.Response{}
	case mcp.ElicitationResponseActionDecline:
		return silentResponse(lang.T("the form was declined"), false)
	default:
		return silentResponse(lang.T("the form was closed"), false)
	}
}

// readAnswers adds the answers of a form to a. It sends a second form for answers in own words.
func (c *formChannel) readAnswers(f *form, q gate.Question, a gate.Response, filled map[string]string) (gate.Response, error) {
	if f.begun == nil {
		a.Answers = map[string]string{}
	}
	var own []int
	for i, question := range q.Questions {
		at := slices.IndexFunc(f.sheet.fields, func(f field) bool { return f.name == answerField(i) })
		text := filled[answerField(i)]
		switch {
		case text == "", text == openText, at < 0:
		case len(f.sheet.fields[at].choices) == 0:
			a.Answers[question.ID] = text
		case text == ownWords:
			own = append(own, i)
		case text == skipOne:
			a.Answers[question.ID] = skipOne
		default:
			for j, offered := range question.Options {
				if text == optionValue(j) {
					a.Answers[question.ID] = offered
				}
			}
		}
	}
	switch {
	case len(own) > 0:
		return c.sendForm(q, c.ownWordsSheet(q, own), &a)
	case len(a.Answers) > 0:
		return a, nil
	}
	// Answers and a decision contradict each other, so the decision counts only without any.
	for _, chosen := range q.Choices {
		if chosen.Value() == filled[restField] {
			a.Decision = chosen.Decision
			return a, nil
		}
	}
	return silentResponse(lang.T("the form came back empty"), false), nil
}
