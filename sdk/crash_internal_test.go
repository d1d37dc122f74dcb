package sdk

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable/durabletest"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// steady is a model that decides by the conversation alone, so that it goes on after anything: it
// takes its steps, and ends. By default it writes a file, asks, and writes another. A sub-agent has steps
// of its own.
type steady struct {
	calls      int
	steps, sub []provider.Block
}

func (s *steady) Info() provider.Info { return provider.Info{Provider: "steady", Model: "steady-1"} }

func (s *steady) Send(_ context.Context, r provider.Request, _ func(provider.Delta)) (*provider.Response, error) {
	s.calls++
	if err := fake.Check(r.Messages); err != nil {
		return nil, &provider.Error{Status: 400, Message: err.Error()}
	}
	steps := s.steps
	if steps == nil {
		steps = []provider.Block{
			{Name: "write_file", Input: `{"file_path":"/docs/a.md","content":"a"}`},
			{Name: askUser, Input: `{"question":"Which colour?"}`},
			{Name: "write_file", Input: `{"file_path":"/docs/b.md","content":"b"}`},
		}
	}
	if strings.Contains(r.Messages[0].Text(), "work for another") {
		steps = s.sub
	}
	step := len(r.Messages) / 2
	if step >= len(steps) {
		return &provider.Response{Message: provider.Message{Blocks: []provider.Block{provider.TextBlock("Done.")}}, Stop: provider.EndTurn}, nil
	}
	use := steps[step]
	use.Type, use.ID = provider.ToolUse, "use-"+use.Name+strings.Repeat("x", step)
	return &provider.Response{Message: provider.Message{Blocks: []provider.Block{use}}, Stop: provider.UsesTools}, nil
}

