// Package feed notifies the subscribers of any face of changes in their projects, even if another server,
// the terminal or an editor makes them.
//
// A subscriber follows subjects, for example a session, a document or a list. A sight is the outcome of a
// look at a subject: the state, and the places in which the subject can change.
package feed

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Subscriber follows subjects. A feed tells subscribers apart by ==.
type Subscriber interface {
	// Look looks at a subject.
	Look(ctx context.Context, subject string) Sight
	// Changed is called when a subject has another state than before. It must not block.
	Changed(subject string)
}

// Sight is the outcome of a look at a subject.
type Sight struct {
	// State differs from the one before if the subject has changed. It is "" if the subject is missing.
	State string
	// Project is the folder of the project whose sessions can change the subject, if any.
	Project string
	// Folders are the folders whose files can change it.
	Folders []string
	// Apart is true if neither the state nor the documents of runs can change it.
	Apart bool
}

// Options configure a Feed.
type Options struct {
	// Recheck, if not nil, drops caches of the disk. It is called before a round of looks if more may have changed
	// than the state and the documents of runs.
	Recheck func()
	// Runs are the places of runs in a project.
	Runs Folders
	// State is the person's state folder; the records of runs in it are not more.
	State string
	// Watch, if not nil, calls changed after possible changes of sessions outside of files, until the
	// context ends.
	Watch func(ctx context.Context, changed func())
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
}

// maxSubjects bounds the subjects of one subscriber: 200 documents, and the lists.
const maxSubjects = 203

// restFor is the factor by which the rest after a round exceeds the round, so slow looks do not use all the
// time.
const restFor = 4

// Feed looks at all subjects again when something may have changed. It has one goroutine, from the first
// followed subject until Close.
type Feed struct {
	o Options
	// wake takes one value: a round yet to begin sees all changes before it.
	wake chan struct{}
	// stale is true if the caches of the disk have to be dropped.
	stale atomic.Bool
	// ctx is the context of the goroutine; Close ends it.
	ctx  context.Context
	end  context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	started bool
	// seen has the last known sight of each subject, without folders.
	seen    map[Subscriber]map[string]Sight
	watcher *watcher
}

// New returns a feed without subscribers.
func New(o Options) *Feed {
	f := &Feed{o: o, wake: make(chan struct{}, 1), seen: map[Subscriber]map[string]Sight{}}
	f.ctx, f.end = context.WithCancel(context.Background())
	return f
}

// Follow notifies a subscriber when a subject differs from the sight. A missing subject is
// reported once it exists. Follow returns false if the subscriber follows too many.
func (f *Feed) Follow(s Subscriber, subject string, seen Sight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return true // nothing changes any more
	}
	subjects := f.seen[s]
	if subjects == nil {
		subjects = map[string]Sight{}
		f.seen[s] = subjects
	}
	if _, known := subjects[subject]; !known && len(subjects) >= maxSubjects {
		return false
	}
	subjects[subject] = Sight{State: seen.State, Apart: seen.Apart}
	if !f.started {
		f.started = true
		f.work.Go(f.runRounds)
		if f.o.Watch != nil {
			f.work.Go(func() { f.o.Watch(f.ctx, f.Poke) })
		}
	}
	f.watchPlaces(seen)
	return true
}

// Unfollow ends the notifications about a subject.
func (f *Feed) Unfollow(s Subscriber, subject string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.seen[s], subject)
}

// Leave ends all notifications of a subscriber.
func (f *Feed) Leave(s Subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.seen, s)
}

// Poke has the feed look soon, after a change of our own, because not every file system reports changes.
func (f *Feed) Poke() {
	select {
	case f.wake <- struct{}{}:
	default: // a round is about to begin
	}
}

// PokeAll is Poke after a change of more than the state and the documents of runs.
func (f *Feed) PokeAll() { f.lookSoon(true) }

// lookSoon has the feed look soon; outside reports whether the caches of the disk may be stale.
func (f *Feed) lookSoon(outside bool) {
	if outside {
		f.stale.Store(true)
	}
	f.Poke()
}

// Close ends the looks and the watching, and returns when they have ended.
func (f *Feed) Close() {
	f.mu.Lock()
	f.end()
	watcher := f.watcher
	f.watcher = nil
	f.mu.Unlock()
	if watcher != nil {
		_ = watcher.close() // it is not used any more
	}
	f.work.Wait()
}

func (f *Feed) runRounds() {
	for {
		select {
		case <-f.wake:
		case <-f.ctx.Done():
			return
		}
		began := f.o.Now()
		f.lookAtAll()
		rest := time.NewTimer(restFor * f.o.Now().Sub(began))
		select {
		case <-rest.C:
		case <-f.ctx.Done():
			rest.Stop()
			return
		}
	}
}

// lookAtAll looks at every subject with a possible change, and reports changes.
func (f *Feed) lookAtAll() {
	outside := f.stale.Swap(false)
	if outside && f.o.Recheck != nil {
		f.o.Recheck()
	}
	f.mu.Lock()
	followed := map[Subscriber][]string{}
	for s, subjects := range f.seen {
		for _, subject := range slices.Sorted(maps.Keys(subjects)) {
			if outside || !subjects[subject].Apart {
				followed[s] = append(followed[s], subject)
			}
		}
	}
	f.mu.Unlock()
	for s, subjects := range followed {
		for _, subject := range subjects {
			if f.ctx.Err() != nil {
				return
			}
			if seen := s.Look(f.ctx, subject); f.noteState(s, subject, seen) {
				s.Changed(subject)
			}
		}
	}
}

// noteState notes the state of a subject, and reports whether a subscriber who still follows it has to hear of a
// different state.
func (f *Feed) noteState(s Subscriber, subject string, now Sight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, followed := f.seen[s][subject]
	if !followed || f.ctx.Err() != nil {
		return false
	}
	f.watchPlaces(now)
	f.seen[s][subject] = Sight{State: now.State, Apart: now.Apart}
	return before.State != now.State
}

// watchPlaces watches the places of a sight. A newly watched folder may have changed since the look, so another
// look is needed. mu is held.
func (f *Feed) watchPlaces(seen Sight) {
	if seen.Project == "" && len(seen.Folders) == 0 {
		return
	}
	if f.watcher == nil {
		var err error
		if f.watcher, err = newWatcher(f.lookSoon, f.o.Log, f.o.Runs, f.o.State); err != nil {
			f.o.Log.Warn("changes by others are not reported", "error", err)
			return
		}
	}
	if seen.Project != "" {
		f.watcher.watchProject(seen.Project)
	}
	for _, folder := range seen.Folders {
		if f.watcher.watchFolder(folder) {
			f.lookSoon(!f.o.Runs.hasPath(folder))
		}
	}
	f.watcher.logUnwatched()
}
