package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	dashboard "github.com/bmad-mcp/bmad-mcp/internal/web"
)

// following is a page's stream.
type following struct {
	t     *testing.T
	res   *http.Response
	lines *bufio.Scanner
	end   context.CancelFunc
}

// event is a message of a stream: an event, or a heartbeat, which has no id.
type event struct {
	id   string
	data struct {
		Revision, Waiting int
		State, Print      string
	}
}

// follow opens the stream of a subject. last is the id of the event that was seen before.
func (w *world) follow(t *testing.T, subject, last string) *following {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.URL+"/events?follow="+subject, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-Id", last)
	}
	res, err := w.server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &following{t, res, bufio.NewScanner(res.Body), cancel}
}

// next returns the next event, or a heartbeat.
func (f *following) next() event {
	f.t.Helper()
	var e event
	for f.lines.Scan() {
		name, value, _ := strings.Cut(f.lines.Text(), ": ")
		switch {
		case f.lines.Text() == "":
			return e
		case name == "id":
			e.id = value
		case name == "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				f.t.Fatalf("%s: %v", value, err)
			}
		case name == "event" && value != "changed", name != "event" && name != "":
			f.t.Fatalf("the stream says %q", f.lines.Text())
		}
	}
	f.t.Fatalf("the stream has ended: %v", f.lines.Err())
	return e
}

// news returns the next event.
func (f *following) news() event {
	f.t.Helper()
	for {
		if e := f.next(); e.id != "" {
			return e
		}
	}
}

// awaitEnd waits until no page is followed any more, and nothing runs for one.
func (w *world) awaitEnd(t *testing.T) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	for range 1000 {
		all := string(stacks[:runtime.Stack(stacks, true)])
		if w.d.Streams() == 0 && !strings.Contains(all, "live).ServeHTTP(") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%d streams are left:\n%s", w.d.Streams(), stacks[:runtime.Stack(stacks, true)])
}

// TestPagesSayWhatTheyShow: a change between the reading of a page and the opening of its stream is
// a change for its reader, and nothing else is.
func TestPagesSayWhatTheyShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.relay()
	w.booking()
	var state []string
	for _, path := range w.screens() {
		_, text, _ := w.get(path, "en")
		body := regexp.MustCompile(`<body data-follow="([^"]*)"(?: data-print="([^"]*)")? data-screen="([^"]*)"`).FindStringSubmatch(text)
		if body[2] == "" {
			continue
		}
		f := w.follow(t, url.QueryEscape(body[1]), "")
		if now := f.news().data.Print; body[2] != now {
			t.Errorf("%s shows the state %q, and its subject has %q", path, body[2], now)
		}
		f.end()
		state = append(state, body[3])
	}
	slices.Sort(state)
	if got := slices.Compact(state); !slices.Equal(got, []string{"board", "document", "inbox", "log", "run", "trace"}) {
		t.Errorf("these screens have a state: %v", got)
	}
}

// TestStreams: as many pages as are allowed are told of a change, one more is refused in words,
// and nothing is left of those that have gone.
func TestStreams(t *testing.T) {
	w := newWorld(t)
	w.clock, w.still = time.Now().Add(time.Hour), true
	folder := w.project("webhook-relay")
	at := w.play(folder, "webhook-relay", "po 01-po-first.md")
	project := strings.Trim(strings.TrimPrefix(w.projectPath(), "/p/"), "/")
	var all []*following
	var first []event
	for i := range dashboard.MaxStreams {
		f := w.follow(t, []string{"all", project, project + "/" + at.SessionID}[i%3], "")
		if kind := f.res.Header.Get("Content-Type"); f.res.StatusCode != http.StatusOK || kind != "text/event-stream" {
			t.Fatalf("stream %d: status %d, %s", i, f.res.StatusCode, kind)
		}
		all, first = append(all, f), append(first, f.news())
	}
	if first[0].data.Waiting != 1 || first[2].data.State != "clarifying" || first[2].data.Revision == 0 {
		t.Errorf("the pages see %+v", first[:3])
	}
	many := w.follow(t, "all", "")
	if text, err := io.ReadAll(many.res.Body); many.res.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(text), "close some") || err != nil {
		t.Errorf("one more page: status %d, %s, %v", many.res.StatusCode, text, err)
	}
	w.play(folder, "webhook-relay", "po 01-po-first.md") // another run
	for i, f := range all {
		if i%3 == 2 {
			continue
		}
		now := f.news()
		if now.data.Waiting == 1 { // the start was seen before the submission that asks
			now = f.news()
		}
		if now.id == first[i].id || now.data.Waiting != 2 {
			t.Errorf("page %d sees %+v after a start", i, now)
		}
	}
	for _, f := range all {
		f.end()
	}
	w.awaitEnd(t)
}

