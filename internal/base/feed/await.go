package feed

import (
	"context"
	"time"
)

// awaitEvery is the time between Await's own looks, because a network file system reports no changes.
const awaitEvery = 2 * time.Second

// Await returns when a look shows another state than seen, or ctx or the feed has ended.
// project is the folder of the project whose sessions can change it.
func (f *Feed) Await(ctx context.Context, project, seen string, look func(context.Context) string) {
	w := &waiter{project: project, look: look, changed: make(chan struct{}, 1)}
	f.Follow(w, "", Sight{State: seen, Project: project})
	defer f.Leave(w)
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	for look(ctx) == seen { // also at first, because it was not watched before
		select {
		case <-w.changed:
			return
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-f.ctx.Done():
			return
		}
	}
}

// waiter is the subscriber behind a waiting call.
type waiter struct {
	project string
	look    func(context.Context) string
	changed chan struct{}
}

// Look implements Subscriber.
func (w *waiter) Look(ctx context.Context, _ string) Sight {
	return Sight{State: w.look(ctx), Project: w.project}
}

// Changed implements Subscriber.
func (w *waiter) Changed(string) {
	select {
	case w.changed <- struct{}{}:
	default: // it has another signal already
	}
}
