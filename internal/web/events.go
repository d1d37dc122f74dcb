package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/feed"
	"github.com/bmad-mcp/bmad-mcp/internal/headless"
	"github.com/bmad-mcp/bmad-mcp/internal/project"
	"github.com/bmad-mcp/bmad-mcp/internal/store"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// everything is the subject of a page that shows all projects.
const everything = "all"

// waitsAlone is the subject of a page that shows no runs: the stream then counts the waits.
const waitsAlone = "waits"

// heartbeat is the interval of the messages on a stream without news, which keep it open.
const heartbeat = 25 * time.Second

// maxStreams bounds the streams at a time.
const maxStreams = 50

// live reports changes to the open pages.
type live struct {
	projects projects
	feed     *feed.Feed
	// streams counts the pages with a stream.
	streams atomic.Int64
	// beat is the heartbeat of the streams.
	beat time.Duration
	// ended is done when all streams have to end.
	ended context.Context
}

// stream is a page with the subject it follows. It implements feed.Subscriber.
type stream struct {
	live    *live
	changed chan struct{}

	mu   sync.Mutex
	last change
}

// change describes the state of a page's subject.
type change struct {
	// Revision is the run's revision, 0 if the subject has many runs.
	Revision int              `json:"revision,omitempty"`
	State    workflow.State   `json:"state,omitempty"`
	Stage    workflow.StageID `json:"stage,omitempty"`
	Round    int              `json:"round,omitempty"`
	// Waiting is the number of runs of all projects that wait for the person, and Project the name of the one whose run
	// changed last.
	Waiting int    `json:"waiting"`
	Project string `json:"project,omitempty"`
	// Print is a hash of the page's facts: another one means a change.
	Print string `json:"print"`
	// Work grows with the events of a run without a host.
	Work int64 `json:"work,omitempty"`
}

// Look implements feed.Subscriber.
func (s *stream) Look(ctx context.Context, subject string) feed.Sight {
	now, sight := s.live.describe(ctx, subject)
	s.mu.Lock()
	s.last = now
	s.mu.Unlock()
	return sight
}

// Changed implements feed.Subscriber.
func (s *stream) Changed(string) {
	select {
	case s.changed <- struct{}{}:
	default: // the pending signal will report the latest look
	}
}

// describe describes a subject: everything, the id of a project, or the ids of project and run with a slash
// between them, or waitsAlone.
func (v *live) describe(ctx context.Context, subject string) (change, feed.Sight) {
	id, session, one := strings.Cut(subject, "/")
	var now change
	var sight feed.Sight
	var print prints
	var latest time.Time
	all := v.projects.all()
	known, ok := v.projects.readAll(ctx, all, nil)
	var team *crew
	if ok {
		team = readCrew(ctx, v.projects.queue, "")
	}
	for _, p := range all {
		sight.Folders = append(sight.Folders, filepath.Join(p.Path, store.Folder))
		sessions, isRead := known[p.ID]
		if !isRead {
			continue
		}
		for _, w := range v.projects.waitingIn(p, sessions, team) {
			now.Waiting++
			if w.UpdatedAt.After(latest) {
				latest, now.Project = w.UpdatedAt, p.Name
			}
		}
		switch {
		case id != everything && id != p.ID:
		case one:
			s, _, err := v.projects.engine.Session(ctx, project.Address{Cwd: p.Path, Session: session})
			if err != nil {
				continue
			}
			now.Revision, now.State, now.Stage, now.Round = s.Revision, s.CurrentState, s.CurrentStage, s.Current().Iteration
			print.addRun(s)
			now.Work = v.sizeOfEvents(p.Path, s.SessionID, &sight)
		default:
			print.addSessions(sessions)
			print.addQueued(team, sessions)
		}
	}
	now.Print = print.sum()
	sight.State = fmt.Sprint(now.Print, now.Work, now.Waiting)
	return now, sight
}

