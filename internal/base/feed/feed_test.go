package feed_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
)

// reader follows subjects whose states a test sets.
type reader struct {
	slow time.Duration // the duration of a look

	mu     sync.Mutex
	states map[string]string
	told   []string
	looks  []time.Time
}

func (r *reader) set(subject, state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states[subject] = state
}

func (r *reader) Look(_ context.Context, subject string) feed.Sight {
	time.Sleep(r.slow)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks = append(r.looks, time.Now())
	return feed.Sight{State: r.states[subject]}
}

func (r *reader) Changed(subject string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, subject)
}

// takes returns the subjects that were reported to the reader, and forgets them.
func (r *reader) takes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.told
	r.told = nil
	return told
}

func newFeed() *feed.Feed {
	return feed.New(feed.Options{Runs: feed.Folders{Sessions: ".bmad-task", Documents: ".claude/specs"}, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

func expect(t *testing.T, r *reader, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := r.takes(); !slices.Equal(got, want) {
		t.Errorf("%s, the subscriber was told of %q, want %q", when, got, want)
	}
}

// TestChangesAreToldOnce tells each subscriber of the subjects that it follows, and of no other.
func TestChangesAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		defer f.Close()
		a, b := &reader{states: map[string]string{"x": "1", "y": "1"}}, &reader{states: map[string]string{"x": "1"}}
		f.Poke()
		for _, subject := range []string{"x", "y", "missing"} {
			if !f.Follow(a, subject, a.Look(t.Context(), subject)) {
				t.Fatalf("%q is not followed", subject)
			}
		}
		f.Follow(b, "x", b.Look(t.Context(), "x"))
		expect(t, a, "after nothing has changed")

		a.set("x", "2")
		a.set("missing", "1")
		f.Poke()
		f.Poke()
		expect(t, a, "after two changes", "missing", "x")
		expect(t, b, "after changes of others' subjects")
		f.Poke()
		expect(t, a, "after another round")

		a.set("x", "3")
		f.Unfollow(a, "y")
		a.set("y", "2")
		b.set("x", "2")
		f.Leave(b)
		f.Poke()
		expect(t, a, "after leaving y", "x")
		expect(t, b, "after leaving")
		b.set("x", "3")
		f.Follow(b, "x", feed.Sight{State: "3"})
		f.Poke()
		expect(t, b, "after following again")
	})
}

// TestSlowLooksRest keeps a feed whose looks are slow from looking all the time.
func TestSlowLooksRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		defer f.Close()
		r := &reader{slow: time.Second, states: map[string]string{}}
		f.Follow(r, "x", feed.Sight{})
		began := time.Now()
		for time.Since(began) < 59*time.Second {
			f.Poke()
			time.Sleep(100 * time.Millisecond)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.looks) != 12 {
			t.Errorf("%d looks of a second each in a minute, want 12: one and a rest of four each time", len(r.looks))
		}
	})
}

// TestCloseEndsEverything closes a feed that rests, one that looks, and one that nobody uses. The
// bubble fails the test if a goroutine outlives them.
func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newFeed().Close()

		resting, r := newFeed(), &reader{slow: time.Hour, states: map[string]string{}}
		resting.Follow(r, "x", feed.Sight{})
		resting.Poke()
		time.Sleep(2 * time.Hour)
		r.set("x", "2")
		resting.Poke()
		began := time.Now()
		resting.Close()
		if took := time.Since(began); took != 0 {
			t.Errorf("closing a feed that rests took %v, want no time", took)
		}

		looking, l := newFeed(), &reader{slow: time.Hour, states: map[string]string{"x": "2"}}
		looking.Follow(l, "x", feed.Sight{})
		looking.Follow(l, "y", feed.Sight{})
		looking.Poke()
		time.Sleep(time.Minute)
		looking.Close()
		if len(l.looks) != 1 {
			t.Errorf("%d looks, want the one that was under way", len(l.looks))
		}
		looking.Follow(l, "z", feed.Sight{})
		looking.Poke()
		looking.Close()
		time.Sleep(24 * time.Hour)
		for _, after := range []*reader{r, l} {
			if len(after.looks) != 1 || len(after.told) != 0 {
				t.Errorf("after closing: %d looks and %q told, want 1 and none", len(after.looks), after.told)
			}
		}
	})
}

