package run

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/app"
	"github.com/bmad-mcp/bmad-mcp/internal/cli/terminal"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/sdkhttp"
)

// Served are the runs that clients start over HTTP. Their gates stop: the person decides at the
// machine, or by their assistant.
type Served struct {
	// options returns the options of a run; base ends when the server's own work does.
	options func(sdkhttp.RunRequest) (headless.Options, error)
	base    context.Context

	work sync.WaitGroup
	// live has the servedRun of each run at work, by session.
	live sync.Map
}

// servedRun is a run at work.
type servedRun struct {
	mu      sync.Mutex
	events  []headless.Event
	changed chan struct{} // closed at each event
	over    bool
}

// Serve serves the runs of the project until base ends.
func Serve(base context.Context, term *terminal.Terminal, tasks *app.Tasks) *Served {
	options := func(req sdkhttp.RunRequest) (headless.Options, error) { return servedOptions(term, tasks, req) }
	return &Served{base: base, options: options}
}

// Close returns once every run has ended.
func (s *Served) Close() { s.work.Wait() }

// Start implements sdkhttp.Runs. It returns when the run has its session, or is refused.
func (s *Served) Start(ctx context.Context, req sdkhttp.RunRequest) (sdkhttp.Run, error) {
	o, err := s.options(req)
	if err != nil {
		return sdkhttp.Run{}, err
	}
	run, begun, refused := &servedRun{changed: make(chan struct{})}, make(chan string, 1), make(chan error, 1)
	o.Tell = func(e headless.Event) {
		if run.addEvent(e); e.Type == headless.RunStarted {
			s.live.Store(e.SessionID, run)
			begun <- e.SessionID
		}
	}
	s.work.Go(func() {
		_, err := headless.New(o).Start(s.base, req.Objective, req.TaskName)
		if id := run.endRun(); id != "" {
			s.live.Delete(id)
		} else {
			refused <- err
		}
	})
	select {
	case id := <-begun:
		return sdkhttp.Run{ID: id, Status: "running"}, nil
	case err := <-refused:
		return sdkhttp.Run{}, err
	case <-ctx.Done():
		return sdkhttp.Run{}, ctx.Err()
	}
}

// Get implements sdkhttp.Runs.
func (s *Served) Get(ctx context.Context, id string) (sdkhttp.Run, error) {
	if _, ok := s.live.Load(id); ok {
		return sdkhttp.Run{ID: id, Status: "running"}, nil
	}
	id, events, err := s.savedEvents(ctx, id)
	if err != nil {
		return sdkhttp.Run{}, err
	}
	last := events[len(events)-1]
	return sdkhttp.Run{ID: id, Status: cmp.Or(string(last.Reason), "interrupted"), Result: last}, nil
}

// Events implements sdkhttp.Runs.
func (s *Served) Events(ctx context.Context, id string, after int64) (<-chan sdkhttp.RunEvent, error) {
	live, ok := s.live.Load(id)
	run, _ := live.(*servedRun)
	if !ok {
		_, events, err := s.savedEvents(ctx, id)
		if err != nil {
			return nil, err
		}
		run = &servedRun{events: events, over: true}
	}
	to := make(chan sdkhttp.RunEvent)
	go func() {
		defer close(to)
		for {
			events, changed, over := run.eventsSince(after)
			for _, e := range events {
				select {
				case to <- sdkhttp.RunEvent{Seq: int64(e.Seq), Type: string(e.Type), Data: e}:
					after = int64(e.Seq)
				case <-ctx.Done():
					return
				}
			}
			if over {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return to, nil
}

// savedEvents returns the events of a run that is not at work here.
func (s *Served) savedEvents(ctx context.Context, task string) (id string, events []headless.Event, err error) {
	o, err := s.options(sdkhttp.RunRequest{})
	if err != nil {
		return "", nil, err
	}
	id, events, err = headless.New(o).Events(ctx, task)
	if err == nil && len(events) == 0 {
		err = fault.New(fault.NotFound, "no run has the id %q", task).WithHint("POST /api/runs starts one")
	}
	return id, events, err
}

// maxLive bounds the events of a run that are kept in memory, pieces of text included.
const maxLive = 5000

// addEvent adds an event, and wakes those who watch the run.
func (r *servedRun) addEvent(e headless.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.events = append(r.events, e); len(r.events) > maxLive {
		r.events = slices.Clone(r.events[len(r.events)-maxLive/2:])
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// endRun ends a run for those who watch it, and returns the id of its session, "" if it has none.
func (r *servedRun) endRun() (id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	close(r.changed)
	if len(r.events) > 0 {
		id = r.events[0].SessionID
	}
	return id
}

// eventsSince returns the events after one.
func (r *servedRun) eventsSince(after int64) (events []headless.Event, changed <-chan struct{}, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if int64(e.Seq) > after {
			events = append(events, e)
		}
	}
	return events, r.changed, r.over
}

// servedOptions returns the options of a run that a client starts.
func servedOptions(term *terminal.Terminal, tasks *app.Tasks, req sdkhttp.RunRequest) (headless.Options, error) {
	o, err := optionsHere(term, tasks)
	o.Gates, o.By = headless.Stop, "bmad-mcp agent serve"
	o.Flags = headless.Flags{Workflow: req.Workflow, Engine: req.Engine, Budget: req.CostLimit}
	return o, err
}