// TestStreamOutlivesTimeouts: the time that a server gives to other requests does not end a stream.
func TestStreamOutlivesTimeouts(t *testing.T) {
	w := newWorld(t)
	w.d.Beat(50 * time.Millisecond)
	w.server.Close()
	w.server = httptest.NewUnstartedServer(w.d.Handler())
	w.server.Config.ReadTimeout, w.server.Config.WriteTimeout = 100*time.Millisecond, 100*time.Millisecond
	w.server.Start()
	t.Cleanup(w.server.Close)
	f := w.follow(t, "all", "")
	for range 8 {
		f.next()
	}
	f.end()
	w.awaitEnd(t)
}

// TestStreamGoesOn: a page that was away is told of a change by an event whose id differs from the last that it
// has seen; if the id is the same, it has missed none.
func TestStreamGoesOn(t *testing.T) {
	w := newWorld(t)
	w.clock, w.still = time.Now().Add(time.Hour), true
	folder := w.project("webhook-relay")
	at := w.play(folder, "webhook-relay", "po 01-po-first.md")
	project := strings.Trim(strings.TrimPrefix(w.projectPath(), "/p/"), "/")
	for _, subject := range []string{"all", project} {
		f := w.follow(t, subject, "")
		seen := f.news()
		f.end()
		again := w.follow(t, subject, seen.id)
		if now := again.news(); now.id != seen.id || now.data != seen.data {
			t.Errorf("%s: %+v, and %+v before the stream was cut", subject, now, seen)
		}
		again.end()
		w.play(folder, "webhook-relay", "po 01-po-first.md")
		if now := w.follow(t, subject, seen.id).news(); now.id == seen.id || now.data.Waiting != seen.data.Waiting+1 {
			t.Errorf("%s: %+v after a start, and %+v before", subject, now, seen)
		}
	}
	for _, subject := range []string{"", "0123456789", "0123456789/" + at.SessionID, "../etc"} {
		f := w.follow(t, subject, "")
		if text, err := io.ReadAll(f.res.Body); f.res.StatusCode != http.StatusNotFound || len(text) == 0 || err != nil {
			t.Errorf("%q: status %d, %s, %v", subject, f.res.StatusCode, text, err)
		}
	}
}

// TestIdlePagesReadNothing: a page that is open and has no news costs no look at the disk, however
// long its stream is kept open; and it is told of the next change.
func TestIdlePagesReadNothing(t *testing.T) {
	w := newWorld(t)
	w.clock, w.still = time.Now().Add(time.Hour), true
	w.d.Beat(10 * time.Millisecond)
	folder := w.project("webhook-relay")
	at := w.play(folder, "webhook-relay", "po 01-po-first.md")
	project := strings.Trim(strings.TrimPrefix(w.projectPath(), "/p/"), "/")
	all, one := w.follow(t, "all", ""), w.follow(t, project+"/"+at.SessionID, "")
	all.news()
	one.news()
	const enough = 50 // more than the pause in which changes are collected
	quiet := 0
	for beats := 0; quiet < enough; beats++ {
		if all.next(); beats > 100*enough {
			t.Fatal("the disk is read all the time")
		}
		if n, _ := w.reads.take(); n > 0 {
			quiet = 0
		}
		quiet++
	}
	for range 2 * enough {
		all.next()
		one.next()
		if n, times := w.reads.take(); n > 0 {
			t.Fatalf("without a change the disk is read: %v", times)
		}
	}
	w.play(folder, "webhook-relay", "po 01-po-first.md")
	now := all.news()
	if now.data.Waiting == 1 { // of the start, which a busy machine tells of apart from the hand-in
		now = all.news()
	}
	if now.data.Waiting != 2 {
		t.Errorf("after a start the page sees %+v", now)
	}
	if n, _ := w.reads.take(); n == 0 {
		t.Error("a change is told of without a read, so that reads are not counted")
	}
}

// TestStreamsEndWithTheServer: the end of the dashboard ends the streams, and is not waited for.
func TestStreamsEndWithTheServer(t *testing.T) {
	w := newWorld(t)
	w.play(w.project("webhook-relay"), "webhook-relay", "po 01-po-first.md")
	var all []*following
	for range 5 {
		f := w.follow(t, "all", "")
		f.news()
		all = append(all, f)
	}
	w.d.Close(t.Context())
	for _, f := range all {
		for f.lines.Scan() {
		}
		if err := f.lines.Err(); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	}
	w.awaitEnd(t)
	if w.serve(t, "/") == nil {
		t.Error("a page that was asked for is not answered")
	}
	for late := w.follow(t, "all", ""); late.lines.Scan(); { // one that comes too late ends, too
	}
	w.awaitEnd(t)
}