// on returns a client whose sessions are kept on a disk.
func on(t *testing.T, disk *durabletest.Disk, model *steady, folder string) *Client {
	t.Helper()
	c, err := New(Options{Provider: model, Store: &DirStore{dir: disk.Dir("/project"), base: projectFolder}, Folders: []string{folder}, NewID: func() string { return "one" }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCrash: wherever the program dies or the disk fails, the session that is left can be opened,
// goes on behind its last saved step, and ends with both files and one answer.
func TestCrash(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	folder := agentFolder(t)
	work := func(disk *durabletest.Disk) error {
		c := on(t, disk, &steady{}, folder)
		defer c.Close()
		s, err := c.StartAgent(t.Context(), "writer", "write", SessionOptions{})
		if err != nil {
			return err
		}
		return finish(t, s)
	}
	before := durabletest.New()
	if err := before.Dir("/project").Mkdir(".bmad-task"); err != nil {
		t.Fatal(err)
	}
	steps, outcomes := durabletest.Sample(t, before, work, func(o durabletest.Outcome) {
		if o.Seen {
			return
		}
		o.Disk.Plan(durabletest.Fault{})
		model := &steady{}
		c := on(t, o.Disk, model, folder)
		defer c.Close()
		s, err := c.OpenSession(t.Context(), "one")
		if errors.Is(err, ErrNotFound) {
			if o.Acknowledged {
				t.Errorf("%s: the session is lost", o)
			}
			return
		}
		if err != nil {
			t.Errorf("%s: %v", o, err)
			return
		}
		if s.Status() != Ended && s.Status() != Failed {
			if err := finish(t, s); err != nil {
				t.Errorf("%s: %v", o, err)
				return
			}
		}
		if docs := s.Documents(); s.Status() == Ended && (len(docs) != 2 || docs[0].Content != "a" || docs[1].Content != "b") {
			t.Errorf("%s: documents %+v", o, docs)
		}
		events, err := c.Transcript(t.Context(), "one")
		if err != nil {
			t.Errorf("%s: %v", o, err)
		}
		last := int64(0)
		for _, e := range events {
			if e.Seq <= last {
				t.Errorf("%s: event %d after %d", o, e.Seq, last)
			}
			last = e.Seq
		}
	})
	t.Logf("%d steps, %d outcomes", len(steps), outcomes)
}

// TestCrashAtAnOwnTool: wherever the program dies or the disk fails, a tool of the caller's is not used
// twice, not by a sub-agent either, and the model reads that it may have been used; one that is
// idempotent is used until its result is known.
func TestCrashAtAnOwnTool(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	folder := agentFolder(t)
	charge := provider.Block{Name: "charge", Input: `{}`}
	for name, c := range map[string]struct {
		idempotent bool
		steady
	}{
		"used":         {steady: steady{steps: []provider.Block{charge}}},
		"idempotent":   {true, steady{steps: []provider.Block{charge}}},
		"by sub-agent": {steady: steady{steps: []provider.Block{{Name: invokeAgent, Input: `{"agent_id":"writer","command":"work for another"}`}}, sub: []provider.Block{charge}}},
	} {
		t.Run(name, func(t *testing.T) {
			var used int
			tool := Tool[struct{}, string]{Name: "charge", Idempotent: c.idempotent, Run: func(context.Context, struct{}) (string, error) {
				used++
				return "charged", nil
			}}
			work := func(disk *durabletest.Disk) error {
				used = 0
				client := on(t, disk, &steady{steps: c.steps, sub: c.sub}, folder)
				defer client.Close()
				s, err := client.StartAgent(t.Context(), "writer", "go", SessionOptions{Tools: []AnyTool{tool}})
				if err != nil {
					return err
				}
				_, err = s.Run(t.Context())
				return err
			}
			before := durabletest.New()
			if err := before.Dir("/project").Mkdir(".bmad-task"); err != nil {
				t.Fatal(err)
			}
			told := 0
			durabletest.Sample(t, before, work, func(o durabletest.Outcome) {
				ran := used
				defer func() { used = ran }() // the same work can leave several disks
				o.Disk.Plan(durabletest.Fault{})
				client := on(t, o.Disk, &steady{steps: c.steps, sub: c.sub}, folder)
				defer client.Close()
				s, err := client.OpenSessionWith(t.Context(), "one", OpenOptions{Tools: []AnyTool{tool}})
				if errors.Is(err, ErrNotFound) {
					if ran > 0 {
						t.Errorf("%s: the tool was used in a session that is lost", o)
					}
					return
				}
				if err != nil {
					t.Errorf("%s: %v", o, err)
					return
				}
				if s.Status() != Ended {
					if r, err := s.Run(t.Context()); err != nil || r.Status != Ended {
						t.Errorf("%s: %+v, %v", o, r, err)
					}
				}
				var read strings.Builder
				for _, m := range s.t.state.Messages {
					for _, b := range m.Blocks {
						if b.Type == provider.ToolResult {
							read.WriteString(b.Text + "\n")
						}
					}
				}
				interrupted := strings.Contains(read.String(), interruptedText)
				if interrupted {
					told++
				}
				if wrong := used > 1 || used == 0 && !interrupted; !c.idempotent && wrong || c.idempotent && (used == 0 || interrupted) {
					t.Errorf("%s: used %d times before, %d in all; the model read %q", o, ran, used, read.String())
				}
			})
			if !c.idempotent && told == 0 {
				t.Error("no outcome was between the use and its record")
			}
		})
	}
}

// finish runs a session, and answers its question.
func finish(t *testing.T, s *Session) error {
	t.Helper()
	for range 5 {
		events := s.Events()
		done := make(chan struct{})
		stop := make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case e, ok := <-events:
					if !ok {
						return
					}
					if e.Type == EventQuestion || e.Type == EventResumed {
						_ = s.Answer(t.Context(), "", "blue")
					}
				case <-stop:
					return
				}
			}
		}()
		r, err := s.Run(t.Context())
		close(stop)
		<-done
		if err != nil || r.Status == Ended {
			return err
		}
	}
	return errors.New("the session does not end")
}

// failing is a store that stops saving at a question.
type failing struct {
	*MemStore
	left int
}

func (f *failing) Save(ctx context.Context, id string, state []byte) error {
	if f.left--; f.left < 0 {
		return errors.New("the disk is full")
	}
	return f.MemStore.Save(ctx, id, state)
}

// TestPauseThatIsNotSaved: whoever pauses a session hears that the pause cannot be saved.
func TestPauseThatIsNotSaved(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for saves := range 8 {
		store := &failing{NewMemStore(), saves}
		c, err := New(Options{Provider: &steady{}, Store: store, Folders: []string{agentFolder(t)}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.StartAgent(t.Context(), "writer", "write", SessionOptions{PauseTimeout: 1})
		if err != nil {
			t.Fatal(err)
		}
		var unsaved *StoreError
		r, err := s.Run(t.Context())
		if failed := store.left < 0; r.Status != Paused || errors.As(err, &unsaved) != failed {
			t.Errorf("%d saves, one failed: %v: %s, %v", saves, failed, r.Status, err)
		}
		c.Close()
	}
}
