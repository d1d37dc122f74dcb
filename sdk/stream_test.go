package sdk_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// startHelper starts a session of the helper.
func startHelper(t *testing.T, c *sdk.Client, o sdk.SessionOptions) *sdk.Session {
	t.Helper()
	o.Agent = helper
	s, err := c.StartAgent(t.Context(), "", "go", o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStream: a loop sees all events of a session in their order, answers its question, and ends.
func TestStream(t *testing.T) {
	c, _ := plainClient(t, write("/docs/a.md", "a"), ask("Which colour?"), fake.Text("Blue it is."))
	s := startHelper(t, c, sdk.SessionOptions{})
	var kinds []sdk.EventType
	last := int64(0)
	for e, err := range s.Stream(newContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != sdk.EventTextDelta {
			if e.Seq <= last {
				t.Errorf("event %d after %d", e.Seq, last)
			}
			last, kinds = e.Seq, append(kinds, e.Type)
		}
		if e.Type == sdk.EventQuestion {
			if err := s.Answer(t.Context(), e.Question.ID, "blue"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []sdk.EventType{sdk.EventStarted, sdk.EventToolFinished, sdk.EventQuestion, sdk.EventAnswered, sdk.EventCost, sdk.EventCompleted} {
		if !slices.Contains(kinds, want) {
			t.Errorf("no event %s in %v", want, kinds)
		}
	}
	if r := s.Result(); r.Status != sdk.Ended || r.Text != "Blue it is." || len(r.Documents) != 1 {
		t.Errorf("%+v", r)
	}
	for e, err := range s.Stream(newContext(t)) {
		if err != nil && !errors.Is(err, sdk.ErrEnded) {
			t.Errorf("after the end: %+v, %v", e, err)
		}
	}
}

// TestStreamThatIsSlow: a loop that has missed pieces of an answer still sees the question behind them.
func TestStreamThatIsSlow(t *testing.T) {
	c, p := plainClient(t, fake.Calls(fake.Text(strings.Repeat("word ", 2000)), ask("Which colour?")), fake.Text("Blue it is."))
	s := startHelper(t, c, sdk.SessionOptions{})
	for e, err := range s.Stream(newContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		for e.Type == sdk.EventTextDelta && len(p.Requests()) == 1 && len(s.Questions()) == 0 {
			runtime.Gosched() // the model is faster than the loop
		}
		if e.Type == sdk.EventQuestion {
			if err := s.Answer(t.Context(), e.Question.ID, "blue"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r := s.Result(); r.Text != "Blue it is." {
		t.Errorf("%+v", r)
	}
}

// TestStreamThatIsLeft: a session is paused and goes on; a conversation takes the next message.
func TestStreamThatIsLeft(t *testing.T) {
	c, _ := plainClient(t, ask("Which colour?"), fake.Text("Blue it is."))
	s := startHelper(t, c, sdk.SessionOptions{})
	for e, err := range s.Stream(newContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == sdk.EventQuestion {
			break
		}
	}
	if s.Status() != sdk.Paused {
		t.Fatalf("status %s", s.Status())
	}
	if err := s.Answer(t.Context(), "", "blue"); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Resume(newContext(t)); err != nil || r.Text != "Blue it is." {
		t.Errorf("%+v, %v", r, err)
	}

	c, _ = plainClient(t, ask("Which colour?"), fake.Text("Then not."), fake.Fail(&provider.Error{Status: 400, Message: "too long"}))
	v, err := c.StartConversation(t.Context(), "", sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{Agent: helper}})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range v.Stream(newContext(t), "Paint") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == sdk.EventQuestion {
			break
		}
	}
	var texts []string
	for e, err := range v.Stream(newContext(t), "Leave it") {
		if err != nil || e.Type == sdk.EventStarted {
			t.Fatalf("%+v, %v", e, err)
		}
		if e.Type == sdk.EventTurnCompleted {
			texts = append(texts, e.Text)
		}
	}
	if len(texts) != 1 || texts[0] != "Then not." {
		t.Errorf("%q", texts)
	}
	var failed error
	for _, err := range v.Stream(newContext(t), "More") {
		failed = err
	}
	var refused *sdk.ProviderError
	if !errors.As(failed, &refused) {
		t.Errorf("the last pair has %v", failed)
	}
}

// TestOnQuestion: the function answers each question in turn, here and after the session was opened
// again; its error pauses the session, and the person can still answer.
func TestOnQuestion(t *testing.T) {
	two := fake.Calls(ask("Which colour?"), ask("Which size?"))
	c, p := plainClient(t, two, fake.Text("Done."))
	var asked []string
	answer := func(_ context.Context, q sdk.Question) (string, error) {
		asked = append(asked, q.Question)
		return "answer " + q.Question, nil
	}
	if r, err := startHelper(t, c, sdk.SessionOptions{OnQuestion: answer}).Run(newContext(t)); err != nil || r.Text != "Done." {
		t.Fatalf("%+v, %v", r, err)
	}
	last := p.Requests()[1].Messages
	if results := last[len(last)-1].Blocks; len(asked) != 2 || results[0].Text != "answer Which colour?" || results[1].Text != "answer Which size?" {
		t.Errorf("asked %q; results %+v", asked, results)
	}

	for name, fail := range map[string]func() (string, error){
		"an error":  func() (string, error) { return "", errors.New("nobody is here") },
		"a panic":   func() (string, error) { panic("nobody is here") },
		"no answer": func() (string, error) { return " ", nil },
	} {
		c, _ := plainClient(t, ask("Which colour?"), fake.Text("Done."))
		s := startHelper(t, c, sdk.SessionOptions{OnQuestion: func(context.Context, sdk.Question) (string, error) { return fail() }})
		r, err := s.Run(newContext(t))
		var unanswered *sdk.QuestionError
		if !errors.As(err, &unanswered) || unanswered.Question.Question != "Which colour?" || r.Status != sdk.Paused || len(r.Questions) != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		again, err := c.OpenWith(t.Context(), s.ID(), sdk.OpenOptions{OnQuestion: answer})
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Resume(newContext(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if turn, err := again.Wait(newContext(t)); err != nil || turn.Response != "Done." {
			t.Errorf("%s: %+v, %v", name, turn, err)
		}
	}
}

// TestOnQuestionIsSlow: somebody else answers meanwhile; the function is not waited for.
func TestOnQuestionIsSlow(t *testing.T) {
	c, _ := plainClient(t, ask("Which colour?"), fake.Text("Done."))
	called, release := make(chan struct{}), make(chan struct{})
	s := startHelper(t, c, sdk.SessionOptions{OnQuestion: func(context.Context, sdk.Question) (string, error) {
		close(called)
		<-release
		return "late", nil
	}})
	go func() {
		<-called
		_ = s.Answer(t.Context(), "", "blue")
	}()
	r, err := s.Run(newContext(t))
	close(release)
	if err != nil || r.Text != "Done." {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestOnQuestionIsOvertaken: once somebody else has answered, the function's context ends, its error counts
// for nothing, and it is asked the next question.
func TestOnQuestionIsOvertaken(t *testing.T) {
	c, p := plainClient(t, ask("Which colour?"), ask("Which size?"), fake.Text("Done."))
	called := make(chan struct{})
	s := startHelper(t, c, sdk.SessionOptions{OnQuestion: func(ctx context.Context, q sdk.Question) (string, error) {
		if q.Question == "Which size?" {
			return "small", nil
		}
		close(called)
		<-ctx.Done()
		return "", ctx.Err()
	}})
	go func() {
		<-called
		_ = s.Answer(t.Context(), "", "blue")
	}()
	if r, err := s.Run(newContext(t)); err != nil || r.Text != "Done." {
		t.Fatalf("%+v, %v", r, err)
	}
	for n, want := range []string{"blue", "small"} {
		last := p.Requests()[n+1].Messages
		if got := last[len(last)-1].Blocks[0].Text; got != want {
			t.Errorf("answer %d is %q, want %q", n, got, want)
		}
	}
}

// TestAskReturnsAtAQuestion: without a function that answers, Ask does not wait for the person.
func TestAskReturnsAtAQuestion(t *testing.T) {
	c, _ := plainClient(t, ask("Which colour?"), fake.Text("Blue it is."))
	v, err := c.StartConversation(t.Context(), "", sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{Agent: helper, PauseTimeout: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := newContext(t)
	if _, err := v.Ask(ctx, "Paint"); !errors.Is(err, sdk.ErrQuestion) || len(v.Questions()) != 1 {
		t.Fatalf("%v, %v", err, v.Questions())
	}
	if err := v.Answer(ctx, "", "blue"); err != nil {
		t.Fatal(err)
	}
	if turn, err := v.Wait(ctx); err != nil || turn.Response != "Blue it is." {
		t.Errorf("%+v, %v", turn, err)
	}
}

// TestAskAtTheSameTime: each call returns the answer to its own words, also if the next turn begins before
// it looks, and a loop that is left at the end of its turn does not cancel that one.
func TestAskAtTheSameTime(t *testing.T) {
	c, err := sdk.New(sdk.Options{Provider: parrot{}, Prices: fake.Prices()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	v, err := c.StartConversation(t.Context(), "", sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{Agent: helper}})
	if err != nil {
		t.Fatal(err)
	}
	stream := func(words string) (string, error) {
		for e, err := range v.Stream(t.Context(), words) {
			if err != nil || e.Type == sdk.EventTurnCompleted {
				return e.Text, err
			}
		}
		return "", nil
	}
	var all sync.WaitGroup
	for who := range 6 {
		all.Go(func() {
			for n := 0; n < 20; {
				words := fmt.Sprintf("words %d of %d", n, who)
				turn := &sdk.Turn{}
				var err error
				if who == 0 {
					turn.Response, err = stream(words)
				} else {
					turn, err = v.Ask(t.Context(), words)
				}
				if errors.Is(err, sdk.ErrBusy) {
					runtime.Gosched()
					continue
				}
				if err != nil || turn.Response != words {
					t.Errorf("%q: %+v, %v", words, turn, err)
				}
				n++
			}
		})
	}
	all.Wait()
}

// parrot is a model that repeats the last words.
type parrot struct{}

func (parrot) Info() provider.Info { return provider.Info{Provider: "fake", Model: fake.Model} }

func (parrot) Send(ctx context.Context, r provider.Request, _ func(provider.Delta)) (*provider.Response, error) {
	words := r.Messages[len(r.Messages)-1].Text()
	return &provider.Response{Message: provider.Message{Role: provider.Assistant, Blocks: []provider.Block{provider.TextBlock(words)}},
		Stop: provider.EndTurn, Usage: provider.Usage{Input: 1, Output: 1}}, ctx.Err()
}

// TestAskThatIsPaused: a turn that is not over is not returned as one that is.
func TestAskThatIsPaused(t *testing.T) {
	c, _ := plainClient(t, ask("Which colour?"), fake.Text("Blue it is."))
	asked := make(chan struct{})
	v, err := c.StartConversation(t.Context(), "", sdk.ConversationOptions{SessionOptions: sdk.SessionOptions{Agent: helper,
		OnQuestion: func(ctx context.Context, _ sdk.Question) (string, error) {
			close(asked)
			<-ctx.Done()
			return "", ctx.Err()
		}}})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-asked
		_ = v.Pause(t.Context())
	}()
	if turn, err := v.Ask(newContext(t), "Paint"); !errors.Is(err, sdk.ErrPaused) || turn == nil || len(v.Questions()) != 1 {
		t.Errorf("%+v, %v", turn, err)
	}
}

// other is a fake model of another name.
type other struct{ *fake.Provider }

func (other) Info() provider.Info { return provider.Info{Provider: "fake", Model: "fake-2"} }

// TestProvidersByAgent: an agent, a sub-agent too, has the model that is named for it, and a session
// that is opened again has the same.
func TestProvidersByAgent(t *testing.T) {
	second := other{fake.New(fake.Text("I am the architect."), fake.Text("Still the architect."))}
	c, first := client(t, sdk.Options{Providers: map[string]provider.Provider{"plot-architect": second}},
		fake.Call("invoke_agent", map[string]string{"agent_id": "plot-architect", "command": "who are you"}), fake.Text("I am the manager."))
	s, err := c.StartAgent(t.Context(), "pm", "go", sdk.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(newContext(t))
	if err != nil || r.Text != "I am the manager." {
		t.Fatalf("%+v, %v", r, err)
	}
	models := map[string]int{}
	for _, line := range r.Costs.Models {
		models[line.Model] = line.Calls
	}
	if len(first.Requests()) != 2 || len(second.Requests()) != 1 || models["fake-1"] != 2 || models["fake-2"] != 1 {
		t.Errorf("%d and %d calls; costs %+v", len(first.Requests()), len(second.Requests()), r.Costs.Models)
	}
	v, err := c.StartConversation(t.Context(), "plot-architect", sdk.ConversationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := c.OpenWith(t.Context(), v.ID(), sdk.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if turn, err := again.Ask(newContext(t), "And now"); err != nil || turn.Response != "Still the architect." {
		t.Errorf("%+v, %v", turn, err)
	}
	limited, _ := client(t, sdk.Options{CostLimit: price.Dollar, Providers: map[string]provider.Provider{"plot-architect": second}})
	var unknown *sdk.PriceUnknownError
	if _, err := limited.StartAgent(t.Context(), "plot-architect", "go", sdk.SessionOptions{}); !errors.As(err, &unknown) {
		t.Errorf("a limit for a model without a price: %v", err)
	}
}

// TestProvidersByAlias: an agent that is named otherwise has the same model, also once it is opened again.
func TestProvidersByAlias(t *testing.T) {
	dir := layout(t, "v6-mixed")
	plain, _ := client(t, sdk.Options{Project: dir})
	agents, err := plain.Agents(t.Context())
	at := slices.IndexFunc(agents, func(a sdk.AgentInfo) bool { return len(a.Aliases) > 0 })
	if err != nil || at < 0 {
		t.Fatalf("no agent has another name: %+v, %v", agents, err)
	}
	id, alias := agents[at].ID, agents[at].Aliases[0]
	c, first := client(t, sdk.Options{Project: dir, Providers: map[string]provider.Provider{alias: other{fake.New(fake.Text("Hello."), fake.Text("Hello."), fake.Text("Hello."))}}})
	for _, name := range []string{id, alias} {
		v, err := c.StartConversation(t.Context(), name, sdk.ConversationOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Ask(newContext(t), "Hi"); err != nil || len(first.Requests()) > 0 {
			t.Errorf("%s: %v, %d calls of another model", name, err, len(first.Requests()))
		}
		if _, err := c.Open(t.Context(), v.ID()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUsageForPeople(t *testing.T) {
	for want, u := range map[string]provider.Usage{
		"0 tokens in, 0 out":       {},
		"999 tokens in, 1,000 out": {Input: 999, Output: 1000},
		"1,234,567 tokens in (1,000,000 from the cache, 34,567 written to it), 12 out, estimated": {
			Input: 200_000, CacheRead: 1_000_000, CacheWrite5m: 30_000, CacheWrite1h: 4_567, Output: 12, Estimated: true},
	} {
		if got := u.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if text := strings.TrimSpace((provider.Usage{Input: -1234}).String()); !strings.HasPrefix(text, "-1,234 ") {
		t.Error(text)
	}
}
