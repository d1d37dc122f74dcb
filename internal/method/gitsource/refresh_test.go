package gitsource_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/method/gitsource"
)

func TestDue(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, at := newCache(t)
	s := r.spec("#main")
	due := func(want bool, when string) {
		t.Helper()
		if c.Due(s) != want {
			t.Errorf("%s: due is %t", when, !want)
		}
	}
	due(true, "never fetched")
	update(t, c, s)
	due(false, "fetched")
	at.move(gitsource.RefreshAfter - time.Second)
	due(false, "a day, but for a second")
	at.move(time.Second)
	due(true, "a day")
	away := r.dir + ".away"
	if err := os.Rename(r.dir, away); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Update(t.Context(), s); err == nil {
		t.Fatal("it is not away")
	}
	due(false, "it has just failed")
	at.move(gitsource.RetryAfter - time.Second)
	due(false, "it has failed nearly a quarter of an hour ago")
	at.move(time.Second)
	due(true, "it has failed a quarter of an hour ago")
	at.move(-100 * time.Hour)
	due(true, "the clock was wrong")
	at.move(100 * time.Hour)
	if err := os.Rename(away, r.dir); err != nil {
		t.Fatal(err)
	}
	update(t, c, s)
	due(false, "it is back")
	// The copy goes, by somebody's hand: that was no failure of the remote.
	update(t, c, s)
	if err := os.RemoveAll(have(t, c, s).Root); err != nil {
		t.Fatal(err)
	}
	due(true, "the copy is gone")
	if _, changed := update(t, c, s); !changed {
		t.Error("the copy is not made again")
	}
	due(false, "it is there again")
	if c.Due(gitsource.Spec{}) {
		t.Error("nothing is due")
	}
}

// TestDeadRemoteIsTriedOncePerInterval has two processes that share a cache, and look often.
func TestDeadRemoteIsTriedOncePerInterval(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	one, at := newCache(t)
	program, asked := recorder(t)
	one.Git = program
	two := &gitsource.Cache{Folder: one.Folder, Now: one.Now, Git: one.Git, Timeout: ample}
	s := r.spec("#main")
	good, _ := update(t, one, s)
	overwrite(t, r.dir)
	at.move(gitsource.RefreshAfter)
	const minutes = 60
	for range minutes {
		for _, c := range []*gitsource.Cache{one, two, one, two} {
			done := make(chan bool, 1)
			if !c.Due(s) {
				c.Refresh(s, func(bool) { t.Error("it was not due") })
				continue
			}
			c.Refresh(s, func(changed bool) { done <- changed })
			if <-done {
				t.Error("it has changed")
			}
		}
		at.move(time.Minute)
	}
	want := 1 + minutes/int(gitsource.RetryAfter/time.Minute)
	if n := asked("ls-remote"); n != want {
		t.Errorf("it was asked %d times in an hour, not %d", n, want)
	}
	if got := have(t, two, s); got.Commit != good.Commit || got.Problem == "" {
		t.Errorf("%+v", got)
	}
	two.Close()
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, at := newCache(t)
	program, asked := recorder(t)
	c.Git = program
	s := r.spec("#main")
	refresh := func() bool {
		told := make(chan bool)
		c.Refresh(s, func(changed bool) { told <- changed })
		return <-told
	}
	if !refresh() || have(t, c, s).Commit != r.at("main") {
		t.Error("the first one does not come")
	}
	at.move(gitsource.RefreshAfter)
	if refresh() || !have(t, c, s).CheckedAt.Equal(at.now()) {
		t.Error("nothing is new, and it has changed")
	}
	at.move(gitsource.RefreshAfter)
	second := r.commit("main", map[string]string{"README.md": "second"})
	if !refresh() || have(t, c, s).Commit != second {
		t.Error("a new commit does not come")
	}

	// While somebody else has the lock, nobody is waited for.
	at.move(gitsource.RefreshAfter)
	before := asked("ls-remote")
	dir, err := durable.OpenDir(c.Folder)
	if err != nil {
		t.Fatal(err)
	}
	unlock, ok, err := dir.TryLock(s.Key()+".lock", "somebody else")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	log, logged := logTo()
	c.Log, c.Timeout = log, time.Second
	c.Refresh(s, func(bool) { t.Error("it has tried") })
	c.Wait()
	if logged() != "" {
		t.Errorf("it has waited: %s", logged())
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	c.Close()
	c.Refresh(s, func(bool) { t.Error("it is closed") })
	c.Wait()
	if n := asked("ls-remote"); n != before {
		t.Errorf("the remote was asked %d times meanwhile", n-before)
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTheOtherWasFaster has another process update between the look whether that is due and
// the update.
func TestTheOtherWasFaster(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c, at := newCache(t)
	program, asked := recorder(t)
	c.Git = program
	s := r.spec("#main")
	update(t, c, s)
	at.move(gitsource.RefreshAfter)
	var once sync.Once
	slow := &gitsource.Cache{Folder: c.Folder, Git: program, Timeout: ample, Now: func() time.Time {
		once.Do(func() { update(t, c, s) })
		return at.now()
	}}
	slow.Refresh(s, func(bool) { t.Error("it has asked again") })
	slow.Wait()
	if n := asked("ls-remote"); n != 2 {
		t.Errorf("it was asked %d times", n)
	}
}