// TestOwnWritesDropNoCaches writes the state and the documents of a run: the feed looks, and drops its caches
// of the disk only for a file elsewhere.
func TestOwnWritesDropNoCaches(t *testing.T) {
	dir := t.TempDir()
	var folders []string
	for _, name := range []string{".bmad-task", ".claude/specs/demo", "_bmad"} {
		folders = append(folders, filepath.Join(dir, name))
		if err := os.MkdirAll(folders[len(folders)-1], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dropped, looked := make(chan struct{}, 100), make(chan struct{}, 100)
	f := feed.New(feed.Options{Runs: feed.Folders{Sessions: ".bmad-task", Documents: ".claude/specs"}, Recheck: func() { dropped <- struct{}{} }, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	defer f.Close()
	f.Follow(&watching{func() { looked <- struct{}{} }, folders}, "x", feed.Sight{Folders: folders})
	write := func(folder string) {
		if err := os.WriteFile(filepath.Join(folder, "session-1.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	<-dropped // the folder _bmad is new to the feed
	<-looked
	for _, folder := range folders[:2] {
		write(folder)
		<-looked
	}
	if n := len(dropped); n != 0 {
		t.Errorf("the caches were dropped %d times after writes of runs", n)
	}
	write(folders[2])
	<-dropped
}

// watching is a subscriber that reports its looks.
type watching struct {
	look    func()
	folders []string
}

func (w *watching) Look(context.Context, string) feed.Sight {
	w.look()
	return feed.Sight{Folders: w.folders}
}

func (*watching) Changed(string) {}

// TestApart looks at a subject that no run can change only after other changes.
func TestApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		defer f.Close()
		r := &reader{states: map[string]string{"run": "1", "apart": "1"}}
		f.Follow(r, "run", feed.Sight{State: "1"})
		f.Follow(r, "apart", feed.Sight{State: "1", Apart: true})
		r.set("run", "2")
		r.set("apart", "2")
		f.Poke()
		expect(t, r, "after a change of a run", "run")
		if got := len(r.looks); got != 1 {
			t.Errorf("%d looks, want one", got)
		}
		f.PokeAll()
		expect(t, r, "after another change", "apart")
	})
}

// TestTooMany checks that a subject beyond the limit is refused, and that the others stay.
func TestTooMany(t *testing.T) {
	f, r := newFeed(), &reader{}
	defer f.Close()
	refused := 0
	for n := range 300 {
		if !f.Follow(r, fmt.Sprint(n), feed.Sight{}) {
			refused++
		}
	}
	if refused != 97 || !f.Follow(r, "0", feed.Sight{}) {
		t.Errorf("%d of 300 subjects refused, want 97", refused)
	}
}

// project looks at the files of a project.
type project struct {
	dir  string
	told chan string
}

func (p *project) Look(context.Context, string) feed.Sight {
	all, _ := filepath.Glob(filepath.Join(p.dir, "*", "*"))
	return feed.Sight{State: fmt.Sprint(all), Project: p.dir, Folders: []string{filepath.Join(p.dir, "docs")}}
}

func (p *project) Changed(subject string) { p.told <- subject }

// TestOthersChange reports the runs and files that somebody else writes.
func TestOthersChange(t *testing.T) {
	p := &project{dir: t.TempDir(), told: make(chan string, 100)}
	if err := os.Mkdir(filepath.Join(p.dir, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := newFeed()
	defer f.Close()
	f.Follow(p, "files", p.Look(t.Context(), "files"))
	for _, name := range []string{"docs/a.md", ".bmad-task/session-1.json", "docs/b.md"} {
		name = filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		select {
		case <-p.told:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s was not reported", name)
		}
	}
}