// sizeOfEvents returns the size of the events of a run without a host, 0 if there is none, and adds the place to a
// sight.
func (v *live) sizeOfEvents(path, sessionID string, sight *feed.Sight) int64 {
	open, err := v.projects.engine.Projects().Open(path)
	if err != nil {
		return 0
	}
	defer open.Close()
	name := headless.EventsFile(sessionID)
	info, err := open.Dir.Stat(name)
	if err != nil {
		return 0
	}
	sight.Folders = append(sight.Folders, filepath.Join(path, filepath.Dir(filepath.FromSlash(name))))
	return info.Size()
}

// prints gathers the facts by which two states of a page's subject differ.
type prints struct{ text strings.Builder }

func (p *prints) addRun(s *workflow.Session) { fmt.Fprintln(&p.text, s.Revision) }

func (p *prints) addSessions(all []workflow.Summary) {
	for _, s := range all {
		fmt.Fprintln(&p.text, s.SessionID, s.Revision)
	}
}

// addQueued adds the facts that a list shows of queued sessions, apart from times and costs: its page learns that a worker
// takes a run or gives it back.
func (p *prints) addQueued(c *crew, sessions []workflow.Summary) {
	for _, s := range sessions {
		if e := c.entry(s.SessionID); e != nil {
			fmt.Fprintln(&p.text, e.State, e.Lost, e.LeaseNo, e.Asking)
		}
	}
}

func (p *prints) sum() string { return workflow.Hash([]byte(p.text.String()))[:16] }

// followRun has the page follow a run, from the state in s.
func (a *asked) followRun(p folder, s *workflow.Session) {
	var print prints
	print.addRun(s)
	a.page.Follow, a.page.Print = p.ID+"/"+s.SessionID, print.sum()
}

// canFollow reports whether a subject exists.
func (v *live) canFollow(subject string) bool {
	id, _, _ := strings.Cut(subject, "/")
	if subject == everything || subject == waitsAlone {
		return true
	}
	for _, p := range v.projects.all() {
		if p.ID == id {
			return true
		}
	}
	return false
}

// ServeHTTP serves the stream of a page, with an event for each change of the subject. The page decides
// whether to show it: a document does not change under a reader's eyes.
func (v *live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	subject := r.URL.Query().Get("follow")
	if !v.canFollow(subject) {
		f := fault.New(fault.NotFound, "the page follows nothing that is known here")
		http.Error(w, f.Error(), http.StatusNotFound)
		return
	}
	if v.streams.Add(1) > maxStreams {
		v.streams.Add(-1)
		http.Error(w, languageOf(w, r).Say("Too many pages are followed at once; close some."), http.StatusTooManyRequests)
		return
	}
	defer v.streams.Add(-1)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	s := &stream{live: v, changed: make(chan struct{}, 1)}
	v.feed.Follow(s, subject, s.Look(r.Context(), subject))
	defer v.feed.Leave(s)
	out := http.NewResponseController(w)
	beat := time.NewTicker(v.beat)
	defer beat.Stop()
	// The first event reports the changes that a reconnecting page has missed.
	for err := s.send(w); err == nil && out.Flush() == nil; {
		// A browser that reads nothing is dropped after this time.
		_ = out.SetWriteDeadline(time.Now().Add(v.beat + maxWait)) //nolint:forbidigo // a deadline of the network, by the system's clock
		select {
		case <-s.changed:
			err = s.send(w)
		case <-beat.C:
			if v.projects.queue != nil { // which tells nobody of its changes
				v.feed.Poke()
			}
			_, err = fmt.Fprint(w, ": \n\n")
		case <-v.ended.Done():
			return
		case <-r.Context().Done():
			return
		}
	}
}

// send writes the state of the last look. The print is the event's id.
func (s *stream) send(w http.ResponseWriter) error {
	s.mu.Lock()
	now := s.last
	s.mu.Unlock()
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "id: %s\nevent: changed\ndata: %s\n\n", now.Print, data)
	return err
}
